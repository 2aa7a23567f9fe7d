/* Constraints between particles in the kernel dialect: springs, triangles, bending edges, tetrahedra, air drag.
 *
 * Extended position based dynamics (Macklin, Mueller and Chentanez, MIG 2016) in small steps (Macklin et al., SCA 2019). A constraint C with
 * stiffness k and damping c gets, over a substep h, the multiplier
 *   d lambda = -(k h^2 C + c h dC + lambda) / ((k h^2 + c h) w + 1),   dC the change of C since the substep began,
 * which is equation 26 of the 2016 paper times k h^2: it holds for k = 0 and for rigid constraints (XP_RIGID) alike. Constraints of one element are solved
 * together. Stiffness and damping are solved in passes of their own: at rest nothing has moved after the first, and the second adds nothing; in one pass
 * a damper would hold back what other constraints are about to undo. With K = k h^2 + c h and G = J W J', d lambda = -D (1 + D G D)^-1 D^-1 r, D = sqrt(K). */
#ifndef SAMEBIT_XPBD_PARTICLE_KERNEL_H
#define SAMEBIT_XPBD_PARTICLE_KERNEL_H

#ifndef SB_GLSL
#include "samebit/maths.h"
#endif

/* k h^2 of what does not give; small enough that its product with masses and lengths is finite. */
#define XP_RIGID 1.0e30f
/* Velocity components (m/s) below this become 0. */
#define XP_SNAP 1.0e-20f

FN F xp_kh2(F k, F h) { return f_min((k * h) * h, K(XP_RIGID)); }

/* ---- motion ---- */

/* Movement in a substep (m) and velocity (m/s). Positions stay as they are while the substep is solved, so that its small steps are not rounded away. */
STRUCT(XpMove) { V3 d; V3 v; };

/* Velocity at the end of a substep that has moved by d and was predicted with velocity v: v where nothing else moved it. */
FN V3 xp_velocity(V3 d, V3 v, F h, F inv_h)
{
  V3 r = v3_add_scaled(v, v3_sub(d, v3_scale(v, h)), inv_h);
  return v3(f_snap(r.x, K(XP_SNAP)), f_snap(r.y, K(XP_SNAP)), f_snap(r.z, K(XP_SNAP)));
}

/* After gravity; what is pinned (w 0) stays. */
FN XpMove xp_predict(V3 v, F w, V3 gravity, F h)
{
  XpMove r;
  M pinned = w <= 0.0f;
  r.v = v3_sel(pinned, v3_zero(), v3_add_scaled(v, gravity, h));
  r.d = v3_scale(r.v, h);
  return r;
}

/* ---- springs ---- */

/* Particle i moves by (d s) w_i, j by -(d s) w_j. */
STRUCT(XpPull) { F s; F lambda; };

/* d = x_i - x_j, w = w_i + w_j, kh2 = k h^2. */
FN XpPull xp_spring(V3 d, F w, F rest, F kh2, F lambda)
{
  XpPull r;
  F len2 = v3_len2(d);
  M ok = len2 > 1.0e-24f;
  F len = f_sqrt(f_sel(ok, len2, K(1.0f)));
  F s = f_div(kh2 * (len - rest) + lambda, (kh2 * w + 1.0f) * len);
  r.s = f_sel(ok, -s, K(0.0f));
  r.lambda = lambda + r.s * len;
  return r;
}

/* Dampers take their gradient in the middle of the movement: there the change of length, angle or strain is exactly gradient times movement, so what
 * turns without a change of shape is left alone, and each pass makes the movement (in the norm of the masses) smaller, however large c is. */

/* Elements that share particles damp them one after the other, and what one has undone the next undoes again. So none takes more than half of its
 * change, a tetrahedron, which has more neighbours, a fifth: over a substep h an element damps at most as c = 1 / (h w), or 1 / (4 h w), does. x = c h w. */
FN F xp_damping_share(F x) { return f_div(K(1.0f), f_max(x, K(1.0f))); }

/* Its damping alone; d: in the middle; change: of d since the substep began; ch = c h. */
FN XpPull xp_spring_damping(V3 d, V3 change, F w, F ch)
{
  XpPull r;
  F len2 = v3_len2(d);
  M ok = len2 > 1.0e-24f;
  ch = ch * xp_damping_share(ch * w);
  F s = f_div(ch * v3_dot(d, change), (ch * w + 1.0f) * f_sel(ok, len2, K(1.0f)));
  r.s = f_sel(ok, -s, K(0.0f));
  r.lambda = K(0.0f);
  return r;
}

/* ---- blocks of constraints ---- */

/* 1 / sqrt(k), 0 where k is 0. */
FN F xp_inv_root(F k, F root) { return f_sel(k > 0.0f, f_div(K(1.0f), f_sel(k > 0.0f, root, K(1.0f))), K(0.0f)); }

/* d lambda of three constraints: g = J W J', stiffness = k h^2 + c h, r = k h^2 C + c h dC + lambda. */
FN V3 xp_block3(S33 g, V3 stiffness, V3 r)
{
  V3 d = v3(f_sqrt(stiffness.x), f_sqrt(stiffness.y), f_sqrt(stiffness.z));
  V3 y = v3(r.x * xp_inv_root(stiffness.x, d.x), r.y * xp_inv_root(stiffness.y, d.y), r.z * xp_inv_root(stiffness.z, d.z));
  S33 a = s33((g.xx * d.x) * d.x + 1.0f, (g.yy * d.y) * d.y + 1.0f, (g.zz * d.z) * d.z + 1.0f, (g.xy * d.x) * d.y, (g.xz * d.x) * d.z,
              (g.yz * d.y) * d.z);
  V3 u = s33_mul_v3(s33_inverse(a), y);
  return v3(-(d.x * u.x), -(d.y * u.y), -(d.z * u.z));
}

/* ---- triangles ---- */

/* Rows of tri_pose as they weigh vertices 1 and 2: the stretch is f_1 = e_1 ax + e_2 bx, f_2 = e_1 ay + e_2 by. */
STRUCT(XpTriRest) { F ax; F ay; F bx; F by; };
/* Corrections of the vertices; multipliers of trace, difference and shear of the Green strain. */
STRUCT(XpTri) { V3 d0; V3 d1; V3 d2; V3 lambda; };

/* The energy of samebit/model.h in s = E11 + E22, d = E11 - E22 and E12: (ke + ka) s^2 / 2 + ke d^2 / 2 + 4 ke E12^2 / 2, and its
 * dissipation kd/2 s'^2 / 2 + kd/2 d'^2 / 2 + 2 kd E12'^2 / 2, times the area. kh2 and ch hold these factors times h^2 and h;
 * e: edges x1 - x0 and x2 - x0, of dampers in the middle of the movement; v: their change since the substep began. */
FN XpTri xp_tri(V3 e1, V3 e2, V3 v1, V3 v2, F w0, F w1, F w2, XpTriRest rest, V3 kh2, V3 ch, V3 lambda)
{
  V3 f1 = v3_add_scaled(v3_scale(e1, rest.ax), e2, rest.bx);
  V3 f2 = v3_add_scaled(v3_scale(e1, rest.ay), e2, rest.by);
  F f11 = v3_dot(f1, f1);
  F f22 = v3_dot(f2, f2);
  F f12 = v3_dot(f1, f2);
  V3 c = v3((f11 + f22) * 0.5f - 1.0f, (f11 - f22) * 0.5f, f12 * 0.5f);
  V3 g1 = v3_add_scaled(v3_scale(v1, rest.ax), v2, rest.bx);
  V3 g2 = v3_add_scaled(v3_scale(v1, rest.ay), v2, rest.by);
  F r11 = v3_dot(f1, g1);
  F r22 = v3_dot(f2, g2);
  V3 dc = v3(r11 + r22, r11 - r22, (v3_dot(f1, g2) + v3_dot(f2, g1)) * 0.5f);
  /* gradients: of E11 b_x f1, of E22 b_y f2, of E12 (b_x f2 + b_y f1) / 2, with b of each vertex */
  F zx = -(rest.ax + rest.bx);
  F zy = -(rest.ay + rest.by);
  F mxx = (w0 * zx) * zx + ((w1 * rest.ax) * rest.ax + (w2 * rest.bx) * rest.bx);
  F myy = (w0 * zy) * zy + ((w1 * rest.ay) * rest.ay + (w2 * rest.by) * rest.by);
  F mxy = (w0 * zx) * zy + ((w1 * rest.ax) * rest.ay + (w2 * rest.bx) * rest.by);
  F h11 = mxx * f11;
  F h22 = myy * f22;
  F h12 = mxy * f12;
  F h1e = (mxx * f12 + mxy * f11) * 0.5f;
  F h2e = (mxy * f22 + myy * f12) * 0.5f;
  F hee = ((mxx * f22 + (mxy * f12) * 2.0f) + myy * f11) * 0.25f;
  S33 g = s33((h11 + h22) + h12 * 2.0f, (h11 + h22) - h12 * 2.0f, hee, h11 - h22, h1e + h2e, h1e - h2e);
  ch = v3_scale(ch, xp_damping_share(f_max(ch.x * g.xx, f_max(ch.y * g.yy, ch.z * g.zz))));
  V3 r = v3((kh2.x * c.x + ch.x * dc.x) + lambda.x, (kh2.y * c.y + ch.y * dc.y) + lambda.y, (kh2.z * c.z + ch.z * dc.z) + lambda.z);
  V3 dl = xp_block3(g, v3_add(kh2, ch), r);
  F l1 = dl.x + dl.y;
  F l2 = dl.x - dl.y;
  F le = dl.z * 0.5f;
  /* sum over the strains of multiplier times gradient: b_x p + b_y q */
  V3 p = v3_add_scaled(v3_scale(f1, l1), f2, le);
  V3 q = v3_add_scaled(v3_scale(f2, l2), f1, le);
  XpTri o;
  o.d0 = v3_scale(v3_add_scaled(v3_scale(p, zx), q, zy), w0);
  o.d1 = v3_scale(v3_add_scaled(v3_scale(p, rest.ax), q, rest.ay), w1);
  o.d2 = v3_scale(v3_add_scaled(v3_scale(p, rest.bx), q, rest.by), w2);
  o.lambda = v3_add(lambda, dl);
  return o;
}

/* What the air does to a triangle within a substep, as a correction of each vertex by its w: force -A (drag v_t + lift v_n) on the mean
 * velocity, a third at each vertex, implicit. m: mean movement of the vertices; w: sum of the three; dragh, lifth: A times the coefficient times h. */
FN V3 xp_air(V3 e1, V3 e2, V3 m, F w, F dragh, F lifth)
{
  V3 n = v3_normalize_or(v3_cross(e1, e2), v3(K(0.0f), K(0.0f), K(1.0f)));
  F along = v3_dot(m, n);
  V3 side = v3_add_scaled(m, n, -along);
  F share = w * 0.11111111f;
  F push = f_div(lifth * along, lifth * share + 1.0f);
  F rub = f_div(dragh, dragh * share + 1.0f);
  return v3_scale(v3_add_scaled(v3_scale(n, push), side, rub), K(-0.33333334f));
}

/* ---- bending edges ---- */

/* Corrections of the opposite corners 0 and 1 and of the ends 2 and 3. */
STRUCT(XpEdge) { V3 d0; V3 d1; V3 d2; V3 d3; F lambda; };

/* Angle between the normals of triangles (2, 3, 0) and (3, 2, 1); a, b, e: corners 0 and 1 and end 3, from end 2. */
FN F xp_edge_angle(V3 a, V3 b, V3 e)
{
  V3 n1 = v3_cross(e, a);
  V3 n2 = v3_cross(b, e);
  F e2 = v3_len2(e);
  F len = f_sqrt(f_sel(e2 > 1.0e-16f, e2, K(1.0f)));
  return f_atan2(f_div(v3_dot(v3_cross(n1, n2), e), len), v3_dot(n1, n2));
}

FN F xp_edge_wrap(F c) { return f_sel(c > 3.1415927f, c - 6.2831855f, f_sel(c < -3.1415927f, c + 6.2831855f, c)); }

/* The angle's gradient, which stands on the corners' triangles at 1 / height (Bridson, Marino and Fedkiw 2003), and w: the sum of w_k |g_k|^2. Triangles
 * without area have none: live is 0, else 1. */
STRUCT(XpBend) { V3 g0; V3 g1; V3 g2; V3 g3; F w; F live; };

FN XpBend xp_edge_gradient(V3 a, V3 b, V3 e, F w0, F w1, F w2, F w3)
{
  V3 n1 = v3_cross(e, a);
  V3 n2 = v3_cross(b, e);
  F e2 = v3_len2(e);
  F q1 = v3_len2(n1);
  F q2 = v3_len2(n2);
  M ok = m_and(e2 > 1.0e-16f, m_and(q1 > 1.0e-24f, q2 > 1.0e-24f));
  e2 = f_sel(ok, e2, K(1.0f));
  q1 = f_sel(ok, q1, K(1.0f));
  q2 = f_sel(ok, q2, K(1.0f));
  F len = f_sqrt(e2);
  XpBend r;
  r.g0 = v3_scale(n1, -f_div(len, q1));
  r.g1 = v3_scale(n2, -f_div(len, q2));
  F t0 = f_div(v3_dot(a, e), e2);
  F t1 = f_div(v3_dot(b, e), e2);
  r.g2 = v3_neg(v3_add_scaled(v3_scale(r.g0, 1.0f - t0), r.g1, 1.0f - t1));
  r.g3 = v3_neg(v3_add_scaled(v3_scale(r.g0, t0), r.g1, t1));
  r.w = (w0 * v3_len2(r.g0) + w1 * v3_len2(r.g1)) + (w2 * v3_len2(r.g2) + w3 * v3_len2(r.g3));
  r.live = f_sel(ok, K(1.0f), K(0.0f));
  return r;
}

FN XpEdge xp_edge_move(XpBend g, F w0, F w1, F w2, F w3, F dl)
{
  XpEdge r;
  r.lambda = f_sel(g.live > 0.5f, dl, K(0.0f));
  r.d0 = v3_scale(g.g0, r.lambda * w0);
  r.d1 = v3_scale(g.g1, r.lambda * w1);
  r.d2 = v3_scale(g.g2, r.lambda * w2);
  r.d3 = v3_scale(g.g3, r.lambda * w3);
  return r;
}

FN XpEdge xp_edge(V3 a, V3 b, V3 e, F w0, F w1, F w2, F w3, F rest, F kh2, F lambda)
{
  XpBend g = xp_edge_gradient(a, b, e, w0, w1, w2, w3);
  F error = kh2 * xp_edge_wrap(xp_edge_angle(a, b, e) - rest) + lambda;
  XpEdge r = xp_edge_move(g, w0, w1, w2, w3, -f_div(error, kh2 * g.w + 1.0f));
  r.lambda = lambda + r.lambda;
  return r;
}

/* Its damping alone; a, b, e: in the middle of the movements m of the four particles. */
FN XpEdge xp_edge_damping(V3 a, V3 b, V3 e, V3 m0, V3 m1, V3 m2, V3 m3, F w0, F w1, F w2, F w3, F ch)
{
  XpBend g = xp_edge_gradient(a, b, e, w0, w1, w2, w3);
  F change = (v3_dot(g.g0, m0) + v3_dot(g.g1, m1)) + (v3_dot(g.g2, m2) + v3_dot(g.g3, m3));
  F c = ch * xp_damping_share(ch * g.w);
  return xp_edge_move(g, w0, w1, w2, w3, -f_div(c * change, c * g.w + 1.0f));
}

/* ---- tetrahedra ---- */

/* Corrections; multipliers of the deviatoric and of the hydrostatic constraint. */
STRUCT(XpTet) { V3 d0; V3 d1; V3 d2; V3 d3; F shape; F volume; };

/* Columns of F = e1 b1' + e2 b2' + e3 b3', b the rows of tet_pose; returned as rows. */
FN M33 xp_tet_columns(V3 e1, V3 e2, V3 e3, M33 b)
{
  return m33(v3_add_scaled(v3_add_scaled(v3_scale(e1, b.r0.x), e2, b.r1.x), e3, b.r2.x),
             v3_add_scaled(v3_add_scaled(v3_scale(e1, b.r0.y), e2, b.r1.y), e3, b.r2.y),
             v3_add_scaled(v3_add_scaled(v3_scale(e1, b.r0.z), e2, b.r1.z), e3, b.r2.z));
}

/* Stable neo-Hookean as two constraints (Macklin and Mueller, MIG 2021): sqrt(tr(F'F)) with stiffness mu V and det F - 1 - mu / lambda with
 * lambda V, solved together. e: edges from particle 0; muh2 and lambdah2: mu V h^2 and lambda V h^2; ratio: mu / lambda. */
FN XpTet xp_tet(V3 e1, V3 e2, V3 e3, F w0, F w1, F w2, F w3, M33 b, F muh2, F lambdah2, F ratio, F shape, F volume)
{
  M33 f = xp_tet_columns(e1, e2, e3, b);
  V3 k0 = v3_cross(f.r1, f.r2);
  V3 k1 = v3_cross(f.r2, f.r0);
  V3 k2 = v3_cross(f.r0, f.r1);
  F norm = f_sqrt(f_max((v3_len2(f.r0) + v3_len2(f.r1)) + v3_len2(f.r2), K(1.0e-12f)));
  F inv_norm = f_div(K(1.0f), norm);
  F c = (v3_dot(f.r0, k0) - 1.0f) - ratio;
  V3 p1 = v3_scale(v3_mul_m33(b.r0, f), inv_norm);
  V3 p2 = v3_scale(v3_mul_m33(b.r1, f), inv_norm);
  V3 p3 = v3_scale(v3_mul_m33(b.r2, f), inv_norm);
  V3 p0 = v3_neg(v3_add(v3_add(p1, p2), p3));
  M33 cofactor = m33(k0, k1, k2);
  V3 q1 = v3_mul_m33(b.r0, cofactor);
  V3 q2 = v3_mul_m33(b.r1, cofactor);
  V3 q3 = v3_mul_m33(b.r2, cofactor);
  V3 q0 = v3_neg(v3_add(v3_add(q1, q2), q3));
  F g_qq = (w0 * v3_len2(q0) + w1 * v3_len2(q1)) + (w2 * v3_len2(q2) + w3 * v3_len2(q3));
  F g_pq = (w0 * v3_dot(p0, q0) + w1 * v3_dot(p1, q1)) + (w2 * v3_dot(p2, q2) + w3 * v3_dot(p3, q3));
  /* p is almost parallel to q where the element is at rest, so the pair is solved as p - t q and q, which do not answer to each other: with
   * S = d volume + t d shape and A = 1 + lambda q q, (A (1 + mu p'p') + t^2 ratio (A - 1)) d shape = t ratio (A - 1) r_q - A r_p
   * and A S = t d shape - r_q. Nothing large cancels. */
  F t = f_div(g_pq, f_max(g_qq, K(1.0e-20f)));
  p0 = v3_add_scaled(p0, q0, -t);
  p1 = v3_add_scaled(p1, q1, -t);
  p2 = v3_add_scaled(p2, q2, -t);
  p3 = v3_add_scaled(p3, q3, -t);
  F g = (w0 * v3_len2(p0) + w1 * v3_len2(p1)) + (w2 * v3_len2(p2) + w3 * v3_len2(p3));
  F rp = muh2 * norm + shape;
  F rq = lambdah2 * c + volume;
  F stiff = lambdah2 * g_qq;
  F a = stiff + 1.0f;
  F tr = t * ratio;
  F lp = f_div((tr * stiff) * rq - a * rp, a * (muh2 * g + 1.0f) + (t * tr) * stiff);
  F s = f_div(t * lp - rq, a);
  XpTet r;
  r.d0 = v3_scale(v3_add_scaled(v3_scale(p0, lp), q0, s), w0);
  r.d1 = v3_scale(v3_add_scaled(v3_scale(p1, lp), q1, s), w1);
  r.d2 = v3_scale(v3_add_scaled(v3_scale(p2, lp), q2, s), w2);
  r.d3 = v3_scale(v3_add_scaled(v3_scale(p3, lp), q3, s), w3);
  r.shape = shape + lp;
  r.volume = volume + (s - t * lp);
  return r;
}

/* The dissipation c/2 |rate of E|^2 of the Green strain E within a substep, implicit along the direction in which E has changed:
 * the constraint |dE| with the damping c. e: edges in the middle of the movement, change: of the edges since the substep began; ch: k_damp V h. Corrections alone. */
FN XpTet xp_tet_damping(V3 e1, V3 e2, V3 e3, V3 change1, V3 change2, V3 change3, F w0, F w1, F w2, F w3, M33 b, F ch)
{
  M33 f = xp_tet_columns(e1, e2, e3, b);
  M33 g = xp_tet_columns(change1, change2, change3, b);
  F xx = v3_dot(f.r0, g.r0);
  F yy = v3_dot(f.r1, g.r1);
  F zz = v3_dot(f.r2, g.r2);
  F xy = (v3_dot(f.r0, g.r1) + v3_dot(f.r1, g.r0)) * 0.5f;
  F xz = (v3_dot(f.r0, g.r2) + v3_dot(f.r2, g.r0)) * 0.5f;
  F yz = (v3_dot(f.r1, g.r2) + v3_dot(f.r2, g.r1)) * 0.5f;
  F size = f_sqrt(((xx * xx + yy * yy) + zz * zz) + ((xy * xy + xz * xz) + yz * yz) * 2.0f);
  M ok = size > 1.0e-18f;
  F inv = f_div(K(1.0f), f_sel(ok, size, K(1.0f)));
  /* columns of F dE / |dE| */
  M33 p = m33(v3_scale(v3_add_scaled(v3_add_scaled(v3_scale(f.r0, xx), f.r1, xy), f.r2, xz), inv),
              v3_scale(v3_add_scaled(v3_add_scaled(v3_scale(f.r0, xy), f.r1, yy), f.r2, yz), inv),
              v3_scale(v3_add_scaled(v3_add_scaled(v3_scale(f.r0, xz), f.r1, yz), f.r2, zz), inv));
  V3 p1 = v3_mul_m33(b.r0, p);
  V3 p2 = v3_mul_m33(b.r1, p);
  V3 p3 = v3_mul_m33(b.r2, p);
  V3 p0 = v3_neg(v3_add(v3_add(p1, p2), p3));
  F w = (w0 * v3_len2(p0) + w1 * v3_len2(p1)) + (w2 * v3_len2(p2) + w3 * v3_len2(p3));
  F c = ch * xp_damping_share((ch * w) * 4.0f);
  F dl = f_sel(ok, -f_div(c * size, c * w + 1.0f), K(0.0f));
  XpTet r;
  r.d0 = v3_scale(p0, dl * w0);
  r.d1 = v3_scale(p1, dl * w1);
  r.d2 = v3_scale(p2, dl * w2);
  r.d3 = v3_scale(p3, dl * w3);
  r.shape = K(0.0f);
  r.volume = K(0.0f);
  return r;
}

#endif
