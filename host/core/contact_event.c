/* Contact events: begins, ends and hits, from the pairs of shapes that touch in this tick and in the one before. */
#include "sim_internal.h"

#include <stdlib.h>

#include "samebit/maths.h"

#define END_GAP 0.001f  /* m */
#define HIT_SPEED 1.0f  /* m/s */

/* A pair has at least one contact, so contacts bound pairs; a pair gives at most a begin and a hit, or an end. */
sb_status sb_events_create(sb_sim *sim, sb_diagnostics *diag)
{
  size_t capacity = sb_collision_get_usage(sim->collision).contact_capacity;
  sim->touching = calloc(capacity + 1, sizeof *sim->touching);
  sim->touched = calloc(capacity + 1, sizeof *sim->touched);
  sim->events = calloc(3 * capacity + 1, sizeof *sim->events);
  if (sim->touching && sim->touched && sim->events) return SB_OK;
  return sb_report(diag, SB_ERROR, SB_CODE_MEMORY, "events", "no memory for the events of %zu contacts", capacity);
}

void sb_events_reset(sb_sim *sim) { sim->touching_count = sim->touched_count = sim->event_count = 0; }

static V3 load_v3(const float *p) { return v3(p[0], p[1], p[2]); }

/* Velocity of the point of a contact on its body. */
static V3 point_velocity(const sb_sim *sim, int32_t body, const float *point)
{
  if (body < 0) return v3_zero();
  const float *q = sim->state.body_q + 7 * (size_t)body, *qd = sim->state.body_qd + 6 * (size_t)body;
  V3 arm = q4_rotate(q4(q[3], q[4], q[5], q[6]), v3_sub(load_v3(point), load_v3(sim->model->body_com + 3 * (size_t)body)));
  return v3_add(load_v3(qd), v3_cross(load_v3(qd + 3), arm));
}

static float approach_speed(const sb_sim *sim, const sb_contacts *c, uint32_t i)
{
  V3 a = point_velocity(sim, c->body_a[i], c->point_a + 3 * (size_t)i);
  V3 b = point_velocity(sim, c->body_b[i], c->point_b + 3 * (size_t)i);
  return v3_dot(load_v3(c->normal + 3 * (size_t)i), v3_sub(a, b));
}

static int compare(const sim_touch *a, const sim_touch *b)
{
  if (a->world != b->world) return a->world < b->world ? -1 : 1;
  if (a->shape_a != b->shape_a) return a->shape_a < b->shape_a ? -1 : 1;
  return a->shape_b < b->shape_b ? -1 : a->shape_b > b->shape_b;
}

static void add_event(sb_sim *sim, uint32_t kind, const sim_touch *pair, float speed)
{
  sim->events[sim->event_count++] = (sb_contact_event){kind, pair->world, pair->shape_a, pair->shape_b, speed};
}

/* Ends of the pairs that touched before, up to `pair` or, without one, to the last; true when `pair` itself touched. */
static bool end_before(sb_sim *sim, uint32_t *old, const sim_touch *pair, bool still)
{
  while (*old < sim->touched_count) {
    int order = pair ? compare(&sim->touched[*old], pair) : -1;
    if (order > 0) return false;
    if (order < 0 || !still) add_event(sim, SB_EVENT_END, &sim->touched[*old], 0.0f);
    ++*old;
    if (order == 0) return true;
  }
  return false;
}

/* Whether a pair touched in the tick before. */
static bool has_touched(const sb_sim *sim, uint32_t old, const sim_touch *pair)
{
  while (old < sim->touched_count && compare(&sim->touched[old], pair) < 0) old++;
  return old < sim->touched_count && compare(&sim->touched[old], pair) == 0;
}

/* Contacts are sorted by world and pair, and so are the pairs that touched: one merge. */
void sb_events_find(sb_sim *sim)
{
  if (!sim->events) return;
  const sb_contacts *c = sb_collision_contacts(sim->collision);
  sim_touch *before = sim->touching;
  sim->touching = sim->touched;
  sim->touched = before;
  sim->touched_count = sim->touching_count;
  sim->touching_count = sim->event_count = 0;
  uint32_t old = 0;
  for (uint32_t i = 0, end; i < c->count; i = end) {
    const sim_touch pair = {(uint32_t)c->world[i], c->shape_a[i], c->shape_b[i]};
    bool closed = false, near = false;
    float speed = 0.0f;
    for (end = i; end < c->count && c->world[end] == c->world[i] && c->key[end] >> 16 == c->key[i] >> 16; end++) {
      float v = approach_speed(sim, c, end);
      closed = closed || c->gap[end] <= 0.0f || c->gap[end] - v * sim->dt <= 0.0f;
      near = near || c->gap[end] <= END_GAP;
      if (v > speed) speed = v;
    }
    bool touches = closed || (near && has_touched(sim, old, &pair));
    if (!end_before(sim, &old, &pair, touches) && touches) {
      add_event(sim, SB_EVENT_BEGIN, &pair, speed);
      if (speed >= HIT_SPEED) add_event(sim, SB_EVENT_HIT, &pair, speed);
    }
    if (touches) sim->touching[sim->touching_count++] = pair;
  }
  end_before(sim, &old, NULL, false);
}
