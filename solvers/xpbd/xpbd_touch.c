/* Attachments and contacts of particles with bodies, one after another in their order. */
#include "xpbd_touch.h"

#include <string.h>

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

static XpPoint point_of(const xp_particles *p, uint32_t particle)
{
  const float *d = p->d + 4 * (size_t)particle;
  XpPoint a;
  a.x = xp_get3(p->x + 4 * (size_t)particle), a.d = xp_get3(d), a.w = d[3];
  return a;
}

static void move_particle(const xp_particles *p, uint32_t particle, V3 by)
{
  float *d = p->d + 4 * (size_t)particle;
  xp_put3(d, v3_add_scaled(xp_get3(d), by, d[3]));
}

/* ---- attachments ---- */

static void hold(xp_touches *s, xp_attachment *a)
{
  xp_bodies *bodies = s->bodies;
  const xp_particles *p = &s->cloth->particles;
  xp_body *rb = &bodies->bodies[a->body];
  XpRecord r = xp_get_record(rb);
  V3 lambda = xp_get3(a->lambda);
  XpHeld h = xp_hold_particle(r, xp_side(r, xp_get3(a->point), v3_zero()), point_of(p, a->particle), a->stiffness, a->damping, lambda, bodies->h);
  xp_put3(a->lambda, v3_add(lambda, h.p));
  move_particle(p, a->particle, h.p);
  if (a->body < bodies->own) xp_put_body(rb, xp_correct(r.b, h.lever, v3_neg(h.p), v3_zero(), bodies->inv_h));
}

/* Forth over all, and back over those that pull a body of this instance too, as contacts and joints go: one way alone may swing up where many hold one body. */
void xp_touches_attachments(xp_touches *s, uint32_t iteration)
{
  for (uint32_t i = 0; i < s->attachment_count; i++) {
    if (iteration == 0) memset(s->attachments[i].lambda, 0, sizeof s->attachments[i].lambda);
    hold(s, &s->attachments[i]);
  }
  for (uint32_t i = s->attachment_count; i-- > 0;)
    if (s->attachments[i].body < s->bodies->own) hold(s, &s->attachments[i]);
}

/* ---- contacts ---- */

static xp_body *body_of(const xp_touches *s, uint32_t i, bool *own)
{
  int32_t body = s->contacts->body[i];
  uint32_t record = body < 0 ? s->bodies->nobody : s->bodies->record[body];
  *own = record < s->bodies->own;
  return &s->bodies->bodies[record];
}

static XpSide side_of(const xp_touches *s, uint32_t i, XpRecord r)
{
  return xp_side(r, xp_get3(s->contacts->point + 3 * (size_t)i), xp_get3(s->contacts->normal + 3 * (size_t)i));
}

static void solve(xp_touches *s, uint32_t i, uint32_t particle, uint32_t iteration)
{
  bool own;
  xp_body *body = body_of(s, i, &own);
  xp_particle_touch *kept = &s->touch[i];
  const xp_particles *p = &s->cloth->particles;
  float radius = s->bind->model->particle_radius[s->contacts->particle[i]];
  XpRecord r = xp_get_record(body);
  if (iteration == 0) kept->normal = kept->slide[0] = kept->slide[1] = kept->slide[2] = 0.0f;
  XpParticleTouch t = xp_touch_particle(r, side_of(s, i, r), point_of(p, particle), radius, s->contacts->friction[i], kept->normal, xp_get3(kept->slide), s->bodies->h);
  if (!(t.normal > 0.0f) && !(kept->normal > 0.0f)) return;
  kept->normal = t.normal;
  xp_put3(kept->slide, t.slide);
  move_particle(p, particle, t.p);
  if (own) xp_put_body(body, xp_correct(r.b, t.lever, v3_neg(t.p), v3_zero(), s->bodies->inv_h));
}

static void bounce(xp_touches *s, uint32_t i, uint32_t particle)
{
  bool own;
  const xp_particle_touch *kept = &s->touch[i];
  const sb_model *m = s->bind->model;
  if (!(kept->normal > 0.0f)) return;
  xp_body *body = body_of(s, i, &own);
  const xp_particles *p = &s->cloth->particles;
  uint32_t index = p->index[particle];
  V3 gravity = xp_get3(m->gravity + 3 * (size_t)m->deformable_world[m->particle_deformable[index]]);
  XpRecord r = xp_get_record(body);
  XpPoint a = point_of(p, particle);
  float *v = p->v + 4 * (size_t)particle;
  XpParticleBounce o = xp_bounce_particle(r, side_of(s, i, r), a, xp_get3(v), xp_get3(kept->ahead), gravity, m->particle_radius[index], kept->normal,
                                          s->contacts->restitution[i], s->bodies->threshold, s->bodies->push * s->bodies->h, s->bodies->h);
  xp_put3(p->x + 4 * (size_t)particle, v3_add(a.x, o.shift));
  xp_put3(v, v3_add_scaled(xp_get3(v), o.push, a.w));
  if (own) xp_put_body(body, xp_kick(r.b, o.lever, v3_neg(o.push), v3_zero()));
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
