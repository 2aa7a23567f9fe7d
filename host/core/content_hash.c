/* 64-bit content hash over bytes. Knows the C library only.
 *
 * FNV-1a (Fowler, Noll, Vo 1991) over the bytes, then the length, then a finishing mix (splitmix64: Steele, Lea and
 * Flood 2014) so that every input bit reaches every output bit. */
#include "content_hash.h"

sb_content_hasher sb_content_hash_start(void) { return (sb_content_hasher){0xcbf29ce484222325u, 0}; }

void sb_content_hash_add(sb_content_hasher *hasher, const void *bytes, size_t size)
{
  const unsigned char *p = bytes;
  uint64_t h = hasher->hash;
  for (size_t i = 0; i < size; i++) h = (h ^ p[i]) * 0x100000001b3u;
  hasher->hash = h;
  hasher->size += size;
}

uint64_t sb_content_hash_end(const sb_content_hasher *hasher)
{
  uint64_t h = hasher->hash ^ hasher->size;
  h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9u;
  h = (h ^ (h >> 27)) * 0x94d049bb133111ebu;
  return h ^ (h >> 31);
}

uint64_t sb_content_hash(const void *bytes, size_t size)
{
  sb_content_hasher hasher = sb_content_hash_start();
  sb_content_hash_add(&hasher, bytes, size);
  return sb_content_hash_end(&hasher);
}
