/* Loaded before the Vulkan loader: the device is lost at the submission whose number SAMEBIT_LOST_AT gives. At the end the number of submissions goes to
 * the file that SAMEBIT_SUBMISSIONS names, where there were any. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vulkan/vulkan.h>

static long submissions;

__attribute__((destructor)) static void tell(void)
{
  const char *path = getenv("SAMEBIT_SUBMISSIONS");
  FILE *file = path && submissions ? fopen(path, "w") : NULL;
  if (!file) return;
  fprintf(file, "%ld\n", submissions);
  fclose(file);
}

VKAPI_ATTR VkResult VKAPI_CALL vkQueueSubmit(VkQueue queue, uint32_t count, const VkSubmitInfo *submits, VkFence fence)
{
  static PFN_vkQueueSubmit real;
  const char *lost = getenv("SAMEBIT_LOST_AT");
  void *found = real ? NULL : dlsym(RTLD_NEXT, "vkQueueSubmit");
  if (found) memcpy(&real, &found, sizeof found);
  if (!real || (++submissions >= (lost ? atol(lost) : __LONG_MAX__))) return VK_ERROR_DEVICE_LOST;
  return real(queue, count, submits, fence);
}
