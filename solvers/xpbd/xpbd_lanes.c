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
    xp_rows x = xp_load(p->x, record), v = xp_load(p->v, record);
    V3 speed = xp_v3(v);
    if (!t->velocities_known) speed = xp_velocity(xp_v3(x), xp_v3(xp_load(p->before, record)), speed, h, inv_h);
    XpMove move = xp_predict(xp_v3(x), speed, x.c[3], down, h);
    xp_store(p->before, record, x, p->count);
    xp_store(p->v, record, with(v, move.v), p->count);
    xp_store(p->x, record, with(x, move.x), p->count);
  }
}

void LANED(xp_finish)(const xp_tick *t, uint32_t first, uint32_t end)
{
  const xp_particles *p = &t->particles;
  for (uint32_t i = first; i < end; i += SB_LANES) {
    uint32_t record[SB_LANES];
    number(record, i, end, p->count);
    xp_rows v = xp_load(p->v, record);
    V3 speed = xp_velocity(xp_v3(xp_load(p->x, record)), xp_v3(xp_load(p->before, record)), xp_v3(v), K(t->settings.h), K(t->settings.inv_h));
    xp_store(p->v, record, with(v, speed), p->count);
  }
}

/* ---- elements ---- */

/* Change since the substep began. */
static V3 moved(const xp_particles *p, xp_rows x, const uint32_t *record) { return v3_sub(xp_v3(x), xp_v3(xp_load(p->before, record))); }

static F read_lambda(const xp_tick *t, const float *from, size_t at)
{
  return from && t->iteration ? f_load(from + at) : K(0.0f);
}

static void keep_lambda(float *to, size_t at, F lambda)
{
  if (to) f_store(to + at, lambda);
}

/* With one iteration and no damping, which is the common case: as little as there can be between loads and stores. The same bits as springs(). */
static void plain_springs(const xp_tick *t, uint32_t first, uint32_t end)
{
  const xp_springs *s = t->springs + first, *last = t->springs + end;
  float *restrict x = t->particles.x;
  const uint32_t nobody = t->particles.count;
  const F h = K(t->settings.h);
  for (; s < last; s++)
    for (uint32_t l = 0; l < XP_WIDTH; l += SB_LANES) {
      xp_rows x0 = xp_load(x, s->p[0] + l), x1 = xp_load(x, s->p[1] + l);
      V3 d = v3_sub(xp_v3(x0), xp_v3(x1));
      XpPull pull = xp_spring(d, x0.c[3] + x1.c[3], f_load(s->rest + l), xp_kh2(f_load(s->stiffness + l), h), K(0.0f));
      xp_store(x, s->p[0] + l, xp_moved(x0, v3_scale(d, pull.s * x0.c[3])), nobody);
      xp_store(x, s->p[1] + l, xp_moved(x1, v3_scale(d, -(pull.s * x1.c[3]))), nobody);
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
      xp_rows x0 = xp_load(p->x, s->p[0] + l), x1 = xp_load(p->x, s->p[1] + l);
      V3 d = v3_sub(xp_v3(x0), xp_v3(x1)), change = v3_sub(moved(p, x0, s->p[0] + l), moved(p, x1, s->p[1] + l));
      F c = t->spring_damping ? f_load(t->spring_damping + at) : K(0.0f);
      XpPull pull = xp_spring_damped(d, change, x0.c[3] + x1.c[3], f_load(s->rest + l), xp_kh2(f_load(s->stiffness + l), h), c * h,
                                     read_lambda(t, t->spring_lambda, at));
      keep_lambda(t->spring_lambda, at, pull.lambda);
      xp_store(p->x, s->p[0] + l, xp_moved(x0, v3_scale(d, pull.s * x0.c[3])), p->count);
      xp_store(p->x, s->p[1] + l, xp_moved(x1, v3_scale(d, -(pull.s * x1.c[3]))), p->count);
    }
}

static void airs(const xp_tick *t, uint32_t first, uint32_t end)
{
  const xp_particles *p = &t->particles;
  F h = K(t->settings.h);
  for (uint32_t b = first; b < end; b++)
    for (uint32_t l = 0; l < XP_WIDTH; l += SB_LANES) {
      const xp_airs *a = &t->airs[b];
      xp_rows x[3];
      for (int k = 0; k < 3; k++) x[k] = xp_load(p->x, a->p[k] + l);
      V3 sum = v3_add(v3_add(moved(p, x[0], a->p[0] + l), moved(p, x[1], a->p[1] + l)), moved(p, x[2], a->p[2] + l));
      V3 d = xp_air(xp_v3(x[0]), xp_v3(x[1]), xp_v3(x[2]), v3_scale(sum, K(0.33333334f)), (x[0].c[3] + x[1].c[3]) + x[2].c[3],
                    f_load(a->drag + l) * h, f_load(a->lift + l) * h);
      for (int k = 0; k < 3; k++) xp_store(p->x, a->p[k] + l, xp_moved(x[k], v3_scale(d, x[k].c[3])), p->count);
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
      xp_rows x[3];
      V3 m[3];
      for (int k = 0; k < 3; k++) x[k] = xp_load(p->x, e->p[k] + l), m[k] = moved(p, x[k], e->p[k] + l);
      XpTriRest rest;
      rest.ax = f_load(e->pose[0] + l), rest.ay = f_load(e->pose[1] + l), rest.bx = f_load(e->pose[2] + l), rest.by = f_load(e->pose[3] + l);
      F ke = f_load(e->ke + l), ka = f_load(e->ka + l), kd = f_load(e->kd + l) * h;
      V3 kh2 = v3(xp_kh2(ke + ka, h), xp_kh2(ke, h), xp_kh2(4.0f * ke, h)), ch = v3(kd * 0.5f, kd * 0.5f, kd * 2.0f);
      V3 lambda = v3(read_lambda(t, t->tri_lambda, at), read_lambda(t, t->tri_lambda, at + XP_WIDTH), read_lambda(t, t->tri_lambda, at + 2 * XP_WIDTH));
      XpTri r = xp_tri(xp_v3(x[0]), xp_v3(x[1]), xp_v3(x[2]), m[0], m[1], m[2], x[0].c[3], x[1].c[3], x[2].c[3], rest, kh2, ch, lambda);
      keep_lambda(t->tri_lambda, at, r.lambda.x);
      keep_lambda(t->tri_lambda, at + XP_WIDTH, r.lambda.y);
      keep_lambda(t->tri_lambda, at + 2 * XP_WIDTH, r.lambda.z);
      xp_store(p->x, e->p[0] + l, xp_moved(x[0], r.d0), p->count);
      xp_store(p->x, e->p[1] + l, xp_moved(x[1], r.d1), p->count);
      xp_store(p->x, e->p[2] + l, xp_moved(x[2], r.d2), p->count);
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
      xp_rows x[4];
      V3 m[4];
      for (int k = 0; k < 4; k++) x[k] = xp_load(p->x, e->p[k] + l), m[k] = moved(p, x[k], e->p[k] + l);
      XpEdge r = xp_edge(xp_v3(x[0]), xp_v3(x[1]), xp_v3(x[2]), xp_v3(x[3]), m[0], m[1], m[2], m[3], x[0].c[3], x[1].c[3], x[2].c[3], x[3].c[3],
                         f_load(e->rest + l), xp_kh2(f_load(e->ke + l), h), f_load(e->kd + l) * h, read_lambda(t, t->edge_lambda, at));
      keep_lambda(t->edge_lambda, at, r.lambda);
      xp_store(p->x, e->p[0] + l, xp_moved(x[0], r.d0), p->count);
      xp_store(p->x, e->p[1] + l, xp_moved(x[1], r.d1), p->count);
      xp_store(p->x, e->p[2] + l, xp_moved(x[2], r.d2), p->count);
      xp_store(p->x, e->p[3] + l, xp_moved(x[3], r.d3), p->count);
    }
}

/* Where `on`; elsewhere not even a zero is added. */
static void move_tet(const xp_particles *p, const xp_tets *e, uint32_t l, xp_rows x[4], XpTet r, M on)
{
  const V3 d[4] = {r.d0, r.d1, r.d2, r.d3};
  for (int k = 0; k < 4; k++) {
    V3 old = xp_v3(x[k]);
    x[k] = with(x[k], v3_sel(on, v3_add(old, d[k]), old));
    xp_store(p->x, e->p[k] + l, x[k], p->count);
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
      xp_rows x[4];
      for (int k = 0; k < 4; k++) x[k] = xp_load(p->x, e->p[k] + l);
      V3 row[3];
      for (int k = 0; k < 3; k++) row[k] = v3(f_load(e->pose[3 * k] + l), f_load(e->pose[3 * k + 1] + l), f_load(e->pose[3 * k + 2] + l));
      M33 pose = m33(row[0], row[1], row[2]);
      F mu = f_load(e->mu + l), lambda = f_load(e->lambda + l), ch = f_load(e->damping + l) * h;
      F ratio = f_div(mu, f_max(lambda, K(1.0e-30f)));
      XpTet r = xp_tet(xp_v3(x[0]), xp_v3(x[1]), xp_v3(x[2]), xp_v3(x[3]), x[0].c[3], x[1].c[3], x[2].c[3], x[3].c[3], pose, xp_kh2(mu, h),
                       xp_kh2(lambda, h), ratio, read_lambda(t, t->tet_lambda, at), read_lambda(t, t->tet_lambda, at + XP_WIDTH));
      keep_lambda(t->tet_lambda, at, r.shape);
      keep_lambda(t->tet_lambda, at + XP_WIDTH, r.volume);
      move_tet(p, e, l, x, r, mu < F_INF);
      if (t->iteration || !m_any(ch > 0.0f)) continue;
      /* once in a substep */
      V3 m[4];
      for (int k = 0; k < 4; k++) m[k] = moved(p, x[k], e->p[k] + l);
      XpTet damped = xp_tet_damping(m[0], m[1], m[2], m[3], x[0].c[3], x[1].c[3], x[2].c[3], x[3].c[3], pose, ch);
      move_tet(p, e, l, x, damped, ch > 0.0f);
    }
}

void LANED(xp_elements)(const xp_tick *t, const xp_group *g)
{
  if (t->iteration == 0) airs(t, g->first[XP_AIR], g->end[XP_AIR]);
  (t->spring_damping || t->spring_lambda ? springs : plain_springs)(t, g->first[XP_SPRING], g->end[XP_SPRING]);
  tris(t, g->first[XP_TRI], g->end[XP_TRI]);
  edges(t, g->first[XP_EDGE], g->end[XP_EDGE]);
  tets(t, g->first[XP_TET], g->end[XP_TET]);
}
