/* Small things that most solvers need: checks at binding, lane dispatch, each body's contacts. Plain C, no state. */
#ifndef SAMEBIT_SOLVER_TOOLS_H
#define SAMEBIT_SOLVER_TOOLS_H

#include "samebit/solver.h"

#include <stdio.h>
#include <string.h>

#define SB_TWO_PI 6.28318530717958647692

/* Calls name_lanes1, _lanes4 or _lanes8 (see samebit_lane_objects in the CMake package). */
#define SB_LANE_DISPATCH(lanes, name, ...)                                                                             \
  do {                                                                                                                 \
    if ((lanes) == 8)                                                                                                  \
      name##_lanes8(__VA_ARGS__);                                                                                      \
    else if ((lanes) == 4)                                                                                             \
      name##_lanes4(__VA_ARGS__);                                                                                      \
    else                                                                                                               \
      name##_lanes1(__VA_ARGS__);                                                                                      \
  } while (0)

/* What every solver checks first in bind. */
static inline sb_status sb_check_bind(const sb_bind *bind, char *error, uint32_t error_size)
{
  if (bind->struct_size == sizeof *bind) return SB_OK;
  snprintf(error, error_size, "sb_bind has %u bytes, expected %u", bind->struct_size, (unsigned)sizeof *bind);
  return SB_E_VERSION;
}

/* What a solver without a Vulkan backend checks first in bind: SB_OK, or a status with the reason in error. */
static inline sb_status sb_check_bind_cpu(const sb_bind *bind, const char *solver, char *error, uint32_t error_size)
{
  sb_status status = sb_check_bind(bind, error, error_size);
  if (status || bind->backend == SB_BACKEND_CPU) return status;
  snprintf(error, error_size, "%s has no Vulkan backend; use backend = cpu", solver);
  return SB_E_UNSUPPORTED;
}

static inline sb_status sb_check_step(const sb_step *step, char *error, uint32_t error_size)
{
  if (step->struct_size == sizeof *step) return SB_OK;
  snprintf(error, error_size, "sb_step has %u bytes, expected %u", step->struct_size, (unsigned)sizeof *step);
  return SB_E_VERSION;
}

static inline sb_status sb_check_dt(float dt, char *error, uint32_t error_size)
{
  if (dt > 0.0f) return SB_OK;
  snprintf(error, error_size, "dt must be above 0 s");
  return SB_E_ARGUMENT;
}

/* Whether a body is in an ascending list. */
static inline int sb_has_body(const uint32_t *bodies, uint32_t count, int32_t body)
{
  uint32_t low = 0, high = count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if ((int32_t)bodies[middle] < body)
      low = middle + 1;
    else
      high = middle;
  }
  return low < count && (int32_t)bodies[low] == body;
}

/* Whether the instance owns a body; -1 is nobody's. */
static inline int sb_owns_body(const sb_bind *bind, int32_t body)
{
  return sb_has_body(bind->bodies, bind->body_count, body);
}

/* Whether a tendon acts by itself: without limit, spring, damping and friction it only carries actuators, which the host
 * brings into joint_f. */
static inline int sb_tendon_acts(const sb_model *m, int32_t tendon)
{
  return m->tendon_limit_lower[tendon] > -SB_NO_LIMIT || m->tendon_limit_upper[tendon] < SB_NO_LIMIT ||
         m->tendon_stiffness[tendon] > 0.0f || m->tendon_damping[tendon] > 0.0f || m->tendon_friction[tendon] > 0.0f;
}

/* In list entries: the body is body_b of the contact. */
#define SB_CONTACT_OF_B 0x80000000u

/* Contacts of each body, in contact order: those of body i are list[first[i]] to list[first[i + 1] - 1], each the index of a
 * contact, with SB_CONTACT_OF_B set where the body is body_b. first has body_count + 2 entries, list 2 * contacts->count. */
static inline void sb_list_body_contacts(const sb_contacts *contacts, uint32_t body_count, uint32_t *first, uint32_t *list)
{
  /* A counting sort: counts two places up become, in turn, starts one place up, and the ends that are the next body's starts. */
  memset(first, 0, ((size_t)body_count + 2) * sizeof *first);
  for (uint32_t i = 0; i < contacts->count; i++) {
    if (contacts->body_a[i] >= 0) first[contacts->body_a[i] + 2]++;
    if (contacts->body_b[i] >= 0) first[contacts->body_b[i] + 2]++;
  }
  for (uint32_t b = 0; b < body_count; b++) first[b + 2] += first[b + 1];
  for (uint32_t i = 0; i < contacts->count; i++) {
    if (contacts->body_a[i] >= 0) list[first[contacts->body_a[i] + 1]++] = i;
    if (contacts->body_b[i] >= 0) list[first[contacts->body_b[i] + 1]++] = i | SB_CONTACT_OF_B;
  }
}

#endif
