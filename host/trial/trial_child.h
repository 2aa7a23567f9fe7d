/* Inside the process of a trial. */
#ifndef SAMEBIT_HOST_TRIAL_CHILD_H
#define SAMEBIT_HOST_TRIAL_CHILD_H

#include "module.h"

/* Says a line to the other side. */
void sb_trial_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
