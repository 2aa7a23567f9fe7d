/* samebit.compute/1 over the Vulkan layer. A solver's handles are indices into lists of its own. */
#include "compute_extension.h"

#include "device_collision.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "samebit/abi.h"
#include "spirv_audit.h"
#include "spirv_interface.h"

typedef struct object_list {
  void **items;
  uint32_t count;
} object_list;

typedef struct used_pipeline {
  sb_vulkan_pipeline *pipeline; /* the device's */
  uint32_t buffer_count;
} used_pipeline;

/* Three numbers of workgroups that a graph takes from a buffer, as the host knows them: a device that is sent too many may never come back. */
typedef struct arguments {
  uint64_t offset;
  uint32_t groups[3];
} arguments;

typedef struct used_buffer {
  sb_vulkan_buffer *buffer;
  bool borrowed; /* it belongs to the scope */
  size_t array;  /* of a borrowed one */
  arguments *arguments;
  size_t argument_count;
} used_buffer;

/* Words of a shader that are still taken for a true number. */
#define WORDS_MAX (1u << 24)

struct compute_part {
  sb_device_scope *scope;
  sb_vulkan *vulkan;
  char name[48];
  uint32_t mode;
  bool eager;
  sb_compute compute;
  sb_device_part for_sim;
  sb_device_contacts contacts;
  object_list buffers, pipelines, graphs;
};

/* ---- lists and errors ---- */

/* The reason of a failure as text; diagnostics end here. */
static sb_status answer(sb_diagnostics *diag, sb_status status, char *error, uint32_t error_size)
{
  if (status == SB_E_UNSUPPORTED) status = SB_E_INTERNAL; /* a driver's failure; a solver says "unsupported" of a scene */
  if (status && error && error_size) snprintf(error, error_size, "%s", diag->count ? diag->items[0].message : "no reason is known");
  sb_diagnostics_clear(diag);
  return status;
}

static sb_status complain(sb_status status, char *error, uint32_t error_size, const char *text)
{
  if (error && error_size) snprintf(error, error_size, "%s", text);
  return status;
}

static bool reserve(object_list *list)
{
  void **items = realloc(list->items, ((size_t)list->count + 1) * sizeof *items);
  if (items) list->items = items;
  return items != NULL;
}

static void *object(const object_list *list, uint32_t handle) { return handle < list->count ? list->items[handle] : NULL; }

#define NO_MEMORY complain(SB_E_MEMORY, error, error_size, "no memory")

/* A call is refused where its plugin may not make it. [setup]: not in a step; [step]: in a step alone. */
#define SETUP 1u
#define STEP 2u

static bool allowed(const compute_part *p, uint32_t when, const char *call, char *error, uint32_t error_size)
{
  if (!p) {
    if (error && error_size) snprintf(error, error_size, "%s: the context is NULL", call);
    return false;
  }
  const bool own = sb_device_part_is_called(&p->for_sim), fits = when & (p->for_sim.stepping ? STEP : SETUP);
  if (own && fits) return true;
  if (error && error_size)
    snprintf(error, error_size, "%s: %s", call,
             !own ? "only the thread on which the host calls the solver may use the device, and only during that call"
             : when == SETUP ? "not in a step; only in bind and activate"
                             : "only in a step");
  return false;
}

#define ALLOW(when, call)                                                                                                                          \
  do {                                                                                                                                             \
    if (!allowed(context, when, call, error, error_size)) return SB_E_ARGUMENT;                                                                    \
  } while (0)

/* ---- buffers ---- */

static sb_status keep_buffer(compute_part *p, sb_vulkan_buffer *buffer, bool borrowed, size_t array, uint32_t *handle)
{
  used_buffer *made = calloc(1, sizeof *made);
  if (!made || !reserve(&p->buffers)) {
    free(made);
    return SB_E_MEMORY;
  }
  *made = (used_buffer){.buffer = buffer, .borrowed = borrowed, .array = array};
  p->buffers.items[p->buffers.count] = made;
  *handle = p->buffers.count++;
  return SB_OK;
}

static sb_status create_buffer(void *context, uint64_t bytes, uint32_t *handle, char *error, uint32_t error_size)
{
  ALLOW(SETUP, "create_buffer");
  compute_part *p = context;
  sb_diagnostics diag = {0};
  sb_vulkan_buffer *buffer = NULL;
  if (!handle) return complain(SB_E_ARGUMENT, error, error_size, "create_buffer: no place for the handle");
  uint64_t whole = bytes > UINT64_MAX - 3u ? bytes : (bytes + 3u) & ~(uint64_t)3u;
  sb_status status = sb_vulkan_device_buffer_create(p->vulkan, whole, &buffer, &diag);
  if (!status) status = sb_vulkan_clear(p->vulkan, buffer, &diag);
  if (!status && keep_buffer(p, buffer, false, 0, handle)) {
    sb_diagnostics_clear(&diag);
    sb_vulkan_wait(p->vulkan, NULL);
    sb_vulkan_buffer_destroy(buffer);
    return NO_MEMORY;
  }
  if (status) sb_vulkan_buffer_destroy(buffer);
  return answer(&diag, status, error, error_size);
}

static sb_status state_buffer(void *context, const char *name, uint32_t *handle, char *error, uint32_t error_size)
{
  ALLOW(SETUP, "state_buffer");
  compute_part *p = context;
  sb_diagnostics diag = {0};
  sb_vulkan_buffer *words = NULL;
  size_t array = 0;
  if (!name || !handle) return complain(SB_E_ARGUMENT, error, error_size, "state_buffer: the array has no name, or the handle no place");
  sb_status status = compute_scope_copy(p->scope, p->name, name, &array, &words, &diag);
  if (status) return answer(&diag, status, error, error_size);
  for (uint32_t i = 0; i < p->buffers.count; i++) {
    const used_buffer *known = p->buffers.items[i];
    if (!known->borrowed || known->array != array) continue;
    *handle = i;
    return SB_OK;
  }
  size_t *arrays = realloc(p->for_sim.arrays, (p->for_sim.array_count + 1) * sizeof *arrays);
  if (!arrays) return NO_MEMORY;
  p->for_sim.arrays = arrays;
  arrays[p->for_sim.array_count++] = array;
  return keep_buffer(p, words, true, array, handle) ? NO_MEMORY : SB_OK;
}

/* More workgroups than one dispatch may have. */
static bool too_many(const compute_part *p, const uint32_t groups[3])
{
  const uint64_t most = p->compute.groups_max;
  if (groups[0] == 0 || groups[1] == 0 || groups[2] == 0) return false;
  return groups[0] > most || groups[1] > most / groups[0] || groups[2] > most / groups[0] / groups[1];
}

static sb_status refuse_groups(const compute_part *p, const char *call, const uint32_t groups[3], char *error, uint32_t error_size)
{
  if (error && error_size)
    snprintf(error, error_size, "%s: %u x %u x %u workgroups for an indirect dispatch; %u is the most", call, groups[0], groups[1], groups[2],
             p->compute.groups_max);
  return SB_E_ARGUMENT;
}

/* The part of an upload that falls on numbers of workgroups. */
static void cover(uint32_t groups[3], uint64_t at, uint64_t offset, const void *data, uint64_t bytes)
{
  for (uint64_t k = 0; k < 3; k++)
    if (at + 4 * k >= offset && at + 4 * k - offset < bytes) memcpy(&groups[k], (const char *)data + (at + 4 * k - offset), sizeof *groups);
}

static sb_status upload_arguments(const compute_part *p, used_buffer *made, uint64_t offset, const void *data, uint64_t bytes, char *error,
                                  uint32_t error_size)
{
  for (size_t i = 0; i < made->argument_count; i++) {
    const arguments *a = &made->arguments[i];
    uint32_t groups[3] = {a->groups[0], a->groups[1], a->groups[2]};
    cover(groups, a->offset, offset, data, bytes);
    if (too_many(p, groups)) return refuse_groups(p, "upload", groups, error, error_size);
  }
  for (size_t i = 0; i < made->argument_count; i++) cover(made->arguments[i].groups, made->arguments[i].offset, offset, data, bytes);
  return SB_OK;
}

static sb_status upload(void *context, uint32_t handle, uint64_t offset, const void *data, uint64_t bytes, char *error, uint32_t error_size)
{
  ALLOW(SETUP | STEP, "upload");
  compute_part *p = context;
  sb_diagnostics diag = {0};
  used_buffer *made = object(&p->buffers, handle);
  if (!made || (bytes && !data)) return complain(SB_E_ARGUMENT, error, error_size, "upload: no such buffer, or no data");
  if (offset % 4 || bytes % 4) return complain(SB_E_ARGUMENT, error, error_size, "upload: offset and size must be multiples of 4");
  if (offset <= sb_vulkan_buffer_size(made->buffer) && bytes <= sb_vulkan_buffer_size(made->buffer) - offset) {
    sb_status status = upload_arguments(p, made, offset, data, bytes, error, error_size);
    if (status) return status;
  }
  return answer(&diag, sb_vulkan_upload(p->vulkan, made->buffer, offset, data, bytes, &diag), error, error_size);
}

static sb_status download(void *context, uint32_t handle, uint64_t offset, void *data, uint64_t bytes, char *error, uint32_t error_size)
{
  ALLOW(SETUP | STEP, "download");
  compute_part *p = context;
  sb_diagnostics diag = {0};
  used_buffer *made = object(&p->buffers, handle);
  if (!made || (bytes && !data)) return complain(SB_E_ARGUMENT, error, error_size, "download: no such buffer, or no room");
  if (offset % 4 || bytes % 4) return complain(SB_E_ARGUMENT, error, error_size, "download: offset and size must be multiples of 4");
  return answer(&diag, sb_vulkan_download(p->vulkan, made->buffer, offset, data, bytes, &diag), error, error_size);
}

/* ---- pipelines ---- */

/* What an author should read first: instructions that no shader may have, then what others lack. */
static const sb_spirv_finding *first_finding(const sb_spirv_findings *f)
{
  const sb_spirv_finding *best = NULL;
  int best_weight = -1;
  for (size_t i = 0; i < f->count; i++) {
    sb_spirv_rule rule = f->items[i].rule;
    int weight = rule == SB_SPIRV_MODE || rule == SB_SPIRV_CAPABILITY ? 0 : rule == SB_SPIRV_UNDECORATED ? 1 : 2;
    if (weight > best_weight) best = &f->items[i], best_weight = weight;
  }
  return best;
}

/* Above Off a shader keeps the number rules, or is not taken. */
static sb_status judge(const compute_part *p, const sb_pipeline_desc *desc, char *error, uint32_t error_size)
{
  if (p->mode == SB_MODE_OFF) return SB_OK;
  sb_spirv_findings findings = {0};
  sb_status status = SB_OK;
  if (!sb_spirv_audit(desc->words, (size_t)desc->word_count, &findings)) {
    const sb_spirv_finding *first = first_finding(&findings);
    char place[256] = "";
    if (first) sb_spirv_place(first, place, sizeof place);
    status = SB_E_MODE;
    if (error && error_size) snprintf(error, error_size, "shader \"%.40s\" breaks the number rules: %.120s (%.80s; %zu findings)", desc->name ? desc->name : "?",
             first ? first->text : "no memory for the findings", place, findings.count);
  }
  sb_spirv_findings_clear(&findings);
  return status;
}

/* In every mode: a driver gets no words that want more than the pipeline gives or the device has. */
static sb_status fits(const compute_part *p, const sb_pipeline_desc *desc, char *error, uint32_t error_size)
{
  sb_spirv_interface wants;
  const sb_vulkan_limits limits = sb_vulkan_limits_of(p->vulkan);
  char text[160];
  sb_status status = SB_OK;
  sb_spirv_interface_read(desc->words, (size_t)desc->word_count, &wants);
  const uint32_t *size = wants.local_size;
  bool few = size[0] <= limits.invocations && size[1] <= limits.invocations && (uint64_t)size[0] * size[1] <= limits.invocations &&
             (uint64_t)size[0] * size[1] * size[2] <= limits.invocations;
  if (!sb_spirv_interface_fits(&wants, desc->buffer_count, desc->push_bytes, text, sizeof text)) {
    status = SB_E_ARGUMENT;
  } else if (!few || wants.shared_bytes > limits.shared_bytes) {
    status = SB_E_UNSUPPORTED;
    snprintf(text, sizeof text, "a workgroup of %u x %u x %u with %llu bytes of shared memory; the device has %u invocations and %u bytes", size[0],
             size[1], size[2], (unsigned long long)wants.shared_bytes, limits.invocations, limits.shared_bytes);
  }
  for (uint32_t i = 0; !status && i < wants.capability_count; i++) {
    if (sb_vulkan_offers(p->vulkan, wants.capabilities[i])) continue;
    status = SB_E_UNSUPPORTED;
    snprintf(text, sizeof text, "it wants SPIR-V capability %u, which this device or this host has not", wants.capabilities[i]);
  }
  if (status && error && error_size) snprintf(error, error_size, "shader \"%.40s\": %s", desc->name ? desc->name : "?", text);
  return status;
}

static sb_status create_pipeline(void *context, const sb_pipeline_desc *desc, uint32_t *handle, char *error, uint32_t error_size)
{
  ALLOW(SETUP, "create_pipeline");
  compute_part *p = context;
  sb_diagnostics diag = {0};
  if (!handle) return complain(SB_E_ARGUMENT, error, error_size, "create_pipeline: no place for the handle");
  if (!desc || desc->struct_size != sizeof *desc) return complain(SB_E_VERSION, error, error_size, "sb_pipeline_desc has another size");
  if (!desc->words || desc->word_count < 5) return complain(SB_E_ARGUMENT, error, error_size, "the shader has no words");
  if (desc->word_count > WORDS_MAX) return complain(SB_E_ARGUMENT, error, error_size, "the shader has more than 16777216 words");
  if (desc->reserved) return complain(SB_E_ARGUMENT, error, error_size, "sb_pipeline_desc.reserved must be 0");
  sb_status status = judge(p, desc, error, error_size);
  if (!status) status = fits(p, desc, error, error_size);
  if (status) return status;
  used_pipeline *made = calloc(1, sizeof *made);
  if (!made || !reserve(&p->pipelines)) {
    free(made);
    return NO_MEMORY;
  }
  made->buffer_count = desc->buffer_count;
  status = compute_scope_pipeline(p->scope, desc->words, (size_t)desc->word_count, desc->buffer_count, desc->push_bytes, &made->pipeline, &diag);
  if (status) {
    free(made);
  } else {
    p->pipelines.items[p->pipelines.count] = made;
    *handle = p->pipelines.count++;
  }
  return answer(&diag, status, error, error_size);
}

/* ---- graphs ---- */

static sb_status create_graph(void *context, uint32_t *handle, char *error, uint32_t error_size)
{
  ALLOW(SETUP, "create_graph");
  compute_part *p = context;
  sb_diagnostics diag = {0};
  sb_vulkan_graph *graph = NULL;
  if (!handle) return complain(SB_E_ARGUMENT, error, error_size, "create_graph: no place for the handle");
  if (!reserve(&p->graphs)) return NO_MEMORY;
  sb_status status = sb_vulkan_graph_create(p->vulkan, p->eager, &graph, &diag);
  if (!status) {
    p->graphs.items[p->graphs.count] = graph;
    *handle = p->graphs.count++;
  }
  return answer(&diag, status, error, error_size);
}

/* The slices of a dispatch. NULL, or what is wrong; a graph that lacks the dispatch cannot run then. */
static const char *resolve(const compute_part *p, sb_vulkan_graph *g, const used_pipeline *made, const sb_binding *bindings, sb_vulkan_slice *slices)
{
  const char *fault = !g ? "dispatch: no such graph" : !made ? "dispatch: no such pipeline" : !bindings ? "dispatch: no bindings" : NULL;
  for (uint32_t i = 0; !fault && i < made->buffer_count; i++) {
    const used_buffer *bound = object(&p->buffers, bindings[i].buffer);
    if (!bound) fault = "dispatch: no such buffer in a binding";
    else slices[i] = (sb_vulkan_slice){bound->buffer, bindings[i].offset, bindings[i].bytes};
  }
  if (fault && g) sb_vulkan_graph_break(g);
  return fault;
}

static sb_status dispatch(void *context, uint32_t graph, uint32_t pipeline, const sb_binding *bindings, const void *push, uint32_t groups,
                          char *error, uint32_t error_size)
{
  ALLOW(SETUP, "dispatch");
  compute_part *p = context;
  sb_diagnostics diag = {0};
  sb_vulkan_slice slices[SB_VULKAN_BUFFERS_MAX];
  const used_pipeline *made = object(&p->pipelines, pipeline);
  sb_vulkan_graph *g = object(&p->graphs, graph);
  const char *fault = resolve(p, g, made, bindings, slices);
  if (fault) return complain(SB_E_ARGUMENT, error, error_size, fault);
  return answer(&diag, sb_vulkan_graph_dispatch(g, made->pipeline, slices, push, groups, &diag), error, error_size);
}

/* From now on what is uploaded there is looked at; and what lies there already. */
static sb_status watch_arguments(compute_part *p, used_buffer *made, uint64_t offset, char *error, uint32_t error_size)
{
  for (size_t i = 0; i < made->argument_count; i++)
    if (made->arguments[i].offset == offset) return SB_OK;
  arguments *list = realloc(made->arguments, (made->argument_count + 1) * sizeof *list);
  if (!list) return NO_MEMORY;
  made->arguments = list;
  arguments *a = &list[made->argument_count];
  sb_diagnostics diag = {0};
  *a = (arguments){.offset = offset};
  sb_status status = sb_vulkan_download(p->vulkan, made->buffer, offset, a->groups, sizeof a->groups, &diag);
  if (status) return answer(&diag, status, error, error_size);
  if (too_many(p, a->groups)) return refuse_groups(p, "dispatch_indirect", a->groups, error, error_size);
  made->argument_count++;
  return SB_OK;
}

static sb_status dispatch_indirect(void *context, uint32_t graph, uint32_t pipeline, const sb_binding *bindings, const void *push,
                                   uint32_t buffer, uint64_t offset, char *error, uint32_t error_size)
{
  ALLOW(SETUP, "dispatch_indirect");
  compute_part *p = context;
  sb_diagnostics diag = {0};
  sb_vulkan_slice slices[SB_VULKAN_BUFFERS_MAX];
  const used_pipeline *made = object(&p->pipelines, pipeline);
  sb_vulkan_graph *g = object(&p->graphs, graph);
  used_buffer *groups = object(&p->buffers, buffer);
  const char *fault = resolve(p, g, made, bindings, slices);
  if (!fault && !groups) fault = "dispatch_indirect: no such buffer of workgroup numbers", sb_vulkan_graph_break(g);
  if (fault) return complain(SB_E_ARGUMENT, error, error_size, fault);
  sb_status status = sb_vulkan_graph_dispatch_indirect(g, made->pipeline, slices, push, groups->buffer, offset, &diag);
  if (status) return answer(&diag, status, error, error_size);
  status = watch_arguments(p, groups, offset, error, error_size);
  if (status) sb_vulkan_graph_break(g);
  return status;
}

static sb_status with_graph(void *context, uint32_t when, const char *call, uint32_t graph, sb_status (*fn)(sb_vulkan_graph *, sb_diagnostics *), char *error, uint32_t error_size)
{
  ALLOW(when, call);
  compute_part *p = context;
  sb_diagnostics diag = {0};
  sb_vulkan_graph *g = object(&p->graphs, graph);
  if (!g) return complain(SB_E_ARGUMENT, error, error_size, "no such graph");
  return answer(&diag, fn(g, &diag), error, error_size);
}

static sb_status add_barrier(void *context, uint32_t graph, char *error, uint32_t error_size)
{
  return with_graph(context, SETUP, "barrier", graph, sb_vulkan_graph_barrier, error, error_size);
}

static sb_status finish_graph(void *context, uint32_t graph, char *error, uint32_t error_size)
{
  return with_graph(context, SETUP, "finish_graph", graph, sb_vulkan_graph_finish, error, error_size);
}

static sb_status run(void *context, uint32_t graph, char *error, uint32_t error_size)
{
  return with_graph(context, STEP, "run", graph, sb_vulkan_graph_run, error, error_size);
}

/* ---- life ---- */

sb_status compute_part_create(sb_device_scope *scope, sb_vulkan *vulkan, const char *name, uint32_t mode, bool eager, compute_part **out,
                              sb_diagnostics *diag)
{
  compute_part *p = calloc(1, sizeof *p);
  if (!p) return sb_report(diag, SB_ERROR, SB_CODE_MEMORY, name, "no memory for the compute extension");
  sb_vulkan_limits limits = sb_vulkan_limits_of(vulkan);
  p->scope = scope;
  p->vulkan = vulkan;
  p->mode = mode;
  p->eager = eager;
  snprintf(p->name, sizeof p->name, "%s", name);
  p->compute = (sb_compute){.struct_size = sizeof(sb_compute), .context = p, .binding_bytes_max = limits.binding_bytes,
                            .groups_max = limits.groups, .invocations_max = limits.invocations, .create_buffer = create_buffer,
                            .state_buffer = state_buffer, .upload = upload, .download = download, .create_pipeline = create_pipeline,
                            .create_graph = create_graph, .dispatch = dispatch, .dispatch_indirect = dispatch_indirect,
                            .barrier = add_barrier, .finish_graph = finish_graph, .run = run};
  p->for_sim.compute = &p->compute;
  *out = p;
  return SB_OK;
}

void compute_part_destroy(compute_part *p)
{
  if (!p) return;
  sb_vulkan_wait(p->vulkan, NULL);
  for (uint32_t i = 0; i < p->graphs.count; i++) sb_vulkan_graph_destroy(p->graphs.items[i]);
  for (uint32_t i = 0; i < p->pipelines.count; i++) free(p->pipelines.items[i]);
  for (uint32_t i = 0; i < p->buffers.count; i++) {
    used_buffer *made = p->buffers.items[i];
    if (!made->borrowed) sb_vulkan_buffer_destroy(made->buffer);
    free(made->arguments);
    free(made);
  }
  free(p->graphs.items);
  free(p->pipelines.items);
  free(p->buffers.items);
  free(p->for_sim.arrays);
  free(p);
}

sb_device_part *compute_part_for_sim(compute_part *p) { return &p->for_sim; }

const sb_device_contacts *compute_part_share(compute_part *p, const device_contact_buffers *buffers, uint32_t capacity, uint32_t particle_capacity)
{
  sb_device_contacts *c = &p->contacts;
  if (c->struct_size) return c;
  if (keep_buffer(p, buffers->contacts, true, SIZE_MAX, &c->contacts) || keep_buffer(p, buffers->match, true, SIZE_MAX, &c->match) ||
      keep_buffer(p, buffers->world_start, true, SIZE_MAX, &c->world_start))
    return NULL;
  if (buffers->particle_start && (keep_buffer(p, buffers->particle_contacts, true, SIZE_MAX, &c->particle_contacts) ||
                                  keep_buffer(p, buffers->particle_start, true, SIZE_MAX, &c->particle_start)))
    return NULL;
  c->capacity = capacity;
  c->particle_capacity = buffers->particle_start ? particle_capacity : 0;
  c->struct_size = sizeof *c;
  return c;
}
