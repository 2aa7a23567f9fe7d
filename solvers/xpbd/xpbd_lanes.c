/* Particles and the elements between them, SB_LANES at a time; compiled once for each lane width. Elements of a bundle share no
 * particle, so the width changes nothing. */
#include "xpbd_data.h"
#include "xpbd_gather.h"

#include "xpbd_element.kernel.h"

#define CONCAT_(a, b) a##b
#define CONCAT(a, b) CONCAT_(a, b)
#define LANED(name) CONCAT(name##_lanes, SB_LANES)

/* ---- particles ---- */

/* Records first to first + SB_LANES - 1, the last ones `nobody` where they end. */
static void number(uint32_t *record, uint32_t first, uint32_t end, uint32_t nobody)
{
  for (uint32_t l = 0; l < SB_LANES; l++) record[l] = first + l < end ? first + l : nobody;
}

static xp_rows with(xp_rows r, V3 v)
{
  r.c[0] = v.x, r.c[1] = v.y, r.c[2] = v.z;
  return r;
}

void LANED(xp_predict)(const xp_tick *t, const xp_group *g)
{
  const xp_particles *p = &t->particles;
  const float *gravity = t->model->gravity + 3 * (size_t)g->world;
  V3 down = v3(K(gravity[0]), K(gravity[1]), K(gravity[2]));
  F h = K(t->settings.h), inv_h = K(t->settings.inv_h);
  for (uint32_t i = g->first_particle; i < g->end_particle; i += SB_LANES) {
    uint32_t record[SB_LANES];
    number(record, i, g->end_particle, p->count);
    xp_rows d = xp_load(p->d, record), v = xp_load(p->v, record);
    V3 speed = xp_v3(v);
    if (!t->velocities_known) speed = xp_velocity(xp_v3(d), speed, h, inv_h);
    XpMove move = xp_predict(speed, d.c[3], down, h);
    xp_store(p->x, record, xp_moved(xp_load(p->x, record), xp_v3(d)), p->count);
    xp_store(p->v, record, with(v, move.v), p->count);
    xp_store(p->d, record, with(d, move.d), p->count);
  }
}

void LANED(xp_finish)(const xp_tick *t, uint32_t first, uint32_t end)
{
  const xp_particles *p = &t->particles;
  for (uint32_t i = first; i < end; i += SB_LANES) {
    uint32_t record[SB_LANES];
    number(record, i, end, p->count);
    xp_rows v = xp_load(p->v, record);
    V3 speed = xp_velocity(xp_v3(xp_load(p->d, record)), xp_v3(v), K(t->settings.h), K(t->settings.inv_h));
    xp_store(p->v, record, with(v, speed), p->count);
  }
}

/* ---- elements ---- */

/* The n particles of an element: what the kernels take, and movements as they lie in memory, for the way back. */
static void load_corners(const xp_particles *p, const uint32_t (*record)[XP_WIDTH], uint32_t lane, int n, XpPoint *point, xp_rows *d)
{
  for (int k = 0; k < n; k++) {
    d[k] = xp_load(p->d, record[k] + lane);
    point[k].x = xp_v3(xp_load(p->x, record[k] + lane));
    point[k].d = xp_v3(d[k]);
    point[k].w = d[k].c[3];
  }
}

/* Adds its correction to each of n particles; under Jacobi its share of them goes to the element's place instead. */
static void move_corners(const xp_tick *t, uint32_t kind, uint32_t bundle, const uint32_t (*record)[XP_WIDTH], uint32_t lane, int n, const xp_rows *d, const V3 *by)
{
  const xp_particles *p = &t->particles;
  if (!t->slots) {
    for (int k = 0; k < n; k++) xp_store(p->d, record[k] + lane, xp_moved(d[k], by[k]), p->count);
    return;
  }
  F share = f_load(t->share[kind] + (size_t)bundle * XP_WIDTH + lane);
  float *to = t->slots + t->slot_base[kind] + (size_t)bundle * (size_t)n * 3 * XP_WIDTH + lane;
  for (int k = 0; k < n; k++, to += 3 * XP_WIDTH) {
    V3 v = v3_scale(by[k], share);
    f_store(to, v.x);
    f_store(to + XP_WIDTH, v.y);
    f_store(to + 2 * XP_WIDTH, v.z);
  }
}

static F read_lambda(const xp_tick *t, const float *from, size_t at)
{
  return from && t->iteration && !t->damping ? f_load(from + at) : K(0.0f);
}

/* At place `place` of a kind. */
static void keep_lambda(const xp_tick *t, uint32_t kind, size_t place, float *to, size_t at, F before, F lambda)
{
  if (!to || t->damping) return;
  if (t->slots) lambda = before + f_load(t->share[kind] + place) * (lambda - before);
  f_store(to + at, lambda);
}

/* With one iteration, which is the common case: as little as there can be between loads and stores. Rows are subtracted before they are turned
 * into lanes; the same operations, and bits, as in springs(). */
static void plain_springs(const xp_tick *t, uint32_t first, uint32_t end)
{
  const xp_springs *s = t->springs + first, *last = t->springs + end;
  const float *restrict x = t->particles.x;
  float *restrict d = t->particles.d;
  const uint32_t nobody = t->particles.count;
  const F h = K(t->settings.h);
  for (; s < last; s++)
    for (uint32_t l = 0; l < XP_WIDTH; l += SB_LANES) {
      xp_pair pair;
      xp_rows r = xp_load_pair(x, d, s->p[0] + l, s->p[1] + l, &pair);
      XpPull pull = xp_spring(xp_v3(r), r.c[3], f_load(s->rest + l), xp_kh2(f_load(s->stiffness + l), h), K(0.0f));
      xp_store_pair(d, s->p[0] + l, s->p[1] + l, &pair, v3_scale(xp_v3(r), pull.s), nobody);
    }
}

static int damping_pass(const xp_tick *t) { return t->damping != 0; }

static void springs(const xp_tick *t, uint32_t first, uint32_t end)
{
  const xp_particles *p = &t->particles;
  F h = K(t->settings.h);
  for (uint32_t b = first; b < end; b++)
    for (uint32_t l = 0; l < XP_WIDTH; l += SB_LANES) {
      const xp_springs *s = &t->springs[b];
      size_t at = (size_t)b * XP_WIDTH + l;
      XpPoint x[2];
      xp_rows d[2];
      load_corners(p, s->p, l, 2, x, d);
      F c = t->damping ? f_load(t->spring_damping + at) : K(0.0f);
      F lambda = read_lambda(t, t->spring_lambda, at);
      XpSpringMove r = xp_spring_move(x[0], x[1], f_load(s->rest + l), f_load(s->stiffness + l), c, h, damping_pass(t), lambda);
      keep_lambda(t, XP_SPRING, at, t->spring_lambda, at, lambda, r.lambda);
      move_corners(t, XP_SPRING, b, s->p, l, 2, d, (const V3[]){r.d0, r.d1});
    }
}

static void airs(const xp_tick *t, uint32_t first, uint32_t end)
{
  const xp_particles *p = &t->particles;
  F h = K(t->settings.h);
  for (uint32_t b = first; b < end; b++)
    for (uint32_t l = 0; l < XP_WIDTH; l += SB_LANES) {
      const xp_airs *a = &t->airs[b];
      XpPoint x[3];
      xp_rows d[3];
      load_corners(p, a->p, l, 3, x, d);
      V3 push = xp_air_move(x[0], x[1], x[2], f_load(a->drag + l), f_load(a->lift + l), h);
      move_corners(t, XP_AIR, b, a->p, l, 3, d, (const V3[]){v3_scale(push, x[0].w), v3_scale(push, x[1].w), v3_scale(push, x[2].w)});
    }
}

static void tris(const xp_tick *t, uint32_t first, uint32_t end)
{
  const xp_particles *p = &t->particles;
  F h = K(t->settings.h), springy = K(t->damping ? 0.0f : 1.0f), damped = K(t->damping ? 1.0f : 0.0f);
  for (uint32_t b = first; b < end; b++)
    for (uint32_t l = 0; l < XP_WIDTH; l += SB_LANES) {
      const xp_tris *e = &t->tris[b];
      size_t at = (size_t)b * 3 * XP_WIDTH + l;
      XpPoint x[3];
      xp_rows d[3];
      load_corners(p, e->p, l, 3, x, d);
      XpTriRest rest;
      rest.ax = f_load(e->pose[0] + l), rest.ay = f_load(e->pose[1] + l), rest.bx = f_load(e->pose[2] + l), rest.by = f_load(e->pose[3] + l);
      V3 lambda = v3(read_lambda(t, t->tri_lambda, at), read_lambda(t, t->tri_lambda, at + XP_WIDTH), read_lambda(t, t->tri_lambda, at + 2 * XP_WIDTH));
      XpTri r = xp_tri_move(x[0], x[1], x[2], rest, f_load(e->ke + l), f_load(e->ka + l), f_load(e->kd + l), h, damping_pass(t), springy, damped, lambda);
      size_t place = (size_t)b * XP_WIDTH + l;
      keep_lambda(t, XP_TRI, place, t->tri_lambda, at, lambda.x, r.lambda.x);
      keep_lambda(t, XP_TRI, place, t->tri_lambda, at + XP_WIDTH, lambda.y, r.lambda.y);
      keep_lambda(t, XP_TRI, place, t->tri_lambda, at + 2 * XP_WIDTH, lambda.z, r.lambda.z);
      move_corners(t, XP_TRI, b, e->p, l, 3, d, (const V3[]){r.d0, r.d1, r.d2});
    }
}

static void edges(const xp_tick *t, uint32_t first, uint32_t end)
{
  const xp_particles *p = &t->particles;
  F h = K(t->settings.h);
  for (uint32_t b = first; b < end; b++)
    for (uint32_t l = 0; l < XP_WIDTH; l += SB_LANES) {
      const xp_edges *e = &t->edges[b];
      size_t at = (size_t)b * XP_WIDTH + l;
      XpPoint x[4];
      xp_rows d[4];
      load_corners(p, e->p, l, 4, x, d);
      F lambda = read_lambda(t, t->edge_lambda, at);
      XpEdge r = xp_edge_pass(x[0], x[1], x[2], x[3], f_load(e->rest + l), f_load(e->ke + l), f_load(e->kd + l), h, damping_pass(t), lambda);
      keep_lambda(t, XP_EDGE, at, t->edge_lambda, at, lambda, r.lambda);
      move_corners(t, XP_EDGE, b, e->p, l, 4, d, (const V3[]){r.d0, r.d1, r.d2, r.d3});
    }
}

static void tets(const xp_tick *t, uint32_t first, uint32_t end)
{
  const xp_particles *p = &t->particles;
  F h = K(t->settings.h);
  for (uint32_t b = first; b < end; b++)
    for (uint32_t l = 0; l < XP_WIDTH; l += SB_LANES) {
      const xp_tets *e = &t->tets[b];
      size_t at = (size_t)b * 2 * XP_WIDTH + l;
      XpPoint x[4];
      xp_rows d[4];
      load_corners(p, e->p, l, 4, x, d);
      V3 row[3];
      for (int k = 0; k < 3; k++) row[k] = v3(f_load(e->pose[3 * k] + l), f_load(e->pose[3 * k + 1] + l), f_load(e->pose[3 * k + 2] + l));
      F shape = read_lambda(t, t->tet_lambda, at), volume = read_lambda(t, t->tet_lambda, at + XP_WIDTH);
      XpTet r = xp_tet_move(x[0], x[1], x[2], x[3], m33(row[0], row[1], row[2]), f_load(e->mu + l), f_load(e->lambda + l), f_load(e->damping + l), h,
                            damping_pass(t), shape, volume);
      size_t place = (size_t)b * XP_WIDTH + l;
      keep_lambda(t, XP_TET, place, t->tet_lambda, at, shape, r.shape);
      keep_lambda(t, XP_TET, place, t->tet_lambda, at + XP_WIDTH, volume, r.volume);
      move_corners(t, XP_TET, b, e->p, l, 4, d, (const V3[]){r.d0, r.d1, r.d2, r.d3});
    }
}

void LANED(xp_elements)(const xp_tick *t, const xp_group *g)
{
  if (t->iteration == 0) airs(t, g->first[XP_AIR], g->end[XP_AIR]);
  (t->spring_lambda || t->slots ? springs : plain_springs)(t, g->first[XP_SPRING], g->end[XP_SPRING]);
  tris(t, g->first[XP_TRI], g->end[XP_TRI]);
  edges(t, g->first[XP_EDGE], g->end[XP_EDGE]);
  tets(t, g->first[XP_TET], g->end[XP_TET]);
}

void LANED(xp_damping)(const xp_tick *t, const xp_group *g)
{
  if (t->damping & 1u << XP_SPRING) springs(t, g->first[XP_SPRING], g->end[XP_SPRING]);
  if (t->damping & 1u << XP_TRI) tris(t, g->first[XP_TRI], g->end[XP_TRI]);
  if (t->damping & 1u << XP_EDGE) edges(t, g->first[XP_EDGE], g->end[XP_EDGE]);
  if (t->damping & 1u << XP_TET) tets(t, g->first[XP_TET], g->end[XP_TET]);
}
