/* The sweep's shaders, as words. */
#ifndef SAMEBIT_TESTS_DEVICE_SWEEP_SHADERS_H
#define SAMEBIT_TESTS_DEVICE_SWEEP_SHADERS_H

#include "device_sweep.kernel.h"

#include <stddef.h>

#include "sweep_sqrt_spv.h"
#include "sweep_div_spv.h"
#include "sweep_sin_spv.h"
#include "sweep_cos_spv.h"
#include "sweep_tan_spv.h"
#include "sweep_asin_spv.h"
#include "sweep_acos_spv.h"
#include "sweep_atan_spv.h"
#include "sweep_exp_spv.h"
#include "sweep_log_spv.h"
#include "sweep_rsqrt_spv.h"
#include "sweep_trunc_spv.h"
#include "sweep_floor_spv.h"
#include "sweep_ceil_spv.h"
#include "sweep_round_even_spv.h"
#include "sweep_to_i_spv.h"
#include "sweep_fault_spv.h"

typedef struct sweep_shader {
  const char *name;
  uint32_t function; /* number in SWEEP_FUNCTIONS */
  const uint32_t *words;
  size_t size;
} sweep_shader;

enum {
#define SWEEP(name, floats) SWEEP_##name,
  SWEEP_FUNCTIONS(SWEEP)
#undef SWEEP
};

static const sweep_shader sweep_shaders[] = {
#define SWEEP(name, floats) {#name, SWEEP_##name, sweep_##name##_spv, sizeof sweep_##name##_spv},
    SWEEP_FUNCTIONS(SWEEP)
#undef SWEEP
        {"fault", SWEEP_sqrt, sweep_fault_spv, sizeof sweep_fault_spv},
    {NULL, 0, NULL, 0},
};

#endif
