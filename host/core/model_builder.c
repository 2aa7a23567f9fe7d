/* Building a model of one world in binary64: adding its parts. Knows the C library only. */
#include "model_builder_parts.h"

#include "cook_math.h"

#include <stdlib.h>
#include <string.h>

sb_build_body sb_build_body_default(void)
{
  sb_build_body b = {0};
  b.parent = -1;
  cook_pose_identity(b.joint_X_p);
  cook_pose_identity(b.q);
  return b;
}

sb_build_dof sb_build_dof_default(void)
{
  sb_build_dof d = {0};
  d.kind = SB_DOF_ANGULAR;
  d.axis[2] = 1.0;
  d.lower = -(double)SB_NO_LIMIT;
  d.upper = d.effort_limit = d.velocity_limit = (double)SB_NO_LIMIT;
  return d;
}

sb_build_shape sb_build_shape_default(void)
{
  sb_build_shape s = {0};
  s.type = SB_SHAPE_SPHERE;
  s.body = -1;
  cook_pose_identity(s.X);
  s.friction[0] = 1.0, s.friction[1] = 0.005, s.friction[2] = 0.0001;
  s.contype = s.conaffinity = 1;
  s.condim = 3;
  s.geometry = -1;
  return s;
}

sb_build_actuator sb_build_actuator_default(void)
{
  sb_build_actuator a = {0};
  a.tendon = -1;
  a.gear = 1.0;
  a.ctrl_lower = -(double)SB_NO_LIMIT;
  a.ctrl_upper = (double)SB_NO_LIMIT;
  return a;
}

sb_build_pair sb_build_pair_default(void)
{
  sb_build_pair p = {0};
  p.friction[0] = 1.0, p.friction[1] = 0.005, p.friction[2] = 0.0001;
  p.condim = 3;
  return p;
}

sb_build_equality sb_build_equality_default(void)
{
  sb_build_equality e = {0};
  e.body[0] = e.body[1] = e.dof[0] = e.dof[1] = -1;
  cook_quat_identity(e.relpose);
  e.poly[1] = 1.0;
  return e;
}

sb_build_tendon sb_build_tendon_default(void)
{
  sb_build_tendon t = {0};
  t.lower = -(double)SB_NO_LIMIT;
  t.upper = (double)SB_NO_LIMIT;
  return t;
}

sb_build_sensor sb_build_sensor_default(void)
{
  sb_build_sensor s = {0};
  s.body = s.ref_body = s.dof = s.tendon = s.actuator = -1;
  cook_pose_identity(s.X);
  cook_pose_identity(s.ref_X);
  return s;
}

sb_model_builder *sb_builder_create(void)
{
  sb_model_builder *b = calloc(1, sizeof *b);
  if (!b) return NULL;
  b->bodies.size = sizeof(sb_built_body);
  b->dofs.size = sizeof(sb_build_dof);
  b->shapes.size = sizeof(sb_build_shape);
  b->actuators.size = sizeof(sb_build_actuator);
  b->excludes.size = sizeof(sb_body_pair);
  b->pairs.size = sizeof(sb_build_pair);
  b->equalities.size = sizeof(sb_build_equality);
  b->tendons.size = sizeof(sb_built_tendon);
  b->terms.size = sizeof(sb_tendon_term);
  b->sensors.size = sizeof(sb_build_sensor);
  b->geometries.size = sizeof(sb_built_geometry);
  b->vertices.size = sizeof(sb_built_vertex);
  b->faces.size = sizeof(sb_built_face);
  b->corners.size = sizeof(sb_built_corner);
  b->nodes.size = sizeof(sb_built_node);
  b->heights.size = sizeof(float);
  sb_builder_start_deformables(b);
  b->gravity[2] = -9.81;
  b->dt_denominator = 1;
  return b;
}

void sb_builder_free(sb_model_builder *b)
{
  if (!b) return;
  sb_pool *const pools[] = {&b->bodies, &b->dofs,       &b->shapes,  &b->actuators, &b->excludes,
                            &b->pairs,  &b->equalities, &b->tendons, &b->terms,
                            &b->sensors,
                            &b->geometries, &b->vertices, &b->faces, &b->corners, &b->nodes, &b->heights,
                            &b->deformables, &b->particles, &b->springs, &b->tris, &b->edges, &b->tets, &b->attachments};
  for (size_t i = 0; i < sizeof pools / sizeof *pools; i++) free(pools[i]->items);
  for (int k = 0; k < SB_NAME_KINDS; k++) free(b->names[k].text);
  free(b);
}

void sb_builder_set_gravity(sb_model_builder *b, const double gravity[3])
{
  if (b) memcpy(b->gravity, gravity, sizeof b->gravity);
}

void sb_builder_set_dt(sb_model_builder *b, uint32_t numerator, uint32_t denominator)
{
  if (!b) return;
  b->dt_numerator = numerator;
  b->dt_denominator = denominator;
}

int32_t sb_pool_add(sb_model_builder *b, sb_pool *p, const void *item)
{
  if (p->count == p->capacity) {
    uint32_t capacity = p->capacity ? p->capacity * 2 : 64;
    void *items = capacity > SB_MODEL_MAX_COUNT * 2u ? NULL : realloc(p->items, capacity * p->size);
    if (!items) {
      b->failed = true;
      return -1;
    }
    p->items = items;
    p->capacity = capacity;
  }
  memcpy((char *)p->items + p->count * p->size, item, p->size);
  return (int32_t)p->count++;
}

void *sb_pool_at(const sb_pool *p, int32_t index)
{
  return index >= 0 && (uint32_t)index < p->count ? (char *)p->items + (size_t)index * p->size : NULL;
}

void sb_builder_add_name(sb_model_builder *b, sb_name_kind kind, const char *name, const char *suffix)
{
  sb_text_pool *t = &b->names[kind];
  if (!name) name = suffix = "";
  size_t n = strlen(name), s = strlen(suffix), need = t->size + n + s + 1;
  if (need > t->capacity) {
    size_t capacity = need * 2 + 256;
    char *text = capacity > UINT32_MAX / 2 ? NULL : realloc(t->text, capacity);
    if (!text) {
      b->failed = true;
      return;
    }
    t->text = text;
    t->capacity = (uint32_t)capacity;
  }
  memcpy(t->text + t->size, name, n);
  memcpy(t->text + t->size + n, suffix, s + 1);
  t->size = (uint32_t)need;
}

/* The dofs that FREE and BALL joints bring along: linear x y z where there are six, then angular x y z. */
static void add_implied_dofs(sb_model_builder *b, const sb_build_body *body, const char *name)
{
  static const char *const suffix[6] = {".vx", ".vy", ".vz", ".wx", ".wy", ".wz"};
  int first = body->joint_type == SB_JOINT_FREE ? 0 : 3;
  for (int i = first; i < 6; i++) {
    sb_build_dof d = sb_build_dof_default();
    d.kind = i < 3 ? SB_DOF_LINEAR : SB_DOF_ANGULAR;
    d.axis[2] = 0.0;
    d.axis[i % 3] = 1.0;
    if (first == 3) memcpy(d.anchor, body->anchor, sizeof d.anchor);
    d.qd = body->qd[i - first];
    sb_pool_add(b, &b->dofs, &d);
    sb_builder_add_name(b, SB_NAME_DOF, name, suffix[i]);
  }
}

int32_t sb_builder_add_body(sb_model_builder *b, const sb_build_body *body, const char *name)
{
  if (!b) return -1;
  sb_built_body built = {*body, (int32_t)b->dofs.count, 0};
  if (body->joint_type == SB_JOINT_FREE) built.dof_count = 6;
  if (body->joint_type == SB_JOINT_BALL) built.dof_count = 3;
  int32_t index = sb_pool_add(b, &b->bodies, &built);
  if (index < 0) return -1;
  sb_builder_add_name(b, SB_NAME_BODY, name, "");
  if (built.dof_count) add_implied_dofs(b, body, body->joint_name ? body->joint_name : name);
  return b->failed ? -1 : index;
}

int32_t sb_builder_add_dof(sb_model_builder *b, const sb_build_dof *dof, const char *name)
{
  if (!b) return -1;
  int32_t index = sb_pool_add(b, &b->dofs, dof);
  if (index < 0) return -1;
  sb_builder_add_name(b, SB_NAME_DOF, name, "");
  sb_built_body *last = sb_pool_at(&b->bodies, (int32_t)b->bodies.count - 1);
  if (last) last->dof_count++;
  return b->failed ? -1 : index;
}

int32_t sb_builder_add_shape(sb_model_builder *b, const sb_build_shape *shape, const char *name)
{
  if (!b) return -1;
  int32_t index = sb_pool_add(b, &b->shapes, shape);
  if (index >= 0) sb_builder_add_name(b, SB_NAME_SHAPE, name, "");
  return b->failed ? -1 : index;
}

int32_t sb_builder_add_geometry(sb_model_builder *b, const sb_build_geometry *g)
{
  if (!b) return -1;
  sb_built_geometry built = {.type = g->type,
                             .vertices = {b->vertices.count, g->vertex_count},
                             .faces = {b->faces.count, g->face_count},
                             .nodes = {b->nodes.count, g->node_count},
                             .grid = {b->heights.count, g->rows, g->columns}};
  memcpy(built.half, g->half, sizeof built.half);
  uint32_t first_corner = b->corners.count;
  for (uint32_t i = 0; i < g->vertex_count; i++) sb_pool_add(b, &b->vertices, g->vertex + 3 * (size_t)i);
  for (uint32_t i = 0; i < g->face_count; i++) {
    sb_built_face face = {.corners = {first_corner + g->face_corners[2 * (size_t)i], g->face_corners[2 * (size_t)i + 1]}};
    memcpy(face.normal, g->face_normal + 3 * (size_t)i, sizeof face.normal);
    sb_pool_add(b, &b->faces, &face);
  }
  for (uint32_t i = 0; i < g->corner_count; i++) {
    const sb_built_corner corner = {g->corner_vertex[i], g->corner_neighbour[i]};
    sb_pool_add(b, &b->corners, &corner);
  }
  for (uint32_t i = 0; i < g->node_count; i++) {
    sb_built_node node = {.next = g->node_next[i], .faces = {g->node_faces[2 * (size_t)i], g->node_faces[2 * (size_t)i + 1]}};
    memcpy(node.box, g->node_box + 6 * (size_t)i, sizeof node.box);
    sb_pool_add(b, &b->nodes, &node);
  }
  uint32_t heights = g->rows * g->columns;
  for (uint32_t i = 0; i < heights; i++) sb_pool_add(b, &b->heights, g->height + i);
  int32_t index = sb_pool_add(b, &b->geometries, &built);
  return b->failed ? -1 : index;
}

int32_t sb_builder_add_actuator(sb_model_builder *b, const sb_build_actuator *actuator, const char *name)
{
  if (!b) return -1;
  int32_t index = sb_pool_add(b, &b->actuators, actuator);
  if (index >= 0) sb_builder_add_name(b, SB_NAME_ACTUATOR, name, "");
  return b->failed ? -1 : index;
}

void sb_builder_add_exclude(sb_model_builder *b, int32_t body_a, int32_t body_b)
{
  const sb_body_pair p = {{body_a < body_b ? body_a : body_b, body_a < body_b ? body_b : body_a}};
  if (b) sb_pool_add(b, &b->excludes, &p);
}

void sb_builder_add_pair(sb_model_builder *b, const sb_build_pair *pair)
{
  if (!b) return;
  sb_build_pair p = *pair;
  if (p.shape[0] > p.shape[1]) p.shape[0] = pair->shape[1], p.shape[1] = pair->shape[0];
  sb_pool_add(b, &b->pairs, &p);
}

int32_t sb_builder_add_equality(sb_model_builder *b, const sb_build_equality *equality, const char *name)
{
  if (!b) return -1;
  int32_t index = sb_pool_add(b, &b->equalities, equality);
  if (index >= 0) sb_builder_add_name(b, SB_NAME_EQUALITY, name, "");
  return b->failed ? -1 : index;
}

int32_t sb_builder_add_tendon(sb_model_builder *b, const sb_build_tendon *tendon, const char *name)
{
  if (!b) return -1;
  const sb_built_tendon built = {*tendon, (int32_t)b->terms.count, 0};
  int32_t index = sb_pool_add(b, &b->tendons, &built);
  if (index >= 0) sb_builder_add_name(b, SB_NAME_TENDON, name, "");
  return b->failed ? -1 : index;
}

void sb_builder_add_tendon_term(sb_model_builder *b, int32_t dof, double coef)
{
  sb_built_tendon *last = b ? sb_pool_at(&b->tendons, (int32_t)b->tendons.count - 1) : NULL;
  if (!last) return;
  const sb_tendon_term term = {(int32_t)b->tendons.count - 1, dof, coef};
  if (sb_pool_add(b, &b->terms, &term) >= 0) last->term_count++;
}

int32_t sb_builder_add_sensor(sb_model_builder *b, const sb_build_sensor *sensor, const char *name)
{
  if (!b) return -1;
  int32_t index = sb_pool_add(b, &b->sensors, sensor);
  if (index >= 0) sb_builder_add_name(b, SB_NAME_SENSOR, name, "");
  return b->failed ? -1 : index;
}

sb_build_body *sb_builder_body(sb_model_builder *b, int32_t index)
{
  sb_built_body *built = b ? sb_pool_at(&b->bodies, index) : NULL;
  return built ? &built->body : NULL;
}

sb_build_dof *sb_builder_dof(sb_model_builder *b, int32_t index) { return b ? sb_pool_at(&b->dofs, index) : NULL; }
sb_build_shape *sb_builder_shape(sb_model_builder *b, int32_t index)
{
  return b ? sb_pool_at(&b->shapes, index) : NULL;
}
sb_build_actuator *sb_builder_actuator(sb_model_builder *b, int32_t index)
{
  return b ? sb_pool_at(&b->actuators, index) : NULL;
}
int32_t sb_builder_body_count(const sb_model_builder *b) { return b ? (int32_t)b->bodies.count : 0; }
int32_t sb_builder_dof_count(const sb_model_builder *b) { return b ? (int32_t)b->dofs.count : 0; }
int32_t sb_builder_shape_count(const sb_model_builder *b) { return b ? (int32_t)b->shapes.count : 0; }
int32_t sb_builder_actuator_count(const sb_model_builder *b) { return b ? (int32_t)b->actuators.count : 0; }

void sb_builder_body_dofs(const sb_model_builder *b, int32_t body, int32_t *first, int32_t *count)
{
  const sb_built_body *built = b ? sb_pool_at(&b->bodies, body) : NULL;
  *first = built ? built->first_dof : 0;
  *count = built ? built->dof_count : 0;
}
