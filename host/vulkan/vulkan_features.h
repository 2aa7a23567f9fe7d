/* What of a device's features is turned on, and so which SPIR-V capabilities shaders may want there. */
#ifndef SAMEBIT_HOST_VULKAN_FEATURES_H
#define SAMEBIT_HOST_VULKAN_FEATURES_H

#include <stdbool.h>
#include <stdint.h>
#include <vulkan/vulkan.h>

#define SB_VULKAN_CAPABILITIES_MAX 32u

typedef struct sb_vulkan_features {
  VkPhysicalDeviceFeatures2 core;
  VkPhysicalDeviceVulkan11Features v11;
  VkPhysicalDeviceVulkan12Features v12;
  VkPhysicalDeviceShaderAtomicFloatFeaturesEXT atomic_float;
  const char *extensions[1];
  uint32_t extension_count;
  uint32_t capabilities[SB_VULKAN_CAPABILITIES_MAX], capability_count; /* SpvCapability* */
} sb_vulkan_features;

/* Fills `out`, which stays where it is: its members point at each other. */
void sb_vulkan_features_choose(VkPhysicalDevice device, sb_vulkan_features *out);
/* For vkCreateDevice. */
void sb_vulkan_features_enable(const sb_vulkan_features *features, VkDeviceCreateInfo *info);
/* Whether a shader may declare it. */
bool sb_vulkan_features_offer(const sb_vulkan_features *features, uint32_t capability);

#endif
