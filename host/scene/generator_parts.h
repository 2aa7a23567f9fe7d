/* What the files of generators share: how a parameter is declared, and the shapes around what they make. Private to the scene layer. */
#ifndef SAMEBIT_HOST_GENERATOR_PARTS_H
#define SAMEBIT_HOST_GENERATOR_PARTS_H

#include "generators.h"

#define GENERATOR_MAX_PARAMS 32

#define N(name, unit, fallback, lower, upper, text)                                                                    \
  {                                                                                                                    \
    name, unit, fallback, lower, upper, false, NULL, text                                                              \
  }
#define COUNT(name, fallback, lower, upper, text)                                                                      \
  {                                                                                                                    \
    name, "", fallback, lower, upper, true, NULL, text                                                                 \
  }
#define CHOICE(name, fallback, words, text)                                                                            \
  {                                                                                                                    \
    name, "", fallback, 0.0, 0.0, true, words, text                                                                    \
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

/* generators_soft.c: parameters and makers of cloth, rope and soft bodies. */
enum { CLOTH_PARAMS = 27, ROPE_PARAMS = 18, SOFT_PARAMS = 19 };
extern const sb_generator_param cloth_params[CLOTH_PARAMS], rope_params[ROPE_PARAMS], soft_params[SOFT_PARAMS];
void make_cloth(const double *values, sb_model_builder *builder);
void make_rope(const double *values, sb_model_builder *builder);
void make_soft(const double *values, sb_model_builder *builder);

#endif
