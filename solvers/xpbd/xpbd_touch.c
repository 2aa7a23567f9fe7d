/* Attachments and contacts of particles with bodies, one after another in their order. */
#include "xpbd_touch.h"

#include <string.h>

#include "xpbd_contact.kernel.h"
#include "xpbd_particle.kernel.h"
#include "xpbd_records.h"

sb_status xp_touches_bind(xp_touches *s, const sb_bind *bind, const xp_cloth *cloth, xp_bodies *bodies)
{
  const sb_model *m = bind->model;
  const sb_host *host = bind->host;
  uint64_t contacts = (uint64_t)bind->particle_contact_capacity + 1;
  *s = (xp_touches){.bind = bind, .cloth = cloth, .bodies = bodies};
  s->attachments = host->alloc(host->context, ((uint64_t)m->attachment_count + 1) * sizeof *s->attachments);
  s->touch = host->alloc(host->context, contacts * sizeof *s->touch);
  s->shared = host->alloc(host->context, contacts * sizeof *s->shared);
  if (!s->attachments || !s->touch || !s->shared) return SB_E_MEMORY;
  for (uint32_t i = 0; i < m->attachment_count; i++) {
    uint32_t p = cloth->local[m->attachment_particle[i]];
    int32_t body = m->attachment_body[i];
    if (p == XP_NONE || !(m->attachment_stiffness[i] > 0.0f || m->attachment_damping[i] > 0.0f)) continue;
    xp_attachment *a = &s->attachments[s->attachment_count++];
    *a = (xp_attachment){.particle = p, .body = body < 0 ? bodies->nobody : bodies->record[body], .stiffness = m->attachment_stiffness[i],
                         .damping = m->attachment_damping[i]};
    V3 point = xp_get3(m->attachment_point + 3 * (size_t)i);
    if (body >= 0 && a->body == bodies->nobody)
      point = x7_point(x7(xp_get3(m->body_q + 7 * (size_t)body), xp_get4(m->body_q + 7 * (size_t)body + 3)), point);
    xp_put3(a->point, point);
  }
  return SB_OK;
}

void xp_touches_begin(xp_touches *s, const sb_step *step)
{
  s->contacts = step->particle_contacts;
  s->shared_count = 0;
  for (uint32_t i = 0; i < s->contacts->count; i++) {
    int32_t body = s->contacts->body[i];
    if (body >= 0 && s->bodies->record[body] < s->bodies->own && s->cloth->local[s->contacts->particle[i]] != XP_NONE) s->shared[s->shared_count++] = i;
  }
}

static S33 with_mass(S33 r, float w) { return s33(r.xx + w, r.yy + w, r.zz + w, r.xy, r.xz, r.yz); }

/* d: the particle's movement and weight. */
static void move_particle(float *d, V3 p)
{
  d[0] += p.x * d[3];
  d[1] += p.y * d[3];
  d[2] += p.z * d[3];
}

/* ---- attachments ---- */

void xp_touches_attachments(xp_touches *s, uint32_t iteration)
{
  xp_bodies *bodies = s->bodies;
  float h = bodies->h;
  for (uint32_t i = 0; i < s->attachment_count; i++) {
    xp_attachment *a = &s->attachments[i];
    xp_body *rb = &bodies->bodies[a->body];
    float *d = s->cloth->particles.d + 4 * (size_t)a->particle;
    V3 arm = xp_arm(rb, xp_get3(a->point)), was = xp_get3(s->cloth->particles.x + 4 * (size_t)a->particle), at = v3_add(was, xp_get3(d));
    V3 dc = v3_sub(xp_get3(d), v3_sub(xp_gone(rb, arm), xp_gone_before(rb, arm)));
    V3 c = v3_add(v3_sub(was, v3_add(v3_add(xp_get3(rb->base), arm), xp_gone_before(rb, arm))), dc);
    if (iteration == 0) memset(a->lambda, 0, sizeof a->lambda);
    XpBody b = xp_get_body(rb);
    V3 lambda = xp_get3(a->lambda), p = xp_attach(c, dc, with_mass(xp_response(b, v3_sub(at, xp_where(rb))), d[3]), xp_kh2(a->stiffness, h), a->damping * h, lambda);
    xp_put3(a->lambda, v3_add(lambda, p));
    move_particle(d, p);
    if (a->body < bodies->own) xp_put_body(rb, xp_correct(b, v3_sub(at, xp_where(rb)), v3_neg(p), v3_zero(), bodies->inv_h));
  }
}

/* ---- contacts ---- */

typedef struct side {
  xp_body *body;
  bool own;
  V3 n, before, gone; /* before: the body's point when the substep began; gone: how far it has moved since */
} side;

static side side_of(const xp_touches *s, uint32_t i)
{
  const sb_particle_contacts *c = s->contacts;
  uint32_t record = c->body[i] < 0 ? s->bodies->nobody : s->bodies->record[c->body[i]];
  side t = {.body = &s->bodies->bodies[record], .own = record < s->bodies->own};
  V3 arm = xp_arm(t.body, xp_get3(c->point + 3 * (size_t)i));
  t.n = q4_rotate(xp_facing(t.body), xp_get3(c->normal + 3 * (size_t)i));
  t.before = v3_add(v3_add(xp_get3(t.body->base), arm), xp_gone_before(t.body, arm));
  t.gone = v3_sub(xp_gone(t.body, arm), xp_gone_before(t.body, arm));
  return t;
}

static void solve(xp_touches *s, uint32_t i, uint32_t particle, uint32_t iteration)
{
  side t = side_of(s, i);
  xp_particle_touch *kept = &s->touch[i];
  float *moved = s->cloth->particles.d + 4 * (size_t)particle, radius = s->bind->model->particle_radius[s->contacts->particle[i]];
  V3 was = xp_get3(s->cloth->particles.x + 4 * (size_t)particle), d = v3_sub(xp_get3(moved), t.gone);
  V3 hit = v3_add_scaled(v3_add(was, xp_get3(moved)), t.n, -radius);
  if (iteration == 0) kept->normal = kept->slide[0] = kept->slide[1] = kept->slide[2] = 0.0f;
  XpBody b = xp_get_body(t.body);
  float gap0 = v3_dot(t.n, v3_sub(was, t.before)) - radius;
  XpTouch touch = xp_touch(gap0 + v3_dot(t.n, d) - xp_least_gap(gap0, s->bodies->h), d, t.n,
                           with_mass(xp_response(b, v3_sub(hit, xp_where(t.body))), moved[3]), s->contacts->friction[i], kept->normal, xp_get3(kept->slide));
  if (!(touch.normal > 0.0f) && !(kept->normal > 0.0f)) return;
  kept->normal = touch.normal;
  xp_put3(kept->slide, touch.slide);
  move_particle(moved, touch.p);
  if (t.own) xp_put_body(t.body, xp_correct(b, v3_sub(hit, xp_where(t.body)), v3_neg(touch.p), v3_zero(), s->bodies->inv_h));
}

static void bounce(xp_touches *s, uint32_t i, uint32_t particle)
{
  xp_particle_touch *kept = &s->touch[i];
  if (!(kept->normal > 0.0f)) return;
  side t = side_of(s, i);
  const xp_particles *p = &s->cloth->particles;
  float *v = p->v + 4 * (size_t)particle, w = p->d[4 * (size_t)particle + 3], h = s->bodies->h;
  uint32_t index = s->cloth->particles.index[particle];
  const float *gravity = s->bind->model->gravity + 3 * (size_t)s->bind->model->deformable_world[s->bind->model->particle_deformable[index]];
  float radius = s->bind->model->particle_radius[index];
  V3 was = xp_get3(p->x + 4 * (size_t)particle), hit = v3_add_scaled(v3_add(was, xp_get3(p->d + 4 * (size_t)particle)), t.n, -radius), ahead = xp_get3(kept->ahead);
  XpBody b = xp_get_body(t.body);
  V3 lever = v3_sub(hit, xp_where(t.body)), now = v3_sub(xp_get3(v), xp_velocity_at(b, lever));
  V3 before = v3_sub(v3_add_scaled(ahead, xp_get3(gravity), -h), xp_speed_at(lever, t.body->v0, t.body->w0));
  V3 next = v3_sub(ahead, xp_speed_at(lever, t.body->vp, t.body->wp));
  float gap0 = v3_dot(t.n, v3_sub(was, t.before)) - radius;
  S33 r = with_mass(xp_response(b, v3_sub(hit, xp_where(t.body))), w);
  float j = xp_bounce(kept->normal, v3_dot(t.n, now), v3_dot(t.n, before), v3_dot(t.n, next), gap0, v3_dot(t.n, s33_mul_v3(r, t.n)),
                      s->contacts->restitution[i], s->bodies->threshold, h);
  V3 push = v3_scale(t.n, j);
  /* overlap is pushed out by the position alone */
  float way = w > 0.0f ? xp_push_out(gap0 + v3_dot(t.n, v3_sub(xp_get3(p->d + 4 * (size_t)particle), t.gone)), s->bodies->push * h) : 0.0f;
  xp_put3(p->x + 4 * (size_t)particle, v3_add_scaled(was, t.n, way));
  xp_put3(v, v3_add_scaled(xp_get3(v), push, w));
  if (t.own) xp_put_body(t.body, xp_kick(b, v3_sub(hit, xp_where(t.body)), v3_neg(push), v3_zero()));
}

static bool is_shared(const xp_touches *s, uint32_t i)
{
  int32_t body = s->contacts->body[i];
  return body >= 0 && s->bodies->record[body] < s->bodies->own;
}

/* fn over the contacts of a part's particles with what this instance does not move. */
#define EACH_OF_PART(s, part, i, particle)                                                                             \
  for (uint32_t particle = (part)->first_particle; particle < (part)->end_particle; particle++)                        \
    for (uint32_t i = (s)->contacts->particle_start[(s)->cloth->particles.index[particle]];                            \
         i < (s)->contacts->particle_start[(s)->cloth->particles.index[particle] + 1]; i++)                            \
      if (!is_shared(s, i))

void xp_touches_part(xp_touches *s, const xp_group *part, uint32_t iteration)
{
  EACH_OF_PART(s, part, i, particle) solve(s, i, particle, iteration);
}

void xp_touches_shared(xp_touches *s, uint32_t iteration)
{
  for (uint32_t k = 0; k < s->shared_count; k++) solve(s, s->shared[k], s->cloth->local[s->contacts->particle[s->shared[k]]], iteration);
}

void xp_touches_keep_ahead(xp_touches *s, const xp_group *part)
{
  for (uint32_t particle = part->first_particle; particle < part->end_particle; particle++) {
    const uint32_t *start = s->contacts->particle_start + s->cloth->particles.index[particle];
    for (uint32_t i = start[0]; i < start[1]; i++) memcpy(s->touch[i].ahead, s->cloth->particles.v + 4 * (size_t)particle, sizeof s->touch[i].ahead);
  }
}

void xp_touches_bounce_part(xp_touches *s, const xp_group *part)
{
  EACH_OF_PART(s, part, i, particle) bounce(s, i, particle);
}

void xp_touches_bounce_shared(xp_touches *s)
{
  for (uint32_t k = 0; k < s->shared_count; k++) bounce(s, s->shared[k], s->cloth->local[s->contacts->particle[s->shared[k]]]);
}
