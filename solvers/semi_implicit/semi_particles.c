/* Particles of semi_implicit: lists of elements and of what acts on each particle, the stability estimate, contacts of a tick. */
#include "semi_particles.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "samebit/solver_tools.h"

#include "samebit/maths.h"

/* ---- lists ---- */

static void *take(const sb_bind *bind, uint64_t bytes) { return bind->host->alloc(bind->host->context, bytes ? bytes : 4); }

/* Elements of n particles each whose first particle is own. */
static uint32_t *list_elements(const sb_bind *bind, uint32_t count, const int32_t *particles, uint32_t n, uint32_t *found)
{
  *found = 0;
  for (uint32_t e = 0; e < count; e++) *found += (uint32_t)sb_has_body(bind->particles, bind->particle_count, particles[(size_t)e * n]);
  uint32_t *list = take(bind, *found * 4ull), at = 0;
  for (uint32_t e = 0; list && e < count; e++)
    if (sb_has_body(bind->particles, bind->particle_count, particles[(size_t)e * n])) list[at++] = e;
  return list;
}

typedef struct element_list {
  const uint32_t *elements;
  const int32_t *particles;
  uint32_t n;       /* particles of an element */
  uint32_t slots;   /* forces of an element: 1 acts on both ends of a spring, else one for each */
} element_list;

static void list_of_kind(const si_particles *p, si_kind kind, element_list *out)
{
  const sb_model *m = p->model;
  const element_list lists[SI_TOUCHES] = {[SI_SPRINGS] = {p->springs, m->spring_indices, 2, 1},
                                          [SI_TRIS] = {p->tris, m->tri_indices, 3, 3},
                                          [SI_EDGES] = {p->edges, m->edge_indices, 4, 4},
                                          [SI_TETS] = {p->tets, m->tet_indices, 4, 4},
                                          [SI_HOLDS] = {p->holds, m->attachment_particle, 1, 1}};
  *out = lists[kind];
}

/* Calls for each particle of each element: with entry NULL counts, else writes the slot. first is two places up while it fills. */
static void fill_entries(si_particles *p, uint32_t *entry)
{
  for (int kind = 0; kind < SI_TOUCHES; kind++) {
    element_list l;
    list_of_kind(p, (si_kind)kind, &l);
    for (uint32_t e = 0; e < p->count[kind]; e++)
      for (uint32_t k = 0; k < l.n; k++) {
        int32_t particle = l.particles[(size_t)l.elements[e] * l.n + k];
        if (particle < 0) continue;
        uint32_t slot = p->slot[kind] + e * l.slots + (l.slots == 1 ? 0 : k);
        if (entry)
          entry[p->first[particle + 1]++] = slot | (kind == SI_SPRINGS && k == 1 ? SI_REVERSED : 0u);
        else
          p->first[particle + 2]++;
      }
  }
}

static bool make_entries(si_particles *p, const sb_bind *bind)
{
  uint32_t particles = p->model->particle_count, total = 0;
  for (int kind = 0; kind < SI_TOUCHES; kind++) {
    element_list l;
    list_of_kind(p, (si_kind)kind, &l);
    p->slot[kind] = total;
    total += p->count[kind] * l.slots;
  }
  p->first = take(bind, ((uint64_t)particles + 3) * 4);
  p->force = take(bind, total * 12ull);
  if (!p->first || !p->force) return false;
  fill_entries(p, NULL);
  for (uint32_t i = 0; i < particles; i++) p->first[i + 2] += p->first[i + 1];
  p->entry = take(bind, (uint64_t)p->first[particles + 1] * 4);
  if (!p->entry) return false;
  fill_entries(p, p->entry);
  return true;
}

/* Indices 0 to count - 1 sorted by the body that they act on, of bodies that this instance moves. first has body_count + 3 entries. */
static void list_by_body(const si_particles *p, uint32_t count, const int32_t *body, const uint32_t *index, uint32_t *first, uint32_t *list)
{
  uint32_t bodies = p->model->body_count;
  memset(first, 0, ((size_t)bodies + 2) * sizeof *first);
  for (uint32_t i = 0; i < count; i++) {
    int32_t b = body[index ? index[i] : i];
    if (b >= 0 && p->body_inv_mass[b] > 0.0f) first[b + 2]++;
  }
  for (uint32_t b = 0; b < bodies; b++) first[b + 2] += first[b + 1];
  for (uint32_t i = 0; i < count; i++) {
    int32_t b = body[index ? index[i] : i];
    if (b >= 0 && p->body_inv_mass[b] > 0.0f) list[first[b + 1]++] = i;
  }
}

/* Moving bodies that other instances own. */
static bool list_others(si_particles *p, const sb_bind *bind)
{
  const sb_model *m = p->model;
  uint32_t bodies = m->body_count;
  p->other_of = take(bind, bodies * 4ull);
  p->others = take(bind, bodies * 4ull);
  if (!p->other_of || !p->others) return false;
  for (uint32_t b = 0; b < bodies; b++) {
    if ((m->body_flags[b] & SB_BODY_STATIC) || sb_owns_body(bind, (int32_t)b)) continue;
    p->others[p->other_count++] = b;
    p->other_of[b] = p->other_count;
  }
  p->other_q = take(bind, p->other_count * 28ull);
  p->other_qd = take(bind, p->other_count * 24ull);
  return p->other_q && p->other_qd;
}

bool si_particles_bind(si_particles *p, const sb_bind *bind, const float *body_inv_mass)
{
  const sb_model *m = bind->model;
  uint64_t bodies = m->body_count, particles = m->particle_count, touches = bind->particle_contact_capacity, nears = bind->near_pair_capacity;
  p->model = m;
  p->body_inv_mass = body_inv_mass;
  p->state = bind->state;
  p->own = bind->particles;
  p->own_count = bind->particle_count;
  p->springs = list_elements(bind, m->spring_count, m->spring_indices, 2, &p->count[SI_SPRINGS]);
  p->tris = list_elements(bind, m->tri_count, m->tri_indices, 3, &p->count[SI_TRIS]);
  p->edges = list_elements(bind, m->edge_count, m->edge_indices, 4, &p->count[SI_EDGES]);
  p->tets = list_elements(bind, m->tet_count, m->tet_indices, 4, &p->count[SI_TETS]);
  p->holds = list_elements(bind, m->attachment_count, m->attachment_particle, 1, &p->count[SI_HOLDS]);
  if (!p->springs || !p->tris || !p->edges || !p->tets || !p->holds) return false;
  p->spring_ke = take(bind, p->count[SI_SPRINGS] * 4ull);
  p->hold_ke = take(bind, p->count[SI_HOLDS] * 4ull);
  p->hold_kd = take(bind, p->count[SI_HOLDS] * 4ull);
  p->hold_wrench = take(bind, p->count[SI_HOLDS] * 24ull);
  p->hold_first = take(bind, bodies * 4 + 12);
  p->hold_list = take(bind, p->count[SI_HOLDS] * 4ull);
  p->touch_force = take(bind, touches * 12);
  p->touch_wrench = take(bind, touches * 24);
  p->touch_first = take(bind, bodies * 4 + 12);
  p->touch_list = take(bind, touches * 4);
  p->near = take(bind, nears * 4 * SI_NEAR_FLOATS);
  p->near_first = take(bind, particles * 4 + 12);
  p->near_entry = take(bind, nears * 16);
  p->share = take(bind, particles * 4);
  bool ok = p->spring_ke && p->hold_ke && p->hold_kd && p->hold_wrench && p->hold_first && p->hold_list && p->touch_force && p->touch_wrench &&
            p->touch_first && p->touch_list && p->near && p->near_first && p->near_entry && p->share;
  return ok && make_entries(p, bind) && list_others(p, bind);
}

/* ---- what the step holds ---- */

/* Of rigid springs and attachments: (omega dt)^2 of all that act on one particle together, where 4 is the limit. */
#define RIGID_SHARE 0.25f

static float rigid_stiffness(float mass, float n, float dt) { return mass > 0.0f ? (mass * RIGID_SHARE) / ((n * dt) * dt) : 0.0f; }

/* Mass that two ends feel; 0 when neither moves. */
static float joint_mass(float inv_a, float inv_b) { return inv_a + inv_b > 0.0f ? 1.0f / (inv_a + inv_b) : 0.0f; }

static void set_rigid(si_particles *p, const sb_bind *bind, float dt)
{
  const sb_model *m = p->model;
  float *n = p->share; /* scratch: rigid springs at each particle */
  memset(n, 0, m->particle_count * sizeof *n);
  for (uint32_t i = 0; i < p->count[SI_SPRINGS]; i++)
    for (uint32_t k = 0; k < 2 && m->spring_stiffness[p->springs[i]] >= SB_NO_LIMIT; k++) n[m->spring_indices[2 * (size_t)p->springs[i] + k]] += 1.0f;
  for (uint32_t i = 0; i < p->count[SI_SPRINGS]; i++) {
    uint32_t s = p->springs[i];
    const int32_t *end = m->spring_indices + 2 * (size_t)s;
    float most = n[end[0]] > n[end[1]] ? n[end[0]] : n[end[1]];
    bool rigid = m->spring_stiffness[s] >= SB_NO_LIMIT;
    p->spring_ke[i] = rigid ? rigid_stiffness(joint_mass(m->particle_inv_mass[end[0]], m->particle_inv_mass[end[1]]), most, dt) : m->spring_stiffness[s];
  }
  for (uint32_t i = 0; i < p->count[SI_HOLDS]; i++) {
    uint32_t a = p->holds[i];
    int32_t body = m->attachment_body[a];
    float inv_body = body >= 0 && sb_owns_body(bind, body) ? m->body_inv_mass[body] * 4.0f : 0.0f; /* 4: it turns as well */
    float mass = joint_mass(m->particle_inv_mass[m->attachment_particle[a]], inv_body);
    bool rigid = m->attachment_stiffness[a] >= SB_NO_LIMIT;
    p->hold_ke[i] = rigid ? rigid_stiffness(mass, 1.0f, dt) : m->attachment_stiffness[a];
    /* damping ratio 1/2 of what stands in for a rigid one */
    p->hold_kd[i] = rigid ? m->attachment_damping[a] + mass * (f_sqrt(K(RIGID_SHARE)) / dt) : m->attachment_damping[a];
  }
}

/* Sums of the rows of stiffness and damping at each particle, by the elements' gradients at rest: a bound on the fastest motion
 * (Gershgorin 1931). */
typedef struct row_sums {
  double *ke, *kd;
} row_sums;

static double length(const float *v, int n)
{
  double sum = 0.0;
  for (int i = 0; i < n; i++) sum += (double)v[i] * (double)v[i];
  return (double)f_sqrt((float)sum);
}

static void add_row(row_sums *r, const int32_t *particle, int n, const double *gradient, double ke, double kd)
{
  double all = 0.0;
  for (int k = 0; k < n; k++) all += gradient[k];
  for (int k = 0; k < n; k++) {
    if (particle[k] < 0) continue;
    r->ke[particle[k]] += ke * gradient[k] * all;
    r->kd[particle[k]] += kd * gradient[k] * all;
  }
}

static void add_rows(const si_particles *p, row_sums *r)
{
  const sb_model *m = p->model;
  for (uint32_t i = 0; i < p->count[SI_SPRINGS]; i++) {
    const double ends[2] = {1.0, 1.0};
    add_row(r, m->spring_indices + 2 * (size_t)p->springs[i], 2, ends, (double)p->spring_ke[i], (double)m->spring_damping[p->springs[i]]);
  }
  for (uint32_t i = 0; i < p->count[SI_TRIS]; i++) {
    uint32_t t = p->tris[i];
    const float *q = m->tri_pose + 4 * (size_t)t;
    const float z[2] = {-(q[0] + q[2]), -(q[1] + q[3])};
    const double g[3] = {length(z, 2), length(q, 2), length(q + 2, 2)};
    add_row(r, m->tri_indices + 3 * (size_t)t, 3, g, (double)(m->tri_area[t] * (2.0f * m->tri_ke[t] + m->tri_ka[t])), (double)(m->tri_area[t] * m->tri_kd[t]));
    const double third[3] = {1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0};
    add_row(r, m->tri_indices + 3 * (size_t)t, 3, third, 0.0, (double)(m->tri_area[t] * (m->tri_drag[t] + m->tri_lift[t])));
  }
  for (uint32_t i = 0; i < p->count[SI_TETS]; i++) {
    uint32_t t = p->tets[i];
    const float *b = m->tet_pose + 9 * (size_t)t;
    const float z[3] = {-(b[0] + b[3] + b[6]), -(b[1] + b[4] + b[7]), -(b[2] + b[5] + b[8])};
    const double g[4] = {length(z, 3), length(b, 3), length(b + 3, 3), length(b + 6, 3)};
    add_row(r, m->tet_indices + 4 * (size_t)t, 4, g, (double)(m->tet_volume[t] * (2.0f * m->tet_k_mu[t] + m->tet_k_lambda[t])),
            (double)(m->tet_volume[t] * m->tet_k_damp[t]));
  }
  for (uint32_t i = 0; i < p->count[SI_EDGES]; i++) {
    uint32_t e = p->edges[i];
    const int32_t *at = m->edge_indices + 4 * (size_t)e;
    if (at[1] < 0) continue;
    /* the gradient at a corner is 1 / height; both triangles' heights follow from where the particles begin */
    double g[4], len = (double)m->edge_rest_length[e];
    for (int k = 0; k < 2; k++) {
      const float *a = m->particle_q + 3 * (size_t)at[k], *x = m->particle_q + 3 * (size_t)at[2], *y = m->particle_q + 3 * (size_t)at[3];
      V3 along = v3(y[0] - x[0], y[1] - x[1], y[2] - x[2]), to = v3(a[0] - x[0], a[1] - x[1], a[2] - x[2]);
      V3 normal = v3_cross(along, to);
      const float n[3] = {normal.x, normal.y, normal.z};
      double area2 = length(n, 3);
      g[k] = area2 > 0.0 ? len / area2 : 0.0;
    }
    g[2] = g[3] = g[0] + g[1];
    add_row(r, at, 4, g, (double)m->edge_bending_ke[e], (double)m->edge_bending_kd[e]);
  }
  for (uint32_t i = 0; i < p->count[SI_HOLDS]; i++) {
    const double one[1] = {1.0};
    add_row(r, m->attachment_particle + p->holds[i], 1, one, (double)p->hold_ke[i], (double)p->hold_kd[i]);
  }
}

/* The longest stable step of symplectic Euler with omega^2 = a, damping rate g: a h^2 + 2 g h = 4. */
static double longest_step(double a, double g)
{
  if (a <= 0.0) return g > 0.0 ? 2.0 / g : 1e30;
  double root = (double)f_sqrt((float)(g * g + 4.0 * a));
  return 4.0 / (root + g); /* (root - g) / a, without the cancellation: root^2 - g^2 = 4 a */
}

static void warn_of_step(const si_particles *p, const sb_bind *bind, float dt, uint32_t substeps)
{
  const sb_model *m = p->model;
  row_sums r = {calloc((size_t)m->particle_count + 1, sizeof(double)), calloc((size_t)m->particle_count + 1, sizeof(double))};
  double least = 1e30;
  uint32_t worst = 0;
  if (r.ke && r.kd) add_rows(p, &r);
  for (uint32_t i = 0; r.ke && r.kd && i < p->own_count; i++) {
    uint32_t q = p->own[i];
    double inv = (double)m->particle_inv_mass[q], step = longest_step(r.ke[q] * inv, r.kd[q] * inv);
    if (inv > 0.0 && step < least) least = step, worst = q;
  }
  free(r.ke);
  free(r.kd);
  if (least >= (double)dt) return;
  char text[320], enough[64];
  double want = (double)dt * substeps / (0.9 * least);
  if (want < SI_MOST_SUBSTEPS)
    snprintf(enough, sizeof enough, "set substeps = %d, or use", (int)want + 1);
  else
    snprintf(enough, sizeof enough, "more than the most substeps (%d); use", SI_MOST_SUBSTEPS);
  snprintf(text, sizeof text, "the materials of deformable %d may explode at particle %u: they want steps of at most %.3g s, and a substep has %.3g s; %s softer or heavier ones, or xpbd",
           (int)m->particle_deformable[worst], worst, least, (double)dt, enough);
  bind->host->log(bind->host->context, 1, text);
}

void si_particles_activate(si_particles *p, const sb_bind *bind, float dt, uint32_t substeps)
{
  set_rigid(p, bind, dt);
  warn_of_step(p, bind, dt, substeps);
}

/* ---- a tick ---- */

static void list_nears(si_particles *p, const sb_near_pairs *nears)
{
  uint32_t particles = p->model->particle_count;
  uint32_t *first = p->near_first;
  memset(first, 0, ((size_t)particles + 3) * sizeof *first);
  for (uint32_t i = 0; i < 4 * nears->count; i++)
    if (nears->particles[i] >= 0) first[nears->particles[i] + 2]++;
  for (uint32_t q = 0; q < particles; q++) first[q + 2] += first[q + 1];
  for (uint32_t i = 0; i < 4 * nears->count; i++)
    if (nears->particles[i] >= 0) p->near_entry[first[nears->particles[i] + 1]++] = i;
}

void si_particles_begin(si_particles *p, const sb_step *step, float *body_share)
{
  const sb_model *m = p->model;
  p->touches = step->particle_contacts;
  p->nears = step->near_pairs;
  p->count[SI_TOUCHES] = p->touches->count;
  p->count[SI_NEARS] = p->nears->count;
  list_nears(p, p->nears);
  for (uint32_t i = 0; i < p->own_count; i++) {
    uint32_t q = p->own[i];
    uint32_t n = (p->touches->particle_start ? p->touches->particle_start[q + 1] - p->touches->particle_start[q] : 0) + p->near_first[q + 1] - p->near_first[q];
    p->share[q] = n > 1 ? (float)n : 1.0f;
  }
  list_by_body(p, p->count[SI_HOLDS], m->attachment_body, p->holds, p->hold_first, p->hold_list);
  list_by_body(p, p->touches->count, p->touches->body, NULL, p->touch_first, p->touch_list);
  for (uint32_t b = 0; b < m->body_count; b++) body_share[b] += (float)(p->hold_first[b + 1] - p->hold_first[b] + p->touch_first[b + 1] - p->touch_first[b]);
}

/* Position blended evenly, orientation by its shorter way; velocities are those of the blend. */
void si_particles_move_others(si_particles *p, const sb_step *step, uint32_t index, uint32_t count, float dt)
{
  const sb_model *m = p->model;
  float now = (float)index / (float)count, inv = 1.0f / (dt * (float)count);
  for (uint32_t i = 0; i < p->other_count; i++) {
    uint32_t b = p->others[i];
    const float *from = step->body_q_before + 7 * (size_t)b, *to = p->state->body_q + 7 * (size_t)b, *com = m->body_com + 3 * (size_t)b;
    X7 x0 = x7(v3(from[0], from[1], from[2]), q4(from[3], from[4], from[5], from[6]));
    X7 x1 = x7(v3(to[0], to[1], to[2]), q4(to[3], to[4], to[5], to[6]));
    Q4 turn = q4_mul(x1.q, q4_conj(x0.q));
    float sign = turn.w < 0.0f ? -1.0f : 1.0f;
    X7 x;
    x.p = v3_add_scaled(x0.p, v3_sub(x1.p, x0.p), now);
    x.q = q4_normalize(q4(x0.q.x + (x1.q.x * sign - x0.q.x) * now, x0.q.y + (x1.q.y * sign - x0.q.y) * now,
                          x0.q.z + (x1.q.z * sign - x0.q.z) * now, x0.q.w + (x1.q.w * sign - x0.q.w) * now));
    V3 w = v3_scale(v3(turn.x * sign, turn.y * sign, turn.z * sign), 2.0f * inv);
    V3 c = v3(com[0], com[1], com[2]);
    V3 v = v3_add(v3_scale(v3_sub(x1.p, x0.p), inv), v3_cross(w, q4_rotate(x.q, c)));
    const float q[7] = {x.p.x, x.p.y, x.p.z, x.q.x, x.q.y, x.q.z, x.q.w}, qd[6] = {v.x, v.y, v.z, w.x, w.y, w.z};
    memcpy(p->other_q + 7 * (size_t)i, q, sizeof q);
    memcpy(p->other_qd + 6 * (size_t)i, qd, sizeof qd);
  }
}

static uint32_t chunks_of(uint32_t count) { return (count + SI_ELEMENT_CHUNK - 1) / SI_ELEMENT_CHUNK; }

uint32_t si_particles_chunks(const si_particles *p)
{
  uint32_t total = 0;
  for (int kind = 0; kind < SI_KINDS; kind++) total += chunks_of(p->count[kind]);
  return total;
}

si_kind si_particles_chunk(const si_particles *p, uint32_t chunk, uint32_t *first, uint32_t *end)
{
  int kind = 0;
  while (chunk >= chunks_of(p->count[kind])) chunk -= chunks_of(p->count[kind++]);
  *first = chunk * SI_ELEMENT_CHUNK;
  *end = *first + SI_ELEMENT_CHUNK < p->count[kind] ? *first + SI_ELEMENT_CHUNK : p->count[kind];
  return (si_kind)kind;
}
