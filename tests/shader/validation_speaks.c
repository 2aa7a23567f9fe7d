/* Makes a buffer without bytes, which Vulkan forbids: the validation layers have to say so, or they are not there and
 * the tests that run under them prove nothing. */
#include <vulkan/vulkan.h>

#include <stdio.h>

int main(void)
{
  VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_2};
  VkInstanceCreateInfo make_instance = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                        .pApplicationInfo = &application};
  VkInstance instance;
  uint32_t n = 1;
  VkPhysicalDevice physical;
  if (vkCreateInstance(&make_instance, NULL, &instance) != VK_SUCCESS) return 77;
  if (vkEnumeratePhysicalDevices(instance, &n, &physical) < 0 || n == 0) return 77;
  float priority = 1;
  VkDeviceQueueCreateInfo queue = {
      .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueCount = 1, .pQueuePriorities = &priority};
  VkDeviceCreateInfo make_device = {
      .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, .queueCreateInfoCount = 1, .pQueueCreateInfos = &queue};
  VkDevice device;
  if (vkCreateDevice(physical, &make_device, NULL, &device) != VK_SUCCESS) return 77;
  VkBufferCreateInfo empty = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                              .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT};
  VkBuffer buffer = VK_NULL_HANDLE;
  vkCreateBuffer(device, &empty, NULL, &buffer);
  vkDestroyBuffer(device, buffer, NULL);
  vkDestroyDevice(device, NULL);
  vkDestroyInstance(instance, NULL);
  puts("made a buffer without bytes");
  return 0;
}
