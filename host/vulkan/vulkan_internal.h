/* The inside of the compute layer, shared by its files: objects as Vulkan has them. */
#ifndef SAMEBIT_HOST_VULKAN_INTERNAL_H
#define SAMEBIT_HOST_VULKAN_INTERNAL_H

#include "vulkan_compute.h"
#include "vulkan_features.h"

#include <vulkan/vulkan.h>

/* Transfers between two waits. */
#define SB_VULKAN_TRANSFERS 32u

struct sb_vulkan {
  VkInstance instance;
  VkPhysicalDevice physical;
  VkDevice device;
  VkQueue queue;
  VkCommandPool commands;
  VkCommandBuffer command;
  VkFence fence;
  VkPhysicalDeviceMemoryProperties memory;
  uint32_t family;
  uint32_t groups_max;
  uint32_t invocations_max;
  uint32_t shared_max; /* bytes of a workgroup's memory */
  uint64_t binding_max; /* bytes of a binding */
  uint64_t buffer_max;  /* of a buffer that the host sees */
  uint64_t allocation_max;
  sb_vulkan_info info;
  sb_vulkan_features features;
  uint32_t time_limit; /* s, of a wait */
  bool lost;
  bool busy;  /* something was sent after the last wait */
  bool stuck; /* a wait ended at its limit: something still runs there, and nothing is destroyed any more */
  /* vulkan_graph.c: what is under way */
  VkCommandBuffer transfers[SB_VULKAN_TRANSFERS];
  uint32_t transfer_count;   /* used since the last wait */
  bool recording;            /* transfers[transfer_count - 1] is open */
  sb_vulkan_buffer *staging; /* host to device; made when first needed */
  size_t staged;             /* bytes of it that are in use */
  sb_vulkan_buffer *reading; /* device to host */
};

struct sb_vulkan_buffer {
  sb_vulkan *vulkan;
  VkBuffer buffer;
  VkDeviceMemory memory;
  void *data; /* NULL where the host does not see it */
  uint64_t size;
};

struct sb_vulkan_pipeline {
  sb_vulkan *vulkan;
  VkDescriptorSetLayout set_layout;
  VkPipelineLayout layout;
  VkPipeline pipeline;
  VkDescriptorPool pool;
  VkDescriptorSet set;
  uint32_t buffer_count;
  uint32_t push_size;
};

sb_status sb_vulkan_call_failed(sb_diagnostics *diag, const char *call, VkResult result);
sb_status sb_vulkan_host_memory(sb_diagnostics *diag);
/* Sends a command buffer, or nothing where it is VK_NULL_HANDLE, and waits for all that was sent; *call says what failed. VK_TIMEOUT: it took longer than the limit. */
VkResult sb_vulkan_send_and_wait(sb_vulkan *vulkan, VkCommandBuffer command, const char **call);

#endif
