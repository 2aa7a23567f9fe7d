/* In place of the probe's shader: one on a device that contracts. */
#include "faulty_probe_spv.h"

#define device_probe_spv faulty_probe_spv
