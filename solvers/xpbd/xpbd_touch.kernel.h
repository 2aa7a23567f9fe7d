/* Particles that touch or are held by bodies, in the kernel dialect; scalar text that takes one contact after another. */
#ifndef SAMEBIT_XPBD_TOUCH_KERNEL_H
#define SAMEBIT_XPBD_TOUCH_KERNEL_H

#ifndef SB_GLSL
#include "xpbd_body.kernel.h"
#include "xpbd_contact.kernel.h"
#include "xpbd_element.kernel.h"
#endif

/* A body during a tick: see xp_body of xpbd_bodies.h. */
STRUCT(XpRecord) { V3 base; Q4 turn; V3 com; XpBody b; V3 x0; Q4 q0; V3 v0; V3 w0; V3 vp; V3 wp; };

/* How far the turn q takes the end of an arm: no large numbers meet. */
FN V3 xp_swing(Q4 q, V3 arm)
{
  V3 u = v3(q.x, q.y, q.z);
  V3 t = v3_cross(u, arm);
  t = v3_add(t, t);
  return v3_add_scaled(v3_cross(u, t), t, q.w);
}

/* Velocity of the end of a lever on a body. */
FN V3 xp_speed(V3 lever, V3 v, V3 w) { return v3_add(v, v3_cross(w, lever)); }

/* The body's side of a contact or attachment at a point of its frame: its centre of mass, the direction given in its frame, where the point was when the substep
 * began, how far it has moved since, and the lever from the centre of mass. */
STRUCT(XpSide) { V3 where; V3 n; V3 before; V3 gone; };

FN XpSide xp_side(XpRecord r, V3 point, V3 normal)
{
  XpSide s;
  V3 arm = q4_rotate(r.turn, v3_sub(point, r.com));
  V3 gone_before = v3_add(r.x0, xp_swing(r.q0, arm));
  s.where = v3_add(r.base, r.b.x);
  s.n = q4_rotate(q4_mul(r.b.q, r.turn), normal);
  s.before = v3_add(v3_add(r.base, arm), gone_before);
  s.gone = v3_sub(v3_add(r.b.x, xp_swing(r.b.q, arm)), gone_before);
  return s;
}

FN S33 xp_with_mass(S33 r, F w) { return s33(r.xx + w, r.yy + w, r.zz + w, r.xy, r.xz, r.yz); }

/* The particle moves by p w, the body takes -p at the lever; normal, slide: the multipliers. */
STRUCT(XpParticleTouch) { V3 p; V3 lever; F normal; V3 slide; };

/* A contact's iteration. radius: m; mu: friction; normal, slide: multipliers so far. Nothing acts where both normals are 0. */
FN XpParticleTouch xp_touch_particle(XpRecord r, XpSide s, XpPoint a, F radius, F mu, F normal, V3 slide, F h)
{
  XpParticleTouch o;
  V3 d = v3_sub(a.d, s.gone);
  V3 hit = v3_add_scaled(v3_add(a.x, a.d), s.n, -radius);
  F gap0 = v3_dot(s.n, v3_sub(a.x, s.before)) - radius;
  o.lever = v3_sub(hit, s.where);
  XpTouch t = xp_touch((gap0 + v3_dot(s.n, d)) - xp_least_gap(gap0, h), d, s.n, xp_with_mass(xp_response(r.b, o.lever), a.w), mu, normal, slide);
  o.p = t.p;
  o.normal = t.normal;
  o.slide = t.slide;
  return o;
}

/* The particle's position is set apart by `shift`, its velocity changes by push w, the body's by -push at the lever. */
STRUCT(XpParticleBounce) { V3 push; V3 lever; V3 shift; };

/* The end of a substep for a contact with the multiplier `normal`. v: of the particle now; ahead: as predicted; most: m, that an overlap may
 * be pushed out by. */
FN XpParticleBounce xp_bounce_particle(XpRecord r, XpSide s, XpPoint a, V3 v, V3 ahead, V3 gravity, F radius, F normal, F e, F threshold, F most, F h)
{
  XpParticleBounce o;
  V3 hit = v3_add_scaled(v3_add(a.x, a.d), s.n, -radius);
  o.lever = v3_sub(hit, s.where);
  V3 now = v3_sub(v, xp_velocity_at(r.b, o.lever));
  V3 before = v3_sub(v3_add_scaled(ahead, gravity, -h), xp_speed(o.lever, r.v0, r.w0));
  V3 next = v3_sub(ahead, xp_speed(o.lever, r.vp, r.wp));
  F gap0 = v3_dot(s.n, v3_sub(a.x, s.before)) - radius;
  S33 answer = xp_with_mass(xp_response(r.b, o.lever), a.w);
  F j = xp_bounce(normal, v3_dot(s.n, now), v3_dot(s.n, before), v3_dot(s.n, next), gap0, v3_dot(s.n, s33_mul_v3(answer, s.n)), e, threshold, h);
  /* overlap is pushed out by the position alone */
  F way = f_sel(a.w > 0.0f, xp_push_out(gap0 + v3_dot(s.n, v3_sub(a.d, s.gone)), most), K(0.0f));
  o.push = v3_scale(s.n, j);
  o.shift = v3_scale(s.n, way);
  return o;
}

/* An attachment's iteration. stiffness: N/m; damping: N s/m; lambda: the multiplier so far; its change is p. */
STRUCT(XpHeld) { V3 p; V3 lever; };

FN XpHeld xp_hold_particle(XpRecord r, XpSide s, XpPoint a, F stiffness, F damping, V3 lambda, F h)
{
  XpHeld o;
  V3 dc = v3_sub(a.d, s.gone);
  V3 c = v3_add(v3_sub(a.x, s.before), dc);
  o.lever = v3_sub(v3_add(a.x, a.d), s.where);
  o.p = xp_attach(c, dc, xp_with_mass(xp_response(r.b, o.lever), a.w), xp_kh2(stiffness, h), damping * h, lambda);
  return o;
}

#endif
