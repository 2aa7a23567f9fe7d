/* A 64-bit content hash for cooked bytes: a small function of our own, so that the core needs no library. It tells
 * damage and difference apart from equality; it is no protection against someone who wants a collision. */
#ifndef SAMEBIT_HOST_CONTENT_HASH_H
#define SAMEBIT_HOST_CONTENT_HASH_H

#include <stddef.h>
#include <stdint.h>

/* A hash under way: bytes may come in pieces. */
typedef struct sb_content_hasher {
  uint64_t hash;
  uint64_t size;
} sb_content_hasher;

sb_content_hasher sb_content_hash_start(void);
void sb_content_hash_add(sb_content_hasher *hasher, const void *bytes, size_t size);
uint64_t sb_content_hash_end(const sb_content_hasher *hasher);

/* The same for the same bytes on every machine. */
uint64_t sb_content_hash(const void *bytes, size_t size);

#endif
