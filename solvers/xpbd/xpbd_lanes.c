/* Particles and the elements between them, SB_LANES at a time; compiled once for each lane width. Elements of a bundle share no
 * particle, so the width changes nothing. */
#include "xpbd_data.h"
#include "xpbd_gather.h"

#include "xpbd_particle.kernel.h"

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

/* From particle j to i: where they were, then how far they have moved, so that no small number meets a large one before it must. */
static V3 apart(const xp_rows xi, const xp_rows di, const xp_rows xj, const xp_rows dj)
{
  return v3_add(v3_sub(xp_v3(xi), xp_v3(xj)), v3_sub(xp_v3(di), xp_v3(dj)));
}

/* The same in the middle of the movements. */
static V3 middle(const xp_rows xi, const xp_rows di, const xp_rows xj, const xp_rows dj)
{
  return v3_add_scaled(v3_sub(xp_v3(xi), xp_v3(xj)), v3_sub(xp_v3(di), xp_v3(dj)), K(0.5f));
}

/* Positions and movements of an element's n particles. */
static void load_corners(const xp_particles *p, const uint32_t (*record)[XP_WIDTH], uint32_t lane, int n, xp_rows *x, xp_rows *d)
{
  for (int k = 0; k < n; k++) x[k] = xp_load(p->x, record[k] + lane), d[k] = xp_load(p->d, record[k] + lane);
}

static F read_lambda(const xp_tick *t, const float *from, size_t at)
{
  return from && t->iteration && !t->damping ? f_load(from + at) : K(0.0f);
}

static void keep_lambda(const xp_tick *t, float *to, size_t at, F lambda)
{
  if (to && !t->damping) f_store(to + at, lambda);
}

/* k h^2 where the pass is for stiffnesses, c h where it is for damping; 0 in the other. */
static F stiff(const xp_tick *t, F kh2) { return t->damping ? K(0.0f) : kh2; }
static F viscous(const xp_tick *t, F ch) { return t->damping ? ch : K(0.0f); }

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

static void springs(const xp_tick *t, uint32_t first, uint32_t end)
{
  const xp_particles *p = &t->particles;
  F h = K(t->settings.h);
  for (uint32_t b = first; b < end; b++)
    for (uint32_t l = 0; l < XP_WIDTH; l += SB_LANES) {
      const xp_springs *s = &t->springs[b];
      size_t at = (size_t)b * XP_WIDTH + l;
      xp_rows x[2], d[2];
      load_corners(p, s->p, l, 2, x, d);
      V3 r = apart(x[0], d[0], x[1], d[1]);
      F w = d[0].c[3] + d[1].c[3];
      XpPull pull;
      if (t->damping)
        pull = xp_spring_damping(middle(x[0], d[0], x[1], d[1]), v3_sub(xp_v3(d[0]), xp_v3(d[1])), w, f_load(t->spring_damping + at) * h);
      else
        pull = xp_spring(r, w, f_load(s->rest + l), xp_kh2(f_load(s->stiffness + l), h), read_lambda(t, t->spring_lambda, at));
      keep_lambda(t, t->spring_lambda, at, pull.lambda);
      V3 way = v3_scale(r, pull.s);
      xp_store(p->d, s->p[0] + l, xp_moved(d[0], v3_scale(way, d[0].c[3])), p->count);
      xp_store(p->d, s->p[1] + l, xp_moved(d[1], v3_scale(way, -d[1].c[3])), p->count);
    }
}

static void airs(const xp_tick *t, uint32_t first, uint32_t end)
{
  const xp_particles *p = &t->particles;
  F h = K(t->settings.h);
  for (uint32_t b = first; b < end; b++)
    for (uint32_t l = 0; l < XP_WIDTH; l += SB_LANES) {
      const xp_airs *a = &t->airs[b];
      xp_rows x[3], d[3];
      load_corners(p, a->p, l, 3, x, d);
      V3 sum = v3_add(v3_add(xp_v3(d[0]), xp_v3(d[1])), xp_v3(d[2]));
      V3 push = xp_air(apart(x[1], d[1], x[0], d[0]), apart(x[2], d[2], x[0], d[0]), v3_scale(sum, K(0.33333334f)), (d[0].c[3] + d[1].c[3]) + d[2].c[3],
                       f_load(a->drag + l) * h, f_load(a->lift + l) * h);
      for (int k = 0; k < 3; k++) xp_store(p->d, a->p[k] + l, xp_moved(d[k], v3_scale(push, d[k].c[3])), p->count);
    }
}

static void tris(const xp_tick *t, uint32_t first, uint32_t end)
{
  const xp_particles *p = &t->particles;
  F h = K(t->settings.h);
  for (uint32_t b = first; b < end; b++)
    for (uint32_t l = 0; l < XP_WIDTH; l += SB_LANES) {
      const xp_tris *e = &t->tris[b];
      size_t at = (size_t)b * 3 * XP_WIDTH + l;
      xp_rows x[3], d[3];
      load_corners(p, e->p, l, 3, x, d);
      XpTriRest rest;
      rest.ax = f_load(e->pose[0] + l), rest.ay = f_load(e->pose[1] + l), rest.bx = f_load(e->pose[2] + l), rest.by = f_load(e->pose[3] + l);
      F ke = stiff(t, f_load(e->ke + l)), ka = stiff(t, f_load(e->ka + l)), kd = viscous(t, f_load(e->kd + l) * h);
      V3 kh2 = v3(xp_kh2(ke + ka, h), xp_kh2(ke, h), xp_kh2(4.0f * ke, h)), ch = v3(kd * 0.5f, kd * 0.5f, kd * 2.0f);
      V3 lambda = v3(read_lambda(t, t->tri_lambda, at), read_lambda(t, t->tri_lambda, at + XP_WIDTH), read_lambda(t, t->tri_lambda, at + 2 * XP_WIDTH));
      V3 e1 = t->damping ? middle(x[1], d[1], x[0], d[0]) : apart(x[1], d[1], x[0], d[0]);
      V3 e2 = t->damping ? middle(x[2], d[2], x[0], d[0]) : apart(x[2], d[2], x[0], d[0]);
      XpTri r = xp_tri(e1, e2, v3_sub(xp_v3(d[1]), xp_v3(d[0])), v3_sub(xp_v3(d[2]), xp_v3(d[0])),
                       d[0].c[3], d[1].c[3], d[2].c[3], rest, kh2, ch, lambda);
      keep_lambda(t, t->tri_lambda, at, r.lambda.x);
      keep_lambda(t, t->tri_lambda, at + XP_WIDTH, r.lambda.y);
      keep_lambda(t, t->tri_lambda, at + 2 * XP_WIDTH, r.lambda.z);
      xp_store(p->d, e->p[0] + l, xp_moved(d[0], r.d0), p->count);
      xp_store(p->d, e->p[1] + l, xp_moved(d[1], r.d1), p->count);
      xp_store(p->d, e->p[2] + l, xp_moved(d[2], r.d2), p->count);
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
      xp_rows x[4], d[4];
      load_corners(p, e->p, l, 4, x, d);
      XpEdge r;
      if (t->damping)
        r = xp_edge_damping(middle(x[0], d[0], x[2], d[2]), middle(x[1], d[1], x[2], d[2]), middle(x[3], d[3], x[2], d[2]), xp_v3(d[0]), xp_v3(d[1]),
                            xp_v3(d[2]), xp_v3(d[3]), d[0].c[3], d[1].c[3], d[2].c[3], d[3].c[3], f_load(e->kd + l) * h);
      else
        r = xp_edge(apart(x[0], d[0], x[2], d[2]), apart(x[1], d[1], x[2], d[2]), apart(x[3], d[3], x[2], d[2]), d[0].c[3], d[1].c[3], d[2].c[3], d[3].c[3], f_load(e->rest + l), xp_kh2(f_load(e->ke + l), h),
                    read_lambda(t, t->edge_lambda, at));
      keep_lambda(t, t->edge_lambda, at, r.lambda);
      xp_store(p->d, e->p[0] + l, xp_moved(d[0], r.d0), p->count);
      xp_store(p->d, e->p[1] + l, xp_moved(d[1], r.d1), p->count);
      xp_store(p->d, e->p[2] + l, xp_moved(d[2], r.d2), p->count);
      xp_store(p->d, e->p[3] + l, xp_moved(d[3], r.d3), p->count);
    }
}

static void move_tet(const xp_particles *p, const xp_tets *e, uint32_t l, xp_rows d[4], XpTet r)
{
  xp_store(p->d, e->p[0] + l, xp_moved(d[0], r.d0), p->count);
  xp_store(p->d, e->p[1] + l, xp_moved(d[1], r.d1), p->count);
  xp_store(p->d, e->p[2] + l, xp_moved(d[2], r.d2), p->count);
  xp_store(p->d, e->p[3] + l, xp_moved(d[3], r.d3), p->count);
}

static void tets(const xp_tick *t, uint32_t first, uint32_t end)
{
  const xp_particles *p = &t->particles;
  F h = K(t->settings.h);
  for (uint32_t b = first; b < end; b++)
    for (uint32_t l = 0; l < XP_WIDTH; l += SB_LANES) {
      const xp_tets *e = &t->tets[b];
      size_t at = (size_t)b * 2 * XP_WIDTH + l;
      xp_rows x[4], d[4];
      load_corners(p, e->p, l, 4, x, d);
      V3 row[3];
      for (int k = 0; k < 3; k++) row[k] = v3(f_load(e->pose[3 * k] + l), f_load(e->pose[3 * k + 1] + l), f_load(e->pose[3 * k + 2] + l));
      M33 pose = m33(row[0], row[1], row[2]);
      if (t->damping) {
        F ch = f_load(e->damping + l) * h;
        XpTet damped = xp_tet_damping(middle(x[1], d[1], x[0], d[0]), middle(x[2], d[2], x[0], d[0]), middle(x[3], d[3], x[0], d[0]), v3_sub(xp_v3(d[1]), xp_v3(d[0])), v3_sub(xp_v3(d[2]), xp_v3(d[0])), v3_sub(xp_v3(d[3]), xp_v3(d[0])), d[0].c[3],
                                      d[1].c[3], d[2].c[3], d[3].c[3], pose, ch);
        move_tet(p, e, l, d, damped);
        continue;
      }
      F mu = f_load(e->mu + l), lambda = f_load(e->lambda + l), ratio = f_div(mu, f_max(lambda, K(1.0e-30f)));
      XpTet r = xp_tet(apart(x[1], d[1], x[0], d[0]), apart(x[2], d[2], x[0], d[0]), apart(x[3], d[3], x[0], d[0]), d[0].c[3], d[1].c[3], d[2].c[3],
                       d[3].c[3], pose, xp_kh2(mu, h), xp_kh2(lambda, h), ratio, read_lambda(t, t->tet_lambda, at),
                       read_lambda(t, t->tet_lambda, at + XP_WIDTH));
      keep_lambda(t, t->tet_lambda, at, r.shape);
      keep_lambda(t, t->tet_lambda, at + XP_WIDTH, r.volume);
      move_tet(p, e, l, d, r);
    }
}

void LANED(xp_elements)(const xp_tick *t, const xp_group *g)
{
  if (t->iteration == 0) airs(t, g->first[XP_AIR], g->end[XP_AIR]);
  (t->spring_lambda ? springs : plain_springs)(t, g->first[XP_SPRING], g->end[XP_SPRING]);
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
