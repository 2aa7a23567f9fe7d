/* Building a model of one world, part by part, in binary64; finalising rounds once to binary32. C library only.
 *
 * Bodies come parent first: the body added as number j has joint j. A body's dofs are added right after it. FREE and
 * BALL joints bring their dofs along; sb_builder_dof() gives access to them. Units, frames and conventions are those of
 * samebit/model.h. When memory runs out the builder remembers it and finalising reports it, so callers need not check
 * each call; indices returned after that must not be used to reach into the builder (accessors return NULL). */
#ifndef SAMEBIT_HOST_MODEL_BUILDER_H
#define SAMEBIT_HOST_MODEL_BUILDER_H

#include "model_store.h"

typedef struct sb_model_builder sb_model_builder;

typedef struct sb_build_body {
  uint32_t joint_type;    /* SB_JOINT_* */
  int32_t parent;         /* body added before, or -1 for the world; -1 for FREE */
  double joint_X_p[7];    /* joint frame in the parent; ignored for FREE */
  double q[7];            /* FREE: initial pose; BALL: q[0..3] is the initial quaternion */
  double qd[6];           /* FREE: 6 initial velocities; BALL: 3 */
  double anchor[3];       /* BALL: centre of the joint in the body's frame */
  double mass;            /* kg; dropped where the body turns out to be static */
  double com[3];          /* m */
  double inertia[6];      /* about the centre of mass, body axes: xx yy zz xy xz yz */
  const char *joint_name; /* FREE, BALL: dofs are named joint_name.vx and so on; NULL takes the body's name */
} sb_build_body;

typedef struct sb_build_dof {
  uint32_t kind;  /* SB_DOF_* */
  double axis[3]; /* any length above 1e-12; finalising normalises it */
  double anchor[3];
  double q, qd;
  double ref;
  double armature, damping, stiffness, spring_ref, friction;
  double lower, upper;
  double effort_limit, velocity_limit;
  double target_ke, target_kd, target_q, target_qd;
} sb_build_dof;

typedef struct sb_build_shape {
  uint32_t type; /* SB_SHAPE_* */
  int32_t body;  /* -1 for the world */
  double X[7];
  double size[3];
  double friction[3];
  double restitution;
  double margin;
  uint32_t contype, conaffinity, condim;
  int32_t geometry; /* of a hull, mesh or heightfield, whose half extents are its size; -1 for others */
} sb_build_shape;

/* Geometry as samebit/model.h has it, rounded already, indices from 0. Which arrays a type needs stands there. */
typedef struct sb_build_geometry {
  uint32_t type; /* SB_SHAPE_HULL, SB_SHAPE_MESH or SB_SHAPE_HFIELD */
  float half[3];
  uint32_t vertex_count, face_count, corner_count, node_count, rows, columns;
  const float *vertex;            /* 3 each */
  const float *face_normal;       /* 3 each */
  const uint32_t *face_corners;   /* first and number of each */
  const uint32_t *corner_vertex;
  const int32_t *corner_neighbour;
  const float *node_box;          /* 6 each */
  const uint32_t *node_next;
  const uint32_t *node_faces;     /* first and number of each */
  const float *height;            /* rows * columns */
} sb_build_geometry;

typedef struct sb_build_actuator {
  uint32_t kind;  /* SB_ACTUATOR_* */
  int32_t dof;    /* what it drives, unless tendon is not -1 */
  int32_t tendon;
  double gear;
  double ctrl_lower, ctrl_upper;
  double ctrl;
} sb_build_actuator;

typedef struct sb_build_pair {
  int32_t shape[2]; /* any order */
  double friction[3];
  double restitution;
  double margin;
  uint32_t condim;
} sb_build_pair;

typedef struct sb_build_equality {
  uint32_t type; /* SB_EQUALITY_* */
  int32_t body[2];
  double anchor[2][3]; /* m, in each body's frame */
  double relpose[4];   /* WELD: quaternion of the second body in the first */
  int32_t dof[2];      /* JOINT: its bodies follow from these */
  double poly[5];
} sb_build_equality;

typedef struct sb_build_tendon {
  double lower, upper; /* of the length */
  double stiffness, damping, friction;
  double spring_lower, spring_upper;
} sb_build_tendon;

/* What its type measures; the rest stays as it is by default. */
typedef struct sb_build_sensor {
  uint32_t type; /* SB_SENSOR_* */
  int32_t body, ref_body;
  double X[7], ref_X[7];
  int32_t dof, tendon, actuator;
  double cutoff;
} sb_build_sensor;

/* A group of particles: what follows with sb_builder_add_particle belongs to the one added last. */
typedef struct sb_build_deformable {
  uint32_t flags; /* SB_DEFORMABLE_* */
  double friction, restitution, margin;
  uint32_t contype, conaffinity;
} sb_build_deformable;

typedef struct sb_build_particle {
  double q[3], qd[3];
  double mass; /* kg, above 0 */
  double radius;
  bool pinned;
} sb_build_particle;

typedef struct sb_build_spring {
  int32_t particle[2];
  double rest_length, stiffness, damping;
} sb_build_spring;

/* pose and area: cook_tri_rest in cook_math.h works them out of the rest positions. */
typedef struct sb_build_tri {
  int32_t particle[3];
  double pose[4], area;
  double ke, ka, kd, drag, lift;
} sb_build_tri;

typedef struct sb_build_edge {
  int32_t particle[4]; /* as edge_indices */
  double rest_angle, rest_length;
  double bending_ke, bending_kd;
} sb_build_edge;

/* pose and volume: cook_tet_rest in cook_math.h. */
typedef struct sb_build_tet {
  int32_t particle[4];
  double pose[9], volume;
  double k_mu, k_lambda, k_damp;
} sb_build_tet;

typedef struct sb_build_attachment {
  int32_t particle, body; /* body -1: the world */
  double point[3];
  double stiffness, damping;
} sb_build_attachment;

/* Structs with identity poses, no limits, friction 1 0.005 0.0001, condim 3, contype and conaffinity 1, gear 1, no
 * tendon, poly 0 1. */
sb_build_body sb_build_body_default(void);
sb_build_dof sb_build_dof_default(void);
sb_build_shape sb_build_shape_default(void);
sb_build_actuator sb_build_actuator_default(void);
sb_build_pair sb_build_pair_default(void);
sb_build_equality sb_build_equality_default(void);
sb_build_tendon sb_build_tendon_default(void);
sb_build_sensor sb_build_sensor_default(void);
sb_build_deformable sb_build_deformable_default(void);

/* NULL when memory runs out; every function below takes NULL and does nothing then. Gravity is 0 0 -9.81 until set. */
sb_model_builder *sb_builder_create(void);
void sb_builder_free(sb_model_builder *builder);

void sb_builder_set_gravity(sb_model_builder *builder, const double gravity[3]);
/* Tick length that the scene asks for, as a fraction. */
void sb_builder_set_dt(sb_model_builder *builder, uint32_t numerator, uint32_t denominator);

/* Names may be NULL; they are copied. Each returns the new entity's index, -1 when memory ran out. */
int32_t sb_builder_add_body(sb_model_builder *builder, const sb_build_body *body, const char *name);
/* Adds a dof to the body added last, which must have an AXES joint. */
int32_t sb_builder_add_dof(sb_model_builder *builder, const sb_build_dof *dof, const char *name);
int32_t sb_builder_add_shape(sb_model_builder *builder, const sb_build_shape *shape, const char *name);
/* Copies the geometry. */
int32_t sb_builder_add_geometry(sb_model_builder *builder, const sb_build_geometry *geometry);
int32_t sb_builder_add_actuator(sb_model_builder *builder, const sb_build_actuator *actuator, const char *name);
void sb_builder_add_exclude(sb_model_builder *builder, int32_t body_a, int32_t body_b);
void sb_builder_add_pair(sb_model_builder *builder, const sb_build_pair *pair);
int32_t sb_builder_add_equality(sb_model_builder *builder, const sb_build_equality *equality, const char *name);
int32_t sb_builder_add_tendon(sb_model_builder *builder, const sb_build_tendon *tendon, const char *name);
/* Adds a term to the tendon added last. */
void sb_builder_add_tendon_term(sb_model_builder *builder, int32_t dof, double coef);

int32_t sb_builder_add_sensor(sb_model_builder *builder, const sb_build_sensor *sensor, const char *name);

/* Deformables and their elements (model_deformable.c). They are rounded at once, for there may be millions. Particles count from 0
 * over the whole model. */
int32_t sb_builder_add_deformable(sb_model_builder *builder, const sb_build_deformable *deformable, const char *name);
int32_t sb_builder_add_particle(sb_model_builder *builder, const sb_build_particle *particle);
void sb_builder_add_spring(sb_model_builder *builder, const sb_build_spring *spring);
void sb_builder_add_tri(sb_model_builder *builder, const sb_build_tri *tri);
void sb_builder_add_edge(sb_model_builder *builder, const sb_build_edge *edge);
void sb_builder_add_tet(sb_model_builder *builder, const sb_build_tet *tet);
void sb_builder_add_attachment(sb_model_builder *builder, const sb_build_attachment *attachment);
int32_t sb_builder_particle_count(const sb_model_builder *builder);
/* Its position as rounded; zeros and false when out of range. */
bool sb_builder_particle_q(const sb_model_builder *builder, int32_t index, double q[3]);

/* An entity added before, to be changed until finalised; NULL when out of range. Valid until the next add. */
sb_build_body *sb_builder_body(sb_model_builder *builder, int32_t index);
sb_build_dof *sb_builder_dof(sb_model_builder *builder, int32_t index);
sb_build_shape *sb_builder_shape(sb_model_builder *builder, int32_t index);
sb_build_actuator *sb_builder_actuator(sb_model_builder *builder, int32_t index);
int32_t sb_builder_body_count(const sb_model_builder *builder);
int32_t sb_builder_dof_count(const sb_model_builder *builder);
int32_t sb_builder_shape_count(const sb_model_builder *builder);
int32_t sb_builder_actuator_count(const sb_model_builder *builder);
/* First dof and number of dofs of a body's joint. */
void sb_builder_body_dofs(const sb_model_builder *builder, int32_t body, int32_t *first, int32_t *count);

/* Computes what follows (poses and velocities by forward kinematics, inverses, welds, static flags), rounds, checks.
 * The builder stays the caller's to free. */
sb_status sb_builder_finalise(const sb_model_builder *builder, const char *where, sb_model_store **out,
                              sb_diagnostics *diag);

#endif
