/* 64-bit content hash over bytes. Knows the C library only.
 *
 * FNV-1a (Fowler, Noll, Vo 1991) over the bytes, then the length, then a finishing mix (splitmix64: Steele, Lea and
 * Flood 2014) so that every input bit reaches every output bit. */
#include "content_hash.h"

uint64_t sb_content_hash(const void *bytes, size_t size)
{
  const unsigned char *p = bytes;
  uint64_t h = 0xcbf29ce484222325u;
  for (size_t i = 0; i < size; i++) h = (h ^ p[i]) * 0x100000001b3u;
  h ^= (uint64_t)size;
  h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9u;
  h = (h ^ (h >> 27)) * 0x94d049bb133111ebu;
  return h ^ (h >> 31);
}
