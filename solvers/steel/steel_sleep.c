/* Islands by union-find in index order; scalar code, except that counting runs in chunks of bodies. */
#include "steel_sleep.h"

#include <stdio.h>
#include <string.h>

#include "steel.kernel.h"

#define CALM(s, body) (s)->state[2 * (size_t)(body)]
#define ISLAND(s, body) (s)->state[2 * (size_t)(body) + 1]

static sb_status register_array(const sb_bind *bind, const char *name, uint32_t type, uint32_t components, void *slot)
{
  sb_array_desc desc = {.struct_size = sizeof desc,
                        .type = type,
                        .domain = SB_DOMAIN_BODY,
                        .components = components,
                        .count = bind->model->body_count,
                        .lane_block = 1,
                        .name = name};
  void *data;
  sb_status status = bind->host->register_array(bind->host->context, &desc, &data);
  memcpy(slot, &data, sizeof data);
  return status;
}

sb_status st_sleep_bind(st_sleep *s, const sb_bind *bind, char *error, uint32_t error_size)
{
  if (!s->ticks) return SB_OK;
  sb_status status = register_array(bind, "sleep", SB_TYPE_U32, 2, &s->state);
  if (!status) status = register_array(bind, "sleep_pose", SB_TYPE_F32, 7, &s->pose);
  if (status) return status;
  s->parent = bind->host->alloc(bind->host->context, ((uint64_t)bind->model->body_count + 1) * sizeof *s->parent);
  s->mark = bind->host->alloc(bind->host->context, ((uint64_t)bind->model->body_count + 1) * sizeof *s->mark);
  s->cache = bind->host->alloc(bind->host->context,
                               ((uint64_t)bind->contact_capacity + 1) * ST_CACHE_FLOATS * sizeof *s->cache);
  if (s->parent && s->mark && s->cache) return SB_OK;
  snprintf(error, error_size, "out of memory for the islands of %u bodies", bind->model->body_count);
  return SB_E_MEMORY;
}

static bool is_slow(const st_sleep *s, const st_tick *t, uint32_t body)
{
  const float *q = t->state->body_q + 7 * (size_t)body, *qd = t->state->body_qd + 6 * (size_t)body;
  const float *i = t->model->body_inertia + 6 * (size_t)body;
  StVelocity v;
  v.v = v3(qd[0], qd[1], qd[2]);
  v.w = v3(qd[3], qd[4], qd[5]);
  return st_speed2(v, q4(q[3], q[4], q[5], q[6]), s33(i[0], i[1], i[2], i[3], i[4], i[5]),
                   t->model->body_inv_mass[body]) < s->speed2;
}

static bool is_own(const st_tick *t, int32_t body)
{
  return body >= 0 && t->record[body] < ST_LINK && t->frames[t->record[body]].own > 0.5f;
}

/* Index of the island's first body; the body's own where it is awake. */
static uint32_t island_of(const st_sleep *s, const st_tick *t, uint32_t body)
{
  return ISLAND(s, body) ? t->model->world_body_start[t->model->body_world[body]] + ISLAND(s, body) - 1 : body;
}

/* A force, a velocity or a pose that has come from outside. */
static bool is_disturbed(const st_sleep *s, const st_tick *t, uint32_t body)
{
  const float *qd = t->state->body_qd + 6 * (size_t)body, *f = t->state->body_f + 6 * (size_t)body;
  for (int k = 0; k < 6; k++)
    if (!(qd[k] == 0.0f) || !(f[k] == 0.0f)) return true;
  return memcmp(t->state->body_q + 7 * (size_t)body, s->pose + 7 * (size_t)body, 7 * sizeof(float)) != 0;
}

static bool sleeps(const st_sleep *s, const st_tick *t, int32_t body)
{
  return is_own(t, body) && ISLAND(s, body) != 0;
}

/* A link of an articulation, or a body of another solver. It never sleeps, and a slow one may lift, lower or push: what touches it stays
 * awake. */
static bool is_restless(const st_tick *t, int32_t body) { return body >= 0 && t->record[body] != ST_NOBODY && !is_own(t, body); }

/* `other` wakes what it touches: it moves, is awake and not slow. */
static bool wakes(const st_sleep *s, const st_tick *t, int32_t other)
{
  return is_restless(t, other) || (is_own(t, other) && !sleeps(s, t, other) && !is_slow(s, t, (uint32_t)other));
}

void st_sleep_wake(const st_sleep *s, const st_tick *t)
{
  const sb_contacts *c = t->contacts;
  uint32_t asleep = 0;
  for (uint32_t r = 0; r < t->moved_count; r++) {
    uint32_t body = t->moved[r];
    s->mark[body] = 0;
    asleep += ISLAND(s, body) != 0;
  }
  for (uint32_t r = 0; asleep && r < t->moved_count; r++)
    if (sleeps(s, t, (int32_t)t->moved[r]) && is_disturbed(s, t, t->moved[r]))
      s->mark[island_of(s, t, t->moved[r])] = 1;
  for (uint32_t i = 0; asleep && i < c->count; i++) {
    int32_t a = c->body_a[i], b = c->body_b[i];
    if (sleeps(s, t, a) && wakes(s, t, b)) s->mark[island_of(s, t, (uint32_t)a)] = 1;
    if (sleeps(s, t, b) && wakes(s, t, a)) s->mark[island_of(s, t, (uint32_t)b)] = 1;
  }
  for (uint32_t r = 0; r < t->moved_count; r++) {
    uint32_t body = t->moved[r];
    if (ISLAND(s, body) && s->mark[island_of(s, t, body)]) CALM(s, body) = ISLAND(s, body) = 0;
    t->frames[r].awake = ISLAND(s, body) ? 0.0f : 1.0f;
  }
}

/* A contact that the tick before had, and that nobody solves: one of its bodies sleeps and the other one sleeps or is
 * not to be moved. */
static bool is_kept(const st_sleep *s, const st_tick *t, uint32_t contact)
{
  int32_t a = t->contacts->body_a[contact], b = t->contacts->body_b[contact];
  bool sleeps_a = sleeps(s, t, a), sleeps_b = sleeps(s, t, b);
  return t->match[contact] >= 0 && (sleeps_a || sleeps_b) && (sleeps_a || !is_own(t, a)) && (sleeps_b || !is_own(t, b));
}

void st_sleep_keep_before(const st_sleep *s, const st_tick *t)
{
  const sb_contacts *c = t->contacts;
  for (uint32_t i = 0; i < c->count; i++)
    if (is_kept(s, t, i))
      memcpy(s->cache + ST_CACHE_FLOATS * (size_t)i, t->cache + ST_CACHE_FLOATS * (size_t)t->match[i],
             ST_CACHE_FLOATS * sizeof(float));
}

void st_sleep_keep_after(const st_sleep *s, const st_tick *t)
{
  for (uint32_t i = 0; i < t->contacts->count; i++)
    if (is_kept(s, t, i))
      memcpy(t->cache + ST_CACHE_FLOATS * (size_t)i, s->cache + ST_CACHE_FLOATS * (size_t)i,
             ST_CACHE_FLOATS * sizeof(float));
}

void st_sleep_count(const st_sleep *s, const st_tick *t, uint32_t first, uint32_t end)
{
  for (uint32_t r = first; r < end; r++) {
    uint32_t body = t->moved[r];
    if (t->frames[r].own < 0.5f || ISLAND(s, body)) continue;
    CALM(s, body) = !is_slow(s, t, body) ? 0 : CALM(s, body) < s->ticks ? CALM(s, body) + 1 : s->ticks;
  }
}

static uint32_t find_root(const st_sleep *s, uint32_t body)
{
  while (s->parent[body] != body) body = s->parent[body] = s->parent[s->parent[body]];
  return body;
}

/* The lower index becomes the root, so an island's root is its first body. */
static void join(const st_sleep *s, uint32_t a, uint32_t b)
{
  a = find_root(s, a);
  b = find_root(s, b);
  if (a < b) s->parent[b] = a;
  if (b < a) s->parent[a] = b;
}

static void fall_asleep(const st_sleep *s, const st_tick *t, uint32_t body, uint32_t root)
{
  bool was_awake = ISLAND(s, body) == 0;
  ISLAND(s, body) = root - t->model->world_body_start[t->model->body_world[body]] + 1;
  if (!was_awake) return;
  memcpy(s->pose + 7 * (size_t)body, t->state->body_q + 7 * (size_t)body, 7 * sizeof(float));
  memset(t->state->body_qd + 6 * (size_t)body, 0, 6 * sizeof(float));
  memset(t->state->joint_qd + t->model->joint_qd_start[body], 0, 6 * sizeof(float));
}

static void join_touching(const st_sleep *s, const st_tick *t, const st_graph *g)
{
  for (uint32_t chunk = 0; chunk < g->chunk_count; chunk++)
    for (uint32_t i = chunk * ST_FIND_CHUNK, last = i + g->found[chunk]; i < last; i++) {
      uint32_t a = g->manifolds[i].body_a, b = g->manifolds[i].body_b;
      if (t->frames[a].own > 0.5f && t->frames[b].own > 0.5f) join(s, t->moved[a], t->moved[b]);
    }
}

/* Marks the islands that something restless touches. */
static void mark_restless(const st_sleep *s, const st_tick *t)
{
  const sb_contacts *c = t->contacts;
  for (uint32_t i = 0; i < c->count; i++) {
    if (is_own(t, c->body_a[i]) && is_restless(t, c->body_b[i])) s->mark[find_root(s, (uint32_t)c->body_a[i])] = 1;
    if (is_own(t, c->body_b[i]) && is_restless(t, c->body_a[i])) s->mark[find_root(s, (uint32_t)c->body_b[i])] = 1;
  }
}

void st_sleep_islands(const st_sleep *s, const st_tick *t, const st_graph *graph)
{
  bool any = false;
  for (uint32_t r = 0; r < t->moved_count; r++) {
    uint32_t body = t->moved[r];
    any = any || (ISLAND(s, body) == 0 && CALM(s, body) >= s->ticks);
    s->parent[body] = body;
    s->mark[body] = 0;
  }
  if (!any) return;
  for (uint32_t r = 0; r < t->moved_count; r++)
    if (ISLAND(s, t->moved[r])) join(s, t->moved[r], island_of(s, t, t->moved[r]));
  join_touching(s, t, graph);
  mark_restless(s, t);
  for (uint32_t r = 0; r < t->moved_count; r++) {
    uint32_t body = t->moved[r];
    if (t->frames[r].own > 0.5f && !ISLAND(s, body) && CALM(s, body) < s->ticks) s->mark[find_root(s, body)] = 1;
  }
  for (uint32_t r = 0; r < t->moved_count; r++) {
    uint32_t body = t->moved[r], root = find_root(s, body);
    if (t->frames[r].own > 0.5f && !s->mark[root]) fall_asleep(s, t, body, root);
  }
}
