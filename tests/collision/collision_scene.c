/* Models built by hand for the collision tests. */
#include "collision_scene.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* The arrays that collision reads: X(domain index, type, name, components) */
#define SCENE_ARRAYS(X)                                                                                                \
  X(0, int32_t, body_world, 1)                                                                                         \
  X(0, uint32_t, body_flags, 1)                                                                                        \
  X(0, float, body_com, 3)                                                                                             \
  X(0, float, body_q, 7)                                                                                               \
  X(0, int32_t, body_weld, 1)                                                                                          \
  X(0, int32_t, body_weld_parent, 1)                                                                                   \
  X(1, uint32_t, shape_type, 1)                                                                                        \
  X(1, int32_t, shape_body, 1)                                                                                         \
  X(1, int32_t, shape_world, 1)                                                                                        \
  X(1, float, shape_X, 7)                                                                                              \
  X(1, float, shape_size, 3)                                                                                           \
  X(1, float, shape_friction, 3)                                                                                       \
  X(1, float, shape_restitution, 1)                                                                                    \
  X(1, float, shape_margin, 1)                                                                                         \
  X(1, uint32_t, shape_contype, 1)                                                                                     \
  X(1, uint32_t, shape_conaffinity, 1)                                                                                 \
  X(1, uint32_t, shape_condim, 1)                                                                                      \
  X(1, int32_t, shape_geometry, 1)                                                                                     \
  X(2, int32_t, exclude_body, 2)                                                                                       \
  X(3, int32_t, pair_shape, 2)                                                                                         \
  X(3, float, pair_friction, 3)                                                                                        \
  X(3, float, pair_restitution, 1)                                                                                     \
  X(3, float, pair_margin, 1)                                                                                          \
  X(3, uint32_t, pair_condim, 1)

struct collision_scene {
  sb_model model;
  uint32_t count[4];
  uint32_t capacity[4];
#define SCENE_X(domain, type, name, comps) type *name;
  SCENE_ARRAYS(SCENE_X)
#undef SCENE_X
  uint32_t *body_start;
  uint32_t *shape_start;
};

static void *grow(void *p, size_t old, size_t new_count, size_t size)
{
  p = realloc(p, new_count * size);
  if (!p) abort();
  memset((char *)p + old * size, 0, (new_count - old) * size);
  return p;
}

static uint32_t add(collision_scene *s, int domain)
{
  if (s->count[domain] == s->capacity[domain]) {
    uint32_t old = s->capacity[domain];
    s->capacity[domain] = old ? 2 * old : 16;
#define SCENE_X(d, type, name, comps)                                                                                  \
  if (d == domain) s->name = grow(s->name, (size_t)old * comps, (size_t)s->capacity[domain] * comps, sizeof(type));
    SCENE_ARRAYS(SCENE_X)
#undef SCENE_X
  }
  return s->count[domain]++;
}

collision_scene *scene_new(void)
{
  collision_scene *s = calloc(1, sizeof *s);
  if (!s) abort();
  return s;
}

void scene_free(collision_scene *s)
{
#define SCENE_X(d, type, name, comps) free(s->name);
  SCENE_ARRAYS(SCENE_X)
#undef SCENE_X
  free(s->body_start);
  free(s->shape_start);
  free(s);
}

int32_t scene_world(collision_scene *s)
{
  uint32_t w = s->model.world_count++;
  s->body_start = grow(s->body_start, w, w + 2, sizeof *s->body_start);
  s->shape_start = grow(s->shape_start, w, w + 2, sizeof *s->shape_start);
  s->body_start[w] = s->count[0];
  s->shape_start[w] = s->count[1];
  return (int32_t)w;
}

int32_t scene_body(collision_scene *s, scene_pose pose, uint32_t flags)
{
  uint32_t b = add(s, 0);
  s->body_world[b] = (int32_t)s->model.world_count - 1;
  s->body_flags[b] = flags;
  memcpy(s->body_q + 7 * b, pose.v, sizeof pose.v);
  s->body_weld[b] = flags & SB_BODY_STATIC ? -1 : (int32_t)b;
  s->body_weld_parent[b] = flags & SB_BODY_STATIC ? -1 : (int32_t)b;
  return (int32_t)b;
}

int32_t scene_shape(collision_scene *s, int32_t body, uint32_t type, float a, float b, float c)
{
  uint32_t i = add(s, 1);
  s->shape_type[i] = type;
  s->shape_body[i] = body;
  s->shape_world[i] = (int32_t)s->model.world_count - 1;
  s->shape_X[7 * i + 6] = 1.0f;
  s->shape_size[3 * i] = a;
  s->shape_size[3 * i + 1] = b;
  s->shape_size[3 * i + 2] = c;
  s->shape_friction[3 * i] = 0.5f;
  s->shape_contype[i] = s->shape_conaffinity[i] = 1;
  s->shape_condim[i] = 3;
  s->shape_geometry[i] = -1;
  return (int32_t)i;
}

void scene_take_geometry(collision_scene *s, const sb_model *from)
{
#define SCENE_X_GEOMETRY(name) s->model.name = from->name;
  SCENE_X_GEOMETRY(geometry_count)
  SCENE_X_GEOMETRY(geometry_vertex_count)
  SCENE_X_GEOMETRY(geometry_face_count)
  SCENE_X_GEOMETRY(geometry_height_count)
  SCENE_X_GEOMETRY(geometry_type)
  SCENE_X_GEOMETRY(geometry_half)
  SCENE_X_GEOMETRY(geometry_vertices)
  SCENE_X_GEOMETRY(geometry_faces)
  SCENE_X_GEOMETRY(geometry_nodes)
  SCENE_X_GEOMETRY(geometry_grid)
  SCENE_X_GEOMETRY(geometry_vertex)
  SCENE_X_GEOMETRY(face_normal)
  SCENE_X_GEOMETRY(face_corners)
  SCENE_X_GEOMETRY(corner_vertex)
  SCENE_X_GEOMETRY(corner_neighbour)
  SCENE_X_GEOMETRY(node_box)
  SCENE_X_GEOMETRY(node_next)
  SCENE_X_GEOMETRY(node_faces)
  SCENE_X_GEOMETRY(geometry_height)
#undef SCENE_X_GEOMETRY
}

int32_t scene_geometry_shape(collision_scene *s, int32_t body, int32_t geometry)
{
  const float *half = s->model.geometry_half + 3 * (size_t)geometry;
  int32_t i = scene_shape(s, body, s->model.geometry_type[geometry], half[0], half[1], half[2]);
  s->shape_geometry[i] = geometry;
  return i;
}

int32_t scene_free_shape(collision_scene *s, scene_pose pose, uint32_t type, float a, float b, float c)
{
  return scene_shape(s, scene_body(s, pose, 0), type, a, b, c);
}

void scene_exclude(collision_scene *s, int32_t lower, int32_t higher)
{
  uint32_t i = add(s, 2);
  s->exclude_body[2 * i] = lower;
  s->exclude_body[2 * i + 1] = higher;
}

void scene_pair(collision_scene *s, int32_t lower, int32_t higher, float friction, float margin)
{
  uint32_t i = add(s, 3);
  s->pair_shape[2 * i] = lower;
  s->pair_shape[2 * i + 1] = higher;
  s->pair_friction[3 * i] = friction;
  s->pair_margin[i] = margin;
  s->pair_condim[i] = 3;
}

sb_model *scene_model(collision_scene *s)
{
  sb_model *m = &s->model;
  m->struct_size = sizeof *m;
  m->body_count = s->count[0];
  m->shape_count = s->count[1];
  m->exclude_count = s->count[2];
  m->pair_count = s->count[3];
#define SCENE_X(d, type, name, comps) m->name = s->name;
  SCENE_ARRAYS(SCENE_X)
#undef SCENE_X
  if (m->world_count) {
    s->body_start[m->world_count] = s->count[0];
    s->shape_start[m->world_count] = s->count[1];
  }
  m->world_body_start = s->body_start;
  m->world_shape_start = s->shape_start;
  return m;
}

scene_pose scene_at(float x, float y, float z) { return (scene_pose){{x, y, z, 0, 0, 0, 1}}; }

scene_pose scene_turned(float x, float y, float z, float ax, float ay, float az, double angle)
{
  double n = sqrt((double)ax * ax + (double)ay * ay + (double)az * az);
  double k = sin(angle / 2) / n;
  return (scene_pose){{x, y, z, (float)(ax * k), (float)(ay * k), (float)(az * k), (float)cos(angle / 2)}};
}

static uint64_t next_random(uint64_t *x)
{
  *x ^= *x >> 12;
  *x ^= *x << 25;
  *x ^= *x >> 27;
  return *x * 0x2545F4914F6CDD1Du;
}

float scene_random(uint64_t *state, float lo, float hi)
{
  return lo + (hi - lo) * ((float)(next_random(state) >> 40) * 0x1p-24f);
}

uint32_t scene_random_below(uint64_t *state, uint32_t n) { return (uint32_t)((next_random(state) >> 32) * n >> 32); }

scene_pose scene_random_pose(uint64_t *state, float reach)
{
  /* One draw a statement: the order of arguments' evaluation differs between compilers. No sine either, so that the
   * bits are the same on every machine. */
  float v[4], at[3];
  for (int k = 0; k < 4; k++) v[k] = scene_random(state, -1.0f, 1.0f) + 1e-3f;
  for (int k = 0; k < 3; k++) at[k] = scene_random(state, -reach, reach);
  float n = sqrtf(((v[0] * v[0] + v[1] * v[1]) + v[2] * v[2]) + v[3] * v[3]);
  return (scene_pose){{at[0], at[1], at[2], v[0] / n, v[1] / n, v[2] / n, v[3] / n}};
}

/* --- tasks --- */

static void run_shuffled(void *self, uint32_t count, void (*fn)(void *ctx, uint32_t chunk), void *ctx)
{
  scene_tasks *t = self;
  uint32_t *order = malloc(count * sizeof *order);
  if (!order) abort();
  for (uint32_t i = 0; i < count; i++) order[i] = i;
  for (uint32_t i = count; i > 1; i--) {
    uint32_t j = scene_random_below(&t->seed, i);
    uint32_t x = order[i - 1];
    order[i - 1] = order[j];
    order[j] = x;
  }
  for (uint32_t i = 0; i < count; i++) fn(ctx, order[i]);
  free(order);
}

sb_collision_tasks scene_shuffled(scene_tasks *t) { return (sb_collision_tasks){t, run_shuffled}; }

typedef struct thread_job {
  void (*fn)(void *ctx, uint32_t chunk);
  void *ctx;
  uint32_t count;
  atomic_uint next;
} thread_job;

static void *thread_main(void *arg)
{
  thread_job *j = arg;
  for (uint32_t i; (i = atomic_fetch_add(&j->next, 1)) < j->count;) j->fn(j->ctx, i);
  return NULL;
}

static void run_threaded(void *self, uint32_t count, void (*fn)(void *ctx, uint32_t chunk), void *ctx)
{
  scene_tasks *t = self;
  thread_job job = {fn, ctx, count, 0};
  pthread_t ids[16];
  for (uint32_t i = 0; i < t->threads; i++)
    if (pthread_create(&ids[i], NULL, thread_main, &job)) abort();
  for (uint32_t i = 0; i < t->threads; i++) pthread_join(ids[i], NULL);
}

sb_collision_tasks scene_threaded(scene_tasks *t) { return (sb_collision_tasks){t, run_threaded}; }

/* --- comparison --- */

bool scene_contacts_equal(const sb_contacts *x, uint32_t begin_x, const sb_contacts *y, uint32_t begin_y,
                          uint32_t count, int32_t world_shift, int32_t shape_shift, int32_t body_shift)
{
  for (uint32_t k = 0; k < count; k++) {
    uint32_t i = begin_x + k;
    uint32_t j = begin_y + k;
    if (x->key[i] != y->key[j] || x->world[i] + world_shift != y->world[j]) return false;
    if (x->shape_a[i] + shape_shift != y->shape_a[j] || x->shape_b[i] + shape_shift != y->shape_b[j]) return false;
    if (x->body_a[i] + (x->body_a[i] < 0 ? 0 : body_shift) != y->body_a[j]) return false;
    if (x->body_b[i] + (x->body_b[i] < 0 ? 0 : body_shift) != y->body_b[j]) return false;
    if (memcmp(x->point_a + 3 * i, y->point_a + 3 * j, 12) || memcmp(x->point_b + 3 * i, y->point_b + 3 * j, 12) ||
        memcmp(x->normal + 3 * i, y->normal + 3 * j, 12) || memcmp(x->gap + i, y->gap + j, 4) ||
        memcmp(x->friction + 3 * i, y->friction + 3 * j, 12) || memcmp(x->restitution + i, y->restitution + j, 4))
      return false;
  }
  return true;
}

static void mix_words(uint64_t *hash, const void *data, size_t words)
{
  for (size_t i = 0; i < words; i++) {
    uint32_t u;
    memcpy(&u, (const char *)data + 4 * i, 4);
    *hash = (*hash ^ u) * 0x100000001B3u;
    *hash ^= *hash >> 29;
  }
}

uint64_t scene_contacts_hash(const sb_contacts *x)
{
  uint64_t hash = 0xCBF29CE484222325u;
  for (uint32_t i = 0; i < x->count; i++) {
    uint32_t key[2] = {(uint32_t)(x->key[i] >> 32), (uint32_t)x->key[i]};
    mix_words(&hash, key, 2);
  }
  mix_words(&hash, x->body_a, x->count);
  mix_words(&hash, x->body_b, x->count);
  mix_words(&hash, x->point_a, 3 * (size_t)x->count);
  mix_words(&hash, x->point_b, 3 * (size_t)x->count);
  mix_words(&hash, x->normal, 3 * (size_t)x->count);
  mix_words(&hash, x->gap, x->count);
  return hash;
}

/* --- generators --- */

void scene_pyramid(collision_scene *s, uint32_t base)
{
  scene_shape(s, -1, SB_SHAPE_PLANE, 0, 0, 0);
  for (uint32_t row = 0; row < base; row++)
    for (uint32_t i = 0; i + row < base; i++)
      scene_free_shape(s, scene_at((float)i + 0.5f * (float)row, 0, 0.499f + 0.999f * (float)row), SB_SHAPE_BOX, 0.5f,
                       0.5f, 0.5f);
}

void scene_grid(collision_scene *s, uint32_t n, uint32_t high)
{
  scene_shape(s, -1, SB_SHAPE_PLANE, 0, 0, 0);
  for (uint32_t z = 0; z < high; z++)
    for (uint32_t y = 0; y < n; y++)
      for (uint32_t x = 0; x < n; x++)
        scene_free_shape(s,
                         scene_at(1.02f * (float)x + 0.5f * (float)(z & 1), 1.02f * (float)y + 0.5f * (float)(z & 1),
                                  0.499f + 0.999f * (float)z),
                         SB_SHAPE_BOX, 0.5f, 0.5f, 0.5f);
}

void scene_jumble(collision_scene *s, uint64_t *state, uint32_t count, float reach)
{
  scene_shape(s, -1, SB_SHAPE_PLANE, 0, 0, 0);
  int32_t fixed = scene_body(s, scene_at(0, 0, -reach), SB_BODY_STATIC);
  scene_shape(s, fixed, SB_SHAPE_BOX, 2.0f * reach, 2.0f * reach, 0.4f * reach);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t type = SB_SHAPE_SPHERE + scene_random_below(state, 3);
    scene_pose pose = scene_random_pose(state, reach);
    float a = scene_random(state, 0.1f, 0.6f);
    float b = scene_random(state, 0.1f, 0.6f);
    float c = scene_random(state, 0.1f, 0.6f);
    scene_free_shape(s, pose, type, a, b, c);
  }
}
