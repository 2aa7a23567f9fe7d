/* Transfers and graphs over one queue. A command buffer begins with a barrier against everything before it, so that the order of
 * submission is the order of effects. */
#include "vulkan_graph.h"

#include "vulkan_internal.h"

#include <stdlib.h>
#include <string.h>

#define STAGING_BYTES (16u << 20)

/* Commands of one graph: drivers keep some hundred bytes for each. */
#define NODES_MAX (1u << 21)

/* Sets of descriptors in one pool. */
#define POOL_SETS 256u

typedef enum node_kind { NODE_DISPATCH, NODE_INDIRECT, NODE_BARRIER, NODE_CLEAR, NODE_COPY } node_kind;

typedef struct node {
  node_kind kind;
  uint32_t set; /* index into sets */
  uint32_t groups;
  uint32_t push; /* first byte in `pushes` */
  sb_vulkan_pipeline *pipeline;
  sb_vulkan_buffer *arguments; /* of NODE_INDIRECT; else the buffer that is written */
  sb_vulkan_buffer *from;
  uint64_t offset; /* of NODE_INDIRECT; else bytes */
} node;

/* What a descriptor set was made for: dispatches that agree share it. */
typedef struct set_key {
  sb_vulkan_pipeline *pipeline;
  sb_vulkan_slice slices[SB_VULKAN_BUFFERS_MAX];
} set_key;

struct sb_vulkan_graph {
  sb_vulkan *vulkan;
  bool eager, finished;
  bool broken; /* a command was refused or its recording failed: what is there is not what was meant */
  node *nodes;
  size_t node_count, node_capacity;
  char *pushes;
  size_t push_bytes, push_capacity;
  set_key *keys;
  VkDescriptorSet *sets;
  size_t set_count, set_capacity;
  VkDescriptorPool *pools;
  size_t pool_count;
  VkCommandBuffer command;
};

sb_vulkan_limits sb_vulkan_limits_of(const sb_vulkan *v)
{
  return (sb_vulkan_limits){v->binding_max, v->groups_max, v->invocations_max, v->shared_max};
}

bool sb_vulkan_offers(const sb_vulkan *v, uint32_t capability) { return sb_vulkan_features_offer(&v->features, capability); }

bool sb_vulkan_lost(const sb_vulkan *v) { return v->lost; }

uint64_t sb_vulkan_buffer_size(const sb_vulkan_buffer *buffer) { return buffer->size; }

/* A caller's mistake, which no driver gets to see. */
#define MISUSE(diag, where, ...) ((void)sb_report(diag, SB_ERROR, SB_CODE_VULKAN_CALL, where, __VA_ARGS__), SB_E_ARGUMENT)

/* ---- the queue ---- */

static void barrier(VkCommandBuffer command)
{
  VkMemoryBarrier all = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                         .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
                         .dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT};
  vkCmdPipelineBarrier(command, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 1, &all, 0, NULL, 0, NULL);
}

/* Between dispatches: only shaders and the reading of their arguments take part. */
static void compute_barrier(VkCommandBuffer command)
{
  VkMemoryBarrier shaders = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                             .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
                             .dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_INDIRECT_COMMAND_READ_BIT};
  vkCmdPipelineBarrier(command, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_DRAW_INDIRECT_BIT, 0,
                       1, &shaders, 0, NULL, 0, NULL);
}

static VkResult submit(sb_vulkan *v, VkCommandBuffer command)
{
  if (v->stuck) return VK_TIMEOUT;
  VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &command};
  VkResult r = vkQueueSubmit(v->queue, 1, &info, VK_NULL_HANDLE);
  v->busy = true;
  v->lost = v->lost || r == VK_ERROR_DEVICE_LOST;
  return r;
}

/* Ends the transfers that are being recorded; *out stays as it is where there are none. */
static sb_status end_transfers(sb_vulkan *v, VkCommandBuffer *out, sb_diagnostics *diag)
{
  if (!v->recording) return SB_OK;
  VkCommandBuffer command = v->transfers[v->transfer_count - 1];
  v->recording = false;
  VkResult r = vkEndCommandBuffer(command);
  if (r != VK_SUCCESS) return sb_vulkan_call_failed(diag, "vkEndCommandBuffer", r);
  *out = command;
  return SB_OK;
}

static sb_status flush(sb_vulkan *v, sb_diagnostics *diag)
{
  VkCommandBuffer command = VK_NULL_HANDLE;
  sb_status status = end_transfers(v, &command, diag);
  if (status || !command) return status;
  VkResult r = submit(v, command);
  return r == VK_SUCCESS ? SB_OK : sb_vulkan_call_failed(diag, "vkQueueSubmit", r);
}

sb_status sb_vulkan_wait(sb_vulkan *v, sb_diagnostics *diag)
{
  VkCommandBuffer command = VK_NULL_HANDLE;
  const char *call = "";
  sb_status status = end_transfers(v, &command, diag);
  VkResult r = command || v->busy ? sb_vulkan_send_and_wait(v, command, &call) : VK_SUCCESS;
  v->transfer_count = 0;
  v->staged = 0;
  if (status) return status;
  return r == VK_SUCCESS ? SB_OK : sb_vulkan_call_failed(diag, call, r);
}

/* The command buffer for transfers, open. */
static sb_status open_transfer(sb_vulkan *v, VkCommandBuffer *out, sb_diagnostics *diag)
{
  if (v->stuck) return sb_vulkan_call_failed(diag, "vkWaitForFences", VK_TIMEOUT);
  if (!v->recording) {
    if (v->transfer_count == SB_VULKAN_TRANSFERS) {
      sb_status status = sb_vulkan_wait(v, diag);
      if (status) return status;
    }
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                      .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    VkResult r = vkBeginCommandBuffer(v->transfers[v->transfer_count], &begin);
    if (r != VK_SUCCESS) return sb_vulkan_call_failed(diag, "vkBeginCommandBuffer", r);
    v->transfer_count++;
    v->recording = true;
    barrier(v->transfers[v->transfer_count - 1]);
  }
  *out = v->transfers[v->transfer_count - 1];
  return SB_OK;
}

/* ---- transfers ---- */

static sb_status check_range(const sb_vulkan_buffer *buffer, uint64_t offset, uint64_t bytes, sb_diagnostics *diag)
{
  if (offset <= buffer->size && bytes <= buffer->size - offset) return SB_OK;
  return MISUSE(diag, "copy", "Expected a range inside a buffer of %llu bytes; found %llu bytes from %llu on.",
                   (unsigned long long)buffer->size, (unsigned long long)bytes, (unsigned long long)offset);
}

sb_status sb_vulkan_clear(sb_vulkan *v, sb_vulkan_buffer *buffer, sb_diagnostics *diag)
{
  VkCommandBuffer command = VK_NULL_HANDLE;
  sb_status status = open_transfer(v, &command, diag);
  if (status) return status;
  barrier(command); /* two transfers into one buffer have no order of their own */
  vkCmdFillBuffer(command, buffer->buffer, 0, VK_WHOLE_SIZE, 0);
  return SB_OK;
}

sb_status sb_vulkan_upload(sb_vulkan *v, sb_vulkan_buffer *buffer, uint64_t offset, const void *data, uint64_t bytes, sb_diagnostics *diag)
{
  sb_status status = check_range(buffer, offset, bytes, diag);
  if (!status && bytes && !v->staging) status = sb_vulkan_buffer_create(v, STAGING_BYTES, &v->staging, diag);
  while (!status && bytes) {
    size_t start = (v->staged + 15u) & ~(size_t)15u;
    if (start >= STAGING_BYTES) {
      status = sb_vulkan_wait(v, diag);
      start = 0;
      if (status) break;
    }
    uint64_t part = STAGING_BYTES - start < bytes ? STAGING_BYTES - start : bytes;
    VkCommandBuffer command = VK_NULL_HANDLE;
    status = open_transfer(v, &command, diag);
    if (status) break;
    if (v->staged == 0) start = 0; /* opening has waited */
    memcpy((char *)v->staging->data + start, data, part);
    VkBufferCopy copy = {start, offset, part};
    barrier(command);
    vkCmdCopyBuffer(command, v->staging->buffer, buffer->buffer, 1, &copy);
    v->staged = start + part;
    data = (const char *)data + part;
    offset += part;
    bytes -= part;
  }
  return status;
}

/* Waiting alone does not make writes visible to the host. */
static void show_to_host(VkCommandBuffer command)
{
  VkMemoryBarrier seen = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER, .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT, .dstAccessMask = VK_ACCESS_HOST_READ_BIT};
  vkCmdPipelineBarrier(command, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &seen, 0, NULL, 0, NULL);
}

sb_status sb_vulkan_download(sb_vulkan *v, sb_vulkan_buffer *buffer, uint64_t offset, void *data, uint64_t bytes, sb_diagnostics *diag)
{
  sb_status status = check_range(buffer, offset, bytes, diag);
  if (!status && bytes && !v->reading) status = sb_vulkan_buffer_create(v, STAGING_BYTES, &v->reading, diag);
  while (!status && bytes) {
    uint64_t part = bytes < STAGING_BYTES ? bytes : STAGING_BYTES;
    VkCommandBuffer command = VK_NULL_HANDLE;
    status = open_transfer(v, &command, diag);
    if (status) break;
    barrier(command);
    VkBufferCopy copy = {offset, 0, part};
    vkCmdCopyBuffer(command, buffer->buffer, v->reading->buffer, 1, &copy);
    show_to_host(command);
    status = sb_vulkan_wait(v, diag);
    if (status) break;
    memcpy(data, v->reading->data, part);
    data = (char *)data + part;
    offset += part;
    bytes -= part;
  }
  return status;
}

static uint64_t aligned(uint64_t bytes) { return (bytes + 15u) & ~(uint64_t)15u; }

sb_status sb_vulkan_download_ranges(sb_vulkan *v, const sb_vulkan_range *ranges, size_t count, sb_diagnostics *diag)
{
  uint64_t all = 0, at = 0;
  sb_status status = SB_OK;
  for (size_t i = 0; i < count && !status; i++) {
    status = check_range(ranges[i].buffer, ranges[i].offset, ranges[i].bytes, diag);
    all += ranges[i].bytes < STAGING_BYTES ? aligned(ranges[i].bytes) : STAGING_BYTES;
  }
  if (status || all == 0) return status;
  if (all > STAGING_BYTES) {
    for (size_t i = 0; i < count && !status; i++) status = sb_vulkan_download(v, ranges[i].buffer, ranges[i].offset, ranges[i].data, ranges[i].bytes, diag);
    return status;
  }
  VkCommandBuffer command = VK_NULL_HANDLE;
  if (!v->reading) status = sb_vulkan_buffer_create(v, STAGING_BYTES, &v->reading, diag);
  if (!status) status = open_transfer(v, &command, diag);
  if (status) return status;
  barrier(command);
  for (size_t i = 0; i < count; i++) {
    const VkBufferCopy copy = {ranges[i].offset, at, ranges[i].bytes};
    if (ranges[i].bytes) vkCmdCopyBuffer(command, ranges[i].buffer->buffer, v->reading->buffer, 1, &copy);
    at += aligned(ranges[i].bytes);
  }
  show_to_host(command);
  status = sb_vulkan_wait(v, diag);
  at = 0;
  for (size_t i = 0; i < count && !status; i++) {
    if (ranges[i].bytes) memcpy(ranges[i].data, (const char *)v->reading->data + at, ranges[i].bytes);
    at += aligned(ranges[i].bytes);
  }
  return status;
}

/* ---- building a graph ---- */

sb_status sb_vulkan_graph_create(sb_vulkan *vulkan, bool eager, sb_vulkan_graph **out, sb_diagnostics *diag)
{
  sb_vulkan_graph *g = calloc(1, sizeof *g);
  if (!g) return sb_vulkan_host_memory(diag);
  g->vulkan = vulkan;
  g->eager = eager;
  *out = g;
  return SB_OK;
}

void sb_vulkan_graph_destroy(sb_vulkan_graph *g)
{
  if (!g) return;
  VkDevice device = g->vulkan->device;
  sb_vulkan_wait(g->vulkan, NULL);
  if (g->vulkan->stuck) return;
  for (size_t i = 0; i < g->pool_count; i++) vkDestroyDescriptorPool(device, g->pools[i], NULL);
  if (g->command) vkFreeCommandBuffers(device, g->vulkan->commands, 1, &g->command);
  free(g->nodes);
  free(g->pushes);
  free(g->keys);
  free(g->sets);
  free(g->pools);
  free(g);
}

static bool same_key(const set_key *a, const set_key *b)
{
  if (a->pipeline != b->pipeline) return false;
  for (uint32_t i = 0; i < a->pipeline->buffer_count; i++)
    if (a->slices[i].buffer != b->slices[i].buffer || a->slices[i].offset != b->slices[i].offset || a->slices[i].bytes != b->slices[i].bytes) return false;
  return true;
}

/* Room for one more element in a list that grows by halves; NULL when memory runs out. */
static void *grow(void *list, size_t count, size_t *capacity, size_t size)
{
  if (count < *capacity) return list;
  size_t more = *capacity + *capacity / 2 + 16;
  void *grown = realloc(list, more * size);
  if (grown) *capacity = more;
  return grown;
}

static sb_status add_set(sb_vulkan_graph *g, const set_key *key, uint32_t *index, sb_diagnostics *diag)
{
  /* Sets come round again in the order of the graph's first passage: the search begins after the last one found. */
  size_t last = g->node_count ? g->nodes[g->node_count - 1].set : 0;
  for (size_t i = 0; i < g->set_count; i++) {
    size_t at = (last + i) % g->set_count;
    if (!same_key(&g->keys[at], key)) continue;
    *index = (uint32_t)at;
    return SB_OK;
  }
  set_key *keys = grow(g->keys, g->set_count, &g->set_capacity, sizeof *g->keys);
  if (!keys) return sb_vulkan_host_memory(diag);
  g->keys = keys;
  g->keys[g->set_count] = *key;
  *index = (uint32_t)g->set_count++;
  return SB_OK;
}

static sb_status check_slice(const sb_vulkan *v, const sb_vulkan_slice *s, sb_diagnostics *diag)
{
  uint64_t size = s->buffer->size;
  if (s->offset % 256 || s->offset >= size || s->bytes > size - s->offset || (s->bytes ? s->bytes : size - s->offset) > v->binding_max)
    return MISUSE(diag, "binding", "Expected at most %llu bytes from a multiple of 256 on, inside a buffer of %llu; found %llu bytes from %llu on.",
                  (unsigned long long)v->binding_max, (unsigned long long)size,
                  (unsigned long long)(s->bytes || s->offset > size ? s->bytes : size - s->offset), (unsigned long long)s->offset);
  return SB_OK;
}

static sb_status append_node(sb_vulkan_graph *g, node n, const sb_vulkan_slice *slices, const void *push, sb_diagnostics *diag)
{
  if (g->node_count >= NODES_MAX) return MISUSE(diag, "graph", "Expected at most %u commands in one graph; use fewer substeps or iterations, or backend = cpu.", NODES_MAX);
  if (slices) {
    if (n.pipeline->push_size && !push) return MISUSE(diag, "dispatch", "Expected %u bytes of push constants; found none.", n.pipeline->push_size);
    set_key key = {.pipeline = n.pipeline};
    for (uint32_t i = 0; i < n.pipeline->buffer_count; i++) {
      sb_status status = check_slice(g->vulkan, &slices[i], diag);
      if (status) return status;
      key.slices[i] = slices[i];
    }
    sb_status status = add_set(g, &key, &n.set, diag);
    if (status) return status;
    n.push = (uint32_t)g->push_bytes;
    for (uint32_t i = 0; i < n.pipeline->push_size; i++) {
      char *pushes = grow(g->pushes, g->push_bytes, &g->push_capacity, 1);
      if (!pushes) return sb_vulkan_host_memory(diag);
      g->pushes = pushes;
      g->pushes[g->push_bytes++] = ((const char *)push)[i];
    }
  } else if (g->node_count) {
    n.set = g->nodes[g->node_count - 1].set;
  }
  node *nodes = grow(g->nodes, g->node_count, &g->node_capacity, sizeof *nodes);
  if (!nodes) return sb_vulkan_host_memory(diag);
  g->nodes = nodes;
  g->nodes[g->node_count++] = n;
  return SB_OK;
}

/* A graph that lacks a command must not run as if nothing had happened. */
static sb_status add_node(sb_vulkan_graph *g, node n, const sb_vulkan_slice *slices, const void *push, sb_diagnostics *diag)
{
  if (g->finished) return MISUSE(diag, "graph", "Expected a graph that is not finished.");
  sb_status status = append_node(g, n, slices, push, diag);
  if (status) g->broken = true;
  return status;
}

void sb_vulkan_graph_break(sb_vulkan_graph *g) { g->broken = g->broken || !g->finished; }

sb_status sb_vulkan_graph_dispatch(sb_vulkan_graph *g, sb_vulkan_pipeline *pipeline, const sb_vulkan_slice *slices, const void *push,
                                   uint32_t groups, sb_diagnostics *diag)
{
  if (groups == 0) return SB_OK;
  if (groups > g->vulkan->groups_max) {
    sb_vulkan_graph_break(g);
    return MISUSE(diag, "dispatch", "Expected at most %u workgroups, the device's limit; found %u.", g->vulkan->groups_max, groups);
  }
  return add_node(g, (node){.kind = NODE_DISPATCH, .pipeline = pipeline, .groups = groups}, slices, push, diag);
}

sb_status sb_vulkan_graph_dispatch_indirect(sb_vulkan_graph *g, sb_vulkan_pipeline *pipeline, const sb_vulkan_slice *slices,
                                            const void *push, sb_vulkan_buffer *groups, uint64_t offset, sb_diagnostics *diag)
{
  if (offset % 4 || groups->size < 12 || offset > groups->size - 12) {
    sb_vulkan_graph_break(g);
    return MISUSE(diag, "dispatch", "Expected three words, from a multiple of 4 on, inside a buffer of %llu bytes; found them from %llu on.",
                  (unsigned long long)groups->size, (unsigned long long)offset);
  }
  return add_node(g, (node){.kind = NODE_INDIRECT, .pipeline = pipeline, .arguments = groups, .offset = offset}, slices, push, diag);
}

sb_status sb_vulkan_graph_barrier(sb_vulkan_graph *g, sb_diagnostics *diag)
{
  return add_node(g, (node){.kind = NODE_BARRIER}, NULL, NULL, diag);
}

sb_status sb_vulkan_graph_clear(sb_vulkan_graph *g, sb_vulkan_buffer *buffer, sb_diagnostics *diag)
{
  return add_node(g, (node){.kind = NODE_CLEAR, .arguments = buffer}, NULL, NULL, diag);
}

sb_status sb_vulkan_graph_copy(sb_vulkan_graph *g, sb_vulkan_buffer *from, sb_vulkan_buffer *to, uint64_t bytes, sb_diagnostics *diag)
{
  sb_status status = check_range(from, 0, bytes, diag);
  if (!status) status = check_range(to, 0, bytes, diag);
  return status ? status : add_node(g, (node){.kind = NODE_COPY, .arguments = to, .from = from, .offset = bytes}, NULL, NULL, diag);
}

/* ---- recording ---- */

static VkResult add_pool(sb_vulkan_graph *g)
{
  VkDescriptorPool *pools = realloc(g->pools, (g->pool_count + 1) * sizeof *pools);
  if (!pools) return VK_ERROR_OUT_OF_HOST_MEMORY;
  g->pools = pools;
  VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, POOL_SETS * SB_VULKAN_BUFFERS_MAX};
  VkDescriptorPoolCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO, .maxSets = POOL_SETS, .poolSizeCount = 1, .pPoolSizes = &size};
  VkResult r = vkCreateDescriptorPool(g->vulkan->device, &info, NULL, &g->pools[g->pool_count]);
  if (r == VK_SUCCESS) g->pool_count++;
  return r;
}

static void write_set(const sb_vulkan_graph *g, size_t i)
{
  const set_key *key = &g->keys[i];
  VkDescriptorBufferInfo infos[SB_VULKAN_BUFFERS_MAX];
  VkWriteDescriptorSet writes[SB_VULKAN_BUFFERS_MAX];
  for (uint32_t k = 0; k < key->pipeline->buffer_count; k++) {
    const sb_vulkan_slice *s = &key->slices[k];
    infos[k] = (VkDescriptorBufferInfo){s->buffer->buffer, s->offset, s->bytes ? s->bytes : VK_WHOLE_SIZE};
    writes[k] = (VkWriteDescriptorSet){.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                       .dstSet = g->sets[i],
                                       .dstBinding = k,
                                       .descriptorCount = 1,
                                       .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                       .pBufferInfo = &infos[k]};
  }
  vkUpdateDescriptorSets(g->vulkan->device, key->pipeline->buffer_count, writes, 0, NULL);
}

static VkResult make_sets(sb_vulkan_graph *g)
{
  g->sets = calloc(g->set_count + 1, sizeof *g->sets);
  if (!g->sets) return VK_ERROR_OUT_OF_HOST_MEMORY;
  for (size_t i = 0; i < g->set_count; i++) {
    if (i % POOL_SETS == 0) {
      VkResult r = add_pool(g);
      if (r != VK_SUCCESS) return r;
    }
    VkDescriptorSetAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                        .descriptorPool = g->pools[g->pool_count - 1],
                                        .descriptorSetCount = 1,
                                        .pSetLayouts = &g->keys[i].pipeline->set_layout};
    VkResult r = vkAllocateDescriptorSets(g->vulkan->device, &info, &g->sets[i]);
    if (r != VK_SUCCESS) return r;
    write_set(g, i);
  }
  return VK_SUCCESS;
}

static void record_transfer(VkCommandBuffer command, const node *n)
{
  const VkBufferCopy copy = {0, 0, n->offset};
  barrier(command);
  if (n->kind == NODE_CLEAR)
    vkCmdFillBuffer(command, n->arguments->buffer, 0, VK_WHOLE_SIZE, 0);
  else
    vkCmdCopyBuffer(command, n->from->buffer, n->arguments->buffer, 1, &copy);
  VkMemoryBarrier seen = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER, .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
                          .dstAccessMask = VK_ACCESS_HOST_READ_BIT | VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT};
  vkCmdPipelineBarrier(command, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_HOST_BIT | VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 1, &seen, 0, NULL, 0, NULL);
}

/* Appends node n; what is bound already is not bound again. */
static void record_node(const sb_vulkan_graph *g, VkCommandBuffer command, const node *n, const node *before)
{
  if (n->kind == NODE_BARRIER) {
    compute_barrier(command);
    return;
  }
  if (n->kind == NODE_CLEAR || n->kind == NODE_COPY) {
    record_transfer(command, n);
    return;
  }
  const sb_vulkan_pipeline *p = n->pipeline;
  if (!before || before->pipeline != p) vkCmdBindPipeline(command, VK_PIPELINE_BIND_POINT_COMPUTE, p->pipeline);
  if (!before || before->set != n->set || before->pipeline != p)
    vkCmdBindDescriptorSets(command, VK_PIPELINE_BIND_POINT_COMPUTE, p->layout, 0, 1, &g->sets[n->set], 0, NULL);
  if (p->push_size) vkCmdPushConstants(command, p->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, p->push_size, g->pushes + n->push);
  if (n->kind == NODE_DISPATCH)
    vkCmdDispatch(command, n->groups, 1, 1);
  else
    vkCmdDispatchIndirect(command, n->arguments->buffer, n->offset);
}

static VkResult record(sb_vulkan_graph *g)
{
  VkCommandBufferAllocateInfo allocate = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                          .commandPool = g->vulkan->commands,
                                          .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                          .commandBufferCount = 1};
  VkResult r = vkAllocateCommandBuffers(g->vulkan->device, &allocate, &g->command);
  if (r != VK_SUCCESS) return r;
  VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                    .flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT};
  r = vkBeginCommandBuffer(g->command, &begin);
  if (r != VK_SUCCESS) return r;
  barrier(g->command);
  const node *before = NULL;
  for (size_t i = 0; i < g->node_count; i++) {
    record_node(g, g->command, &g->nodes[i], before);
    if (g->nodes[i].pipeline) before = &g->nodes[i];
  }
  return vkEndCommandBuffer(g->command);
}

sb_status sb_vulkan_graph_finish(sb_vulkan_graph *g, sb_diagnostics *diag)
{
  if (g->broken) return MISUSE(diag, "graph", "Expected a graph of which every call has succeeded; one has failed, so it cannot run.");
  if (g->finished) return SB_OK;
  g->finished = true;
  const char *call = "vkAllocateDescriptorSets";
  VkResult r = make_sets(g);
  if (r == VK_SUCCESS && !g->eager) call = "vkEndCommandBuffer", r = record(g);
  g->broken = r != VK_SUCCESS;
  return r == VK_SUCCESS ? SB_OK : sb_vulkan_call_failed(diag, call, r);
}

static sb_status run_eagerly(sb_vulkan_graph *g, sb_diagnostics *diag)
{
  sb_status status = SB_OK;
  for (size_t i = 0; !status && i < g->node_count; i++) {
    VkCommandBuffer command = VK_NULL_HANDLE;
    status = open_transfer(g->vulkan, &command, diag);
    if (!status) record_node(g, command, &g->nodes[i], NULL);
    if (!status) status = sb_vulkan_wait(g->vulkan, diag);
  }
  return status;
}

sb_status sb_vulkan_graph_run(sb_vulkan_graph *g, sb_diagnostics *diag)
{
  if (!g->finished || g->broken) return MISUSE(diag, "graph", "Expected a finished graph; %s.", g->broken ? "a call of this one has failed" : "this one is not");
  if (g->eager) return run_eagerly(g, diag);
  sb_status status = flush(g->vulkan, diag);
  if (status) return status;
  VkResult r = submit(g->vulkan, g->command);
  return r == VK_SUCCESS ? SB_OK : sb_vulkan_call_failed(diag, "vkQueueSubmit", r);
}
