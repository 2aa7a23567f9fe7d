/* <flexcomp> of MJCF: ropes (dim 1), cloth (dim 2) and soft bodies (dim 3) from grids, mesh files, Gmsh files or lists of points. */
#include "cook_math.h"
#include "deformable_mesh.h"
#include "gmsh_file.h"
#include "mesh_file.h"
#include "mjcf.h"
#include "scene_number.h"

#include <stdlib.h>
#include <string.h>

#define MAX_FLEX_POINTS 10000000.0

/* A flexcomp that is being built. */
typedef struct flex {
  mjcf *m;
  const xmlNode *node;
  int dim;
  double *point; /* 3 each, in the frame of the flexcomp, then in the world */
  uint32_t points;
  int32_t *element; /* dim + 1 points each */
  uint32_t elements, capacity;
  uint8_t *pinned;
  int count[3]; /* of a grid; 0 for others */
  int32_t first; /* particle of the model */
  double radius;
  bool failed;
} flex;

static void fail(flex *f, const char *message)
{
  if (!f->failed) xml_input_error(f->m->in, f->node, SB_CODE_SCENE_VALUE, "flexcomp: %s", message);
  f->failed = true;
}

static const xmlNode *child_of(flex *f, const char *name)
{
  for (xmlNode *c = xml_input_element(f->node->children); c; c = xml_input_element(c->next))
    if (xml_is(c, name)) return c;
  return NULL;
}

static void add_element(flex *f, const int32_t *points)
{
  uint32_t n = (uint32_t)f->dim + 1;
  if (f->elements == f->capacity) {
    uint32_t capacity = f->capacity ? 2 * f->capacity : 256;
    int32_t *grown = realloc(f->element, (size_t)capacity * n * sizeof *grown);
    if (!grown) {
      fail(f, "no memory");
      return;
    }
    f->element = grown;
    f->capacity = capacity;
  }
  memcpy(f->element + (size_t)f->elements++ * n, points, n * sizeof *points);
}

/* --- points and elements --- */

static bool take_points(flex *f, uint32_t count)
{
  f->points = count;
  f->point = calloc((size_t)count + 1, 3 * sizeof *f->point);
  f->pinned = calloc((size_t)count + 1, 1);
  if (!f->point || !f->pinned) fail(f, "no memory");
  return !f->failed;
}

static int32_t grid_index(const flex *f, int x, int y, int z) { return (x * f->count[1] + y) * f->count[2] + z; }

static void add_grid_cell(flex *f, int x, int y, int z)
{
  if (f->dim == 1) {
    const int32_t line[2] = {grid_index(f, x, 0, 0), grid_index(f, x + 1, 0, 0)};
    add_element(f, line);
    return;
  }
  int32_t c[8], even[4];
  int n = 0, odd = (x + y + z) % 2;
  for (int k = 0; k < 8; k++) c[k] = grid_index(f, x + (k & 1), y + (k >> 1 & 1), z + (f->dim == 3 ? k >> 2 : 0));
  if (f->dim == 2) {
    const int32_t straight[6] = {c[0], c[1], c[3], c[0], c[3], c[2]}, turned[6] = {c[0], c[1], c[2], c[1], c[3], c[2]};
    add_element(f, odd ? turned : straight);
    add_element(f, (odd ? turned : straight) + 3);
    return;
  }
  for (int k = 0; k < 8; k++)
    if (((k & 1) + (k >> 1 & 1) + (k >> 2) + odd) % 2 == 0) even[n++] = c[k];
  add_element(f, even);
  for (int k = 0; k < 8; k++) {
    const int32_t corner[4] = {c[k], c[k ^ 1], c[k ^ 2], c[k ^ 4]};
    if (((k & 1) + (k >> 1 & 1) + (k >> 2) + odd) % 2 == 1) add_element(f, corner);
  }
}

/* Points about the origin; the last index runs fastest. */
static void make_grid(flex *f)
{
  const mjcf_source s = {f->m, f->node, MJCF_NONE, -1};
  double count[3] = {10, 10, 10}, spacing[3] = {0.02, 0.02, 0.02};
  mjcf_numbers(&s, "count", count, 3);
  mjcf_numbers(&s, "spacing", spacing, 3);
  for (int k = 0; k < 3; k++) {
    bool whole = count[k] >= 1 && count[k] <= 1e7 && count[k] == (double)(int)count[k];
    if (!whole || (k < f->dim ? count[k] < 2 : count[k] != 1)) {
      fail(f, "count must be whole numbers, 2 or more along each of the dim axes and 1 along the others");
      return;
    }
    f->count[k] = (int)count[k];
  }
  if (count[0] * count[1] * count[2] > MAX_FLEX_POINTS) {
    fail(f, "more than 10000000 points");
    return;
  }
  if (!take_points(f, (uint32_t)(count[0] * count[1] * count[2]))) return;
  for (int x = 0; x < f->count[0]; x++)
    for (int y = 0; y < f->count[1]; y++)
      for (int z = 0; z < f->count[2]; z++) {
        const int at[3] = {x, y, z};
        for (int k = 0; k < 3; k++) f->point[3 * (size_t)grid_index(f, x, y, z) + k] = spacing[k] * (at[k] - 0.5 * (f->count[k] - 1));
      }
  for (int x = 0; x + 1 < f->count[0]; x++)
    for (int y = 0; y + 1 < f->count[1] + (f->dim < 2); y++)
      for (int z = 0; z + 1 < f->count[2] + (f->dim < 3); z++) add_grid_cell(f, x, y, z);
}

static char *file_path(flex *f)
{
  const char *file = xml_input_attribute(f->node, "file");
  const mjcf_compiler *c = mjcf_compiler_of(f->m, f->node);
  char *path = file ? mjcf_asset_path(f->m, f->node, c->mesh_dir ? c->mesh_dir : c->asset_dir, file) : NULL;
  if (!path) fail(f, file ? "no memory" : "this type needs the attribute file");
  return path;
}

static void take_status(flex *f, sb_status status)
{
  if (status == SB_OK) return;
  f->failed = true;
  f->m->in->errors++;
  if (f->m->in->status == SB_OK) f->m->in->status = status;
}

static void make_mesh(flex *f)
{
  const double scale[3] = {1, 1, 1};
  mesh surface = {0};
  xml_place place;
  if (f->dim != 2) {
    fail(f, "a mesh has triangles, so dim must be 2; solids come from a Gmsh file (type gmsh)");
    return;
  }
  char *path = file_path(f);
  if (path) take_status(f, mesh_file_read(path, xml_input_where(f->m->in, f->node, &place), &f->m->mesh_bytes, scale, &surface, f->m->in->diag));
  if (!f->failed && take_points(f, surface.vertex_count)) {
    memcpy(f->point, surface.vertex, 3 * (size_t)surface.vertex_count * sizeof *f->point);
    for (uint32_t t = 0; t < surface.triangle_count; t++) {
      const uint32_t *c = surface.corner + 3 * (size_t)t;
      const int32_t tri[3] = {(int32_t)c[0], (int32_t)c[1], (int32_t)c[2]};
      add_element(f, tri);
    }
  }
  mesh_clear(&surface);
  free(path);
}

static void make_gmsh(flex *f)
{
  gmsh_mesh g = {0};
  xml_place place;
  char *path = file_path(f);
  if (path) take_status(f, gmsh_file_read(path, xml_input_where(f->m->in, f->node, &place), &f->m->mesh_bytes, f->dim, &g, f->m->in->diag));
  if (!f->failed && take_points(f, g.points)) {
    memcpy(f->point, g.point, 3 * (size_t)g.points * sizeof *f->point);
    for (uint32_t e = 0; e < g.elements; e++) add_element(f, g.element + (size_t)e * ((size_t)f->dim + 1));
  }
  gmsh_clear(&g);
  free(path);
}

/* Numbers of an attribute, however many; NULL after an error. */
static double *list_of(flex *f, const xmlNode *node, const char *name, size_t *count)
{
  const char *text = xml_input_attribute(node, name);
  double *values = text ? malloc((strlen(text) / 2 + 1) * sizeof *values) : NULL;
  long found = values ? scene_parse_numbers(text, values, strlen(text) / 2 + 1) : -1;
  if (found > 0) {
    *count = (size_t)found;
    return values;
  }
  free(values);
  xml_input_error(f->m->in, node, SB_CODE_SCENE_NUMBER, "%s: expected finite decimal numbers", name);
  f->failed = true;
  return NULL;
}

static void make_direct(flex *f)
{
  size_t numbers = 0, indices = 0, n = (size_t)f->dim + 1;
  double *at = list_of(f, f->node, "point", &numbers), *of = at ? list_of(f, f->node, "element", &indices) : NULL;
  if (of && (numbers % 3 || indices % n)) fail(f, "point needs three numbers for each point, element dim + 1 for each element");
  if (of && !f->failed && take_points(f, (uint32_t)(numbers / 3))) {
    memcpy(f->point, at, numbers * sizeof *at);
    for (size_t i = 0; i < indices && !f->failed; i += n) {
      int32_t p[4];
      for (size_t k = 0; k < n; k++) {
        bool known = of[i + k] >= 0 && of[i + k] < (double)f->points && of[i + k] == (double)(uint32_t)of[i + k];
        if (!known) fail(f, "element names a point that is not there");
        p[k] = known ? (int32_t)of[i + k] : 0;
      }
      add_element(f, p);
    }
  }
  free(at);
  free(of);
}

/* --- pins --- */

static void pin(flex *f, const xmlNode *node, double index)
{
  if (index >= 0 && index < (double)f->points && index == (double)(uint32_t)index)
    f->pinned[(uint32_t)index] = 1;
  else if (!f->failed) {
    xml_input_error(f->m->in, node, SB_CODE_SCENE_VALUE, "pin: there is no point %g; they count from 0 to %u", index, f->points - 1);
    f->failed = true;
  }
}

/* Grid coordinates, dim numbers each, or with `ranges` from the first to the second of each two. */
static void pin_grid(flex *f, const xmlNode *node, const char *name, bool ranges)
{
  size_t count, n = (size_t)f->dim * (ranges ? 2 : 1);
  double *v = list_of(f, node, name, &count);
  if (v && (!f->count[0] || count % n)) fail(f, "pins by grid need a grid, and dim numbers for each point");
  for (size_t i = 0; v && !f->failed && i < count; i += n) {
    double low[3] = {0}, high[3] = {0};
    for (int k = 0; k < f->dim; k++) {
      low[k] = v[i + (size_t)k], high[k] = v[i + (ranges ? (size_t)f->dim : 0) + (size_t)k];
      if (!(low[k] >= 0 && high[k] < f->count[k])) fail(f, "a pin is outside the grid");
      if (low[k] > high[k]) fail(f, "gridrange needs its least corner first, then its greatest");
    }
    for (int x = (int)low[0]; !f->failed && x <= (int)high[0]; x++)
      for (int y = (int)low[1]; y <= (int)high[1]; y++)
        for (int z = (int)low[2]; z <= (int)high[2]; z++) pin(f, node, grid_index(f, x, y, z));
  }
  free(v);
}

static void read_pins(flex *f)
{
  for (xmlNode *c = xml_input_element(f->node->children); c; c = xml_input_element(c->next)) {
    size_t count;
    if (!xml_is(c, "pin")) continue;
    if (!xml_input_attribute(c, "id") && !xml_input_attribute(c, "range") && !xml_input_attribute(c, "grid") && !xml_input_attribute(c, "gridrange"))
      fail(f, "a pin needs id, range, grid or gridrange");
    double *id = xml_input_attribute(c, "id") ? list_of(f, c, "id", &count) : NULL;
    for (size_t i = 0; id && i < count; i++) pin(f, c, id[i]);
    free(id);
    double *range = xml_input_attribute(c, "range") ? list_of(f, c, "range", &count) : NULL;
    if (range && count % 2) fail(f, "range of a pin needs pairs, the first and the last point of each");
    for (size_t i = 0; range && i + 1 < count; i += 2)
      if (range[i] > range[i + 1]) fail(f, "range of a pin needs the first point before the last one");
    for (size_t i = 0; range && i + 1 < count; i += 2)
      for (double k = range[i]; !f->failed && k <= range[i + 1]; k += 1) pin(f, c, k);
    free(range);
    if (xml_input_attribute(c, "grid")) pin_grid(f, c, "grid", false);
    if (xml_input_attribute(c, "gridrange")) pin_grid(f, c, "gridrange", true);
  }
}

/* --- material --- */

/* Points that an element ties together, each once. */
static int compare_edges(const void *pa, const void *pb)
{
  const int32_t *a = pa, *b = pb;
  if (a[0] != b[0]) return a[0] < b[0] ? -1 : 1;
  return a[1] < b[1] ? -1 : a[1] > b[1];
}

static void add_springs(flex *f, double stiffness, double damping)
{
  size_t n = (size_t)f->dim + 1, count = 0;
  int32_t(*edge)[2] = malloc(((size_t)f->elements * n * (n - 1) / 2 + 1) * sizeof *edge);
  if (!edge) fail(f, "no memory");
  for (uint32_t e = 0; edge && e < f->elements; e++)
    for (size_t i = 0; i < n; i++)
      for (size_t k = i + 1; k < n; k++, count++) {
        int32_t a = f->element[e * n + i], b = f->element[e * n + k];
        edge[count][0] = a < b ? a : b, edge[count][1] = a < b ? b : a;
      }
  if (edge) qsort(edge, count, sizeof *edge, compare_edges); /* equal ones are alike */
  for (size_t i = 0; edge && i < count; i++) {
    if (i && !compare_edges(edge[i], edge[i - 1])) continue;
    double d[3];
    for (int k = 0; k < 3; k++) d[k] = f->point[3 * (size_t)edge[i][1] + k] - f->point[3 * (size_t)edge[i][0] + k];
    const sb_build_spring s = {{f->first + edge[i][0], f->first + edge[i][1]}, cook_length(d), stiffness, damping};
    sb_builder_add_spring(f->m->builder, &s);
  }
  free(edge);
}

typedef struct flex_material {
  double young, poisson, damping, thickness;
  bool stretch, bend; /* of cloth */
} flex_material;

static flex_material read_elasticity(flex *f)
{
  static const char *const in_plane[] = {"none", "bend", "stretch", "both", NULL};
  flex_material e = {0, 0, 0, -1, false, false};
  const xmlNode *node = child_of(f, "elasticity");
  if (!node) return e;
  const mjcf_source s = {f->m, node, MJCF_NONE, -1};
  mjcf_number_from(&s, "young", 0.0, &e.young);
  mjcf_number_from(&s, "poisson", 0.0, &e.poisson);
  mjcf_number_from(&s, "damping", 0.0, &e.damping);
  mjcf_numbers(&s, "thickness", &e.thickness, 1);
  int which = mjcf_word(&s, "elastic2d", in_plane, 0);
  e.bend = (which & 1) != 0, e.stretch = (which & 2) != 0;
  if (e.poisson >= 0.5) fail(f, "poisson must be below 0.5");
  if (f->dim == 2 && (e.bend || e.stretch) && !(e.thickness > 0.0)) fail(f, "elastic cloth needs a thickness above 0");
  return e;
}

/* A face by its particles in ascending order, and as it is seen from outside. */
typedef struct key_face {
  int32_t key[3], tri[3];
} key_face;

static key_face key_face_of(const int32_t tri[3])
{
  key_face f;
  memcpy(f.tri, tri, sizeof f.tri);
  memcpy(f.key, tri, sizeof f.key);
  for (int i = 1; i < 3; i++)
    for (int k = i; k > 0 && f.key[k - 1] > f.key[k]; k--) {
      int32_t high = f.key[k - 1];
      f.key[k - 1] = f.key[k], f.key[k] = high;
    }
  return f;
}

static int compare_faces(const void *pa, const void *pb)
{
  const key_face *a = pa, *b = pb;
  for (int k = 0; k < 3; k++)
    if (a->key[k] != b->key[k]) return a->key[k] < b->key[k] ? -1 : 1;
  return 0; /* both are left out */
}

static bool same_face(const key_face *a, const key_face *b) { return compare_faces(a, b) == 0; }

/* Triangles on the outside of the tetrahedra: faces that one alone has. */
static void add_skin(flex *f, deformable_surface *s)
{
  static const int side[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
  key_face *faces = malloc((4 * (size_t)f->elements + 1) * sizeof *faces);
  size_t count = 0;
  if (!faces) fail(f, "no memory");
  for (uint32_t e = 0; faces && e < f->elements; e++) {
    int32_t c[4];
    double x[4][3], pose[9], volume;
    for (int k = 0; k < 4; k++) {
      c[k] = f->first + f->element[4 * (size_t)e + (size_t)k];
      sb_builder_particle_q(f->m->builder, c[k], x[k]);
    }
    bool turned = !cook_tet_rest(x[0], x[1], x[2], x[3], pose, &volume);
    for (int k = 0; k < 4; k++) {
      const int32_t tri[3] = {c[side[k][0]], c[side[k][turned ? 2 : 1]], c[side[k][turned ? 1 : 2]]};
      faces[count++] = key_face_of(tri);
    }
  }
  if (faces) qsort(faces, count, sizeof *faces, compare_faces);
  for (size_t i = 0; faces && i < count; i++) {
    bool shared = (i && same_face(&faces[i], &faces[i - 1])) || (i + 1 < count && same_face(&faces[i], &faces[i + 1]));
    if (!shared && !deformable_surface_add(s, faces[i].tri)) fail(f, "no memory");
  }
  free(faces);
}

static void add_solid(flex *f, const flex_material *e)
{
  double nu = e->poisson > 0.01 ? e->poisson : 0.01, mu = e->young / (2.0 * (1.0 + nu));
  for (uint32_t i = 0; e->young > 0.0 && i < f->elements && !f->failed; i++) {
    sb_build_tet t = {.k_mu = mu, .k_lambda = e->young * nu / ((1.0 + nu) * (1.0 - 2.0 * nu)), .k_damp = e->damping * mu};
    for (int k = 0; k < 4; k++) t.particle[k] = f->first + f->element[4 * (size_t)i + (size_t)k];
    if (!deformable_add_tet(f->m->builder, &t)) fail(f, "a tetrahedron has no volume");
  }
  deformable_surface s = {0};
  add_skin(f, &s);
  int32_t bad;
  if (!deformable_surface_build(&s, f->m->builder, &bad)) fail(f, bad < 0 ? "no memory" : "a face has no area");
}

static void add_sheet(flex *f, const flex_material *e)
{
  double t = e->thickness, nu = e->poisson, stretch = e->stretch ? e->young * t : 0.0;
  deformable_surface s = {.ke = stretch / (2.0 * (1.0 + nu)), .ka = stretch * nu / (1.0 - nu * nu), .regular = f->count[0] != 0};
  s.kd = 2.0 * e->damping * s.ke;
  s.rigidity = e->bend ? e->young * t * t * t / (12.0 * (1.0 - nu * nu)) : 0.0;
  s.bending_kd = e->damping * s.rigidity;
  for (uint32_t i = 0; i < f->elements; i++) {
    const int32_t *p = f->element + 3 * (size_t)i, tri[3] = {f->first + p[0], f->first + p[1], f->first + p[2]};
    if (!deformable_surface_add(&s, tri)) fail(f, "no memory");
  }
  int32_t bad;
  if (!deformable_surface_build(&s, f->m->builder, &bad)) fail(f, bad < 0 ? "no memory" : "a triangle has no area");
}

static void add_edges(flex *f)
{
  const xmlNode *node = child_of(f, "edge");
  if (!node) return;
  const mjcf_source s = {f->m, node, MJCF_NONE, -1};
  double stiffness = 0, damping = 0;
  mjcf_number_from(&s, "stiffness", 0.0, &stiffness);
  mjcf_number_from(&s, "damping", 0.0, &damping);
  if (mjcf_flag(&s, "equality", MJCF_FALSE) == MJCF_TRUE)
    add_springs(f, SB_NO_LIMIT, damping);
  else if (stiffness > 0.0 || damping > 0.0)
    add_springs(f, stiffness, damping);
}

/* --- the whole --- */

static sb_build_deformable read_contact(flex *f)
{
  static const char *const selfcollide[] = {"none", "narrow", "bvh", "sap", "auto", NULL};
  sb_build_deformable d = sb_build_deformable_default();
  const xmlNode *node = child_of(f, "contact");
  double friction[3] = {1.0, 0.005, 0.0001};
  int self = 4;
  if (node) {
    const mjcf_source s = {f->m, node, MJCF_NONE, -1};
    size_t found;
    mjcf_some_numbers(&s, "friction", friction, 1, 3, &found);
    mjcf_number_from(&s, "margin", 0.0, &d.margin);
    mjcf_mask(&s, "contype", &d.contype);
    mjcf_mask(&s, "conaffinity", &d.conaffinity);
    self = mjcf_word(&s, "selfcollide", selfcollide, 4);
  }
  d.friction = friction[0];
  d.flags = self ? SB_DEFORMABLE_SELF_CONTACT : 0;
  return d;
}

/* Points to the world; particles, pinned there or held by the body. */
static void add_particles(flex *f, const mjcf_flex *where)
{
  const mjcf_source s = {f->m, f->node, MJCF_NONE, -1};
  double mass = 1.0, scale[3] = {1, 1, 1}, rest[7], X[7], in_body[7];
  mjcf_number_from(&s, "mass", 1e-12, &mass);
  mjcf_numbers(&s, "scale", scale, 3);
  scene_tree_rest_pose(&f->m->tree, where->link, rest);
  cook_pose_mul(rest, where->X, X);
  int32_t body = scene_tree_body(&f->m->tree, where->link, in_body);
  f->first = sb_builder_particle_count(f->m->builder);
  for (uint32_t i = 0; i < f->points; i++) {
    double *at = f->point + 3 * (size_t)i, local[3];
    for (int k = 0; k < 3; k++) at[k] *= scale[k];
    cook_pose_point(where->X, at, local);
    cook_pose_point(X, at, at);
    sb_build_particle p = {.q = {at[0], at[1], at[2]}, .mass = mass / f->points, .radius = f->radius, .pinned = f->pinned[i] && body < 0};
    sb_builder_add_particle(f->m->builder, &p);
    if (!f->pinned[i] || body < 0) continue;
    sb_build_attachment held = {.particle = f->first + (int32_t)i, .body = body, .stiffness = SB_NO_LIMIT};
    cook_pose_point(in_body, local, held.point);
    sb_builder_add_attachment(f->m->builder, &held);
  }
}

static void build_flex(mjcf *m, const mjcf_flex *where)
{
  static const char *const types[] = {"grid", "mesh", "gmsh", "direct", NULL};
  static void (*const makers[])(flex *) = {make_grid, make_mesh, make_gmsh, make_direct};
  flex f = {.m = m, .node = where->node, .radius = 0.005};
  const mjcf_source s = {m, where->node, MJCF_NONE, -1};
  double dim = 2;
  int type = mjcf_word(&s, "type", types, 0);
  mjcf_numbers(&s, "dim", &dim, 1);
  mjcf_number_from(&s, "radius", 0.0, &f.radius);
  f.dim = dim == 1 || dim == 2 || dim == 3 ? (int)dim : 0;
  if (!f.dim) fail(&f, "dim must be 1, 2 or 3");
  if (!f.failed) makers[type < 0 ? 0 : type](&f);
  if (!f.failed && f.points == 0) fail(&f, "it has no points");
  if (!f.failed) read_pins(&f);
  flex_material e = read_elasticity(&f);
  if (!f.failed) {
    const sb_build_deformable d = read_contact(&f);
    sb_builder_add_deformable(m->builder, &d, xml_input_attribute(where->node, "name"));
    add_particles(&f, where);
    add_edges(&f);
    if (f.dim == 2) add_sheet(&f, &e);
    if (f.dim == 3) add_solid(&f, &e);
  }
  free(f.point);
  free(f.pinned);
  free(f.element);
}

void mjcf_note_flex(mjcf *m, const xmlNode *node, int32_t link, const double frame[7])
{
  const mjcf_source s = {m, node, MJCF_NONE, -1};
  double local[7];
  for (xmlNode *c = xml_input_element(node->children); c; c = xml_input_element(c->next)) mjcf_check_in(m, c, MJCF_IN_FLEX);
  mjcf_flex *grown = realloc(m->flexes, ((size_t)m->flex_count + 1) * sizeof *grown);
  if (!grown) {
    xml_input_error(m->in, node, SB_CODE_MEMORY, "no memory for the scene");
    return;
  }
  m->flexes = grown;
  mjcf_flex *f = &m->flexes[m->flex_count++];
  *f = (mjcf_flex){.node = node, .link = link};
  mjcf_pose(&s, local);
  cook_pose_mul(frame, local, f->X);
}

void mjcf_read_flexes(mjcf *m)
{
  for (uint32_t i = 0; i < m->flex_count && m->in->status == SB_OK; i++) build_flex(m, &m->flexes[i]);
}
