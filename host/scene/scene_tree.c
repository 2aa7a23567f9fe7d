/* The tree of links and its way into a model builder. Knows nothing of MJCF or URDF. */
#include "scene_tree.h"

#include "cook_math.h"

#include <stdlib.h>
#include <string.h>

static void no_memory(scene_tree *tree, const xmlNode *node)
{
  xml_input_error(tree->in, node, SB_CODE_MEMORY, "no memory for the scene");
}

/* Makes room for one more item of an array. */
static bool reserve(scene_tree *tree, const xmlNode *node, void *array, uint32_t count, uint32_t *capacity, size_t size)
{
  if (count < *capacity) return true;
  uint32_t larger = *capacity ? *capacity * 2 : 32;
  void *old, *grown;
  memcpy(&old, array, sizeof old);
  grown = larger > (1u << 25) ? NULL : realloc(old, larger * size);
  if (!grown) {
    no_memory(tree, node);
    return false;
  }
  memcpy(array, &grown, sizeof grown);
  *capacity = larger;
  return true;
}

static bool add_name(scene_tree *tree, name_map *map, const xmlNode *node, const char *kind, const char *name,
                     uint32_t index)
{
  if (!name || !*name) return true;
  name_map_result result = name_map_add(map, name, (int32_t)index);
  if (result == NAME_MAP_NO_MEMORY) no_memory(tree, node);
  if (result == NAME_MAP_TWICE)
    xml_input_error(tree->in, node, SB_CODE_SCENE_DUPLICATE, "the %s name '%.80s' is used twice", kind, name);
  return result == NAME_MAP_ADDED;
}

int32_t scene_tree_add_link(scene_tree *tree, const scene_link *link)
{
  if (!reserve(tree, link->node, &tree->links, tree->link_count, &tree->link_capacity, sizeof *tree->links)) return -1;
  if (!add_name(tree, &tree->link_names, link->node, "body", link->name, tree->link_count)) return -1;
  scene_link *added = &tree->links[tree->link_count];
  *added = *link;
  added->body = -1;
  added->first_joint = tree->joint_count;
  added->joint_count = 0;
  return (int32_t)tree->link_count++;
}

int32_t scene_tree_add_joint(scene_tree *tree, int32_t link, const scene_joint *joint)
{
  if (!reserve(tree, joint->node, &tree->joints, tree->joint_count, &tree->joint_capacity, sizeof *tree->joints))
    return -1;
  if (!add_name(tree, &tree->joint_names, joint->node, "joint", joint->name, tree->joint_count)) return -1;
  tree->joints[tree->joint_count] = *joint;
  if (tree->links[link].joint_count++ == 0) tree->links[link].first_joint = tree->joint_count;
  return (int32_t)tree->joint_count++;
}

int32_t scene_tree_add_geom(scene_tree *tree, const scene_geom *geom, const xmlNode *node)
{
  if (!reserve(tree, node, &tree->geoms, tree->geom_count, &tree->geom_capacity, sizeof *tree->geoms)) return -1;
  if (!add_name(tree, &tree->geom_names, node, "geometry", geom->name, tree->geom_count)) return -1;
  tree->geoms[tree->geom_count] = *geom;
  return (int32_t)tree->geom_count++;
}

int32_t scene_tree_add_site(scene_tree *tree, const scene_site *site, const xmlNode *node)
{
  if (!reserve(tree, node, &tree->sites, tree->site_count, &tree->site_capacity, sizeof *tree->sites)) return -1;
  if (!add_name(tree, &tree->site_names, node, "site", site->name, tree->site_count)) return -1;
  tree->sites[tree->site_count] = *site;
  return (int32_t)tree->site_count++;
}

void scene_tree_rest_pose(const scene_tree *tree, int32_t link, double X[7])
{
  cook_pose_identity(X);
  for (; link >= 0; link = tree->links[link].parent) cook_pose_mul(tree->links[link].X, X, X);
}

int32_t scene_tree_body(const scene_tree *tree, int32_t link, double in_body[7])
{
  cook_pose_identity(in_body);
  if (link < 0) return -1;
  memcpy(in_body, tree->links[link].in_body, 7 * sizeof *in_body);
  return tree->links[link].body;
}

int32_t scene_tree_add_mesh(scene_tree *tree, const xmlNode *node, const char *name, mesh *triangles)
{
  if (!reserve(tree, node, &tree->meshes, tree->mesh_count, &tree->mesh_capacity, sizeof *tree->meshes) ||
      !add_name(tree, &tree->mesh_names, node, "mesh", name, tree->mesh_count)) {
    mesh_clear(triangles);
    return -1;
  }
  tree->meshes[tree->mesh_count] = (scene_mesh){.node = node, .triangles = *triangles};
  *triangles = (mesh){0};
  return (int32_t)tree->mesh_count++;
}

void scene_tree_clear(scene_tree *tree)
{
  for (uint32_t i = 0; i < tree->mesh_count; i++) mesh_clear(&tree->meshes[i].triangles);
  free(tree->meshes);
  name_map_clear(&tree->mesh_names);
  free(tree->links);
  free(tree->joints);
  free(tree->geoms);
  free(tree->sites);
  name_map_clear(&tree->link_names);
  name_map_clear(&tree->joint_names);
  name_map_clear(&tree->geom_names);
  name_map_clear(&tree->site_names);
}

/* Combines two rigid parts; all values in one frame. */
static void combine(double *mass, double com[3], double inertia[6], double add, const double at[3],
                    const double tensor[6])
{
  double total = *mass + add;
  if (!(total > 0.0)) return;
  double center[3], a[3], b[3];
  for (int i = 0; i < 3; i++) {
    center[i] = (*mass * com[i] + add * at[i]) / total;
    a[i] = com[i] - center[i];
    b[i] = at[i] - center[i];
  }
  cook_inertia_add_point(*mass, a, inertia);
  cook_inertia_add_point(add, b, inertia);
  for (int i = 0; i < 6; i++) inertia[i] += tensor[i];
  memcpy(com, center, sizeof center);
  *mass = total;
}

void scene_link_add_mass(scene_link *link, double mass, const double com[3], const double inertia[6])
{
  combine(&link->mass, link->com, link->inertia, mass, com, inertia);
}

typedef struct build {
  scene_tree *tree;
  sb_model_builder *builder;
  bool *is_static;   /* of each body */
  uint32_t *link_of; /* of each body: the link that it was made for */
} build;

/* A link that is fixed to a moving body becomes part of it when it or the body has no mass. */
static bool fuse(build *b, scene_link *link)
{
  if (link->joint_count || link->parent < 0) return false;
  const scene_link *parent = &b->tree->links[link->parent];
  if (parent->body < 0 || b->is_static[parent->body]) return false;
  sb_build_body *body = sb_builder_body(b->builder, parent->body);
  if (!body || (link->mass > 0.0 && body->mass > 0.0)) return false;
  double com[3], tensor[6];
  link->body = parent->body;
  cook_pose_mul(parent->in_body, link->X, link->in_body);
  cook_pose_point(link->in_body, link->com, com);
  cook_inertia_rotate(link->in_body + 3, link->inertia, tensor);
  if (link->mass > 0.0) combine(&body->mass, body->com, body->inertia, link->mass, com, tensor);
  xml_place place;
  const char *name = b->tree->links[b->link_of[parent->body]].name;
  sb_report(b->tree->in->diag, SB_NOTE, SB_CODE_SCENE_FUSED, xml_input_where(b->tree->in, link->node, &place),
            "link '%.80s' is fixed and %s mass, so it is part of body '%.80s'", link->name ? link->name : "",
            link->mass > 0.0 ? "gives its body all its" : "has no", name ? name : "");
  return true;
}

static void add_dofs(build *b, const scene_link *link, int32_t body)
{
  for (uint32_t i = 0; i < link->joint_count; i++) {
    scene_joint *joint = &b->tree->joints[link->first_joint + i];
    joint->body = body;
    if (joint->kind == SCENE_JOINT_AXIS) {
      joint->first_dof = sb_builder_add_dof(b->builder, &joint->dof, joint->name);
      continue;
    }
    int32_t count;
    sb_builder_body_dofs(b->builder, body, &joint->first_dof, &count);
    for (int32_t d = 0; d < count; d++) {
      sb_build_dof *dof = sb_builder_dof(b->builder, joint->first_dof + d);
      dof->armature = joint->dof.armature;
      dof->damping = joint->dof.damping;
      dof->friction = joint->dof.friction;
    }
  }
}

static void add_body(build *b, uint32_t l)
{
  scene_link *link = &b->tree->links[l];
  const scene_joint *joint = link->joint_count ? &b->tree->joints[link->first_joint] : NULL;
  sb_build_body body = sb_build_body_default();
  double in_parent[7];
  memcpy(in_parent, link->X, sizeof in_parent);
  if (link->parent >= 0) {
    const scene_link *parent = &b->tree->links[link->parent];
    cook_pose_mul(parent->in_body, link->X, in_parent);
    body.parent = parent->body;
  }
  body.joint_type = !joint                            ? SB_JOINT_FIXED
                    : joint->kind == SCENE_JOINT_FREE ? SB_JOINT_FREE
                    : joint->kind == SCENE_JOINT_BALL ? SB_JOINT_BALL
                                                      : SB_JOINT_AXES;
  if (body.joint_type == SB_JOINT_FREE) {
    memcpy(body.q, in_parent, sizeof body.q);
  } else {
    memcpy(body.joint_X_p, in_parent, sizeof in_parent);
    cook_quat_identity(body.q);
  }
  if (body.joint_type == SB_JOINT_BALL) memcpy(body.anchor, joint->dof.anchor, sizeof body.anchor);
  body.joint_name = joint ? joint->name : NULL;
  body.mass = link->mass;
  memcpy(body.com, link->com, sizeof body.com);
  memcpy(body.inertia, link->inertia, sizeof body.inertia);
  link->body = sb_builder_add_body(b->builder, &body, link->name);
  cook_pose_identity(link->in_body);
  if (link->body < 0) {
    no_memory(b->tree, link->node);
    return;
  }
  b->link_of[link->body] = l;
  b->is_static[link->body] = body.joint_type == SB_JOINT_FIXED && (body.parent < 0 || b->is_static[body.parent]);
  add_dofs(b, link, link->body);
}

/* What a link's joints must be: one free joint below the world, one ball joint, or up to six axes. */
static bool joints_fit(build *b, const scene_link *link)
{
  bool single = false;
  for (uint32_t i = 0; i < link->joint_count; i++) {
    const scene_joint *joint = &b->tree->joints[link->first_joint + i];
    single |= joint->kind != SCENE_JOINT_AXIS;
    if (joint->kind == SCENE_JOINT_FREE && link->parent >= 0) {
      xml_input_error(b->tree->in, joint->node, SB_CODE_SCENE_STRUCTURE,
                      "a free joint belongs to a body that is directly in the world");
      return false;
    }
  }
  if (link->joint_count > (single ? 1u : 6u)) {
    xml_input_error(b->tree->in, link->node, SB_CODE_SCENE_STRUCTURE,
                    "body '%.80s' has %u joints; supported are one free, one ball, or up to 6 hinges and slides; use a "
                    "body for each of the others",
                    link->name ? link->name : "", link->joint_count);
    return false;
  }
  return true;
}

static void check_masses(build *b)
{
  for (int32_t i = 0; i < sb_builder_body_count(b->builder); i++) {
    const sb_build_body *body = sb_builder_body(b->builder, i);
    const scene_link *link = &b->tree->links[b->link_of[i]];
    double inverse[6];
    if (b->is_static[i]) continue;
    if (!(body->mass > 0.0))
      xml_input_error(b->tree->in, link->node, SB_CODE_SCENE_MASS,
                      "body '%.80s' moves but has no mass; give it a mass, or geometry with density",
                      link->name ? link->name : "");
    else if (!cook_inertia_inverse(body->inertia, inverse))
      xml_input_error(b->tree->in, link->node, SB_CODE_SCENE_MASS,
                      "the inertia of body '%.80s' is not positive definite", link->name ? link->name : "");
  }
}

static void add_shapes(build *b)
{
  for (uint32_t i = 0; i < b->tree->geom_count; i++) {
    scene_geom *geom = &b->tree->geoms[i];
    sb_build_shape shape = geom->shape;
    bool is_static = true;
    if (geom->link >= 0) {
      const scene_link *link = &b->tree->links[geom->link];
      shape.body = link->body;
      is_static = b->is_static[link->body];
      cook_pose_mul(link->in_body, geom->shape.X, shape.X);
      if ((shape.type == SB_SHAPE_PLANE || shape.type == SB_SHAPE_HFIELD) && !is_static)
        xml_input_error(b->tree->in, link->node, SB_CODE_SCENE_STRUCTURE,
                        "a plane or heightfield belongs to the world or to a body that is fixed to it");
    }
    if (shape.type == SB_SHAPE_MESH && !scene_mesh_shape(b->tree->in, &b->tree->meshes[geom->mesh], b->builder, is_static, &shape)) return;
    geom->index = sb_builder_add_shape(b->builder, &shape, geom->name);
  }
}

void scene_tree_build(scene_tree *tree, sb_model_builder *builder)
{
  build b = {tree, builder, calloc((size_t)tree->link_count + 1, sizeof(bool)),
             calloc((size_t)tree->link_count + 1, sizeof(uint32_t))};
  if (!b.is_static || !b.link_of) no_memory(tree, NULL);
  for (uint32_t l = 0; l < tree->link_count && tree->in->status == SB_OK; l++)
    if (joints_fit(&b, &tree->links[l]) && !fuse(&b, &tree->links[l])) add_body(&b, l);
  if (tree->in->status == SB_OK) check_masses(&b);
  if (tree->in->status == SB_OK) add_shapes(&b);
  free(b.is_static);
  free(b.link_of);
}
