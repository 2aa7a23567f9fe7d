/* One bundle through a tick, SB_LANES articulations at once; compiled once for each lane width. */
#include "featherstone_data.h"

#include "articulation_pass.h"
#include "samebit/rigid_spin.h"
#include "samebit/solver_tools.h"

#define CONCAT_(a, b) a##b
#define CONCAT(a, b) CONCAT_(a, b)
#define LANED(name) CONCAT(name##_lanes, SB_LANES)

/* Links that fit the work area on the stack; larger articulations use the bundle's own. */
#define STACK_LINKS 16u

/* A free body that carries no links turns like a rigid body: the acceleration gives the torque, I alpha + w x I w, that everything but
 * its own rotation puts on it. */
static void move_alone(F dt, AbWork *w, const AbConstant *k)
{
  w->accel = ab_solve_free(w->base, w->ia.n, w->ia.f);
  S33 inertia = s33_rotate(w->axes, k->inertia);
  V3 gyro = v3_cross(w->ang, s33_mul_v3(inertia, w->ang));
  V3 torque = v3_add(s33_mul_v3(inertia, w->accel.alpha), gyro);
  RigidSpin spin = rigid_spin(w->quat, w->ang, k->inertia, s33_inverse(k->inertia), torque, dt);
  w->lin = snap_v3(v3_add_scaled(w->lin, w->accel.a, dt));
  w->pos = v3_add_scaled(w->pos, w->lin, dt);
  w->quat = spin.q;
  w->ang = snap_v3(spin.w);
}

static bool is_alone(const ab_bundle *b) { return b->link_count == 1 && b->links[0].kind == AB_FREE; }

/* The first half of a midpoint step: coordinates to the middle. Nothing in an Euler step. */
static void drift_to_middle(const ab_settings *set, const ab_bundle *b, AbWork *work)
{
  if (set->midpoint && !is_alone(b)) drift_links(K(set->dt * 0.5f), b, work);
}

/* ---- contact forces into one link of one lane ---- */

/* Torque and force at the reference point, and the inertia that implicit resistance stands for: resist dt, a mass that is
 * resist_n along the normal and resist_t across it, shifted from the contact point. The lane is picked by a mask, so that the
 * sums are those of the lane text. */
static void add_contact(const fs_tick *t, const fs_contact_force *c, bool is_b, AbWork *w, M lane)
{
  F sign = K(is_b ? 1.0f : -1.0f);
  F dt = K(t->settings.step.dt);
  V3 d = v3_sub(v3(K(c->point[0]), K(c->point[1]), K(c->point[2])), w->motion.p);
  V3 n = v3(K(c->normal[0]), K(c->normal[1]), K(c->normal[2]));
  F across = dt * K(c->resist_t);
  F along = dt * K(c->resist_n) - across;
  AbInertia at = ab_inertia_zero();
  at.m = s33(across + along * (n.x * n.x), across + along * (n.y * n.y), across + along * (n.z * n.z),
             along * (n.x * n.y), along * (n.x * n.z), along * (n.y * n.z));
  at.f = v3_scale(v3(K(c->force[0]), K(c->force[1]), K(c->force[2])), -sign);
  w->external = ab_inertia_sel(lane, ab_inertia_add(w->external, ab_inertia_shift(at, d)), w->external);
}

static void gather_contacts(const fs_tick *t, const ab_bundle *b, AbWork *work)
{
  for (uint32_t i = 0; i < b->link_count; i++) {
    if (!b->links[i].has_body) continue;
    work[i].external = ab_inertia_zero();
    for (uint32_t l = 0; l < b->used; l++) {
#if SB_LANES == 1
      M lane = 1;
#else
      M lane = KI(0);
      lane[l] = -1;
#endif
      uint32_t body = b->body[(size_t)i * SB_LANES + l];
      for (uint32_t a = t->body_first[body]; a < t->body_first[body + 1]; a++) {
        uint32_t entry = t->body_contact[a];
        add_contact(t, &t->forces[entry & ~SB_CONTACT_OF_B], (entry & SB_CONTACT_OF_B) != 0, &work[i], lane);
      }
    }
  }
}

/* ---- entry points ---- */

/* Links are placed and contact forces gathered. */
static void advance(const ab_settings *set, const ab_bundle *b, AbWork *work)
{
  F dt = K(set->dt);
  if (is_alone(b)) {
    reduce_links(set, b, work);
    move_alone(dt, work, (const AbConstant *)b->constants);
    return;
  }
  find_accelerations(set, b, work);
  F way = set->midpoint ? dt * 0.5f : dt;
  for (uint32_t i = 0; i < b->link_count; i++) {
    kick_link(dt, b->links[i].kind, &work[i]);
    drift_link(way, b->links[i].kind, &work[i]);
  }
}

void LANED(fs_bundle_run)(const fs_tick *tick, const ab_bundle *b)
{
  const ab_settings *set = &tick->settings.step;
  _Alignas(64) AbWork stack[STACK_LINKS];
  AbWork *work = b->link_count <= STACK_LINKS ? stack : (AbWork *)b->work;
  for (uint32_t i = 0; i < b->link_count; i++) load_link(tick->state, b, i, &work[i]);
  for (uint32_t s = 0; s < tick->settings.substeps; s++) {
    drift_to_middle(set, b, work);
    place_links(b, work);
    advance(set, b, work);
  }
  place_links(b, work);
  for (uint32_t i = 0; i < b->link_count; i++) store_link(tick->state, b, i, &work[i]);
}

void LANED(fs_bundle_load)(const fs_tick *tick, const ab_bundle *b)
{
  AbWork *work = (AbWork *)b->work;
  for (uint32_t i = 0; i < b->link_count; i++) load_link(tick->state, b, i, &work[i]);
}

void LANED(fs_bundle_place)(const fs_tick *tick, const ab_bundle *b, bool ahead)
{
  if (ahead) drift_to_middle(&tick->settings.step, b, (AbWork *)b->work);
  place_links(b, (AbWork *)b->work);
}

void LANED(fs_bundle_advance)(const fs_tick *tick, const ab_bundle *b)
{
  AbWork *work = (AbWork *)b->work;
  gather_contacts(tick, b, work);
  advance(&tick->settings.step, b, work);
}

void LANED(fs_bundle_store)(const fs_tick *tick, const ab_bundle *b)
{
  AbWork *work = (AbWork *)b->work;
  for (uint32_t i = 0; i < b->link_count; i++) store_link(tick->state, b, i, &work[i]);
}
