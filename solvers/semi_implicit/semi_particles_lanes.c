/* Loops over elements and particles, SB_LANES at a time; compiled once for each lane width. */
#include "semi_lanes.h"
#include "semi_particles.h"

#include "semi_particle.kernel.h"

/* Elements first, first + 1, ... of a list, the last one again where they end. */
static uint32_t load_elements(const uint32_t *list, uint32_t first, uint32_t end, uint32_t place[SB_LANES], uint32_t element[SB_LANES])
{
  uint32_t used = end - first < SB_LANES ? end - first : SB_LANES;
  for (uint32_t l = 0; l < SB_LANES; l++) {
    place[l] = first + (l < used ? l : used - 1);
    element[l] = list ? list[place[l]] : place[l];
  }
  return used;
}

/* Particle k of each element. */
static void load_particles(const int32_t *particles, const uint32_t *element, uint32_t n, uint32_t k, uint32_t out[SB_LANES])
{
  for (uint32_t l = 0; l < SB_LANES; l++) out[l] = (uint32_t)particles[(size_t)element[l] * n + k];
}

static void put_force(const si_particles *p, si_kind kind, const uint32_t *place, uint32_t slots, uint32_t k, V3 f, uint32_t used)
{
  uint32_t slot[SB_LANES];
  for (uint32_t l = 0; l < SB_LANES; l++) slot[l] = p->slot[kind] + place[l] * slots + k;
  scatter_v3(p->force, slot, 3, 0, f, used);
}

static void do_springs(const si_tick *t, uint32_t first, uint32_t end)
{
  const si_particles *p = t->particles;
  const sb_model *m = t->model;
  for (uint32_t i = first; i < end; i += SB_LANES) {
    uint32_t place[SB_LANES], s[SB_LANES], a[SB_LANES], b[SB_LANES], used = load_elements(p->springs, i, end, place, s);
    load_particles(m->spring_indices, s, 2, 0, a);
    load_particles(m->spring_indices, s, 2, 1, b);
    V3 d = v3_sub(gather_v3(t->state->particle_q, a, 3, 0), gather_v3(t->state->particle_q, b, 3, 0));
    V3 u = v3_sub(gather_v3(t->state->particle_qd, a, 3, 0), gather_v3(t->state->particle_qd, b, 3, 0));
    V3 f = si_spring(d, u, gather(m->spring_rest_length, s, 1, 0), gather(p->spring_ke, place, 1, 0), gather(m->spring_damping, s, 1, 0));
    put_force(p, SI_SPRINGS, place, 1, 0, f, used);
  }
}

/* Positions and velocities of the n corners of each element. */
typedef struct corners {
  V3 x[4], v[4];
} corners;

static corners gather_corners(const si_tick *t, const int32_t *particles, const uint32_t *element, uint32_t n)
{
  corners c;
  for (uint32_t k = 0; k < n; k++) {
    uint32_t at[SB_LANES];
    load_particles(particles, element, n, k, at);
    c.x[k] = gather_v3(t->state->particle_q, at, 3, 0);
    c.v[k] = gather_v3(t->state->particle_qd, at, 3, 0);
  }
  return c;
}

static void do_tris(const si_tick *t, uint32_t first, uint32_t end)
{
  const si_particles *p = t->particles;
  const sb_model *m = t->model;
  for (uint32_t i = first; i < end; i += SB_LANES) {
    uint32_t place[SB_LANES], e[SB_LANES], used = load_elements(p->tris, i, end, place, e);
    corners c = gather_corners(t, m->tri_indices, e, 3);
    SiTriRest rest;
    rest.ax = gather(m->tri_pose, e, 4, 0);
    rest.ay = gather(m->tri_pose, e, 4, 1);
    rest.bx = gather(m->tri_pose, e, 4, 2);
    rest.by = gather(m->tri_pose, e, 4, 3);
    rest.area = gather(m->tri_area, e, 1, 0);
    SiTri f = si_tri(c.x[0], c.x[1], c.x[2], c.v[0], c.v[1], c.v[2], rest, gather(m->tri_ke, e, 1, 0), gather(m->tri_ka, e, 1, 0),
                     gather(m->tri_kd, e, 1, 0));
    V3 mean = v3_scale(v3_add(v3_add(c.v[0], c.v[1]), c.v[2]), K(0.33333334f));
    V3 air = si_air(c.x[0], c.x[1], c.x[2], mean, rest.area, gather(m->tri_drag, e, 1, 0), gather(m->tri_lift, e, 1, 0));
    put_force(p, SI_TRIS, place, 3, 0, v3_add(f.f0, air), used);
    put_force(p, SI_TRIS, place, 3, 1, v3_add(f.f1, air), used);
    put_force(p, SI_TRIS, place, 3, 2, v3_add(f.f2, air), used);
  }
}

static void put_quad(const si_particles *p, si_kind kind, const uint32_t *place, SiQuad f, uint32_t used)
{
  put_force(p, kind, place, 4, 0, f.f0, used);
  put_force(p, kind, place, 4, 1, f.f1, used);
  put_force(p, kind, place, 4, 2, f.f2, used);
  put_force(p, kind, place, 4, 3, f.f3, used);
}

/* An edge at a border has no second corner: its bending stiffness is 0, and any particle will do in that place. */
static void do_edges(const si_tick *t, uint32_t first, uint32_t end)
{
  const si_particles *p = t->particles;
  const sb_model *m = t->model;
  for (uint32_t i = first; i < end; i += SB_LANES) {
    uint32_t place[SB_LANES], e[SB_LANES], used = load_elements(p->edges, i, end, place, e);
    int32_t whole[4 * SB_LANES];
    uint32_t lane[SB_LANES];
    for (uint32_t l = 0; l < SB_LANES; l++) {
      const int32_t *at = m->edge_indices + 4 * (size_t)e[l];
      for (int k = 0; k < 4; k++) whole[4 * l + (uint32_t)k] = at[k] < 0 ? at[0] : at[k];
      lane[l] = l;
    }
    corners c = gather_corners(t, whole, lane, 4);
    put_quad(p, SI_EDGES, place,
             si_edge(c.x[0], c.x[1], c.x[2], c.x[3], c.v[0], c.v[1], c.v[2], c.v[3], gather(m->edge_rest_angle, e, 1, 0),
                     gather(m->edge_bending_ke, e, 1, 0), gather(m->edge_bending_kd, e, 1, 0)),
             used);
  }
}

static void do_tets(const si_tick *t, uint32_t first, uint32_t end)
{
  const si_particles *p = t->particles;
  const sb_model *m = t->model;
  for (uint32_t i = first; i < end; i += SB_LANES) {
    uint32_t place[SB_LANES], e[SB_LANES], used = load_elements(p->tets, i, end, place, e);
    corners c = gather_corners(t, m->tet_indices, e, 4);
    M33 b = m33(gather_v3(m->tet_pose, e, 9, 0), gather_v3(m->tet_pose, e, 9, 3), gather_v3(m->tet_pose, e, 9, 6));
    put_quad(p, SI_TETS, place,
             si_tet(c.x[0], c.x[1], c.x[2], c.x[3], c.v[0], c.v[1], c.v[2], c.v[3], b, gather(m->tet_volume, e, 1, 0),
                    gather(m->tet_k_mu, e, 1, 0), gather(m->tet_k_lambda, e, 1, 0), gather(m->tet_k_damp, e, 1, 0)),
             used);
  }
}

/* ---- bodies that particles meet ---- */

/* As gather_body, with bodies of earlier solvers where they are in this substep. */
static SiBody gather_met(const si_tick *t, const uint32_t *body)
{
  const si_particles *p = t->particles;
  static const float still[7] = {0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 1.0f};
  float q[7 * SB_LANES], qd[6 * SB_LANES];
  uint32_t lane[SB_LANES];
  for (uint32_t l = 0; l < SB_LANES; l++) {
    uint32_t b = body[l], other = b == UINT32_MAX ? 0 : p->other_of[b];
    memcpy(q + 7 * l, b == UINT32_MAX ? still : other ? p->other_q + 7 * (size_t)(other - 1) : t->state->body_q + 7 * (size_t)b, sizeof still);
    memcpy(qd + 6 * l, b == UINT32_MAX ? still : other ? p->other_qd + 6 * (size_t)(other - 1) : t->state->body_qd + 6 * (size_t)b, 6 * sizeof(float));
    lane[l] = l;
  }
  for (uint32_t l = 0; l < SB_LANES; l++)
    for (int k = 0; k < 6; k++) qd[6 * l + (uint32_t)k] = body[l] == UINT32_MAX ? 0.0f : qd[6 * l + (uint32_t)k];
  X7 pose;
  pose.p = gather_v3(q, lane, 7, 0);
  pose.q = q4(gather(q, lane, 7, 3), gather(q, lane, 7, 4), gather(q, lane, 7, 5), gather(q, lane, 7, 6));
  return si_body(pose, gather_v3(t->model->body_com, body, 3, 0), gather_v3(qd, lane, 6, 0), gather_v3(qd, lane, 6, 3),
                 gather(t->inv_mass, body, 1, 0), gather_s33(t->inv_inertia, body), gather(t->share, body, 1, 0));
}

static void scatter_press(float *force, float *wrench, const uint32_t *place, SiPress f, uint32_t used)
{
  scatter_v3(force, place, 3, 0, f.f, used);
  scatter_v3(wrench, place, 6, 0, f.body.f, used);
  scatter_v3(wrench, place, 6, 3, f.body.t, used);
}

static void do_holds(const si_tick *t, uint32_t first, uint32_t end)
{
  const si_particles *p = t->particles;
  const sb_model *m = t->model;
  for (uint32_t i = first; i < end; i += SB_LANES) {
    uint32_t place[SB_LANES], a[SB_LANES], body[SB_LANES], q[SB_LANES], used = load_elements(p->holds, i, end, place, a);
    for (uint32_t l = 0; l < SB_LANES; l++) {
      body[l] = m->attachment_body[a[l]] < 0 ? UINT32_MAX : (uint32_t)m->attachment_body[a[l]];
      q[l] = (uint32_t)m->attachment_particle[a[l]];
    }
    SiBody b = gather_met(t, body);
    V3 at = x7_point(b.pose, gather_v3(m->attachment_point, a, 3, 0));
    SiPress f = si_hold(b, at, gather_v3(t->state->particle_q, q, 3, 0), gather_v3(t->state->particle_qd, q, 3, 0), gather(p->hold_ke, place, 1, 0),
                        gather(p->hold_kd, place, 1, 0));
    put_force(p, SI_HOLDS, place, 1, 0, f.f, used);
    scatter_v3(p->hold_wrench, place, 6, 0, f.body.f, used);
    scatter_v3(p->hold_wrench, place, 6, 3, f.body.t, used);
  }
}

static void do_touches(const si_tick *t, uint32_t first, uint32_t end)
{
  const si_particles *p = t->particles;
  const sb_model *m = t->model;
  const sb_particle_contacts *c = p->touches;
  for (uint32_t i = first; i < end; i += SB_LANES) {
    uint32_t place[SB_LANES], same[SB_LANES], body[SB_LANES], q[SB_LANES], used = load_elements(NULL, i, end, place, same);
    for (uint32_t l = 0; l < SB_LANES; l++) {
      body[l] = c->body[place[l]] < 0 ? UINT32_MAX : (uint32_t)c->body[place[l]];
      q[l] = (uint32_t)c->particle[place[l]];
    }
    SiBody b = gather_met(t, body);
    V3 at = x7_point(b.pose, gather_v3(c->point, place, 3, 0));
    V3 n = q4_rotate(b.pose.q, gather_v3(c->normal, place, 3, 0));
    F inv_mass = gather(m->particle_inv_mass, q, 1, 0) * gather(p->share, q, 1, 0);
    SiPress f = si_touch(b, at, n, gather_v3(t->state->particle_q, q, 3, 0), gather_v3(t->state->particle_qd, q, 3, 0),
                         gather(m->particle_radius, q, 1, 0), inv_mass, gather(c->friction, place, 1, 0), K(t->settings.contact_omega),
                         K(t->settings.contact_zeta), K(t->settings.dt));
    scatter_press(p->touch_force, p->touch_wrench, place, f, used);
  }
}

/* Pairs of one kind stand together; a bundle ends where the kind changes. */
static uint32_t count_of_kind(const sb_near_pairs *c, uint32_t first, uint32_t end)
{
  uint32_t n = 1;
  while (n < SB_LANES && first + n < end && c->kind[first + n] == c->kind[first]) n++;
  return n;
}

static NearPair measure_near(uint32_t kind, const corners *c, F side)
{
  if (kind == SB_NEAR_POINTS) return pair_points(c->x[0], c->x[1]);
  if (kind == SB_NEAR_FACE) return pair_face(c->x[0], c->x[1], c->x[2], c->x[3], side);
  return pair_edges(c->x[0], c->x[1], c->x[2], c->x[3], side);
}

static void do_nears(const si_tick *t, uint32_t first, uint32_t end)
{
  const si_particles *p = t->particles;
  const sb_model *m = t->model;
  const sb_near_pairs *c = p->nears;
  for (uint32_t i = first; i < end;) {
    uint32_t kind = c->kind[i], n = count_of_kind(c, i, end), place[SB_LANES], same[SB_LANES];
    uint32_t used = load_elements(NULL, i, i + n, place, same);
    corners at;
    F mass[4];
    for (uint32_t k = 0; k < 4; k++) {
      uint32_t q[SB_LANES];
      load_particles(c->particles, place, 4, k, q);
      for (uint32_t l = 0; l < SB_LANES && kind == SB_NEAR_POINTS && k > 1; l++) q[l] = (uint32_t)c->particles[4 * (size_t)place[l]];
      at.x[k] = gather_v3(t->state->particle_q, q, 3, 0);
      at.v[k] = gather_v3(t->state->particle_qd, q, 3, 0);
      mass[k] = gather(m->particle_inv_mass, q, 1, 0) * gather(p->share, q, 1, 0);
    }
    NearPair near = measure_near(kind, &at, gather(c->side, place, 1, 0));
    V3 v = v3_add(v3_add(v3_scale(at.v[0], near.a0), v3_scale(at.v[1], near.a1)), v3_add(v3_scale(at.v[2], near.a2), v3_scale(at.v[3], near.a3)));
    F all = ((near.a0 * near.a0) * mass[0] + (near.a1 * near.a1) * mass[1]) + ((near.a2 * near.a2) * mass[2] + (near.a3 * near.a3) * mass[3]);
    V3 f = si_apart(near, v, all, gather(c->thickness, place, 1, 0), gather(c->friction, place, 1, 0), K(t->settings.contact_omega),
                    K(t->settings.contact_zeta), K(t->settings.dt));
    scatter_v3(p->near, place, SI_NEAR_FLOATS, 0, f, used);
    scatter(p->near, place, SI_NEAR_FLOATS, 3, near.a0, used);
    scatter(p->near, place, SI_NEAR_FLOATS, 4, near.a1, used);
    scatter(p->near, place, SI_NEAR_FLOATS, 5, near.a2, used);
    scatter(p->near, place, SI_NEAR_FLOATS, 6, near.a3, used);
    i += n;
  }
}

void LANED(si_particle_forces)(const si_tick *t, si_kind kind, uint32_t first, uint32_t end)
{
  switch (kind) {
  case SI_SPRINGS: do_springs(t, first, end); break;
  case SI_TRIS: do_tris(t, first, end); break;
  case SI_EDGES: do_edges(t, first, end); break;
  case SI_TETS: do_tets(t, first, end); break;
  case SI_HOLDS: do_holds(t, first, end); break;
  case SI_TOUCHES: do_touches(t, first, end); break;
  case SI_NEARS: do_nears(t, first, end); break;
  default: break;
  }
}

/* ---- particles ---- */

/* Sums what acts on one particle, in fixed order: elements, contacts, near pairs. */
static void sum_force(const si_particles *p, uint32_t q, float out[3])
{
  out[0] = out[1] = out[2] = 0.0f;
  for (uint32_t i = p->first[q]; i < p->first[q + 1]; i++) {
    const float *f = p->force + 3 * (size_t)(p->entry[i] & ~SI_REVERSED);
    bool reversed = (p->entry[i] & SI_REVERSED) != 0;
    for (int k = 0; k < 3; k++) out[k] = reversed ? out[k] - f[k] : out[k] + f[k];
  }
  const uint32_t *start = p->touches->particle_start;
  for (uint32_t i = start ? start[q] : 0; start && i < start[q + 1]; i++)
    for (int k = 0; k < 3; k++) out[k] += p->touch_force[3 * (size_t)i + (size_t)k];
  for (uint32_t i = p->near_first[q]; i < p->near_first[q + 1]; i++) {
    const float *near = p->near + SI_NEAR_FLOATS * (size_t)(p->near_entry[i] / 4);
    float weight = near[3 + p->near_entry[i] % 4];
    for (int k = 0; k < 3; k++) out[k] += near[k] * weight;
  }
}

void LANED(si_particle_moves)(const si_tick *t, uint32_t first, uint32_t end)
{
  const si_particles *p = t->particles;
  const sb_model *m = t->model;
  for (uint32_t i = first; i < end; i += SB_LANES) {
    uint32_t place[SB_LANES], q[SB_LANES], world[SB_LANES], lane[SB_LANES], used = load_elements(p->own, i, end, place, q);
    float sums[SB_LANES][3];
    for (uint32_t l = 0; l < SB_LANES; l++) {
      world[l] = (uint32_t)m->deformable_world[m->particle_deformable[q[l]]];
      lane[l] = l;
      sum_force(p, q[l], sums[l]);
    }
    SiMove r = si_move(gather_v3(t->state->particle_q, q, 3, 0), gather_v3(t->state->particle_qd, q, 3, 0), gather(m->particle_inv_mass, q, 1, 0),
                       gather_v3(&sums[0][0], lane, 3, 0), gather_v3(m->gravity, world, 3, 0), K(t->settings.dt));
    scatter_v3(t->state->particle_q, q, 3, 0, r.x, used);
    scatter_v3(t->state->particle_qd, q, 3, 0, r.v, used);
  }
}
