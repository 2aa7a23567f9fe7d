/* Body records to the kernels' structs and back. */
#ifndef SAMEBIT_XPBD_RECORDS_H
#define SAMEBIT_XPBD_RECORDS_H

#include "maximal.kernel.h"
#include "samebit/maths.h"
#include "xpbd_rigid.kernel.h"
#include "xpbd_touch.kernel.h"
#include "xpbd_bodies.h"

static inline V3 xp_get3(const float *p) { return v3(p[0], p[1], p[2]); }
static inline Q4 xp_get4(const float *p) { return q4(p[0], p[1], p[2], p[3]); }
static inline S33 xp_get6(const float *p) { return s33(p[0], p[1], p[2], p[3], p[4], p[5]); }
static inline void xp_put3(float *p, V3 v) { p[0] = v.x, p[1] = v.y, p[2] = v.z; }
static inline void xp_put4(float *p, Q4 q) { p[0] = q.x, p[1] = q.y, p[2] = q.z, p[3] = q.w; }
static inline void xp_put6(float *p, S33 s) { p[0] = s.xx, p[1] = s.yy, p[2] = s.zz, p[3] = s.xy, p[4] = s.xz, p[5] = s.yz; }

static inline XpBody xp_get_body(const xp_body *r)
{
  XpBody b;
  b.x = xp_get3(r->x), b.q = xp_get4(r->q), b.v = xp_get3(r->v), b.w = xp_get3(r->w), b.m = xp_get6(r->m), b.i = xp_get6(r->i);
  return b;
}

static inline XpRecord xp_get_record(const xp_body *r)
{
  XpRecord o;
  o.base = xp_get3(r->base), o.turn = xp_get4(r->turn), o.com = xp_get3(r->com), o.b = xp_get_body(r);
  o.x0 = xp_get3(r->x0), o.q0 = xp_get4(r->q0), o.v0 = xp_get3(r->v0), o.w0 = xp_get3(r->w0), o.vp = xp_get3(r->vp), o.wp = xp_get3(r->wp);
  return o;
}

static inline void xp_put_record(xp_body *r, XpRecord o)
{
  xp_put3(r->base, o.base), xp_put4(r->turn, o.turn);
  xp_put3(r->x, o.b.x), xp_put4(r->q, o.b.q), xp_put3(r->v, o.b.v), xp_put3(r->w, o.b.w), xp_put6(r->m, o.b.m), xp_put6(r->i, o.b.i);
  xp_put3(r->x0, o.x0), xp_put4(r->q0, o.q0), xp_put3(r->v0, o.v0), xp_put3(r->w0, o.w0), xp_put3(r->vp, o.vp), xp_put3(r->wp, o.wp);
}

/* Poses and velocities back; a record from `own` on is nobody's to write. */
static inline void xp_put_body(xp_body *r, XpBody b)
{
  xp_put3(r->x, b.x);
  xp_put4(r->q, b.q);
  xp_put3(r->v, b.v);
  xp_put3(r->w, b.w);
}

/* Centre of mass and orientation in the world. */
static inline V3 xp_where(const xp_body *r) { return v3_add(xp_get3(r->base), xp_get3(r->x)); }
static inline Q4 xp_facing(const xp_body *r) { return q4_mul(xp_get4(r->q), xp_get4(r->turn)); }

/* A point of the body's frame in the world when the substep began. */
static inline V3 xp_point_before(const xp_body *r, V3 p)
{
  V3 arm = q4_rotate(xp_get4(r->turn), v3_sub(p, xp_get3(r->com)));
  return v3_add(v3_add(xp_get3(r->base), arm), v3_add(xp_get3(r->x0), xp_swing(xp_get4(r->q0), arm)));
}

#endif
