/* Everything a solver plugin needs, but the kernel dialect (samebit/kernel.h) and the shared maths (samebit/maths.h). */
#ifndef SAMEBIT_SAMEBIT_H
#define SAMEBIT_SAMEBIT_H

#include "samebit/abi.h"
#include "samebit/contact.h"
#include "samebit/model.h"
#include "samebit/particle_contact.h"
#include "samebit/random.h"
#include "samebit/solver.h"
#include "samebit/state.h"
#include "samebit/status.h"

#endif
