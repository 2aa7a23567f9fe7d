/* Moves positions, SB_LANES at a time; compiled once for each lane width. */
#include "drift.h"
#include "samebit/maths.h"

#define CONCAT_(a, b) a##b
#define CONCAT(a, b) CONCAT_(a, b)

void CONCAT(drift_move_lanes, SB_LANES)(float *position, const float *velocity, uint32_t count, float dt)
{
  uint32_t i = 0;
  for (; i + SB_LANES <= count; i += SB_LANES)
    f_store(position + i, f_load(position + i) + f_load(velocity + i) * K(dt));
  for (; i < count; i++) position[i] = position[i] + velocity[i] * dt;
}
