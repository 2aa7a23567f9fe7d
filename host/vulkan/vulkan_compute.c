/* The compute layer. Each create function fills a zeroed object step by step; its destroy function takes any prefix. */
#include "vulkan_graph.h"
#include "vulkan_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEVICES_MAX 16u
#define FAMILIES_MAX 32u

sb_status sb_vulkan_call_failed(sb_diagnostics *diag, const char *call, VkResult result)
{
  if (result == VK_ERROR_OUT_OF_DEVICE_MEMORY || result == VK_ERROR_OUT_OF_HOST_MEMORY)
    return sb_report(diag, SB_ERROR, SB_CODE_VULKAN_MEMORY, call, "Expected memory from %s; the driver has none left. Use a smaller scene, or backend = cpu.",
                     call);
  if (result == VK_TIMEOUT)
    return sb_report(diag, SB_ERROR, SB_CODE_VULKAN_TIME, "vulkan",
                     "the device did not end its work within time_limit: a shader that never ends, or more work than it does in that time; raise time_limit in [compute], or use backend = cpu");
  return sb_report(diag, SB_ERROR, SB_CODE_VULKAN_CALL, call, "Expected %s to succeed; it returned %d%s.", call,
                   (int)result, result == VK_ERROR_DEVICE_LOST ? " (device lost)" : "");
}

sb_status sb_vulkan_host_memory(sb_diagnostics *diag)
{
  return sb_report(diag, SB_ERROR, SB_CODE_MEMORY, "vulkan", "No memory was left for a Vulkan object.");
}

/* --- device --- */

static bool compute_family(VkPhysicalDevice device, uint32_t *family)
{
  VkQueueFamilyProperties families[FAMILIES_MAX];
  uint32_t n = FAMILIES_MAX;
  vkGetPhysicalDeviceQueueFamilyProperties(device, &n, families);
  for (uint32_t i = 0; i < n; i++) {
    if (!(families[i].queueFlags & VK_QUEUE_COMPUTE_BIT) || !families[i].queueCount) continue;
    *family = i;
    return true;
  }
  return false;
}

static void describe(sb_vulkan *v)
{
  VkPhysicalDeviceFloatControlsProperties floats = {.sType =
                                                        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FLOAT_CONTROLS_PROPERTIES};
  VkPhysicalDeviceMaintenance3Properties allocation = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES, .pNext = &floats};
  VkPhysicalDeviceDriverProperties driver = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES,
                                             .pNext = &allocation};
  VkPhysicalDeviceProperties2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &driver};
  vkGetPhysicalDeviceProperties2(v->physical, &all);
  snprintf(v->info.device, sizeof v->info.device, "%s", all.properties.deviceName);
  snprintf(v->info.driver, sizeof v->info.driver, "%s", driver.driverName);
  snprintf(v->info.driver_version, sizeof v->info.driver_version, "%s", driver.driverInfo);
  v->info.claims_preserved_specials = floats.shaderSignedZeroInfNanPreserveFloat32;
  v->info.claims_round_to_even = floats.shaderRoundingModeRTEFloat32;
  v->groups_max = all.properties.limits.maxComputeWorkGroupCount[0];
  v->invocations_max = all.properties.limits.maxComputeWorkGroupInvocations;
  if (v->invocations_max > all.properties.limits.maxComputeWorkGroupSize[0])
    v->invocations_max = all.properties.limits.maxComputeWorkGroupSize[0];
  v->shared_max = all.properties.limits.maxComputeSharedMemorySize;
  v->binding_max = all.properties.limits.maxStorageBufferRange;
  v->allocation_max = allocation.maxMemoryAllocationSize;
  v->buffer_max = v->binding_max < v->allocation_max ? v->binding_max : v->allocation_max;
}

static sb_status choose_device(sb_vulkan *v, sb_diagnostics *diag)
{
  VkPhysicalDevice devices[DEVICES_MAX];
  uint32_t n = DEVICES_MAX;
  VkResult r = vkEnumeratePhysicalDevices(v->instance, &n, devices);
  if (r != VK_SUCCESS && r != VK_INCOMPLETE) n = 0;
  for (uint32_t i = 0; i < n; i++) {
    VkPhysicalDeviceProperties properties;
    vkGetPhysicalDeviceProperties(devices[i], &properties);
    if (properties.apiVersion < VK_API_VERSION_1_2 || !compute_family(devices[i], &v->family)) continue;
    v->physical = devices[i];
    vkGetPhysicalDeviceMemoryProperties(v->physical, &v->memory);
    describe(v);
    return SB_OK;
  }
  return sb_report(diag, SB_ERROR, SB_CODE_VULKAN_DEVICE, "vulkan",
                   "Expected a device with Vulkan 1.2 and a compute queue; none of %u has both.", n);
}

static sb_status make_device(sb_vulkan *v, sb_diagnostics *diag)
{
  float priority = 1;
  VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                   .queueFamilyIndex = v->family,
                                   .queueCount = 1,
                                   .pQueuePriorities = &priority};
  VkDeviceCreateInfo device = {
      .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, .queueCreateInfoCount = 1, .pQueueCreateInfos = &queue};
  sb_vulkan_features_choose(v->physical, &v->features);
  sb_vulkan_features_enable(&v->features, &device);
  VkResult r = vkCreateDevice(v->physical, &device, NULL, &v->device);
  if (r != VK_SUCCESS) return sb_vulkan_call_failed(diag, "vkCreateDevice", r);
  vkGetDeviceQueue(v->device, v->family, 0, &v->queue);
  VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                  .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                                  .queueFamilyIndex = v->family};
  r = vkCreateCommandPool(v->device, &pool, NULL, &v->commands);
  if (r != VK_SUCCESS) return sb_vulkan_call_failed(diag, "vkCreateCommandPool", r);
  VkCommandBufferAllocateInfo command = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                         .commandPool = v->commands,
                                         .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                         .commandBufferCount = 1};
  r = vkAllocateCommandBuffers(v->device, &command, &v->command);
  command.commandBufferCount = SB_VULKAN_TRANSFERS;
  if (r == VK_SUCCESS) r = vkAllocateCommandBuffers(v->device, &command, v->transfers);
  if (r != VK_SUCCESS) return sb_vulkan_call_failed(diag, "vkAllocateCommandBuffers", r);
  VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
  r = vkCreateFence(v->device, &fence, NULL, &v->fence);
  return r == VK_SUCCESS ? SB_OK : sb_vulkan_call_failed(diag, "vkCreateFence", r);
}

sb_status sb_vulkan_open(sb_vulkan **out, sb_diagnostics *diag)
{
  sb_vulkan *v = calloc(1, sizeof *v);
  if (!v) return sb_vulkan_host_memory(diag);
  v->time_limit = SB_VULKAN_TIME_LIMIT;
  VkApplicationInfo application = {
      .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .pApplicationName = "samebit", .apiVersion = VK_API_VERSION_1_2};
  VkInstanceCreateInfo instance = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &application};
  sb_status status;
  VkResult r = vkCreateInstance(&instance, NULL, &v->instance);
  if (r != VK_SUCCESS)
    status =
        sb_report(diag, SB_ERROR, SB_CODE_VULKAN_DEVICE, "vulkan",
                  "Expected a Vulkan driver; the loader found none (%d). Install one (Mesa's lavapipe is enough), set VK_DRIVER_FILES to where it lies, "
                  "or use backend = cpu.", (int)r);
  else if ((status = choose_device(v, diag)) == SB_OK)
    status = make_device(v, diag);
  if (status == SB_OK)
    *out = v;
  else
    sb_vulkan_close(v);
  return status;
}

void sb_vulkan_close(sb_vulkan *vulkan)
{
  if (!vulkan || vulkan->stuck) return;
  if (vulkan->device && vulkan->fence) {
    sb_vulkan_wait(vulkan, NULL);
    if (vulkan->stuck) return;
  }
  if (vulkan->device) {
    sb_vulkan_buffer_destroy(vulkan->staging);
    sb_vulkan_buffer_destroy(vulkan->reading);
    vkDestroyFence(vulkan->device, vulkan->fence, NULL);
    vkDestroyCommandPool(vulkan->device, vulkan->commands, NULL);
    vkDestroyDevice(vulkan->device, NULL);
  }
  if (vulkan->instance) vkDestroyInstance(vulkan->instance, NULL);
  free(vulkan);
}

void sb_vulkan_set_time_limit(sb_vulkan *vulkan, uint32_t seconds) { vulkan->time_limit = seconds; }

const sb_vulkan_info *sb_vulkan_about(const sb_vulkan *vulkan) { return &vulkan->info; }

/* --- buffers --- */

/* The first memory type that has all flags, or UINT32_MAX. */
static uint32_t memory_type(const sb_vulkan *v, uint32_t allowed, VkMemoryPropertyFlags flags)
{
  for (uint32_t t = 0; t < v->memory.memoryTypeCount; t++)
    if ((allowed >> t & 1u) && (v->memory.memoryTypes[t].propertyFlags & flags) == flags) return t;
  return UINT32_MAX;
}

/* For the host: coherent memory that it sees, cached where there is such, since reading uncached memory is slow. The specification promises
 * that some coherent type fits every buffer. For the device: its own memory. */
static uint32_t choose_memory(const sb_vulkan *v, uint32_t allowed, bool for_host)
{
  const VkMemoryPropertyFlags need = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  uint32_t best = memory_type(v, allowed, for_host ? need | VK_MEMORY_PROPERTY_HOST_CACHED_BIT : VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
  return best != UINT32_MAX ? best : memory_type(v, allowed, for_host ? need : 0);
}

static sb_status create_buffer(sb_vulkan *vulkan, uint64_t size, uint64_t most, bool for_host, sb_vulkan_buffer **out, sb_diagnostics *diag)
{
  /* Drivers need not check either. */
  if (size == 0 || size > most)
    return sb_report(diag, SB_ERROR, SB_CODE_VULKAN_MEMORY, "buffer",
                     "Expected a buffer of 1 to %llu bytes, the device's limit; found %llu. Make the scene or capacities in [collision] smaller.",
                     (unsigned long long)most, (unsigned long long)size);
  sb_vulkan_buffer *b = calloc(1, sizeof *b);
  if (!b) return sb_vulkan_host_memory(diag);
  b->vulkan = vulkan;
  b->size = size;
  const char *call = "vkCreateBuffer";
  VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                             .size = size,
                             .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                                      VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT};
  VkResult r = vkCreateBuffer(b->vulkan->device, &info, NULL, &b->buffer);
  if (r == VK_SUCCESS) {
    VkMemoryRequirements needs;
    vkGetBufferMemoryRequirements(b->vulkan->device, b->buffer, &needs);
    VkMemoryAllocateInfo allocation = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                       .allocationSize = needs.size,
                                       .memoryTypeIndex = choose_memory(vulkan, needs.memoryTypeBits, for_host)};
    call = "vkAllocateMemory";
    r = allocation.memoryTypeIndex == UINT32_MAX ? VK_ERROR_FEATURE_NOT_PRESENT
                                                 : vkAllocateMemory(b->vulkan->device, &allocation, NULL, &b->memory);
  }
  if (r == VK_SUCCESS) call = "vkBindBufferMemory", r = vkBindBufferMemory(b->vulkan->device, b->buffer, b->memory, 0);
  if (r == VK_SUCCESS && for_host) call = "vkMapMemory", r = vkMapMemory(b->vulkan->device, b->memory, 0, VK_WHOLE_SIZE, 0, &b->data);
  if (r == VK_SUCCESS) {
    *out = b;
    return SB_OK;
  }
  sb_vulkan_buffer_destroy(b);
  return sb_vulkan_call_failed(diag, call, r);
}

sb_status sb_vulkan_buffer_create(sb_vulkan *vulkan, size_t size, sb_vulkan_buffer **out, sb_diagnostics *diag)
{
  return create_buffer(vulkan, size, vulkan->buffer_max, true, out, diag);
}

sb_status sb_vulkan_device_buffer_create(sb_vulkan *vulkan, uint64_t size, sb_vulkan_buffer **out, sb_diagnostics *diag)
{
  return create_buffer(vulkan, size, vulkan->allocation_max, false, out, diag);
}

void sb_vulkan_buffer_destroy(sb_vulkan_buffer *buffer)
{
  if (!buffer || buffer->vulkan->stuck) return;
  VkDevice device = buffer->vulkan->device;
  vkDestroyBuffer(device, buffer->buffer, NULL);
  vkFreeMemory(device, buffer->memory, NULL);
  free(buffer);
}

void *sb_vulkan_buffer_data(sb_vulkan_buffer *buffer) { return buffer->data; }

/* --- pipelines --- */

static VkResult make_layout(sb_vulkan_pipeline *p)
{
  VkDescriptorSetLayoutBinding bindings[SB_VULKAN_BUFFERS_MAX];
  for (uint32_t i = 0; i < p->buffer_count; i++)
    bindings[i] = (VkDescriptorSetLayoutBinding){.binding = i,
                                                 .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                                 .descriptorCount = 1,
                                                 .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
  VkDescriptorSetLayoutCreateInfo set = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                         .bindingCount = p->buffer_count,
                                         .pBindings = bindings};
  VkResult r = vkCreateDescriptorSetLayout(p->vulkan->device, &set, NULL, &p->set_layout);
  if (r != VK_SUCCESS) return r;
  VkPushConstantRange push = {VK_SHADER_STAGE_COMPUTE_BIT, 0, p->push_size};
  VkPipelineLayoutCreateInfo layout = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                       .setLayoutCount = 1,
                                       .pSetLayouts = &p->set_layout,
                                       .pushConstantRangeCount = p->push_size ? 1 : 0,
                                       .pPushConstantRanges = &push};
  return vkCreatePipelineLayout(p->vulkan->device, &layout, NULL, &p->layout);
}

static VkResult make_set(sb_vulkan_pipeline *p)
{
  VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, p->buffer_count};
  VkDescriptorPoolCreateInfo pool = {
      .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO, .maxSets = 1, .poolSizeCount = 1, .pPoolSizes = &size};
  VkResult r = vkCreateDescriptorPool(p->vulkan->device, &pool, NULL, &p->pool);
  if (r != VK_SUCCESS) return r;
  VkDescriptorSetAllocateInfo set = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                     .descriptorPool = p->pool,
                                     .descriptorSetCount = 1,
                                     .pSetLayouts = &p->set_layout};
  return vkAllocateDescriptorSets(p->vulkan->device, &set, &p->set);
}

sb_status sb_vulkan_pipeline_create(sb_vulkan *vulkan, const uint32_t *words, size_t count, uint32_t buffer_count,
                                    uint32_t push_size, sb_vulkan_pipeline **out, sb_diagnostics *diag)
{
  if (buffer_count == 0 || buffer_count > SB_VULKAN_BUFFERS_MAX || push_size > SB_VULKAN_PUSH_MAX || push_size % 4)
    return sb_report(diag, SB_ERROR, SB_CODE_VULKAN_CALL, "pipeline",
                     "Expected 1 to %u buffers and up to %u bytes of push constants in words; found %u and %u.",
                     SB_VULKAN_BUFFERS_MAX, SB_VULKAN_PUSH_MAX, buffer_count, push_size);
  sb_vulkan_pipeline *p = calloc(1, sizeof *p);
  if (!p) return sb_vulkan_host_memory(diag);
  p->vulkan = vulkan;
  p->buffer_count = buffer_count;
  p->push_size = push_size;
  const char *call = "vkCreateShaderModule";
  VkShaderModule module = VK_NULL_HANDLE;
  VkShaderModuleCreateInfo code = {
      .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = count * sizeof *words, .pCode = words};
  VkResult r = vkCreateShaderModule(p->vulkan->device, &code, NULL, &module);
  if (r == VK_SUCCESS) call = "vkCreatePipelineLayout", r = make_layout(p);
  if (r == VK_SUCCESS) {
    VkComputePipelineCreateInfo info = {.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
                                        .layout = p->layout,
                                        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                                                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                                                  .module = module,
                                                  .pName = "main"}};
    call = "vkCreateComputePipelines";
    r = vkCreateComputePipelines(p->vulkan->device, VK_NULL_HANDLE, 1, &info, NULL, &p->pipeline);
  }
  if (r == VK_SUCCESS) call = "vkAllocateDescriptorSets", r = make_set(p);
  vkDestroyShaderModule(p->vulkan->device, module, NULL);
  if (r == VK_SUCCESS) {
    *out = p;
    return SB_OK;
  }
  sb_vulkan_pipeline_destroy(p);
  return sb_vulkan_call_failed(diag, call, r);
}

void sb_vulkan_pipeline_destroy(sb_vulkan_pipeline *pipeline)
{
  if (!pipeline || pipeline->vulkan->stuck) return;
  VkDevice device = pipeline->vulkan->device;
  vkDestroyDescriptorPool(device, pipeline->pool, NULL);
  vkDestroyPipeline(device, pipeline->pipeline, NULL);
  vkDestroyPipelineLayout(device, pipeline->layout, NULL);
  vkDestroyDescriptorSetLayout(device, pipeline->set_layout, NULL);
  free(pipeline);
}

/* --- running --- */

static void bind_buffers(sb_vulkan_pipeline *p, sb_vulkan_buffer *const *buffers)
{
  VkDescriptorBufferInfo infos[SB_VULKAN_BUFFERS_MAX];
  VkWriteDescriptorSet writes[SB_VULKAN_BUFFERS_MAX];
  for (uint32_t i = 0; i < p->buffer_count; i++) {
    infos[i] = (VkDescriptorBufferInfo){buffers[i]->buffer, 0, VK_WHOLE_SIZE};
    writes[i] = (VkWriteDescriptorSet){.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                       .dstSet = p->set,
                                       .dstBinding = i,
                                       .descriptorCount = 1,
                                       .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                       .pBufferInfo = &infos[i]};
  }
  vkUpdateDescriptorSets(p->vulkan->device, p->buffer_count, writes, 0, NULL);
}

static VkResult record(sb_vulkan *v, sb_vulkan_pipeline *p, const void *push, uint32_t groups)
{
  VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                    .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
  VkResult r = vkBeginCommandBuffer(v->command, &begin);
  if (r != VK_SUCCESS) return r;
  vkCmdBindPipeline(v->command, VK_PIPELINE_BIND_POINT_COMPUTE, p->pipeline);
  vkCmdBindDescriptorSets(v->command, VK_PIPELINE_BIND_POINT_COMPUTE, p->layout, 0, 1, &p->set, 0, NULL);
  if (p->push_size) vkCmdPushConstants(v->command, p->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, p->push_size, push);
  vkCmdDispatch(v->command, groups, 1, 1);
  /* A fence alone does not make shader writes visible to the host. */
  VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                             .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
                             .dstAccessMask = VK_ACCESS_HOST_READ_BIT};
  vkCmdPipelineBarrier(v->command, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &barrier, 0,
                       NULL, 0, NULL);
  return vkEndCommandBuffer(v->command);
}

VkResult sb_vulkan_send_and_wait(sb_vulkan *v, VkCommandBuffer command, const char **call)
{
  VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &command};
  if (v->stuck) return *call = "vkWaitForFences", VK_TIMEOUT;
  *call = "vkQueueSubmit";
  VkResult r = vkQueueSubmit(v->queue, command ? 1 : 0, command ? &submit : NULL, v->fence);
  if (r != VK_SUCCESS) {
    vkQueueWaitIdle(v->queue); /* what was sent before may run on */
  } else {
    *call = "vkWaitForFences";
    r = vkWaitForFences(v->device, 1, &v->fence, VK_TRUE, v->time_limit * UINT64_C(1000000000));
  }
  if (r == VK_SUCCESS) *call = "vkResetFences", r = vkResetFences(v->device, 1, &v->fence);
  v->busy = false;
  v->stuck = r == VK_TIMEOUT;
  v->lost = v->lost || v->stuck || r == VK_ERROR_DEVICE_LOST;
  return r;
}

sb_status sb_vulkan_run(sb_vulkan *vulkan, sb_vulkan_pipeline *pipeline, sb_vulkan_buffer *const *buffers,
                        const void *push, uint32_t groups, sb_diagnostics *diag)
{
  if (groups > vulkan->groups_max)
    return sb_report(diag, SB_ERROR, SB_CODE_VULKAN_CALL, "dispatch",
                     "Expected at most %u workgroups, the device's limit; found %u.", vulkan->groups_max, groups);
  if (vulkan->stuck) return sb_vulkan_call_failed(diag, "vkWaitForFences", VK_TIMEOUT);
  bind_buffers(pipeline, buffers);
  const char *call = "vkEndCommandBuffer";
  VkResult r = record(vulkan, pipeline, push, groups);
  if (r == VK_SUCCESS) r = sb_vulkan_send_and_wait(vulkan, vulkan->command, &call);
  return r == VK_SUCCESS ? SB_OK : sb_vulkan_call_failed(diag, call, r);
}
