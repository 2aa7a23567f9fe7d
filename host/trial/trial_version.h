/* What both sides of a trial must share. */
#ifndef SAMEBIT_HOST_TRIAL_VERSION_H
#define SAMEBIT_HOST_TRIAL_VERSION_H

#include "golden_hashes.h"

#define SB_TRIAL_TEXT_(number) #number
#define SB_TRIAL_NUMBER_(number) SB_TRIAL_TEXT_(number)
#define SB_TRIAL_VERSION SAMEBIT_VERSION "/" SB_TRIAL_NUMBER_(SB_NUMERICS_VERSION) "/trial 3"

#endif
