/* Contact forces, one scalar kernel per contact, from the motions that the bundles hold. */
#include <string.h>

#include "featherstone_data.h"
#include "samebit/maths.h"
#include "samebit/penalty_contact.h"
#include "samebit/solver_tools.h"

#include "articulation_records.kernel.h"

/* Drag of a contact that does not slide, in units of mass / dt: implicit against the world, explicit between bodies. */
#define STICK_IMPLICIT 10.0f
#define STICK_EXPLICIT 0.5f
/* Contacts in one chunk of the parallel loop. */
#define CHUNK 64u

/* A body as a contact sees it: the point of contact and its velocity, and how it answers a force there. */
typedef struct contact_side {
  V3 point;    /* m, world */
  V3 velocity; /* m/s */
  V3 arm;      /* from the centre of mass, m */
  F inv_mass;  /* 1/kg, times the body's number of contacts */
  S33 inv_inertia;
} contact_side;

static contact_side look_at(const fs_solver *s, int32_t body, const float *point)
{
  contact_side side;
  memset(&side, 0, sizeof side);
  V3 local = v3(point[0], point[1], point[2]);
  side.point = local;
  if (body < 0) return side;
  const sb_model *m = s->bind.model;
  AbMotion motion;
  V3 reference = v3_zero();
  const float *com = m->body_com + 3 * (size_t)body;
  if (s->forest.place[body].bundle == UINT32_MAX) {
    /* Of another solver: an obstacle, standing where that solver has left it, with the velocity it has there. */
    const float *q = s->bind.state->body_q + 7 * (size_t)body, *qd = s->bind.state->body_qd + 6 * (size_t)body;
    motion.q = q4(q[3], q[4], q[5], q[6]);
    motion.p = v3(q[0], q[1], q[2]);
    motion.w = v3(qd[3], qd[4], qd[5]);
    V3 to_com = q4_rotate(motion.q, v3(com[0], com[1], com[2]));
    motion.v = v3_sub(v3(qd[0], qd[1], qd[2]), v3_cross(motion.w, to_com));
  } else {
    const ab_body_place *at = &s->forest.place[body];
    uint32_t lanes = s->bind.lanes;
    const float *work = s->forest.bundles[at->bundle].work + (size_t)at->link * AB_WORK_FLOATS * lanes + at->lane;
    float fields[sizeof(AbMotion) / sizeof(float)];
    for (size_t f = 0; f < sizeof fields / sizeof fields[0]; f++) fields[f] = work[f * lanes];
    memcpy(&motion, fields, sizeof motion);
    const float *origin = s->forest.origin + 3 * (size_t)body;
    reference = v3(origin[0], origin[1], origin[2]);
    F share = (F)(s->body_first[body + 1] - s->body_first[body]);
    const float *i = m->body_inv_inertia + 6 * (size_t)body;
    S33 inverse = s33_rotate(q4_to_m33(motion.q), s33(i[0], i[1], i[2], i[3], i[4], i[5]));
    side.inv_mass = m->body_inv_mass[body] * share;
    side.inv_inertia = s33(inverse.xx * share, inverse.yy * share, inverse.zz * share, inverse.xy * share,
                           inverse.xz * share, inverse.yz * share);
  }
  V3 from_reference = q4_rotate(motion.q, v3_add(local, reference));
  side.point = v3_add(motion.p, from_reference);
  side.velocity = v3_add(motion.v, v3_cross(motion.w, from_reference));
  side.arm = q4_rotate(motion.q, v3_sub(local, v3(com[0], com[1], com[2])));
  return side;
}

static void solve_contact(fs_solver *s, uint32_t i)
{
  const sb_contacts *c = s->tick.contacts;
  fs_contact_force *out = &s->forces[i];
  memset(out, 0, sizeof *out);
  int32_t body_a = c->body_a[i], body_b = c->body_b[i];
  bool own_a = body_a >= 0 && s->forest.place[body_a].bundle != UINT32_MAX;
  bool own_b = body_b >= 0 && s->forest.place[body_b].bundle != UINT32_MAX;
  if (!own_a && !own_b) return;
  contact_side a = look_at(s, body_a, c->point_a + 3 * (size_t)i), b = look_at(s, body_b, c->point_b + 3 * (size_t)i);
  const float *cn = c->normal + 3 * (size_t)i;
  V3 n = v3(cn[0], cn[1], cn[2]);
  F gap = v3_dot(n, v3_sub(b.point, a.point));
  V3 relative = v3_sub(b.velocity, a.velocity);
  F rate = v3_dot(n, relative);
  V3 slide = v3_add_scaled(relative, n, -rate);
  F inv_mass = rigid_inv_mass(a.inv_mass, a.inv_inertia, a.arm, n) + rigid_inv_mass(b.inv_mass, b.inv_inertia, b.arm, n);
  bool against_world = own_a != own_b;
  F dt = s->settings.step.dt;
  PenaltyContact p = penalty_contact(gap, rate, v3_len(slide), inv_mass, c->friction[3 * (size_t)i], s->settings.contact_omega,
                                     s->settings.contact_zeta, dt, against_world ? STICK_IMPLICIT : STICK_EXPLICIT,
                                     against_world ? 0.0f : 1.0f);
  F normal = against_world ? p.force0 : p.normal;
  V3 force = v3_add_scaled(v3_scale(n, normal), slide, -p.drag);
  V3 middle = v3_scale(v3_add(a.point, b.point), 0.5f);
  out->point[0] = middle.x, out->point[1] = middle.y, out->point[2] = middle.z;
  out->force[0] = force.x, out->force[1] = force.y, out->force[2] = force.z;
  out->normal[0] = n.x, out->normal[1] = n.y, out->normal[2] = n.z;
  out->resist_n = against_world ? p.resist : 0.0f;
  out->resist_t = against_world ? p.drag : 0.0f;
}

static void solve_chunk(void *user, uint32_t chunk)
{
  fs_solver *s = user;
  uint32_t end = (chunk + 1) * CHUNK < s->tick.contacts->count ? (chunk + 1) * CHUNK : s->tick.contacts->count;
  for (uint32_t i = chunk * CHUNK; i < end; i++) solve_contact(s, i);
}

void fs_contact_forces(fs_solver *s)
{
  const sb_host *host = s->bind.host;
  host->parallel_for(host->context, (s->tick.contacts->count + CHUNK - 1) / CHUNK, solve_chunk, s);
}

bool fs_list_contacts(fs_solver *s, const sb_contacts *c)
{
  uint32_t bodies = s->bind.model->body_count;
  bool any = false;
  sb_list_body_contacts(c, bodies, s->body_first, s->body_contact);
  memset(s->touched, 0, s->forest.bundle_count);
  for (uint32_t body = 0; body < bodies; body++) {
    if (s->forest.place[body].bundle == UINT32_MAX || s->body_first[body] == s->body_first[body + 1]) continue;
    s->touched[s->forest.place[body].bundle] = any = true;
  }
  return any;
}
