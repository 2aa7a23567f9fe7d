/* A 64-bit content hash for cooked bytes: a small function of our own, so that the core needs no library. It tells
 * damage and difference apart from equality; it is no protection against someone who wants a collision. */
#ifndef SAMEBIT_HOST_CONTENT_HASH_H
#define SAMEBIT_HOST_CONTENT_HASH_H

#include <stddef.h>
#include <stdint.h>

/* The same for the same bytes on every machine. */
uint64_t sb_content_hash(const void *bytes, size_t size);

#endif
