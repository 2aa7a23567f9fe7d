/* Near pairs of particles, triangles and edges: against a search through all pairs in binary64, and independence of tasks, lanes, worlds and
 * what is beside. */
#include "cook_math.h"
#include "particle_scene.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* --- the reference --- */

typedef struct point {
  double x[3];
} point;

static point at(const float *q, int32_t p) { return (point){{q[3 * p], q[3 * p + 1], q[3 * p + 2]}}; }
static point minus(point a, point b) { return (point){{a.x[0] - b.x[0], a.x[1] - b.x[1], a.x[2] - b.x[2]}}; }
static point plus(point a, point b, double s) { return (point){{a.x[0] + b.x[0] * s, a.x[1] + b.x[1] * s, a.x[2] + b.x[2] * s}}; }
static double dot(point a, point b) { return a.x[0] * b.x[0] + a.x[1] * b.x[1] + a.x[2] * b.x[2]; }
static double length(point a) { return sqrt(dot(a, a)); }
static point cross(point a, point b)
{
  return (point){{a.x[1] * b.x[2] - a.x[2] * b.x[1], a.x[2] * b.x[0] - a.x[0] * b.x[2], a.x[0] * b.x[1] - a.x[1] * b.x[0]}};
}
static double clamp(double t, double low, double high) { return t < low ? low : t > high ? high : t; }

/* From x to the segment. */
static point to_segment(point x, point a, point b)
{
  point d = minus(b, a);
  return minus(plus(a, d, clamp(dot(minus(x, a), d) / dot(d, d), 0, 1)), x);
}

static point unit(point a) { return length(a) > 1e-12 ? plus((point){{0, 0, 0}}, a, 1 / length(a)) : (point){{0, 0, 0}}; }

/* How far beside a feature of that size still counts, in parts of it. */
static double allowed(double way, double size) { return fmin(0.25, 0.02 + way / size); }

/* Distance; *beside: by how much of the feature's size the nearest points miss it more than is allowed, below 0 when they do not. *side as
 * documented. */
static double face_distance(const float *q, const int32_t p[4], double way, double *beside, double *side, point *n)
{
  point x = at(q, p[0]), a = at(q, p[1]), b = at(q, p[2]), c = at(q, p[3]), u = minus(b, a), v = minus(c, a), d = minus(x, a), normal = cross(u, v);
  double n2 = dot(normal, normal), s = dot(cross(d, v), normal) / n2, t = dot(cross(u, d), normal) / n2, least = fmin(fmin(s, t), 1 - s - t);
  *beside = -least - allowed(way, sqrt(sqrt(n2)));
  *side = dot(d, normal) >= 0 ? 1 : -1;
  point apart = plus((point){{0, 0, 0}}, normal, -dot(d, normal) / n2);
  const point sides[3] = {to_segment(x, a, b), to_segment(x, b, c), to_segment(x, c, a)};
  for (int k = 0; k < 3 && least < 0; k++)
    if (k == 0 || length(sides[k]) < length(apart)) apart = sides[k];
  *n = unit(apart);
  return length(apart);
}

static double edge_distance(const float *q, const int32_t p[4], double way, double *beside, double *side, point *n)
{
  point a = at(q, p[0]), b = at(q, p[2]), u = minus(at(q, p[1]), a), v = minus(at(q, p[3]), b), r = minus(b, a), normal = cross(u, v);
  double uu = dot(u, u), vv = dot(v, v), uv = dot(u, v), n2 = dot(normal, normal);
  double s = (dot(u, r) * vv - uv * dot(v, r)) / n2, t = (uv * dot(u, r) - uu * dot(v, r)) / n2;
  *beside = fmax(fmax(-s, s - 1) - allowed(way, sqrt(uu)), fmax(-t, t - 1) - allowed(way, sqrt(vv)));
  double best = INFINITY;
  point apart = r;
  for (int i = 0; i <= 4; i++) { /* inside, or with an end of one of them */
    double k = clamp(s, 0, 1), l = clamp(t, 0, 1);
    if (i == 1 || i == 2) k = i - 1, l = clamp((uv * k - dot(v, r)) / vv, 0, 1);
    if (i == 3 || i == 4) l = i - 3, k = clamp((uv * l + dot(u, r)) / uu, 0, 1);
    if (i == 0 && (s < 0 || s > 1 || t < 0 || t > 1)) continue;
    point d = minus(plus(r, v, l), (point){{u.x[0] * k, u.x[1] * k, u.x[2] * k}});
    if (length(d) < best) best = length(d), apart = d;
  }
  *side = dot(normal, apart) >= 0 ? 1 : -1;
  *n = unit(apart);
  if (n2 < 0.03 * uu * vv) *beside = 1; /* nearly parallel: no pair */
  if (fabs(n2 - 0.03 * uu * vv) < 1e-4 * uu * vv) *beside = 0; /* who knows */
  return best;
}

typedef struct reference {
  const particle_scene *s;
  double dt;
  uint32_t missing, wrong, certain, doubtful, found;
} reference;

static double kind_distance(const float *q, uint32_t kind, const int32_t p[4], double way, double *beside, double *side, point *n)
{
  if (kind == SB_NEAR_FACE) return face_distance(q, p, way, beside, side, n);
  if (kind == SB_NEAR_EDGES) return edge_distance(q, p, way, beside, side, n);
  *beside = -1, *side = 1;
  *n = unit(minus(at(q, p[1]), at(q, p[0])));
  return length(minus(at(q, p[1]), at(q, p[0])));
}

/* Index of the pair in the list, or -1. */
static int64_t find_pair(const sb_near_pairs *n, uint32_t kind, const int32_t p[4])
{
  for (uint32_t i = 0; i < n->count; i++)
    if (n->kind[i] == kind && !memcmp(n->particles + 4 * (size_t)i, p, 16)) return i;
  return -1;
}

/* Asks for one pair: `first` particles of one feature. */
static void check_pair(reference *r, uint32_t kind, const int32_t p[4], int first)
{
  const sb_model *m = r->s->model;
  int count = kind == SB_NEAR_POINTS ? 2 : 4;
  double radius[2] = {0, 0}, speed = 0, closing = 0, beside, side, rest_beside, rest_side;
  point n, rest_n;
  for (int i = 0; i < count; i++) {
    radius[i >= first] = fmax(radius[i >= first], m->particle_radius[p[i]]);
    for (int k = first; k < count && i < first; k++) speed = fmax(speed, length(minus(at(r->s->qd, p[i]), at(r->s->qd, p[k]))));
  }
  bool pinned = true;
  for (int i = 0; i < count; i++) pinned = pinned && m->particle_inv_mass[p[i]] == 0;
  double distance = kind_distance(r->s->q, kind, p, speed * r->dt, &beside, &side, &n), thickness = radius[0] + radius[1];
  if (m->particle_deformable[p[0]] == m->particle_deformable[p[first]])
    thickness = fmin(thickness, kind_distance(m->particle_q, kind, p, 0, &rest_beside, &rest_side, &rest_n));
  for (int i = 0; i < first; i++)
    for (int k = first; k < count; k++) closing = fmax(closing, dot(minus(at(r->s->qd, p[i]), at(r->s->qd, p[k])), n));
  if (kind == SB_NEAR_EDGES) closing = 0;
  double cut = 1.5 * thickness + closing * r->dt;
  if (kind == SB_NEAR_EDGES && m->particle_deformable[p[0]] == m->particle_deformable[p[2]]) {
    /* neighbours on one surface are left to vertices and triangles */
    double rest = edge_distance(m->particle_q, p, 0, &rest_beside, &rest_side, &rest_n), limit = 0;
    for (int i = 0; i < 4; i += 2) limit = fmax(limit, 1.1 * length(minus(at(m->particle_q, p[i + 1]), at(m->particle_q, p[i]))));
    if (fabs(rest - limit) < 1e-6) return;
    if (rest < limit) cut = 0;
  }
  double pushed = fmin(thickness, distance + 0.1 * thickness);
  bool near_by = distance < cut && beside <= 0 && !pinned;
  if (kind == SB_NEAR_EDGES) {
    /* the common normal must not turn round */
    point u = minus(at(r->s->q, p[1]), at(r->s->q, p[0])), v = minus(at(r->s->q, p[3]), at(r->s->q, p[2])), normal = cross(u, v);
    point later = cross(plus(u, minus(at(r->s->qd, p[1]), at(r->s->qd, p[0])), r->dt), plus(v, minus(at(r->s->qd, p[3]), at(r->s->qd, p[2])), r->dt));
    double left = dot(normal, later) / dot(normal, normal);
    if (fabs(left - 0.25) < 1e-3) beside = 0;
    if (left <= 0.249) near_by = false;
  }
  bool doubtful = fabs(distance - cut) < 1e-5 || fabs(beside) < 1e-3;
  if (!near_by && !doubtful) return;
  const sb_near_pairs *list = sb_collision_near_pairs(r->s->collision);
  int64_t found = find_pair(list, kind, p);
  r->found += found >= 0;
  r->doubtful += doubtful;
  if (doubtful) return;
  r->certain++;
  r->missing += found < 0;
  if (found >= 0) r->wrong += fabs(list->thickness[found] - pushed) > 1e-5 || (distance > 1e-5 && list->side[found] != (float)side);
}

static bool meet(const sb_model *m, int32_t p, int32_t q)
{
  uint32_t d = (uint32_t)m->particle_deformable[p], e = (uint32_t)m->particle_deformable[q];
  return d != e || (m->deformable_flags[d] & SB_DEFORMABLE_SELF_CONTACT);
}

static int compare_edges(const void *a, const void *b) { return memcmp(a, b, 8) ? (((const int32_t *)a)[0] != ((const int32_t *)b)[0] ? (((const int32_t *)a)[0] < ((const int32_t *)b)[0] ? -1 : 1) : ((const int32_t *)a)[1] < ((const int32_t *)b)[1] ? -1 : 1) : 0; }

static uint32_t list_edges(const sb_model *m, int32_t (*edge)[2])
{
  uint32_t n = 0, kept = 0;
  for (uint32_t t = 0; t < m->tri_count; t++)
    for (int k = 0; k < 3; k++) {
      int32_t a = m->tri_indices[3 * t + k], b = m->tri_indices[3 * t + (k + 1) % 3];
      edge[n][0] = a < b ? a : b, edge[n][1] = a < b ? b : a;
      n++;
    }
  qsort(edge, n, sizeof *edge, compare_edges);
  for (uint32_t i = 0; i < n; i++)
    if (!kept || memcmp(edge[kept - 1], edge[i], sizeof *edge)) memcpy(edge[kept++], edge[i], sizeof *edge);
  return kept;
}

static bool in_triangles(const sb_model *m, uint32_t deformable)
{
  for (uint32_t t = 0; t < m->tri_count; t++)
    if (m->particle_deformable[m->tri_indices[3 * t]] == (int32_t)deformable) return true;
  return false;
}

/* Every pair of features of a model of one world. */
static reference check_all(const particle_scene *s, double dt)
{
  const sb_model *m = s->model;
  reference r = {.s = s, .dt = dt};
  for (int32_t v = 0; v < (int32_t)m->particle_count; v++)
    for (uint32_t t = 0; t < m->tri_count; t++) {
      const int32_t *c = m->tri_indices + 3 * (size_t)t, p[4] = {v, c[0], c[1], c[2]};
      if (v != c[0] && v != c[1] && v != c[2] && meet(m, v, c[0])) check_pair(&r, SB_NEAR_FACE, p, 1);
    }
  int32_t(*edge)[2] = malloc((3 * m->tri_count + 1) * sizeof *edge);
  assert_non_null(edge);
  uint32_t edges = list_edges(m, edge);
  for (uint32_t i = 0; i < edges; i++)
    for (uint32_t k = i + 1; k < edges; k++) {
      const int32_t p[4] = {edge[i][0], edge[i][1], edge[k][0], edge[k][1]};
      if (p[0] != p[2] && p[0] != p[3] && p[1] != p[2] && p[1] != p[3] && meet(m, p[0], p[2])) check_pair(&r, SB_NEAR_EDGES, p, 2);
    }
  free(edge);
  for (int32_t a = 0; a < (int32_t)m->particle_count; a++)
    for (int32_t b = a + 1; b < (int32_t)m->particle_count; b++) {
      const int32_t p[4] = {a, b, -1, -1};
      bool loose = !in_triangles(m, (uint32_t)m->particle_deformable[a]) && !in_triangles(m, (uint32_t)m->particle_deformable[b]);
      if (loose && meet(m, a, b)) check_pair(&r, SB_NEAR_POINTS, p, 1);
    }
  r.wrong += sb_collision_near_pairs(s->collision)->count - r.found;
  return r;
}

static void expect_all(const particle_scene *s, double dt, uint32_t least)
{
  reference r = check_all(s, dt);
  assert_int_equal(r.missing, 0);
  assert_int_equal(r.wrong, 0);
  assert_true(r.certain >= least);
  assert_true(r.doubtful < r.certain / 4 + 200);
}

/* --- scenes --- */

static void add_grains(sb_model_builder *b, int count, bool self_contact, uint64_t seed, const char *name)
{
  sb_build_deformable d = sb_build_deformable_default();
  d.flags = self_contact ? SB_DEFORMABLE_SELF_CONTACT : 0;
  sb_builder_add_deformable(b, &d, name);
  for (int i = 0; i < count; i++) {
    sb_build_particle p = {.mass = 0.01, .radius = 0.01, .pinned = i % 5 == 0};
    for (int k = 0; k < 3; k++) p.q[k] = scene_random(&seed, 0, 0.4f);
    sb_builder_add_particle(b, &p);
  }
}

/* Two cloths, one of which touches itself, and loose grains. */
static sb_model_builder *heap(bool unrelated)
{
  sb_model_builder *b = sb_builder_create();
  add_test_cloth(b, 9, 11, 0.05, 0.0, 0.005, true, "first");
  add_test_cloth(b, 7, 8, 0.05, 0.1, 0.004, false, "second");
  add_grains(b, 40, true, 1, "grains");
  add_grains(b, 30, false, 2, "more");
  if (unrelated) {
    int32_t p = add_test_cloth(b, 9, 9, 0.05, 70.0, 0.005, true, "far");
    (void)p;
    add_grains(b, 1, false, 3, "lonely");
  }
  return b;
}

/* Random places in a box and random speeds; of what is in every world the same. */
static void crumple(particle_scene *s, float reach, float speed)
{
  const sb_model *m = s->model;
  uint32_t per_world = m->particle_count / m->world_count;
  for (uint32_t i = 0; i < m->particle_count; i++)
    for (uint32_t k = 0; k < 3; k++) {
      uint64_t seed = 3 * (i % per_world) + k + 1;
      for (int turn = 0; turn < 4; turn++) scene_random(&seed, 0, 1);
      bool far = m->particle_q[3 * i + 2] > 50.0f;
      if (!far) s->q[3 * i + k] = scene_random(&seed, 0, reach);
      s->qd[3 * i + k] = scene_random(&seed, -speed, speed);
    }
}

/* More room than a cloth that lies in layers needs. */
static sb_collision_settings roomy(void)
{
  sb_collision_settings x = sb_collision_default_settings();
  x.near_pair_capacity = 200000;
  return x;
}

static void all_pairs_of_a_heap_are_found(void **state)
{
  (void)state;
  const sb_collision_settings x = roomy();
  for (int i = 0; i < 3; i++) {
    particle_scene s = particle_scene_new(heap(false), 1, &x);
    crumple(&s, i == 2 ? 0.15f : 0.3f, i ? 0.25f : 0.0f);
    assert_int_equal(particle_scene_step(&s, 1.0f / 60, NULL), SB_OK);
    expect_all(&s, 1.0 / 60, 100);
    const sb_near_pairs *n = sb_collision_near_pairs(s.collision);
    assert_int_equal(n->world_start[1], n->count);
    uint32_t kinds[3] = {0};
    for (uint32_t p = 0; p < n->count; p++) kinds[n->kind[p]]++;
    assert_true(kinds[0] > 5 && kinds[1] > 20 && kinds[2] > 20);
    particle_scene_free(&s);
  }
}

/* Layers of two cloths: pairs at rest, the same when both fall, none when they are apart. */
static void layers_meet_whatever_their_common_speed(void **state)
{
  (void)state;
  uint32_t count[3];
  for (int i = 0; i < 3; i++) {
    sb_model_builder *b = sb_builder_create();
    add_test_cloth(b, 8, 8, 0.05, 0.0, 0.005, true, "lower");
    int32_t upper = add_test_cloth(b, 8, 8, 0.05, i == 2 ? 0.05 : 0.012, 0.005, true, "upper");
    particle_scene s = particle_scene_new(b, 1, NULL);
    for (uint32_t p = 0; p < s.model->particle_count; p++) {
      if (p >= (uint32_t)upper) s.q[3 * p] += 0.013f, s.q[3 * p + 1] += 0.017f;
      s.qd[3 * p + 2] = i == 1 ? -20.0f : 0.0f;
    }
    assert_int_equal(particle_scene_step(&s, 1.0f / 60, NULL), SB_OK);
    count[i] = sb_collision_near_pairs(s.collision)->count;
    /* flat pieces of one cloth are passed over: nothing of it meets itself */
    for (uint32_t k = 0; k < count[i]; k++) {
      const int32_t *p = sb_collision_near_pairs(s.collision)->particles + 4 * (size_t)k;
      int other = sb_collision_near_pairs(s.collision)->kind[k] == SB_NEAR_EDGES ? 2 : 1;
      assert_true((p[0] < upper) != (p[other] < upper));
    }
    if (i == 0) expect_all(&s, 1.0 / 60, 50);
    particle_scene_free(&s);
  }
  assert_true(count[0] > 50);
  assert_int_equal(count[1], count[0]);
  assert_int_equal(count[2], 0);
}

/* A cloth folded over a line: its halves meet, and all is found that is farther than three cells from the fold. */
static void a_fold_meets_itself(void **state)
{
  (void)state;
  const double h = 0.02;
  sb_model_builder *b = sb_builder_create();
  add_test_cloth(b, 40, 13, h, 0.0, 0.004, true, "cloth");
  const sb_collision_settings room = roomy();
  particle_scene s = particle_scene_new(b, 1, &room);
  for (uint32_t p = 0; p < s.model->particle_count; p++) {
    double y = s.q[3 * p + 1], middle = 19.5 * h, round = 0.005;
    if (y > middle + COOK_PI * round) {
      s.q[3 * p + 1] = (float)(2 * middle + COOK_PI * round - y + 0.3 * h);
      s.q[3 * p + 2] = (float)(2 * round);
    } else if (y > middle) {
      s.q[3 * p + 1] = (float)(middle + round * sin((y - middle) / round));
      s.q[3 * p + 2] = (float)(round - round * cos((y - middle) / round));
    }
  }
  assert_int_equal(particle_scene_step(&s, 1.0f / 60, NULL), SB_OK);
  reference r = check_all(&s, 1.0 / 60);
  assert_int_equal(r.wrong, 0);
  assert_true(r.certain > 300);
  assert_true(r.missing < r.certain / 20); /* beside the fold, in pieces that are flat */
  particle_scene_free(&s);
}

/* --- independence --- */

static void tasks_lanes_and_worlds_change_nothing(void **state)
{
  (void)state;
  const sb_collision_settings room = roomy();
  particle_scene plain = particle_scene_new(heap(false), 1, &room);
  crumple(&plain, 0.25f, 0.5f);
  assert_int_equal(particle_scene_step(&plain, 1.0f / 60, NULL), SB_OK);
  assert_true(sb_collision_near_pairs(plain.collision)->count > 500);
  for (uint32_t i = 0; i < 10; i++) {
    sb_collision_settings x = roomy();
    x.lanes = i % 3 == 0 ? 1 : i % 3 == 1 ? 4 : 8;
    scene_tasks t = {.seed = 5 + i, .threads = 1 + i % 4};
    sb_collision_tasks tasks = i % 2 ? scene_shuffled(&t) : scene_threaded(&t);
    particle_scene other = particle_scene_new(heap(i >= 8), i == 7 ? 6 : 1, &x);
    crumple(&other, 0.25f, 0.5f);
    if (i >= 8)
      for (uint32_t p = 0; p < 3 * plain.model->particle_count; p++) other.q[p] = plain.q[p], other.qd[p] = plain.qd[p];
    assert_int_equal(particle_scene_step(&other, 1.0f / 60, &tasks), SB_OK);
    const sb_near_pairs *n = sb_collision_near_pairs(other.collision);
    if (i >= 8) {
      /* those of the unrelated things come where their indices put them */
      uint32_t k = 0;
      const sb_near_pairs *m = sb_collision_near_pairs(plain.collision);
      for (uint32_t p = 0; p < n->count; p++) {
        bool ours = true;
        for (int c = 0; c < 4; c++) ours = ours && n->particles[4 * (size_t)p + c] < (int32_t)plain.model->particle_count;
        if (!ours) continue;
        assert_true(k < m->count && n->kind[p] == m->kind[k] && !memcmp(n->particles + 4 * (size_t)p, m->particles + 4 * (size_t)k, 16));
        assert_true(!memcmp(n->side + p, m->side + k, 4) && !memcmp(n->thickness + p, m->thickness + k, 4));
        k++;
      }
      assert_int_equal(k, m->count);
    } else {
      for (uint32_t w = 0; w < other.model->world_count; w++) assert_true(near_pairs_equal(&plain, 0, &other, w));
    }
    particle_scene_free(&other);
  }
  particle_scene_free(&plain);
}

static void the_list_is_sorted(void **state)
{
  (void)state;
  const sb_collision_settings room = roomy();
  particle_scene s = particle_scene_new(heap(false), 2, &room);
  crumple(&s, 0.25f, 0.5f);
  scene_tasks t = {.seed = 123};
  sb_collision_tasks tasks = scene_shuffled(&t);
  assert_int_equal(particle_scene_step(&s, 1.0f / 60, &tasks), SB_OK);
  const sb_near_pairs *n = sb_collision_near_pairs(s.collision);
  for (uint32_t w = 0; w < 2; w++)
    for (uint32_t i = n->world_start[w] + 1; i < n->world_start[w + 1]; i++) {
      assert_true(n->kind[i - 1] <= n->kind[i]);
      if (n->kind[i - 1] != n->kind[i]) continue;
      const int32_t *p = n->particles + 4 * (size_t)(i - 1), *q = p + 4;
      assert_true(p[0] <= q[0]);
      if (n->kind[i] == SB_NEAR_EDGES && p[0] == q[0]) assert_true(p[1] <= q[1]);
    }
  particle_scene_free(&s);
}

static void overflow_says_what_is_needed(void **state)
{
  (void)state;
  const sb_collision_settings room = roomy();
  particle_scene full = particle_scene_new(heap(false), 1, &room);
  crumple(&full, 0.25f, 0.5f);
  assert_int_equal(particle_scene_step(&full, 1.0f / 60, NULL), SB_OK);
  uint32_t needed = sb_collision_near_pairs(full.collision)->count;
  for (uint32_t i = 0; i < 2; i++) {
    sb_collision_settings x = sb_collision_default_settings();
    x.near_pair_capacity = needed - 1 + i;
    particle_scene s = particle_scene_new(heap(false), 1, &x);
    crumple(&s, 0.25f, 0.5f);
    assert_int_equal(particle_scene_step(&s, 1.0f / 60, NULL), i ? SB_OK : SB_E_CAPACITY);
    sb_collision_usage u = sb_collision_get_usage(s.collision);
    assert_int_equal(u.near_pair_count, needed);
    assert_int_equal(u.near_pair_peak, needed);
    assert_int_equal(sb_collision_near_pairs(s.collision)->count, i ? needed : 0);
    particle_scene_free(&s);
  }
  particle_scene_free(&full);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(all_pairs_of_a_heap_are_found), cmocka_unit_test(layers_meet_whatever_their_common_speed),
                                     cmocka_unit_test(a_fold_meets_itself), cmocka_unit_test(tasks_lanes_and_worlds_change_nothing),
                                     cmocka_unit_test(the_list_is_sorted), cmocka_unit_test(overflow_says_what_is_needed)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
