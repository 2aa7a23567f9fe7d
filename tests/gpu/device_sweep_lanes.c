/* Compiled at 1, 4 and 8 lanes. */
#include "device_sweep.h"

#include "samebit/maths.h"

#include "device_sweep.kernel.h"

#define NAME_OF(lanes) NAME_PASTE(sweep_compare_lanes, lanes)
#define NAME_PASTE(name, lanes) name##lanes

static U index_of(uint32_t first, uint32_t stride)
{
#if SB_LANES == 1
  (void)stride;
  return first;
#else
  U r;
  for (uint32_t l = 0; l < SB_LANES; l++) r[l] = first + l * stride;
  return r;
#endif
}

static U load(const uint32_t *words)
{
  U r;
  memcpy(&r, words, sizeof r);
  return r;
}

static uint32_t lane(U value, uint32_t l)
{
#if SB_LANES == 1
  (void)l;
  return value;
#else
  return value[l];
#endif
}

/* Payload and sign of NaN are outside the contract. */
static U comparable(U u, int floats) { return floats ? u_sel((u & 0x7fffffffu) > 0x7f800000u, KU(0x7fc00000u), u) : u; }

static void note(sweep_outcome *o, uint32_t first, uint32_t stride, U want, U got)
{
  for (uint32_t l = 0; l < SB_LANES; l++) {
    if (lane(want, l) == lane(got, l)) continue;
    if (!o->differ++) o->index = first + l * stride, o->expected = lane(want, l), o->found = lane(got, l);
  }
}

#define SWEEP(name, floats)                                                                                            \
  static void compare_##name(uint32_t start, uint32_t stride, uint32_t count, const uint32_t *found, sweep_outcome *o) \
  {                                                                                                                    \
    for (uint32_t i = 0; i < count; i += SB_LANES) {                                                                   \
      uint32_t first = start + i * stride;                                                                             \
      U want = comparable(sweep_##name(index_of(first, stride)), floats), got = comparable(load(found + i), floats);   \
      if (m_any(want != got)) note(o, first, stride, want, got);                                                       \
    }                                                                                                                  \
  }
SWEEP_FUNCTIONS(SWEEP)
#undef SWEEP

void NAME_OF(SB_LANES)(uint32_t function, uint32_t start, uint32_t stride, uint32_t count, const uint32_t *found,
                       sweep_outcome *outcome)
{
  static void (*const compare[])(uint32_t, uint32_t, uint32_t, const uint32_t *, sweep_outcome *) = {
#define SWEEP(name, floats) compare_##name,
      SWEEP_FUNCTIONS(SWEEP)
#undef SWEEP
  };
  compare[function](start, stride, count, found, outcome);
}
