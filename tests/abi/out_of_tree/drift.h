/* The lane code of the drift solver. */
#ifndef DRIFT_H
#define DRIFT_H

#include <stdint.h>

/* position[i] += velocity[i] * dt */
void drift_move_lanes1(float *position, const float *velocity, uint32_t count, float dt);
void drift_move_lanes4(float *position, const float *velocity, uint32_t count, float dt);
void drift_move_lanes8(float *position, const float *velocity, uint32_t count, float dt);

#endif
