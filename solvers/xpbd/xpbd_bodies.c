/* Rigid bodies: records, passes over joints and contacts. */
#define SB_INLINE_KERNELS /* a body's record passed to a call would be copied whole */
#include "xpbd_bodies.h"

#include <stdio.h>
#include <string.h>

#include "samebit/solver_tools.h"
#include "xpbd_joint.h"
#include "xpbd_records.h"

/* ---- setup ---- */

static bool take_memory(xp_bodies *s, const sb_bind *bind)
{
  const sb_model *m = bind->model;
  uint64_t bodies = (uint64_t)m->body_count + 1, contacts = (uint64_t)bind->contact_capacity + 1;
  struct {
    void *slot;
    uint64_t bytes;
  } wanted[] = {
      {&s->record, bodies * 4},
      {&s->body, bodies * 4},
      {&s->bodies, bodies * sizeof *s->bodies},
      {&s->inertia, bodies * 24},
      {&s->inv_inertia, bodies * 24},
      {&s->slowness, bodies * 24},
      {&s->joints, bodies * 4},
      {&s->joint_pair, bodies * sizeof *s->joint_pair},
      {&s->joint_colors.order, bodies * 4},
      {&s->joint_colors.color, bodies},
      {&s->joint_colors.used, bodies * 8},
      {&s->dofs, ((uint64_t)m->dof_count + 1) * sizeof *s->dofs},
      {&s->manifolds, contacts * sizeof *s->manifolds},
      {&s->manifold_pair, contacts * sizeof *s->manifold_pair},
      {&s->contact_colors.order, contacts * 4},
      {&s->contact_colors.color, contacts},
      {&s->contact_colors.used, bodies * 8},
      {&s->touch, contacts * sizeof *s->touch},
  };
  for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
    void *block = bind->host->alloc(bind->host->context, wanted[i].bytes);
    if (!block) return false;
    memcpy(wanted[i].slot, &block, sizeof block);
  }
  return true;
}

static sb_status check_joints(const sb_bind *bind, char *error, uint32_t error_size)
{
  const sb_model *m = bind->model;
  for (uint32_t i = 0; i < bind->body_count; i++) {
    uint32_t body = bind->bodies[i], turns = 0, slides = 0, dof = (uint32_t)m->joint_qd_start[body];
    if (m->joint_type[body] == SB_JOINT_BALL && (m->joint_limit_upper[dof] < SB_NO_LIMIT || m->joint_stiffness[dof] != 0.0f ||
                                                 m->joint_friction[dof] != 0.0f || m->joint_target_ke[dof] != 0.0f)) {
      snprintf(error, error_size, "the ball joint of body %u has a limit, spring, dry friction or drive; xpbd gives ball joints damping and armature only",
               body);
      return SB_E_UNSUPPORTED;
    }
    for (uint32_t d = 0; m->joint_type[body] == SB_JOINT_AXES && d < m->joint_dof_count[body]; d++)
      m->dof_kind[dof + d] == SB_DOF_ANGULAR ? turns++ : slides++;
    if (turns > 3 || slides > 3) {
      snprintf(error, error_size, "the joint of body %u has %u angular and %u linear dofs; xpbd takes at most 3 of each", body, turns, slides);
      return SB_E_UNSUPPORTED;
    }
    if (!(m->body_flags[body] & SB_BODY_STATIC) && !(m->body_inv_mass[body] > 0.0f)) {
      snprintf(error, error_size, "body %u has no mass, which xpbd cannot move; use featherstone, or give it a mass", body);
      return SB_E_UNSUPPORTED;
    }
  }
  return SB_OK;
}

static S33 outer(V3 a, float s) { return s33(a.x * a.x * s, a.y * a.y * s, a.z * a.z * s, a.x * a.y * s, a.x * a.z * s, a.y * a.z * s); }

/* The armature of a body's own joint is added to its inertia about each angular axis, and to its mass along each linear one: exact while
 * the parent rests. */
static void set_inertia(xp_bodies *s, const sb_bind *bind, uint32_t record)
{
  const sb_model *m = bind->model;
  uint32_t body = s->body[record], dof = (uint32_t)m->joint_qd_start[body];
  float mass = m->body_mass[body];
  S33 inertia = xp_get6(m->body_inertia + 6 * (size_t)body), heavy = s33(mass, mass, mass, 0.0f, 0.0f, 0.0f);
  if (m->joint_type[body] == SB_JOINT_BALL) {
    float a = m->joint_armature[dof];
    inertia = s33_add(inertia, s33(a, a, a, 0.0f, 0.0f, 0.0f));
  }
  for (uint32_t d = 0; m->joint_type[body] == SB_JOINT_AXES && d < m->joint_dof_count[body]; d++) {
    S33 more = outer(xp_get3(m->joint_axis + 3 * (size_t)(dof + d)), m->joint_armature[dof + d]);
    if (m->dof_kind[dof + d] == SB_DOF_ANGULAR)
      inertia = s33_add(inertia, more);
    else
      heavy = s33_add(heavy, more);
  }
  float w = m->body_inv_mass[body];
  bool round = heavy.xx == mass && heavy.yy == mass && heavy.zz == mass && heavy.xy == 0.0f && heavy.xz == 0.0f && heavy.yz == 0.0f;
  xp_put6(s->inertia + 6 * (size_t)record, inertia);
  xp_put6(s->inv_inertia + 6 * (size_t)record, s33_inverse(inertia));
  xp_put6(s->slowness + 6 * (size_t)record, round ? s33(w, w, w, 0.0f, 0.0f, 0.0f) : s33_inverse(heavy));
}

/* Own bodies, then others' moving ones, then the world. */
static void number_records(xp_bodies *s, const sb_bind *bind)
{
  const sb_model *m = bind->model;
  uint32_t n = 0;
  for (uint32_t b = 0; b < m->body_count; b++) s->record[b] = XP_NONE;
  for (uint32_t i = 0; i < bind->body_count; i++)
    if (!(m->body_flags[bind->bodies[i]] & SB_BODY_STATIC)) s->body[n] = bind->bodies[i], s->record[bind->bodies[i]] = n++;
  s->own = n;
  for (uint32_t b = 0; b < m->body_count; b++)
    if (s->record[b] == XP_NONE && !(m->body_flags[b] & SB_BODY_STATIC)) s->body[n] = b, s->record[b] = n++;
  s->moving = s->nobody = n;
  for (uint32_t r = 0; r < n; r++) memcpy(s->bodies[r].com, m->body_com + 3 * (size_t)s->body[r], 3 * sizeof(float));
  s->bodies[n].q[3] = s->bodies[n].q0[3] = s->bodies[n].turn[3] = 1.0f;
}

sb_status xp_bodies_bind(xp_bodies *s, const sb_bind *bind, char *error, uint32_t error_size)
{
  const sb_model *m = bind->model;
  s->bind = bind;
  sb_status status = check_joints(bind, error, error_size);
  if (status) return status;
  if (!take_memory(s, bind)) {
    snprintf(error, error_size, "out of memory for %u bodies and %u contacts", bind->body_count, bind->contact_capacity);
    return SB_E_MEMORY;
  }
  sb_array_desc kept = {.struct_size = sizeof kept, .type = SB_TYPE_F32, .domain = SB_DOMAIN_CONTACT, .components = 1, .count = bind->contact_capacity, .lane_block = 1, .name = "contact_push"};
  void *data;
  status = bind->host->register_array(bind->host->context, &kept, &data);
  if (status) return status;
  s->kept_normal = data;
  number_records(s, bind);
  for (uint32_t r = 0; r < s->own; r++) {
    uint32_t body = s->body[r];
    set_inertia(s, bind, r);
    if (m->joint_type[body] == SB_JOINT_FREE) continue;
    int32_t parent = m->joint_parent[body];
    s->joint_pair[s->joint_count][0] = parent < 0 || s->record[parent] == XP_NONE ? s->nobody : s->record[parent];
    s->joint_pair[s->joint_count][1] = r;
    s->joints[s->joint_count++] = body;
  }
  /* bodies bolted to the world stand where they stand */
  for (uint32_t b = 0; b < m->body_count; b++)
    if (s->record[b] == XP_NONE) s->record[b] = s->nobody;
  xp_color(&s->joint_colors, s->joint_count, (const uint32_t (*)[2])s->joint_pair, s->own);
  return SB_OK;
}

/* ---- passes ---- */

enum { PASS_LOAD, PASS_PREDICT, PASS_OBSTACLES, PASS_JOINTS, PASS_JOINTS_BACK, PASS_WARM, PASS_CONTACTS, PASS_PART, PASS_BOUNCES, PASS_COORDINATES, PASS_STORE };

static void load_body(xp_bodies *s, uint32_t r)
{
  const sb_state *state = s->bind->state;
  size_t b = s->body[r];
  XpRecord to = xp_begin(xp_get_record(&s->bodies[r]), xp_get3(state->body_q + 7 * b), xp_get4(state->body_q + 7 * b + 3));
  to.b.v = xp_get3(state->body_qd + 6 * b);
  to.b.w = xp_get3(state->body_qd + 6 * b + 3);
  xp_put_record(&s->bodies[r], to);
}

static void predict_body(xp_bodies *s, uint32_t r)
{
  const sb_model *m = s->bind->model;
  uint32_t body = s->body[r];
  const float *f = s->bind->state->body_f + 6 * (size_t)body, *g = m->gravity + 3 * (size_t)m->body_world[body];
  XpRecord from = xp_get_record(&s->bodies[r]);
  S33 slow = xp_get6(s->slowness + 6 * (size_t)r);
  float w = m->body_inv_mass[body];
  bool round = slow.xx == w && slow.yy == w && slow.zz == w && slow.xy == 0.0f && slow.xz == 0.0f && slow.yz == 0.0f;
  V3 pull = v3_add_scaled(xp_get3(g), xp_get3(f), w);
  if (!round) {
    slow = s33_rotate(q4_to_m33(xp_facing_of(from)), slow);
    pull = v3_scale(s33_mul_v3(slow, pull), m->body_mass[body]);
  }
  xp_put_record(&s->bodies[r], xp_predict_body(from, xp_get6(s->inertia + 6 * (size_t)r), xp_get6(s->inv_inertia + 6 * (size_t)r), slow, pull, xp_get3(f + 3), s->h));
}

/* Somebody else's body, on its way from where it was to where it is: at the end of this substep, with the velocity that takes. */
static void move_obstacle(xp_bodies *s, uint32_t r)
{
  size_t b = s->body[r];
  xp_body *to = &s->bodies[r];
  const float *from = s->before + 7 * b, *end = s->bind->state->body_q + 7 * b;
  float now = (float)(s->substep + 1) / (float)s->substeps, was = (float)s->substep / (float)s->substeps;
  Q4 qa = xp_get4(from + 3), qb = xp_get4(end + 3);
  V3 turn = mx_turn(qa, qb), pa = xp_get3(from), pb = xp_get3(end), com = xp_get3(to->com);
  xp_put_record(to, xp_begin(xp_get_record(to), pa, qa));
  V3 way = v3_sub(pb, pa), arm = q4_rotate(qa, com);
  Q4 q0 = q4_integrate(q4_identity(), turn, was), q1 = q4_integrate(q4_identity(), turn, now);
  V3 x0 = v3_add(v3_scale(way, was), xp_swing(q0, arm)), x1 = v3_add(v3_scale(way, now), xp_swing(q1, arm));
  V3 v = v3_scale(v3_sub(x1, x0), s->inv_h), w = v3_scale(mx_turn(q0, q1), s->inv_h);
  xp_put3(to->x0, x0);
  xp_put4(to->q0, q0);
  xp_put3(to->x, x1);
  xp_put4(to->q, q1);
  xp_put3(to->v, v), xp_put3(to->v0, v), xp_put3(to->vp, v);
  xp_put3(to->w, w), xp_put3(to->w0, w), xp_put3(to->wp, w);
}

static void store_body(xp_bodies *s, uint32_t r)
{
  const sb_model *m = s->bind->model;
  const sb_state *state = s->bind->state;
  size_t b = s->body[r];
  XpRecord from = xp_get_record(&s->bodies[r]);
  X7 pose = xp_pose(from);
  xp_put3(state->body_q + 7 * b, pose.p);
  xp_put4(state->body_q + 7 * b + 3, pose.q);
  xp_put3(state->body_qd + 6 * b, xp_snap(from.b.v));
  xp_put3(state->body_qd + 6 * b + 3, xp_snap(from.b.w));
  if (m->joint_type[b] != SB_JOINT_FREE) return;
  memcpy(state->joint_q + m->joint_q_start[b], state->body_q + 7 * b, 7 * sizeof(float));
  memcpy(state->joint_qd + m->joint_qd_start[b], state->body_qd + 6 * b, 6 * sizeof(float));
}

/* ---- contacts ---- */

/* A contact and both of its sides now. */
typedef struct contact_sides {
  xp_body *to_a, *to_b; /* NULL for what this instance does not move */
  XpRecord a, b;
  XpPair t;
} contact_sides;

/* Inlined, so that of the records only what is used is read. */
static inline __attribute__((always_inline)) contact_sides sides(const xp_bodies *s, uint32_t item, uint32_t i)
{
  const sb_contacts *c = s->contacts;
  uint32_t a = s->manifold_pair[item][0], b = s->manifold_pair[item][1];
  contact_sides o = {.to_a = a < s->own ? &s->bodies[a] : NULL, .to_b = b < s->own ? &s->bodies[b] : NULL};
  o.a = xp_get_record(&s->bodies[a]);
  o.b = xp_get_record(&s->bodies[b]);
  o.t = xp_pair(o.a, o.b, xp_get3(c->point_a + 3 * (size_t)i), xp_get3(c->point_b + 3 * (size_t)i), xp_get3(c->normal + 3 * (size_t)i), c->gap[i]);
  return o;
}

static void put_sides(const contact_sides *o, XpSides s)
{
  if (o->to_a) xp_put_body(o->to_a, s.a);
  if (o->to_b) xp_put_body(o->to_b, s.b);
}

static void press_contact(xp_bodies *s, uint32_t item, uint32_t i)
{
  contact_sides o = sides(s, item, i);
  xp_touch_state *kept = &s->touch[i];
  float normal = xp_pair_press(o.t, o.a, o.b, kept->normal, s->h);
  if (normal == kept->normal) return;
  put_sides(&o, xp_pair_correct(o.t, o.a, o.b, v3_scale(o.t.n, normal - kept->normal), v3_zero(), s->inv_h));
  kept->normal = normal;
}

static void rub_contact(xp_bodies *s, uint32_t item, uint32_t i)
{
  xp_touch_state *kept = &s->touch[i];
  V3 slide = xp_get3(kept->slide);
  if (!(kept->normal > 0.0f) && v3_len2(slide) == 0.0f) return;
  contact_sides o = sides(s, item, i);
  V3 now = xp_pair_rub(o.t, o.a, o.b, s->contacts->friction[3 * (size_t)i], kept->normal, slide);
  xp_put3(kept->slide, now);
  put_sides(&o, xp_pair_correct(o.t, o.a, o.b, v3_sub(now, slide), v3_zero(), s->inv_h));
}

/* Overlap is pushed out by positions alone: no velocity comes from it. */
static void part_contact(xp_bodies *s, uint32_t item, uint32_t i)
{
  contact_sides o = sides(s, item, i);
  float way = xp_push_out(o.t.gap, s->push * s->h);
  if (!(way > 0.0f)) return;
  put_sides(&o, xp_pair_correct(o.t, o.a, o.b, xp_pair_part(o.t, o.a, o.b, way), v3_zero(), 0.0f));
}

/* What a contact carried in the last substep, or a little less, is where it begins: a load need not find its way up a stack anew each time. Friction begins anew with each
 * tick. */
static void warm_contact(xp_bodies *s, uint32_t item, uint32_t i)
{
  xp_touch_state *kept = &s->touch[i];
  V3 slide = v3_scale(xp_get3(kept->slide), XP_WARM);
  kept->normal = kept->normal * XP_WARM;
  xp_put3(kept->slide, slide);
  if (!(kept->normal > 0.0f)) return;
  contact_sides o = sides(s, item, i);
  put_sides(&o, xp_pair_correct(o.t, o.a, o.b, v3_add_scaled(slide, o.t.n, kept->normal), v3_zero(), s->inv_h));
}

/* Points of one pair share their load, and friction tilts the body and moves the load: forth and back, twice. A palindrome, as the passes over all contacts
 * are (see run_colors_back). */
static void solve_manifold(xp_bodies *s, uint32_t item)
{
  uint32_t first = s->manifolds[item].first, count = s->manifolds[item].count;
  for (uint32_t round = 0; round < (count > 1 ? 2u : 1u); round++) {
    for (uint32_t k = 0; k < count; k++) press_contact(s, item, first + k), rub_contact(s, item, first + k);
    for (uint32_t k = count; k-- > 0 && count > 1;) rub_contact(s, item, first + k), press_contact(s, item, first + k);
  }
}

static void bounce_contact(xp_bodies *s, uint32_t item, uint32_t i)
{
  const float *friction = s->contacts->friction + 3 * (size_t)i;
  float normal = s->touch[i].normal;
  if (!(normal > 0.0f)) return;
  contact_sides o = sides(s, item, i);
  V3 roll = v3_zero();
  float j = xp_pair_bounce(o.t, o.a, o.b, normal, s->contacts->restitution[i], s->threshold, s->h);
  s->touch[i].normal = f_max(normal + j * s->h, 0.0f);
  if (friction[1] > 0.0f || friction[2] > 0.0f) roll = xp_pair_roll(o.t, o.a, o.b, friction[1], friction[2], f_max(normal * s->inv_h + j, 0.0f));
  put_sides(&o, xp_pair_kick(o.t, o.a, o.b, v3_scale(o.t.n, j), roll));
}

static uint32_t contact_record(const xp_bodies *s, int32_t body) { return body < 0 ? s->nobody : s->record[body]; }

/* Contacts of one pair of shapes make one item; those that move nothing of this instance make none. */
static void find_manifolds(xp_bodies *s)
{
  const sb_contacts *c = s->contacts;
  s->manifold_count = 0;
  for (uint32_t i = 0, next; i < c->count; i = next) {
    next = i + 1;
    while (next < c->count && c->world[next] == c->world[i] && c->key[next] >> 16 == c->key[i] >> 16) next++;
    uint32_t a = contact_record(s, c->body_a[i]), b = contact_record(s, c->body_b[i]);
    if (a >= s->own && b >= s->own) continue;
    s->manifold_pair[s->manifold_count][0] = a;
    s->manifold_pair[s->manifold_count][1] = b;
    s->manifolds[s->manifold_count++] = (xp_manifold){i, next - i};
  }
  xp_color(&s->contact_colors, s->manifold_count, (const uint32_t (*)[2])s->manifold_pair, s->own);
}

/* ---- loops ---- */

#define BODY_CHUNK 64u
#define ITEM_CHUNK 16u

static void run_one(xp_bodies *s, uint32_t i)
{
  switch (s->pass) {
  case PASS_LOAD: load_body(s, i); break;
  case PASS_PREDICT: predict_body(s, i); break;
  case PASS_OBSTACLES: move_obstacle(s, i); break;
  case PASS_JOINTS: xp_joint_solve(s, s->joints[s->joint_colors.order[i]], false); break;
  case PASS_JOINTS_BACK: xp_joint_solve(s, s->joints[s->joint_colors.order[i]], true); break;
  case PASS_COORDINATES: xp_joint_store(s, s->joints[i]); break;
  case PASS_STORE: store_body(s, i); break;
  case PASS_CONTACTS: solve_manifold(s, s->contact_colors.order[i]); break;
  default: {
    uint32_t item = s->contact_colors.order[i];
    const xp_manifold *m = &s->manifolds[item];
    for (uint32_t k = m->first; k < m->first + m->count; k++) s->pass == PASS_WARM ? warm_contact(s, item, k) : s->pass == PASS_PART ? part_contact(s, item, k) : bounce_contact(s, item, k);
  }
  }
}

static uint32_t chunk_size(uint32_t pass) { return pass >= PASS_JOINTS && pass <= PASS_BOUNCES ? ITEM_CHUNK : BODY_CHUNK; }

static void run_chunk(void *user, uint32_t chunk)
{
  xp_bodies *s = user;
  uint32_t size = chunk_size(s->pass), first = s->first + chunk * size, end = first + size < s->end ? first + size : s->end;
  for (uint32_t i = first; i < end; i++) run_one(s, i);
}

static void run_range(xp_bodies *s, uint32_t pass, uint32_t first, uint32_t end)
{
  uint32_t size = chunk_size(pass);
  if (first == end) return;
  s->pass = pass;
  s->first = first;
  s->end = end;
  s->bind->host->parallel_for(s->bind->host->context, (end - first + size - 1) / size, run_chunk, s);
}

/* Colour after colour, then the serial group on this thread. */
static void run_colors(xp_bodies *s, uint32_t pass, const xp_colors *c)
{
  for (uint32_t color = 0; color < XP_MAX_COLORS; color++) run_range(s, pass, c->start[color], c->start[color + 1]);
  s->pass = pass;
  for (uint32_t i = c->start[XP_MAX_COLORS]; i < c->start[XP_MAX_COLORS + 1]; i++) run_one(s, i);
}

/* The same the other way round. Forth and back together are a symmetric operator on the errors, whose eigenvalues are real: each then decays, while those of
 * one way alone may be complex and grow when they meet the velocities of the next substep. */
static void run_colors_back(xp_bodies *s, uint32_t pass, const xp_colors *c)
{
  s->pass = pass;
  for (uint32_t i = c->start[XP_MAX_COLORS + 1]; i-- > c->start[XP_MAX_COLORS];) run_one(s, i);
  for (uint32_t color = XP_MAX_COLORS; color-- > 0;) run_range(s, pass, c->start[color], c->start[color + 1]);
}

void xp_bodies_meet(xp_bodies *s, const sb_step *step)
{
  s->contacts = step->contacts;
  for (uint32_t i = 0; i < step->contacts->count; i++) s->touch[i] = (xp_touch_state){.normal = step->match[i] < 0 ? 0.0f : s->kept_normal[step->match[i]]};
  s->before = step->body_q_before;
  find_manifolds(s);
}

void xp_bodies_begin(xp_bodies *s, const sb_step *step)
{
  xp_bodies_meet(s, step);
  run_range(s, PASS_LOAD, 0, s->own);
}

void xp_bodies_obstacles(xp_bodies *s, uint32_t substep)
{
  s->substep = substep;
  run_range(s, PASS_OBSTACLES, s->own, s->moving);
}

void xp_bodies_predict(xp_bodies *s, uint32_t substep)
{
  run_range(s, PASS_PREDICT, 0, s->own);
  xp_bodies_obstacles(s, substep);
}

void xp_bodies_joints(xp_bodies *s, uint32_t iteration)
{
  s->iteration = iteration;
  run_colors(s, PASS_JOINTS, &s->joint_colors);
  run_colors_back(s, PASS_JOINTS_BACK, &s->joint_colors);
}

void xp_bodies_contacts(xp_bodies *s, uint32_t iteration)
{
  if (iteration == 0) run_colors(s, PASS_WARM, &s->contact_colors);
  run_colors(s, PASS_CONTACTS, &s->contact_colors);
  run_colors_back(s, PASS_CONTACTS, &s->contact_colors);
}

void xp_bodies_velocities(xp_bodies *s)
{
  run_colors(s, PASS_PART, &s->contact_colors);
  run_colors(s, PASS_BOUNCES, &s->contact_colors);
  run_colors_back(s, PASS_BOUNCES, &s->contact_colors);
  run_range(s, PASS_COORDINATES, 0, s->joint_count);
}

void xp_bodies_keep(xp_bodies *s)
{
  memset(s->kept_normal, 0, s->contacts->count * sizeof *s->kept_normal);
  for (uint32_t m = 0; m < s->manifold_count; m++)
    for (uint32_t i = s->manifolds[m].first; i < s->manifolds[m].first + s->manifolds[m].count; i++) s->kept_normal[i] = s->touch[i].normal;
}

void xp_bodies_finish(xp_bodies *s)
{
  run_range(s, PASS_STORE, 0, s->own);
  xp_bodies_keep(s);
}
