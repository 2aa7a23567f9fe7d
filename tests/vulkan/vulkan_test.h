/* What tests on a device share. */
#ifndef VULKAN_TEST_H
#define VULKAN_TEST_H

#include "vulkan_compute.h"

#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#define SKIP 77 /* ctest's SKIP_RETURN_CODE */

/* Whether no Vulkan device can be opened; says so. */
static inline bool no_device(void)
{
  sb_vulkan *vulkan = NULL;
  if (sb_vulkan_open(&vulkan, NULL)) {
    printf("skipping: no Vulkan device\n");
    return true;
  }
  sb_vulkan_close(vulkan);
  return false;
}

/* KiB of this process that are in memory. */
static inline long resident(void)
{
  long pages = 0, all = 0;
  FILE *f = fopen("/proc/self/statm", "r");
  if (!f || fscanf(f, "%ld %ld", &all, &pages) != 2) pages = 0;
  if (f) fclose(f);
  return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

#endif
