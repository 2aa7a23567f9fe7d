/* The entry of a plugin: what a host reads before it runs any of the module's code.
 *
 * A module exports one data symbol, `samebit_plugin`, of type sb_plugin_entry. The host reads its numbers, decides whether
 * both sides fit, and only then calls negotiate and get_factory. Everything else is found by string id.
 *
 * Rules of the whole ABI: every struct begins with its size in bytes, and only sizes of released versions are accepted;
 * integers have fixed width; no enum, bool, long or struct by value crosses the line; text is UTF-8, NUL-terminated and
 * owned by the side that gives it; errors are an sb_status and a text in the caller's buffer. A comment on each function
 * says when it may be called: [load] while the module is judged, [setup] on the host's main thread before or after a run,
 * [step] on the host's main thread during a tick, [any] on any thread at any time between create and destroy.
 * Until 1.0 a change of minor version may break compatibility; abi_min_minor says how far back a side goes. */
#ifndef SAMEBIT_ABI_H
#define SAMEBIT_ABI_H

#include "samebit/fp_guard.h"
#include "samebit/status.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SB_ABI_MAJOR 0u
#define SB_ABI_MINOR 1u
/* The oldest minor version that this one still works with. */
#define SB_ABI_MIN_MINOR 1u

#define SB_PLUGIN_MAGIC 0x4c504253u /* "SBPL" in memory on a little-endian machine */
#define SB_PLUGIN_SYMBOL "samebit_plugin"

/* Determinism modes, weakest first; what each promises is in docs/modes.md. */
#define SB_MODE_OFF 0u
#define SB_MODE_LOCAL 1u
#define SB_MODE_RUN_TO_RUN 2u
#define SB_MODE_CROSS_PLATFORM 3u
#define SB_MODE_COUNT 4u

/* Backends */
#define SB_BACKEND_CPU 0u
#define SB_BACKEND_VULKAN 1u
#define SB_BACKEND_COUNT 2u

/* fp_flags: facts of the build that the compiler itself reports */
#define SB_FP_EVAL_METHOD_0 1u /* FLT_EVAL_METHOD is 0 */
#define SB_FP_NO_FAST_MATH 2u  /* neither __FAST_MATH__ nor __FINITE_MATH_ONLY__ */
#define SB_FP_NO_FMA_TARGET 4u /* the target has no fused instruction, so none can be contracted to */

#if defined(FLT_EVAL_METHOD) && FLT_EVAL_METHOD == 0
#define SB_FP_BUILD_EVAL_ SB_FP_EVAL_METHOD_0
#else
#define SB_FP_BUILD_EVAL_ 0u
#endif
#if defined(__FAST_MATH__)
#define SB_FP_BUILD_FAST_ 0u
#else
#define SB_FP_BUILD_FAST_ SB_FP_NO_FAST_MATH
#endif
#if defined(__FMA__) || defined(__FMA4__) || defined(__ARM_FEATURE_FMA)
#define SB_FP_BUILD_FMA_ 0u
#else
#define SB_FP_BUILD_FMA_ SB_FP_NO_FMA_TARGET
#endif
#define SB_FP_BUILD_FLAGS (SB_FP_BUILD_EVAL_ | SB_FP_BUILD_FAST_ | SB_FP_BUILD_FMA_)

/* What the plugin is told about the host while it negotiates. */
typedef struct sb_host_info {
  uint32_t struct_size;
  uint32_t abi_major;
  uint32_t abi_minor;
  uint32_t abi_min_minor;
  const char *version; /* of the host program, "0.1.0" */
} sb_host_info;

typedef struct sb_plugin_entry {
  uint32_t struct_size;
  uint32_t magic; /* SB_PLUGIN_MAGIC */
  uint32_t abi_major;
  uint32_t abi_minor;
  uint32_t abi_min_minor; /* oldest host minor version it works with */
  uint32_t fp_flags;      /* SB_FP_BUILD_FLAGS */
  uint32_t lanes;         /* bits 1, 4 and 8: lane widths it was built with */
  uint32_t reserved;      /* 0 */
  const char *compiler;   /* __VERSION__ */
  /* [load] Last word on whether the two fit. On refusal writes why into error (error_size bytes, NUL-terminated). NULL: fits. */
  sb_status (*negotiate)(const sb_host_info *host, char *error, uint32_t error_size);
  /* [load] The factory of that id, e.g. SB_SOLVER_FACTORY_ID, or NULL when the plugin has none. Valid until unload. */
  const void *(*get_factory)(const char *id);
} sb_plugin_entry;

#if defined(_WIN32)
#define SB_EXPORT __declspec(dllexport)
#elif defined(__GNUC__)
#define SB_EXPORT __attribute__((visibility("default")))
#else
#define SB_EXPORT
#endif

/* Defines the entry. With SB_STATIC_PLUGIN defined it is named samebit_plugin_NAME, so that several can be linked into one
 * program. */
#ifdef SB_STATIC_PLUGIN
#define SB_PLUGIN_ENTRY_NAME_(name) samebit_plugin_##name
#else
#define SB_PLUGIN_ENTRY_NAME_(name) samebit_plugin
#endif
#define SB_DEFINE_PLUGIN(name, lanes_mask, negotiate_function, factory_function)                                       \
  extern SB_EXPORT const sb_plugin_entry SB_PLUGIN_ENTRY_NAME_(name);                                                  \
  SB_EXPORT const sb_plugin_entry SB_PLUGIN_ENTRY_NAME_(name) = {                                                      \
      sizeof(sb_plugin_entry), SB_PLUGIN_MAGIC, SB_ABI_MAJOR, SB_ABI_MINOR, SB_ABI_MIN_MINOR, SB_FP_BUILD_FLAGS,       \
      (lanes_mask), 0u, __VERSION__, (negotiate_function), (factory_function)}

#ifdef __cplusplus
}
#endif

#endif
