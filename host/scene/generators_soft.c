/* Cloth, ropes and soft bodies made by parameters. Knows the model builder.
 *
 * Stiffness that stands for a material does not depend on the resolution: membranes by their plane-stress moduli, bending by the flexural
 * rigidity, tetrahedra by Young's modulus, ropes by their axial rigidity. Springs of a cloth have the stiffness given; a square grid of
 * them is as stiff at any spacing. */
#include "deformable_mesh.h"
#include "generator_parts.h"

#include <string.h>

const char *const generator_obstacles[] = {"none", "sphere", "box", NULL};

void add_generated_surroundings(sb_model_builder *b, const double *v)
{
  const surface s = {v[4], v[5], v[6]};
  if (v[3] != 0.0) add_plane(b, &s);
  if (v[0] == 0.0) return;
  sb_build_shape shape = shape_of(&s, v[0] == 1.0 ? SB_SHAPE_SPHERE : SB_SHAPE_BOX, -1);
  for (int k = 0; k < 3; k++) shape.size[k] = k == 0 || v[0] == 2.0 ? v[1] : 0.0;
  shape.X[2] = v[2];
  sb_builder_add_shape(b, &shape, "obstacle");
}

int32_t add_generated_deformable(sb_model_builder *b, const double *surroundings, bool self_contact, const char *name)
{
  sb_build_deformable d = sb_build_deformable_default();
  d.flags = self_contact ? SB_DEFORMABLE_SELF_CONTACT : 0u;
  d.friction = surroundings[4], d.restitution = surroundings[5], d.margin = surroundings[6];
  int32_t first = sb_builder_particle_count(b);
  sb_builder_add_deformable(b, &d, name);
  return first;
}

/* cloth ------------------------------------------------------------------------------------------------------------ */

static const char *const cloth_models[] = {"springs", "membrane", NULL};
static const char *const cloth_pins[] = {"none", "corners", "edge", NULL};
static const char *const cloth_poses[] = {"hanging", "flat", NULL};
const sb_generator_param cloth_params[CLOTH_PARAMS] = {
    COUNT("rows", "20", 2, 20000, "particles from top to bottom"),
    COUNT("columns", "20", 2, 20000, "particles along x"),
    N("spacing", "m", "0.05", 1e-5, 100.0, "distance of neighbours"),
    CHOICE("model", "springs", cloth_models,
           "springs: to neighbours, across both diagonals, and two apart; membrane: triangles with bending edges"),
    CHOICE("pins", "edge", cloth_pins, "particles of the first row that are held"),
    CHOICE("pose", "hanging", cloth_poses, "hanging in the plane y = 0, or flat"),
    N("height", "m", "1.5", -1e6, 1e6, "height of the first row"),
    N("mass", "kg/m^2", "0.2", 1e-6, 1e6, "mass per area"),
    N("thickness", "m", "0.01", 0.0, 10.0, "twice the radius of the particles"),
    N("stretch", "N/m", "2000", 0.0, 1e12, "springs: to the next particle"),
    N("shear", "N/m", "500", 0.0, 1e12, "springs: across both diagonals; 0 for none"),
    N("bend", "N/m", "20", 0.0, 1e12, "springs: two apart; 0 for none"),
    N("young", "N/m", "2000", 0.0, 1e12, "membrane: Young's modulus times the thickness"),
    N("poisson", "", "0.3", 0.0, 0.49, "membrane: Poisson's ratio"),
    N("bending", "N m", "1e-4", 0.0, 1e6, "membrane: flexural rigidity"),
    N("damping", "N s/m", "0", 0.0, 1e6, "of each spring, or of the membrane"),
    N("bending_damping", "N m s", "0", 0.0, 1e6, "membrane: damping of the bending edges"),
    N("drag", "N s/m^3", "0", 0.0, 1e6, "force of the air along the surface"),
    N("lift", "N s/m^3", "0", 0.0, 1e6, "force of the air across the surface"),
    COUNT("self_contact", "0", 0, 1, "1: the cloth touches itself"),
    OBSTACLE_PARAMS};

typedef struct cloth_grid {
  sb_model_builder *builder;
  int32_t first;
  int rows, columns;
  double spacing;
} cloth_grid;

static int32_t grid_particle(const cloth_grid *g, int row, int column) { return g->first + row * g->columns + column; }

static void add_cloth_particles(const cloth_grid *g, const double *v)
{
  for (int r = 0; r < g->rows; r++)
    for (int c = 0; c < g->columns; c++) {
      bool row_end = r == 0 || r == g->rows - 1, column_end = c == 0 || c == g->columns - 1;
      double down = g->spacing * r;
      sb_build_particle p = {.mass = v[7] * g->spacing * g->spacing * (row_end ? 0.5 : 1.0) * (column_end ? 0.5 : 1.0), .radius = 0.5 * v[8]};
      p.q[0] = g->spacing * (c - 0.5 * (g->columns - 1));
      p.q[1] = v[5] == 1.0 ? 0.5 * g->spacing * (g->rows - 1) - down : 0.0;
      p.q[2] = v[5] == 1.0 ? v[6] : v[6] - down;
      p.pinned = r == 0 && (v[4] == 2.0 || (v[4] == 1.0 && column_end));
      sb_builder_add_particle(g->builder, &p);
    }
}

/* The spring from (row, column) to the particle that many rows and columns on. */
static void add_grid_spring(const cloth_grid *g, int row, int column, int down, int right, double stiffness, double damping)
{
  int r = row + down, c = column + right;
  if (!(stiffness > 0.0) || r >= g->rows || c < 0 || c >= g->columns) return;
  const sb_build_spring s = {.particle = {grid_particle(g, row, column), grid_particle(g, r, c)},
                             .rest_length = g->spacing * cook_sqrt((double)(down * down + right * right)),
                             .stiffness = stiffness,
                             .damping = damping};
  sb_builder_add_spring(g->builder, &s);
}

static void add_cloth_springs(const cloth_grid *g, const double *v)
{
  for (int r = 0; r < g->rows; r++)
    for (int c = 0; c < g->columns; c++) {
      add_grid_spring(g, r, c, 0, 1, v[9], v[15]);
      add_grid_spring(g, r, c, 1, 0, v[9], v[15]);
      add_grid_spring(g, r, c, 1, 1, v[10], v[15]);
      add_grid_spring(g, r, c, 1, -1, v[10], v[15]);
      add_grid_spring(g, r, c, 0, 2, v[11], v[15]);
      add_grid_spring(g, r, c, 2, 0, v[11], v[15]);
    }
}

/* The diagonals of cells alternate. Then, with the flexural rigidity D, an edge of stiffness D at each edge bends like an isotropic plate:
 * for heights (a x^2 + 2 b x y + c y^2) / 2 the angle is a h, c h at edges along the axes and sqrt(2) b h at diagonals, so
 * a cell of h^2 has the energy D / 2 (a^2 + c^2 + 2 b^2) h^2, that of a plate with Poisson's ratio 0, at any spacing h. */
static void add_cloth_triangles(const cloth_grid *g, const double *v)
{
  bool membrane = v[3] == 1.0;
  double young = membrane ? v[12] : 0.0, nu = v[13];
  deformable_surface s = {.ke = young / (2.0 * (1.0 + nu)), .ka = young * nu / (1.0 - nu * nu), .kd = membrane ? v[15] : 0.0,
                          .drag = v[17], .lift = v[18], .rigidity = membrane ? v[14] : 0.0, .bending_kd = membrane ? v[16] : 0.0,
                          .regular = true};
  for (int r = 0; r + 1 < g->rows; r++)
    for (int c = 0; c + 1 < g->columns; c++) {
      int32_t a = grid_particle(g, r, c), b = a + 1, d = a + g->columns, e = d + 1;
      const int32_t even[6] = {a, d, e, a, e, b}, odd[6] = {a, d, b, b, d, e};
      if (!deformable_surface_add(&s, (r + c) % 2 ? odd : even)) break;
      if (!deformable_surface_add(&s, ((r + c) % 2 ? odd : even) + 3)) break;
    }
  deformable_surface_build(&s, g->builder, NULL);
}

void make_cloth(const double *v, sb_model_builder *b)
{
  const double *around = v + CLOTH_PARAMS - OBSTACLE_PARAM_COUNT;
  bool self_contact = v[19] != 0.0;
  cloth_grid g = {b, add_generated_deformable(b, around, self_contact, "cloth"), (int)v[0], (int)v[1], v[2]};
  add_cloth_particles(&g, v);
  if (v[3] == 0.0) add_cloth_springs(&g, v);
  /* springs alone need no surface, and a large cloth has no room for one */
  if (v[3] == 1.0 || self_contact || v[17] > 0.0 || v[18] > 0.0) add_cloth_triangles(&g, v);
  add_generated_surroundings(b, around);
  sb_builder_set_dt(b, 1, 60);
}

/* rope ------------------------------------------------------------------------------------------------------------- */

static const char *const rope_pins[] = {"none", "first", "ends", NULL};
const sb_generator_param rope_params[ROPE_PARAMS] = {
    COUNT("count", "50", 2, 10000000, "particles"),
    N("length", "m", "2", 1e-4, 1e6, "length at rest"),
    CHOICE("pins", "first", rope_pins, "particles that are held"),
    CHOICE("pose", "flat", cloth_poses, "hanging down from the first particle, or along x"),
    N("height", "m", "2.5", -1e6, 1e6, "height of the first particle"),
    N("mass", "kg/m", "0.1", 1e-6, 1e6, "mass per length"),
    N("radius", "m", "0.01", 0.0, 10.0, "radius of the particles"),
    N("stretch", "N", "1000", 0.0, 1e12, "axial rigidity: force per strain; 0: it does not stretch"),
    N("bend", "N/m", "0", 0.0, 1e12, "springs two apart; 0 for none"),
    N("damping", "N s/m", "0", 0.0, 1e6, "of each spring"),
    COUNT("self_contact", "0", 0, 1, "1: the rope touches itself"),
    OBSTACLE_PARAMS};

static void add_rope_spring(sb_model_builder *b, int32_t from, int32_t to, double length, double stiffness, double damping)
{
  const sb_build_spring s = {.particle = {from, to}, .rest_length = length, .stiffness = stiffness, .damping = damping};
  sb_builder_add_spring(b, &s);
}

void make_rope(const double *v, sb_model_builder *b)
{
  const double *around = v + ROPE_PARAMS - OBSTACLE_PARAM_COUNT;
  int count = (int)v[0];
  double step = v[1] / (count - 1);
  int32_t first = add_generated_deformable(b, around, v[10] != 0.0, "rope");
  for (int i = 0; i < count; i++) {
    bool end = i == 0 || i == count - 1;
    sb_build_particle p = {.mass = v[5] * step * (end ? 0.5 : 1.0), .radius = v[6]};
    p.q[0] = v[3] == 1.0 ? step * i : 0.0;
    p.q[2] = v[3] == 1.0 ? v[4] : v[4] - step * i;
    p.pinned = (i == 0 && v[2] != 0.0) || (i == count - 1 && v[2] == 2.0);
    sb_builder_add_particle(b, &p);
  }
  for (int32_t i = 0; i + 1 < count; i++) {
    add_rope_spring(b, first + i, first + i + 1, step, v[7] > 0.0 ? v[7] / step : SB_NO_LIMIT, v[9]);
    if (v[8] > 0.0 && i + 2 < count) add_rope_spring(b, first + i, first + i + 2, 2.0 * step, v[8], v[9]);
  }
  add_generated_surroundings(b, around);
  sb_builder_set_dt(b, 1, 60);
}

/* soft ------------------------------------------------------------------------------------------------------------- */

static const char *const soft_pins[] = {"none", "face", NULL};
const sb_generator_param soft_params[SOFT_PARAMS] = {
    COUNT("nx", "8", 1, 1000, "cells along x"),
    COUNT("ny", "4", 1, 1000, "cells along y"),
    COUNT("nz", "4", 1, 1000, "cells along z"),
    N("spacing", "m", "0.05", 1e-5, 100.0, "edge of a cell"),
    N("young", "Pa", "1e5", 1e-3, 1e13, "Young's modulus"),
    N("poisson", "", "0.4", 0.01, 0.499, "Poisson's ratio"),
    N("density", "kg/m^3", "1000", 1e-3, 1e6, "density"),
    N("damping", "Pa s", "0", 0.0, 1e9, "damping of the tetrahedra"),
    CHOICE("pins", "none", soft_pins, "face: the side at the smallest x is held"),
    N("height", "m", "0.5", -1e6, 1e6, "height of the lowest particles"),
    N("radius", "m", "0.01", 0.0, 10.0, "radius of the particles"),
    COUNT("self_contact", "0", 0, 1, "1: the body's surface touches itself"),
    OBSTACLE_PARAMS};

typedef struct soft_grid {
  sb_model_builder *builder;
  int32_t first;
  int n[3]; /* cells */
} soft_grid;

static int32_t soft_particle(const soft_grid *g, const int at[3])
{
  return g->first + (at[0] * (g->n[1] + 1) + at[1]) * (g->n[2] + 1) + at[2];
}

static void add_soft_particles(const soft_grid *g, const double *v)
{
  double cell = v[6] * v[3] * v[3] * v[3];
  for (int i = 0; i <= g->n[0]; i++)
    for (int j = 0; j <= g->n[1]; j++)
      for (int k = 0; k <= g->n[2]; k++) {
        const int at[3] = {i, j, k};
        sb_build_particle p = {.mass = cell, .radius = v[10], .pinned = v[8] == 1.0 && i == 0};
        for (int a = 0; a < 3; a++) {
          if (at[a] == 0 || at[a] == g->n[a]) p.mass *= 0.5;
          p.q[a] = v[3] * (a == 2 ? at[a] : at[a] - 0.5 * g->n[a]);
        }
        p.q[2] += v[9];
        sb_builder_add_particle(g->builder, &p);
      }
}

/* Five tetrahedra: one over the four corners whose coordinates have an even sum, and one at each other corner. Faces match, the cells
 * alternate, and no direction is favoured. (Six around the same diagonal in each cell, in place of these, turn a cantilever sideways by
 * 8 % of its sag and make it twice as stiff.) Linear tetrahedra are too stiff where few of them bend: with 2, 4, 8 cells across, a
 * cantilever four times as long as thick sags by 69, 92, 101 % of what a beam does at a Poisson's ratio of 0.3, and 60, 85, 96 %
 * at 0.45. */
static void add_soft_cell(const soft_grid *g, const int cell[3], const sb_build_tet *material)
{
  int32_t corner[8], even[4];
  int n = 0;
  for (int k = 0; k < 8; k++) {
    const int at[3] = {cell[0] + (k & 1), cell[1] + (k >> 1 & 1), cell[2] + (k >> 2)};
    corner[k] = soft_particle(g, at);
    if ((at[0] + at[1] + at[2]) % 2 == 0) even[n++] = corner[k];
  }
  sb_build_tet tet = *material;
  memcpy(tet.particle, even, sizeof even);
  deformable_add_tet(g->builder, &tet);
  int odd = (cell[0] + cell[1] + cell[2]) % 2 == 0; /* bits of the corners with an odd sum: an odd number of ones, or an even one */
  for (int k = 0; k < 8; k++) {
    if (((k & 1) + (k >> 1 & 1) + (k >> 2)) % 2 != odd) continue;
    const int32_t of_corner[4] = {corner[k], corner[k ^ 1], corner[k ^ 2], corner[k ^ 4]};
    memcpy(tet.particle, of_corner, sizeof of_corner);
    deformable_add_tet(g->builder, &tet);
  }
}

/* Two triangles on each side of a cell at the surface, along the diagonals that its tetrahedra have there. */
static bool add_soft_side(const soft_grid *g, deformable_surface *s, const int cell[3], int axis, int side)
{
  int u = (axis + 1) % 3, w = (axis + 2) % 3, at[3] = {cell[0], cell[1], cell[2]};
  at[axis] = cell[axis] + side;
  int32_t corner[4]; /* around the outward normal when side is 1 */
  for (int k = 0; k < 4; k++) {
    at[u] = cell[u] + (k == 1 || k == 2), at[w] = cell[w] + (k >= 2);
    corner[k] = soft_particle(g, at);
  }
  /* the diagonal runs between the corners whose coordinates have an even sum */
  int from = (at[axis] + cell[u] + cell[w]) % 2;
  int32_t a = corner[from], b = corner[from + 1], c = corner[(from + 2) % 4], d = corner[(from + 3) % 4];
  const int32_t out[6] = {a, b, c, a, c, d}, in[6] = {a, c, b, a, d, c};
  return deformable_surface_add(s, side ? out : in) && deformable_surface_add(s, (side ? out : in) + 3);
}

static void add_soft_surface(const soft_grid *g)
{
  deformable_surface s = {0};
  for (int axis = 0; axis < 3; axis++)
    for (int side = 0; side < 2; side++) {
      int u = (axis + 1) % 3, w = (axis + 2) % 3, cell[3] = {0};
      cell[axis] = side ? g->n[axis] - 1 : 0;
      for (cell[u] = 0; cell[u] < g->n[u]; cell[u]++)
        for (cell[w] = 0; cell[w] < g->n[w]; cell[w]++) add_soft_side(g, &s, cell, axis, side);
    }
  deformable_surface_build(&s, g->builder, NULL);
}

void make_soft(const double *v, sb_model_builder *b)
{
  const double *around = v + SOFT_PARAMS - OBSTACLE_PARAM_COUNT;
  soft_grid g = {b, add_generated_deformable(b, around, v[11] != 0.0, "soft"), {(int)v[0], (int)v[1], (int)v[2]}};
  double young = v[4], nu = v[5];
  const sb_build_tet material = {.k_mu = young / (2.0 * (1.0 + nu)), .k_lambda = young * nu / ((1.0 + nu) * (1.0 - 2.0 * nu)), .k_damp = v[7]};
  add_soft_particles(&g, v);
  int cell[3];
  for (cell[0] = 0; cell[0] < g.n[0]; cell[0]++)
    for (cell[1] = 0; cell[1] < g.n[1]; cell[1]++)
      for (cell[2] = 0; cell[2] < g.n[2]; cell[2]++) add_soft_cell(&g, cell, &material);
  if (v[11] != 0.0) add_soft_surface(&g);
  add_generated_surroundings(b, around);
  sb_builder_set_dt(b, 1, 60);
}
