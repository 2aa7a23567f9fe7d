/* The compute device of a session: opened when a part asks for the backend vulkan, probed, and what it is in words. */
#ifndef SAMEBIT_HOST_SESSION_DEVICE_H
#define SAMEBIT_HOST_SESSION_DEVICE_H

#include "device.h"
#include "diagnostic.h"

typedef struct sb_session_device sb_session_device;

/* one_by_one: commands are sent and waited for singly, not recorded; the same bits. time_limit: s, of a wait for the device; 0: the usual. A device that fails the probe is opened all the same, with a warning for each failure. */
sb_status sb_session_device_open(bool one_by_one, uint32_t time_limit, sb_session_device **out, sb_diagnostics *diag);
void sb_session_device_close(sb_session_device *device);
const sb_device *sb_session_device_for_sim(const sb_session_device *device);
/* Whether it computes what the CPU computes. */
bool sb_session_device_passed(const sb_session_device *device);
/* "NVIDIA H200, NVIDIA 580.95.05, probe passed": part of the domain. */
const char *sb_session_device_text(const sb_session_device *device);

#endif
