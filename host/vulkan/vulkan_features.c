/* Features are asked for where the device has them and a capability of shaders hangs on them. Bounds of buffers are always kept where it can. */
#include "vulkan_features.h"

#include <spirv/unified1/spirv.h>

#include <stdlib.h>
#include <string.h>

static bool has_extension(VkPhysicalDevice device, const char *name)
{
  uint32_t count = 0;
  if (vkEnumerateDeviceExtensionProperties(device, NULL, &count, NULL)) return false;
  VkExtensionProperties *all = calloc((size_t)count + 1, sizeof *all);
  if (!all || vkEnumerateDeviceExtensionProperties(device, NULL, &count, all)) count = 0;
  bool found = false;
  for (uint32_t i = 0; i < count; i++) found = found || !strcmp(all[i].extensionName, name);
  free(all);
  return found;
}

static void offer(sb_vulkan_features *f, bool has, uint32_t capability)
{
  if (has && f->capability_count < SB_VULKAN_CAPABILITIES_MAX) f->capabilities[f->capability_count++] = capability;
}

static void offer_subgroups(sb_vulkan_features *f, VkPhysicalDevice device)
{
  static const struct { VkSubgroupFeatureFlags flag; uint32_t capability; } operations[] = {
      {VK_SUBGROUP_FEATURE_BASIC_BIT, SpvCapabilityGroupNonUniform},
      {VK_SUBGROUP_FEATURE_VOTE_BIT, SpvCapabilityGroupNonUniformVote},
      {VK_SUBGROUP_FEATURE_ARITHMETIC_BIT, SpvCapabilityGroupNonUniformArithmetic},
      {VK_SUBGROUP_FEATURE_BALLOT_BIT, SpvCapabilityGroupNonUniformBallot},
      {VK_SUBGROUP_FEATURE_SHUFFLE_BIT, SpvCapabilityGroupNonUniformShuffle},
      {VK_SUBGROUP_FEATURE_SHUFFLE_RELATIVE_BIT, SpvCapabilityGroupNonUniformShuffleRelative}};
  VkPhysicalDeviceFloatControlsProperties floats = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FLOAT_CONTROLS_PROPERTIES};
  VkPhysicalDeviceSubgroupProperties subgroups = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES, .pNext = &floats};
  VkPhysicalDeviceProperties2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &subgroups};
  vkGetPhysicalDeviceProperties2(device, &all);
  for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
    offer(f, (subgroups.supportedStages & VK_SHADER_STAGE_COMPUTE_BIT) && (subgroups.supportedOperations & operations[i].flag), operations[i].capability);
  offer(f, floats.shaderDenormPreserveFloat32, SpvCapabilityDenormPreserve);
}

void sb_vulkan_features_choose(VkPhysicalDevice device, sb_vulkan_features *f)
{
  *f = (sb_vulkan_features){0};
  f->atomic_float.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_FLOAT_FEATURES_EXT;
  f->v12 = (VkPhysicalDeviceVulkan12Features){.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
  f->v11 = (VkPhysicalDeviceVulkan11Features){.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES, .pNext = &f->v12};
  f->core = (VkPhysicalDeviceFeatures2){.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .pNext = &f->v11};
  if (has_extension(device, VK_EXT_SHADER_ATOMIC_FLOAT_EXTENSION_NAME)) {
    f->extensions[f->extension_count++] = VK_EXT_SHADER_ATOMIC_FLOAT_EXTENSION_NAME;
    f->v12.pNext = &f->atomic_float;
  }
  vkGetPhysicalDeviceFeatures2(device, &f->core);
  const VkPhysicalDeviceFeatures core = f->core.features;
  const VkPhysicalDeviceVulkan11Features v11 = f->v11;
  const VkPhysicalDeviceVulkan12Features v12 = f->v12;
  const VkPhysicalDeviceShaderAtomicFloatFeaturesEXT atomics = f->atomic_float;
  f->core.features = (VkPhysicalDeviceFeatures){.robustBufferAccess = core.robustBufferAccess, .shaderInt64 = core.shaderInt64,
                                                .shaderInt16 = core.shaderInt16, .shaderFloat64 = core.shaderFloat64};
  f->v11 = (VkPhysicalDeviceVulkan11Features){.sType = v11.sType, .pNext = v11.pNext, .storageBuffer16BitAccess = v11.storageBuffer16BitAccess};
  f->v12 = (VkPhysicalDeviceVulkan12Features){.sType = v12.sType, .pNext = v12.pNext, .shaderInt8 = v12.shaderInt8, .shaderFloat16 = v12.shaderFloat16,
                                              .storageBuffer8BitAccess = v12.storageBuffer8BitAccess, .shaderBufferInt64Atomics = v12.shaderBufferInt64Atomics,
                                              .vulkanMemoryModel = v12.vulkanMemoryModel, .vulkanMemoryModelDeviceScope = v12.vulkanMemoryModelDeviceScope};
  f->atomic_float = (VkPhysicalDeviceShaderAtomicFloatFeaturesEXT){.sType = atomics.sType, .shaderBufferFloat32AtomicAdd = atomics.shaderBufferFloat32AtomicAdd};
  offer(f, true, SpvCapabilityMatrix);
  offer(f, true, SpvCapabilityShader);
  /* what a device says of these is not asked: the probe looks at what it does */
  offer(f, true, SpvCapabilitySignedZeroInfNanPreserve);
  offer(f, true, SpvCapabilityRoundingModeRTE);
  offer(f, core.shaderInt64, SpvCapabilityInt64);
  offer(f, core.shaderInt16, SpvCapabilityInt16);
  offer(f, core.shaderFloat64, SpvCapabilityFloat64);
  offer(f, v11.storageBuffer16BitAccess, SpvCapabilityStorageBuffer16BitAccess);
  offer(f, v12.shaderInt8, SpvCapabilityInt8);
  offer(f, v12.shaderFloat16, SpvCapabilityFloat16);
  offer(f, v12.storageBuffer8BitAccess, SpvCapabilityStorageBuffer8BitAccess);
  offer(f, v12.shaderBufferInt64Atomics, SpvCapabilityInt64Atomics);
  offer(f, v12.vulkanMemoryModel, SpvCapabilityVulkanMemoryModel);
  offer(f, v12.vulkanMemoryModelDeviceScope, SpvCapabilityVulkanMemoryModelDeviceScope);
  offer(f, atomics.shaderBufferFloat32AtomicAdd, SpvCapabilityAtomicFloat32AddEXT);
  offer_subgroups(f, device);
}

void sb_vulkan_features_enable(const sb_vulkan_features *f, VkDeviceCreateInfo *info)
{
  info->pNext = &f->core;
  info->ppEnabledExtensionNames = f->extensions;
  info->enabledExtensionCount = f->extension_count;
}

bool sb_vulkan_features_offer(const sb_vulkan_features *f, uint32_t capability)
{
  for (uint32_t i = 0; i < f->capability_count; i++)
    if (f->capabilities[i] == capability) return true;
  return false;
}
