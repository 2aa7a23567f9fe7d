/* The cache of trials: one small text file for each module's path and task, believed only when it is ours and whole. */
#ifndef SAMEBIT_HOST_TRIAL_CACHE_H
#define SAMEBIT_HOST_TRIAL_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The lines kept for a key, or NULL; free() them. A file that is damaged, of somebody else, a link, or open to others' writing is none. */
char *sb_trial_cache_read(const char *dir, const char *path, const char *task, const char *key);
/* Keeps lines. What cannot be written is left alone. */
void sb_trial_cache_write(const char *dir, const char *path, const char *task, const char *key, const char *lines);

#endif
