/* What a process of a trial may not do, and how it tells what it did. */
#ifndef SAMEBIT_HOST_SANDBOX_H
#define SAMEBIT_HOST_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>

/* Limits of time and memory, no core file, no new processes, no network, no file that is opened to write. What it tries nevertheless ends
 * it, with a line on `fd`. False, with the reason, where the system has no such filter (an emulator); the limits hold then too. */
bool sb_sandbox_enter(int fd, char *reason, size_t size);

#endif
