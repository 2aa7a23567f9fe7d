/* A driver that runs out of memory, or loses its device, at any moment of a simulation's life: the host says so, stops, gives everything back, and
 * never crashes. The driver's calls are this program's own, which pass on to the loader until one has to fail. Whole simulations are also made and
 * dropped many times, and leave memory flat. */
#define _GNU_SOURCE
#include "host_fixture.h"

#include <dlfcn.h>
#include <vulkan/vulkan.h>

#include "vulkan_device.h"
#include "vulkan_test.h"

/* Simulations made and dropped, of each kind, after a warm-up of 50. 4,250 of each left memory as flat. */
#define LIVES 500

/* ---- the driver ---- */

typedef enum failing { NONE, ALLOCATE, SUBMIT, WAIT, DESCRIPTORS, PIPELINE, KINDS } failing;
static const char *const kind_names[KINDS] = {"none", "vkAllocateMemory", "vkQueueSubmit", "vkWaitForFences", "vkAllocateDescriptorSets",
                                              "vkCreateComputePipelines"};

static failing kind;      /* which call fails */
static long calls, fails; /* calls of that kind so far; the number of the first one that fails */
static long noticed;      /* calls before the end of the last life */
static long alive;        /* blocks of device memory */

static bool has_to_fail(failing k) { return k == kind && ++calls >= fails; }

/* The loader's function of the same name. */
static void loader(const char *name, void *to)
{
  void *found = dlsym(RTLD_NEXT, name);
  if (!found) abort();
  memcpy(to, &found, sizeof found);
}

VKAPI_ATTR VkResult VKAPI_CALL vkAllocateMemory(VkDevice device, const VkMemoryAllocateInfo *info, const VkAllocationCallbacks *how, VkDeviceMemory *memory)
{
  static PFN_vkAllocateMemory real;
  if (!real) loader("vkAllocateMemory", &real);
  VkResult r = has_to_fail(ALLOCATE) ? VK_ERROR_OUT_OF_DEVICE_MEMORY : real(device, info, how, memory);
  alive += r == VK_SUCCESS;
  return r;
}

VKAPI_ATTR void VKAPI_CALL vkFreeMemory(VkDevice device, VkDeviceMemory memory, const VkAllocationCallbacks *how)
{
  static PFN_vkFreeMemory real;
  if (!real) loader("vkFreeMemory", &real);
  alive -= memory != VK_NULL_HANDLE;
  real(device, memory, how);
}

VKAPI_ATTR VkResult VKAPI_CALL vkQueueSubmit(VkQueue queue, uint32_t count, const VkSubmitInfo *submits, VkFence fence)
{
  static PFN_vkQueueSubmit real;
  if (!real) loader("vkQueueSubmit", &real);
  return has_to_fail(SUBMIT) ? VK_ERROR_DEVICE_LOST : real(queue, count, submits, fence);
}

VKAPI_ATTR VkResult VKAPI_CALL vkWaitForFences(VkDevice device, uint32_t count, const VkFence *fences, VkBool32 all, uint64_t limit)
{
  static PFN_vkWaitForFences real;
  if (!real) loader("vkWaitForFences", &real);
  VkResult r = real(device, count, fences, all, limit);
  return has_to_fail(WAIT) ? VK_ERROR_DEVICE_LOST : r;
}

VKAPI_ATTR VkResult VKAPI_CALL vkAllocateDescriptorSets(VkDevice device, const VkDescriptorSetAllocateInfo *info, VkDescriptorSet *sets)
{
  static PFN_vkAllocateDescriptorSets real;
  if (!real) loader("vkAllocateDescriptorSets", &real);
  return has_to_fail(DESCRIPTORS) ? VK_ERROR_OUT_OF_HOST_MEMORY : real(device, info, sets);
}

VKAPI_ATTR VkResult VKAPI_CALL vkCreateComputePipelines(VkDevice device, VkPipelineCache cache, uint32_t count, const VkComputePipelineCreateInfo *infos,
                                                        const VkAllocationCallbacks *how, VkPipeline *pipelines)
{
  static PFN_vkCreateComputePipelines real;
  if (!real) loader("vkCreateComputePipelines", &real);
  if (!has_to_fail(PIPELINE)) return real(device, cache, count, infos, how, pipelines);
  for (uint32_t i = 0; i < count; i++) pipelines[i] = VK_NULL_HANDLE;
  return VK_ERROR_OUT_OF_DEVICE_MEMORY;
}

/* ---- the scene ---- */

static const char cloth[] = "[world]\nscene = generator:cloth\ndt = 1/60\n[scene]\nmodel = membrane\npose = flat\npins = none\nrows = 6\ncolumns = 6\nspacing = 0.05\n"
                           "height = 0.31\nthickness = 0.02\nself_contact = 1\nobstacle = sphere\n[solver.cloth]\nplugin = xpbd\nbackend = vulkan\nsubsteps = 2\n";
static const char boxes[] = "[world]\nscene = generator:pyramid\n[scene]\nrows = 3\n[solver.boxes]\nplugin = steel\nbackend = vulkan\nsubsteps = 2\n";

/* Six ticks, a snapshot taken and put back in the middle, a reset. */
static sb_status live(const sb_sim_config *config, sb_diagnostics *diag)
{
  sb_sim *sim = NULL;
  void *bytes = NULL;
  size_t size = 0;
  sb_status status = sb_sim_create(config, &sim, diag);
  for (int t = 0; !status && t < 3; t++) status = sb_sim_step(sim, diag);
  if (!status) status = sb_sim_snapshot(sim, &bytes, &size, diag);
  if (!status) status = sb_sim_step(sim, diag);
  if (!status) status = sb_sim_restore(sim, bytes, size, diag);
  if (!status) status = sb_sim_reset(sim, diag);
  for (int t = 0; !status && t < 2; t++) status = sb_sim_step(sim, diag);
  free(bytes);
  noticed = calls; /* what fails while everything is given back hurts nobody */
  sb_sim_destroy(sim);
  return status;
}

/* The same on a device of its own. */
static sb_status live_anew(sb_sim_config config, sb_diagnostics *diag)
{
  sb_vulkan *vulkan = NULL;
  sb_vulkan_device *device = NULL;
  sb_status status = sb_vulkan_open(&vulkan, diag);
  if (!status) status = sb_vulkan_device_create(vulkan, &device, diag);
  config.device = sb_vulkan_device_for_sim(device, false);
  if (!status) status = live(&config, diag);
  sb_vulkan_device_destroy(device);
  sb_vulkan_close(vulkan);
  return status;
}

static void open_session(const char *text, sb_session *session)
{
  sb_diagnostics diag = {0};
  kind = NONE;
  sb_status status = open_text(text, (sb_session_options){.threads = 1}, session, &diag);
  print_messages(&diag);
  assert_int_equal(status, SB_OK);
}

static void expect_told(failing k, long n, sb_status status, sb_diagnostics *diag)
{
  bool told = false, lost = k == SUBMIT || k == WAIT;
  for (size_t i = 0; i < diag->count; i++) told = told || diag->items[i].code == (lost ? SB_CODE_VULKAN_CALL : SB_CODE_VULKAN_MEMORY);
  if (!status || status == SB_E_MODE || !told) print_message("%s fails from call %ld on: status %d\n", kind_names[k], n, status), print_messages(diag);
  assert_true(status != SB_OK && status != SB_E_MODE);
  assert_true(told);
  sb_diagnostics_clear(diag);
}

/* At every moment at which a call of this kind is made in a simulation's life, or at `most` of them. */
static void fail_each(const sb_sim_config *config, failing k, long most)
{
  sb_diagnostics diag = {0};
  kind = k, calls = 0, fails = 1l << 60;
  assert_int_equal(live_anew(*config, &diag), SB_OK);
  const long all = noticed, stride = (all + most - 1) / most, before = alive;
  assert_true(all > 0);
  for (long n = 1; n <= all; n += stride) {
    kind = k, calls = 0, fails = n;
    sb_status status = live_anew(*config, &diag);
    kind = NONE;
    expect_told(k, n, status, &diag);
    assert_int_equal(alive, before);
  }
}

static void fail_everything(const char *text)
{
  sb_session session;
  open_session(text, &session);
  fail_each(&session.sim, ALLOCATE, 12);
  fail_each(&session.sim, SUBMIT, 6);
  fail_each(&session.sim, WAIT, 6);
  fail_each(&session.sim, DESCRIPTORS, 4);
  fail_each(&session.sim, PIPELINE, 4);
  sb_session_close(&session);
  assert_int_equal(alive, 0);
}

static void test_cloth(void **state) { (void)state, fail_everything(cloth); }
static void test_boxes(void **state) { (void)state, fail_everything(boxes); }

/* While the host still judges the device and the solver there: exit code 2 and not 3, for nobody's mode is in question. */
static void test_start(void **state)
{
  static const failing kinds[] = {ALLOCATE, SUBMIT, WAIT, PIPELINE};
  (void)state;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    for (long n = 1; n < 200; n = 3 * n + 5) {
      sb_session session = {0};
      sb_diagnostics diag = {0};
      kind = kinds[i], calls = 0, fails = n;
      sb_status status = open_text(cloth, (sb_session_options){.threads = 1}, &session, &diag);
      bool never = calls < n;
      kind = NONE;
      if (!never) expect_told(kinds[i], n, status, &diag);
      sb_diagnostics_clear(&diag);
      sb_session_close(&session);
      assert_int_equal(alive, 0);
    }
}

/* ---- many lives ---- */

static void live_often(const char *text)
{
  sb_session session;
  sb_diagnostics diag = {0};
  long now[3];
  open_session(text, &session);
  for (int i = 0; i < 50; i++) assert_int_equal(live(&session.sim, &diag), SB_OK);
  const long blocks = alive;
  for (int half = 0; half < 3; half++) {
    now[half] = resident();
    for (int i = 0; half < 2 && i < LIVES / 2; i++) {
      assert_int_equal(live(&session.sim, &diag), SB_OK);
      assert_int_equal(alive, blocks);
    }
  }
  printf("%d lives of a simulation: %ld KiB before, %ld KiB half-way, %ld KiB after\n", LIVES, now[0], now[1], now[2]);
#ifndef __SANITIZE_ADDRESS__ /* which keeps what is freed for a while */
  /* a loss of 2 KiB a life shows in both halves; a driver that takes a new arena for once does not */
  assert_true(now[1] - now[0] < LIVES || now[2] - now[1] < LIVES);
#endif
  sb_session_close(&session);
}

static void test_lives(void **state) { (void)state, live_often(cloth), live_often(boxes); }

int main(void)
{
  if (no_device()) return SKIP;
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_lives), cmocka_unit_test(test_start), cmocka_unit_test(test_cloth), cmocka_unit_test(test_boxes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
