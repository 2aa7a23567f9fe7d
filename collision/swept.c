/* Swept contacts of bodies that ask for them (ccd_bodies): where the largest ball inside the body's shape, moving and
 * turning with it, first touches the other shape within the tick. Conservative advancement (Mirtich, 1996): as long as
 * they are apart, time advances by the gap over the fastest that it can shrink. Scalar code over the kernels of the
 * narrow phase. Knows collision_state.h. */
#include "collision_state.h"

#include "narrow_box.kernel.h"
#include "swept.kernel.h"

#define SWEPT_ROUNDS 48

static X7 load_pose(const float *p) { return x7(v3(p[0], p[1], p[2]), q4(p[3], p[4], p[5], p[6])); }

sb_status collision_swept_build(sb_collision *c)
{
  const sb_model *m = c->model;
  for (uint32_t i = 0; i < c->settings.ccd_body_count; i++)
    if (c->settings.ccd_bodies[i] >= m->body_count) return SB_E_ARGUMENT;
  if (!c->settings.ccd_body_count) return SB_OK;
  c->body_swept = collision_alloc(c, m->body_count, sizeof *c->body_swept);
  c->swept = collision_alloc(c, c->settings.pair_capacity, sizeof *c->swept);
  if (!c->body_swept || !c->swept) return SB_E_MEMORY;
  for (uint32_t i = 0; i < c->settings.ccd_body_count; i++) c->body_swept[c->settings.ccd_bodies[i]] = 1;
  return SB_OK;
}

static bool is_swept(const sb_collision *c, uint32_t shape)
{
  return !c->shape_fixed[shape] && c->body_swept[c->model->shape_body[shape]] &&
         c->model->shape_type[shape] != SB_SHAPE_PLANE;
}

/* A shape on its way. */
typedef struct traveller {
  SweptBody body;
  X7 local; /* pose of the shape in its body */
  V3 size;
  uint32_t type, shape;
  float reach; /* no point of it is farther from the centre of mass, m */
} traveller;

/* ball: the ball inside it in place of the shape. */
static traveller find_traveller(const sb_collision *c, uint32_t shape, bool ball)
{
  const sb_model *m = c->model;
  const float *size = m->shape_size + 3 * (size_t)shape;
  traveller r = {.type = m->shape_type[shape], .shape = shape, .size = v3(size[0], size[1], size[2])};
  bool solid = r.type == SB_SHAPE_BOX || r.type >= SB_SHAPE_ELLIPSOID;
  float half = solid || r.type == SB_SHAPE_CYLINDER ? v3_len(r.size)
               : r.type == SB_SHAPE_CAPSULE         ? size[0] + size[1]
                                                    : size[0];
  if (ball) {
    if (solid) r.size.x = f_min(f_min(size[0], size[1]), size[2]);
    if (r.type == SB_SHAPE_CYLINDER) r.size.x = f_min(size[0], size[1]);
    r.type = SB_SHAPE_SPHERE;
    half = 0.0f; /* a ball does not change by turning about its centre */
  }
  if (c->shape_fixed[shape]) {
    r.local = load_pose(c->shape_q + 7 * (size_t)shape);
    r.body = (SweptBody){v3_zero(), q4_identity(), v3_zero(), v3_zero(), v3_zero()};
    return r;
  }
  size_t body = (size_t)m->shape_body[shape];
  const float *qd = c->body_qd + 6 * body, *com = m->body_com + 3 * body;
  X7 x = load_pose(c->body_q + 7 * body);
  r.local = load_pose(m->shape_X + 7 * (size_t)shape);
  r.body.com = v3(com[0], com[1], com[2]);
  r.body.centre = x7_point(x, r.body.com);
  r.body.turn = x.q;
  r.body.v = v3(qd[0], qd[1], qd[2]);
  r.body.w = v3(qd[3], qd[4], qd[5]);
  r.reach = v3_len(v3_sub(r.local.p, r.body.com)) + half;
  return r;
}

static Manifold ball_against(const sb_collision *c, const traveller *ball, const traveller *other, X7 rel)
{
  if (other->type > SB_SHAPE_BOX) return collision_ball_against(c, ball->size.x, other->shape, rel);
  if (other->type == SB_SHAPE_SPHERE) return narrow_sphere_sphere(ball->size, other->size, rel);
  if (other->type == SB_SHAPE_CAPSULE) return narrow_sphere_capsule(ball->size, other->size, rel);
  return narrow_sphere_box(ball->size, other->size, rel);
}

/* A point that is fixed in the body at `then`, as seen from its frame at the start, had the body been turned already:
 * so that arms from the centre of mass are those of the impact. */
static V3 carry_back(const SweptBody *b, X7 then, V3 world)
{
  V3 arm = v3_sub(world, x7_point(then, b->com));
  return v3_add(b->com, q4_rotate_inv(b->turn, arm));
}

static void store(float *to, V3 v) { to[0] = v.x, to[1] = v.y, to[2] = v.z; }

/* Advances until the ball touches; false when it does not within the tick, or does at the start already. */
static bool find_impact(const sb_collision *c, const traveller *ball, const traveller *other, Manifold *m, X7 pose[2],
                        float *time)
{
  float t = 0.0f, touch = 0.01f * ball->size.x;
  for (int round = 0; round < SWEPT_ROUNDS; round++) {
    pose[0] = swept_pose(ball->body, t);
    pose[1] = swept_pose(other->body, t);
    X7 a = x7_mul(pose[0], ball->local), b = x7_mul(pose[1], other->local);
    *m = ball_against(c, ball, other, narrow_relative(a, b));
    *time = t;
    if (m->g0 <= touch) return round > 0;
    float closing = swept_closing(ball->body, other->body, q4_rotate(a.q, m->n), ball->reach, other->reach);
    if (!(closing * (c->dt - t) > m->g0 - touch)) return false;
    t = t + (m->g0 - touch) / closing;
  }
  return true; /* nearly there */
}

static void sweep_pair(const sb_collision *c, const collision_pair *p, collision_swept *out)
{
  out->count = 0;
  bool first = is_swept(c, p->a);
  uint32_t ball_shape = first ? p->a : p->b, other_shape = first ? p->b : p->a;
  /* a plane's contacts are there before the body is; a hull need not hold a ball about its middle; surfaces are not
   * swept against */
  uint32_t other_type = c->model->shape_type[other_shape];
  if (!is_swept(c, ball_shape) || c->model->shape_type[ball_shape] >= SB_SHAPE_HULL) return;
  if (other_type == SB_SHAPE_PLANE || collision_is_surface(c->model, other_shape)) return;
  traveller ball = find_traveller(c, ball_shape, true), other = find_traveller(c, other_shape, false);
  Manifold m;
  X7 pose[2];
  float t;
  if (!find_impact(c, &ball, &other, &m, pose, &t)) return;
  X7 a = x7_mul(pose[0], ball.local), b = x7_mul(pose[1], other.local);
  V3 n = q4_rotate(a.q, m.n), on_ball = x7_point(a, m.a0), on_other = x7_point(b, m.b0);
  V3 fixed_in[2] = {carry_back(&ball.body, pose[0], on_ball),
                    c->shape_fixed[other_shape] ? on_other : carry_back(&other.body, pose[1], on_other)};
  /* the gap now, such that straight motion brings it to zero at the impact: less what both arms do by turning until
   * then */
  V3 arm_a = v3_sub(on_ball, x7_point(pose[0], ball.body.com)),
     arm_b = v3_sub(on_other, x7_point(pose[1], other.body.com));
  Q4 turn_a = q4_from_rotation_vector(v3_scale(ball.body.w, t)),
     turn_b = q4_from_rotation_vector(v3_scale(other.body.w, t));
  V3 centred = v3_sub(arm_a, v3_scale(n, ball.size.x));
  V3 swing = v3_sub(v3_sub(q4_rotate(turn_b, arm_b), arm_b), v3_sub(q4_rotate(turn_a, centred), centred));
  float closing = v3_dot(n, v3_sub(ball.body.v, other.body.v)) * t - v3_dot(n, swing);
  out->count = 1;
  out->gap = m.g0 + closing;
  store(out->normal, first ? n : v3_neg(n));
  store(out->point_a, fixed_in[first ? 0 : 1]);
  store(out->point_b, fixed_in[first ? 1 : 0]);
  if (!(out->gap > 0.0f)) out->count = 0; /* a swing that comes back: the contacts at the start have it */
}

static void swept_chunk(void *ctx, uint32_t chunk)
{
  sb_collision *c = ctx;
  uint32_t begin = chunk * COLLISION_PAIRS_PER_CHUNK;
  uint32_t end = c->pair_count - begin < COLLISION_PAIRS_PER_CHUNK ? c->pair_count : begin + COLLISION_PAIRS_PER_CHUNK;
  for (uint32_t i = begin; i < end; i++) {
    sweep_pair(c, &c->pairs[i], &c->swept[i]);
    c->pair_contacts[i] = (uint8_t)(c->pair_contacts[i] + c->swept[i].count);
  }
}

void collision_swept_step(sb_collision *c)
{
  if (c->swept && c->body_qd)
    collision_run(c, (c->pair_count + COLLISION_PAIRS_PER_CHUNK - 1) / COLLISION_PAIRS_PER_CHUNK, swept_chunk);
}
