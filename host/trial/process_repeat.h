/* The same micro-scenes in one process after another. Each has its code, stack and heap at other addresses and its fresh memory filled with another byte; neither may
 * show in a bit. */
#ifndef SAMEBIT_HOST_PROCESS_REPEAT_H
#define SAMEBIT_HOST_PROCESS_REPEAT_H

#include "trial_process.h"

#define SB_PROCESS_REPEAT_FIX "use no address of a function, a variable or the stack as a number, and fill memory before you read it"

/* Called once for each solver whose bits differ from process to process. `solver` is NULL, and said of all, when a process did not end well. */
typedef void (*sb_process_difference)(void *user, const char *solver, const char *text);

/* `request`: of the module; its task is set here. Returns how many differences were told. */
size_t sb_process_repeat(const sb_trial_request *request, sb_process_difference tell, void *user);

/* Inside such a process: says the hash of each micro-scene under each solver of the module. `junk`: what the task "digest JUNK" holds. */
struct sb_module;
void sb_process_digest(const struct sb_module *module, const char *junk);

#endif
