/* One Vulkan device and its probe. */
#include "session_device.h"

#include <stdio.h>
#include <stdlib.h>

#include "device_probe.h"
#include "vulkan_device.h"

struct sb_session_device {
  sb_vulkan *vulkan;
  sb_vulkan_device *device;
  bool one_by_one; /* the way of the run */
  bool passed;
  char text[900];
};

sb_status sb_session_device_open(bool one_by_one, uint32_t time_limit, sb_session_device **out, sb_diagnostics *diag)
{
  sb_session_device *d = calloc(1, sizeof *d);
  if (!d) return sb_report(diag, SB_ERROR, SB_CODE_MEMORY, "vulkan", "no memory for the device");
  sb_probe_result probe = {0};
  sb_status status = sb_vulkan_open(&d->vulkan, diag);
  if (!status && time_limit) sb_vulkan_set_time_limit(d->vulkan, time_limit);
  if (!status) status = sb_device_probe(d->vulkan, &probe, diag);
  if (!status) status = sb_vulkan_device_create(d->vulkan, &d->device, diag);
  if (status) {
    sb_session_device_close(d);
    return status;
  }
  const sb_vulkan_info *info = sb_vulkan_about(d->vulkan);
  char words[256];
  d->one_by_one = one_by_one;
  d->passed = probe.passed;
  sb_probe_text(&probe, words, sizeof words);
  snprintf(d->text, sizeof d->text, "%.200s, %.200s %.200s, %s", info->device, info->driver, info->driver_version, words);
  if (!probe.passed) sb_probe_report(&probe, SB_WARNING, info->device, diag);
  *out = d;
  return SB_OK;
}

void sb_session_device_close(sb_session_device *d)
{
  if (!d) return;
  sb_vulkan_device_destroy(d->device);
  sb_vulkan_close(d->vulkan);
  free(d);
}

const sb_device *sb_session_device_for_sim(const sb_session_device *d) { return d ? sb_vulkan_device_for_sim(d->device, d->one_by_one) : NULL; }
bool sb_session_device_passed(const sb_session_device *d) { return d && d->passed; }
const char *sb_session_device_text(const sb_session_device *d) { return d ? d->text : ""; }
