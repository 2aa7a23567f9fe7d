/* What the files of generators share: how a parameter is declared, and the shapes around what they make. Private to the scene layer. */
#ifndef SAMEBIT_HOST_GENERATOR_PARTS_H
#define SAMEBIT_HOST_GENERATOR_PARTS_H

#include "generators.h"

#define GENERATOR_MAX_PARAMS 32

#define N(name, unit, fallback, lower, upper, text)                                                                    \
  {                                                                                                                    \
    name, unit, fallback, lower, upper, false, NULL, text, false                                                       \
  }
#define COUNT(name, fallback, lower, upper, text)                                                                      \
  {                                                                                                                    \
    name, "", fallback, lower, upper, true, NULL, text, false                                                          \
  }
#define CHOICE(name, fallback, words, text)                                                                            \
  {                                                                                                                    \
    name, "", fallback, 0.0, 0.0, true, words, text, false                                                             \
  }

/* A file, given by its path: no number. */
#define FILE_PATH(name, text)                                                                                          \
  {                                                                                                                    \
    name, "", "", 0.0, 0.0, false, NULL, text, true                                                                    \
  }

#define FRICTION(value) N("friction", "", value, 0.0, 10.0, "sliding friction of every shape")
#define RESTITUTION N("restitution", "", "0", 0.0, 1.0, "coefficient of restitution of every shape")
#define DENSITY N("density", "kg/m^3", "1000", 1e-3, 1e6, "density of the bodies")
#define MARGIN N("margin", "m", "0.01", 0.0, 1.0, "contact margin of every shape")

/* Shapes that a generator shares among its bodies. */
typedef struct surface {
  double friction, restitution, margin;
} surface;

static inline sb_build_shape shape_of(const surface *s, uint32_t type, int32_t body)
{
  sb_build_shape shape = sb_build_shape_default();
  shape.type = type;
  shape.body = body;
  shape.friction[0] = s->friction;
  shape.restitution = s->restitution;
  shape.margin = s->margin;
  return shape;
}

static inline void add_plane(sb_model_builder *b, const surface *s)
{
  sb_build_shape shape = shape_of(s, SB_SHAPE_PLANE, -1);
  sb_builder_add_shape(b, &shape, "ground");
}

/* What stands around a deformable: the last parameters of those that make one. */
#define OBSTACLE_PARAMS                                                                                                \
  CHOICE("obstacle", "none", generator_obstacles, "what stands in the way, on the axis x = y = 0"),                    \
      N("obstacle_size", "m", "0.3", 1e-3, 1e3, "its radius, or half extent"),                                         \
      N("obstacle_height", "m", "0.3", -1e3, 1e3, "height of its centre"), COUNT("ground", "1", 0, 1, "1 adds the plane z = 0"), \
      N("friction", "", "0.5", 0.0, 10.0, "sliding friction of everything"),                                           \
      N("restitution", "", "0", 0.0, 1.0, "coefficient of restitution of everything"),                                 \
      N("margin", "m", "0.005", 0.0, 1.0, "contact margin of particles and shapes, each")
#define OBSTACLE_PARAM_COUNT 7
extern const char *const generator_obstacles[];
/* v begins at the first of OBSTACLE_PARAMS. */
void add_generated_surroundings(sb_model_builder *b, const double *v);
/* Its first particle. */
int32_t add_generated_deformable(sb_model_builder *b, const double *surroundings, bool self_contact, const char *name);

/* generators_soft.c: parameters and makers of cloth, rope and soft bodies. */
enum { CLOTH_PARAMS = 27, ROPE_PARAMS = 18, SOFT_PARAMS = 19, CLOTH_MESH_PARAMS = 22 };
extern const sb_generator_param cloth_params[CLOTH_PARAMS], rope_params[ROPE_PARAMS], soft_params[SOFT_PARAMS];
void make_cloth(const double *values, sb_model_builder *builder);
void make_rope(const double *values, sb_model_builder *builder);
void make_soft(const double *values, sb_model_builder *builder);

/* A file that a generator reads; path NULL: none was given. where: who asked for it. */
typedef struct generator_file {
  const char *path, *where;
  uint64_t limit; /* bytes */
} generator_file;

/* generator_mesh.c */
extern const sb_generator_param cloth_mesh_params[CLOTH_MESH_PARAMS];
sb_status make_cloth_mesh(const double *values, const generator_file *file, sb_model_builder *builder, sb_diagnostics *diag);

#endif
