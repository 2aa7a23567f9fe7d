/* The tree of links that MJCF and URDF readers fill and that becomes bodies of a model. Private to the scene layer.
 *
 * A link without joint is fixed to its parent. A moving link that is fixed to its parent while one of the two has no
 * mass does not become a body of its own: its mass, shapes and children go to the body that it moves with. */
#ifndef SAMEBIT_HOST_SCENE_TREE_H
#define SAMEBIT_HOST_SCENE_TREE_H

#include "model_builder.h"
#include "name_map.h"
#include "scene_mesh.h"
#include "xml_input.h"

typedef enum scene_joint_kind { SCENE_JOINT_AXIS, SCENE_JOINT_BALL, SCENE_JOINT_FREE } scene_joint_kind;

typedef struct scene_joint {
  const xmlNode *node;
  const char *name; /* NULL for none */
  scene_joint_kind kind;
  sb_build_dof dof;  /* BALL: anchor and the values of all three dofs; FREE: the values of all six */
  int32_t first_dof; /* in the model, set by scene_tree_build */
  int32_t body;
} scene_joint;

typedef struct scene_link {
  const xmlNode *node;
  const char *name;
  int32_t parent; /* link that came before, -1 for the world */
  double X[7];    /* in the parent */
  uint32_t first_joint, joint_count;
  double mass; /* kg */
  double com[3];
  double inertia[6]; /* about com, link axes */
  int32_t body;      /* set by scene_tree_build; -1 only for links of a failed build */
  double in_body[7]; /* pose of the link frame in that body */
} scene_link;

typedef struct scene_geom {
  const char *name;
  int32_t link;         /* -1 for the world */
  sb_build_shape shape; /* X in the link; SB_SHAPE_MESH becomes a hull where its body moves */
  int32_t mesh;         /* of the tree, for SB_SHAPE_MESH; X is that of the mesh's own frame */
  int32_t index;        /* of the shape in the model, set by scene_tree_build */
} scene_geom;

/* A named frame that constraints and sensors refer to; it becomes no part of the model. */
typedef struct scene_site {
  const char *name;
  int32_t link; /* -1 for the world */
  double X[7];  /* in the link */
} scene_site;

typedef struct scene_tree {
  xml_input *in;
  scene_link *links;
  scene_joint *joints;
  scene_geom *geoms;
  scene_site *sites;
  scene_mesh *meshes;
  uint32_t link_count, joint_count, geom_count, site_count, mesh_count;
  uint32_t link_capacity, joint_capacity, geom_capacity, site_capacity, mesh_capacity;
  name_map link_names, joint_names, geom_names, site_names, mesh_names;
} scene_tree;

/* Adds an entity and its name; the index, or -1 after an error (no memory, name used twice). A joint belongs to the
 * link whose index it is given; joints of one link must be added one after another. */
int32_t scene_tree_add_link(scene_tree *tree, const scene_link *link);
int32_t scene_tree_add_joint(scene_tree *tree, int32_t link, const scene_joint *joint);
int32_t scene_tree_add_geom(scene_tree *tree, const scene_geom *geom, const xmlNode *node);
int32_t scene_tree_add_site(scene_tree *tree, const scene_site *site, const xmlNode *node);
/* Takes the triangles over, on failure too. name may be NULL. */
int32_t scene_tree_add_mesh(scene_tree *tree, const xmlNode *node, const char *name, mesh *triangles);
void scene_tree_clear(scene_tree *tree);

/* Adds a mass with its own centre and tensor (axes of the link) to a link. */
void scene_link_add_mass(scene_link *link, double mass, const double com[3], const double inertia[6]);

/* Pose of a link in the world while no joint displaces anything; the identity for -1. */
void scene_tree_rest_pose(const scene_tree *tree, int32_t link, double X[7]);
/* Once built: the body of a link, and the link's pose in it. -1 and the identity for -1. */
int32_t scene_tree_body(const scene_tree *tree, int32_t link, double in_body[7]);

/* Moves everything to the builder. Errors go to tree->in. */
void scene_tree_build(scene_tree *tree, sb_model_builder *builder);

#endif
