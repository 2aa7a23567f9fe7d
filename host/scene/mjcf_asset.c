/* Assets of MJCF that shapes are made of: meshes and heightfields. */
#include "cook_math.h"
#include "mesh_file.h"
#include "mjcf.h"
#include "scene_number.h"

#include <stdlib.h>
#include <string.h>

#define MAX_HFIELDS 4096u

static void no_memory(mjcf *m, const xmlNode *node)
{
  xml_input_error(m->in, node, SB_CODE_MEMORY, "no memory for the scene");
}

/* The part of a path behind its folders. */
static const char *base_of(const char *path)
{
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/* Path of an asset's file; NULL after an error. */
static char *path_of(mjcf *m, const xmlNode *node, const char *folder, const char *file)
{
  const mjcf_compiler *c = mjcf_compiler_of(m, node);
  char *path = mjcf_asset_path(m, node, folder ? folder : c->asset_dir, c->strip_path ? base_of(file) : file);
  if (!path) no_memory(m, node);
  return path;
}

/* The name of an asset; one without a name gets that of its file, without folders and ending. NULL when it has neither. */
static const char *asset_name(xmlNode *node)
{
  const char *name = xml_input_attribute(node, "name"), *file = xml_input_attribute(node, "file");
  if ((name && *name) || !file) return name && *name ? name : NULL;
  char base[256];
  file = base_of(file);
  const char *dot = strrchr(file, '.');
  size_t n = dot && dot > file ? (size_t)(dot - file) : strlen(file);
  if (n > sizeof base - 1) n = sizeof base - 1;
  memcpy(base, file, n);
  base[n] = 0;
  xmlSetProp(node, (const xmlChar *)"name", (const xmlChar *)base);
  name = xml_input_attribute(node, "name");
  return name && *name ? name : NULL;
}

static void fail(mjcf *m, sb_status status)
{
  m->in->errors++;
  if (m->in->status == SB_OK) m->in->status = status;
}

/* Numbers of an attribute, however many; NULL after an error or without the attribute. */
static double *all_numbers(mjcf *m, const xmlNode *node, const char *name, size_t *count)
{
  const char *text = xml_input_attribute(node, name);
  *count = 0;
  if (!text) return NULL;
  size_t most = strlen(text) / 2 + 1;
  double *values = malloc(most * sizeof *values);
  long found = values ? scene_parse_numbers(text, values, most) : -1;
  if (!values) no_memory(m, node);
  if (values && found <= 0)
    xml_input_error(m->in, node, SB_CODE_SCENE_NUMBER, "%s: expected finite decimal numbers, found '%.40s'", name, text);
  if (found > 0) {
    *count = (size_t)found;
    return values;
  }
  free(values);
  return NULL;
}

/* Meshes ----------------------------------------------------------------------------------------------------------- */

static bool add_vertices(mjcf *m, const xmlNode *node, const double scale[3], mesh *out)
{
  size_t count;
  double *v = all_numbers(m, node, "vertex", &count);
  if (!v) return false;
  bool good = count % 3 == 0 && count >= 12;
  if (!good)
    xml_input_error(m->in, node, SB_CODE_SCENE_MESH, "vertex: expected three numbers for each of at least 4 vertices, found %zu numbers", count);
  for (size_t i = 0; good && i + 2 < count; i += 3) {
    const double at[3] = {v[i] * scale[0], v[i + 1] * scale[1], v[i + 2] * scale[2]};
    good = mesh_add_vertex(out, at);
    if (!good) no_memory(m, node);
  }
  free(v);
  return good;
}

static bool add_faces(mjcf *m, const xmlNode *node, mesh *out)
{
  size_t count;
  double *v = all_numbers(m, node, "face", &count);
  if (!v) return false;
  bool good = count % 3 == 0;
  for (size_t i = 0; i < count; i++) good = good && v[i] >= 0.0 && v[i] < (double)out->vertex_count && v[i] == (double)(uint32_t)v[i];
  if (!good) xml_input_error(m->in, node, SB_CODE_SCENE_MESH, "face: expected three numbers of vertices below %u for each", out->vertex_count);
  for (size_t i = 0; good && i + 2 < count; i += 3) {
    good = mesh_add_triangle(out, (uint32_t)v[i], (uint32_t)v[i + 1], (uint32_t)v[i + 2]);
    if (!good) no_memory(m, node);
  }
  free(v);
  return good;
}

/* Vertices without faces stand for their hull. */
static bool become_hull(mjcf *m, const xmlNode *node, mesh *points)
{
  mesh hull;
  double left_out;
  hull_result result = hull_build(points, SB_HULL_MAX_VERTICES, &hull, &left_out);
  if (result == HULL_FLAT)
    xml_input_error(m->in, node, SB_CODE_SCENE_MESH, "vertex: the points lie in a plane or closer; a hull needs volume");
  if (result == HULL_NO_MEMORY) no_memory(m, node);
  mesh_clear(points);
  *points = hull;
  return result == HULL_GOOD;
}

static bool read_triangles(mjcf *m, const xmlNode *node, const double scale[3], mesh *out)
{
  const char *file = xml_input_attribute(node, "file");
  if (!file || !*file) {
    if (!xml_input_attribute(node, "vertex")) {
      xml_input_error(m->in, node, SB_CODE_SCENE_ATTRIBUTE, "<mesh> needs the attribute file or vertex");
      return false;
    }
    if (!add_vertices(m, node, scale, out)) return false;
    bool faces = xml_input_attribute(node, "face") != NULL;
    if (faces && !add_faces(m, node, out)) return false;
    if (!mesh_weld(out)) {
      no_memory(m, node);
      return false;
    }
    return faces || become_hull(m, node, out);
  }
  char *path = path_of(m, node, mjcf_compiler_of(m, node)->mesh_dir, file);
  if (!path) return false;
  xml_place place;
  sb_status status = mesh_file_read(path, xml_input_where(m->in, node, &place), &m->mesh_bytes, scale, out, m->in->diag);
  free(path);
  if (status != SB_OK) fail(m, status);
  return status == SB_OK;
}

static void read_mesh(mjcf *m, xmlNode *node)
{
  const mjcf_source s = mjcf_source_of(m, node, MJCF_MESH, 0);
  double scale[3] = {1.0, 1.0, 1.0};
  const char *name = asset_name(node);
  mesh triangles = {0};
  mjcf_numbers(&s, "scale", scale, 3);
  if (!name) {
    xml_input_error(m->in, node, SB_CODE_SCENE_ATTRIBUTE, "<mesh> needs a name or a file");
    return;
  }
  if (!read_triangles(m, node, scale, &triangles)) {
    mesh_clear(&triangles);
    return;
  }
  if (scale[0] * scale[1] * scale[2] < 0.0 && (xml_input_attribute(node, "file") || xml_input_attribute(node, "face"))) mesh_flip(&triangles);
  scene_tree_add_mesh(&m->tree, node, name, &triangles);
}

/* Index behind the name that a geom's attribute gives; -1 after an error. */
static int32_t refer(const mjcf_source *s, const char *attribute, const name_map *map)
{
  const xmlNode *at;
  int level;
  const char *name = mjcf_text(s, attribute, &at, &level);
  if (!name) {
    xml_input_error(s->m->in, s->node, SB_CODE_SCENE_ATTRIBUTE, "a geom of type %s needs the attribute %s", attribute, attribute);
    return -1;
  }
  int32_t index = name_map_find(map, name);
  if (index >= 0 || s->m->in->errors >= XML_INPUT_MAX_ERRORS) return index;
  const char *near = name_map_nearest(map, name);
  xml_input_error(s->m->in, at, SB_CODE_SCENE_REFERENCE, "%s: there is no %s '%.80s'%s%.80s%s", attribute, attribute, name,
                  near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
  return -1;
}

bool mjcf_mesh_of(const mjcf_source *s, int32_t *index)
{
  *index = refer(s, "mesh", &s->m->tree.mesh_names);
  return *index >= 0;
}

/* Heightfields ----------------------------------------------------------------------------------------------------- */

/* MuJoCo's own rule: heights count from the lowest, in units of the range. */
static void normalise(double *height, size_t count)
{
  double lo = height[0], hi = height[0];
  for (size_t i = 1; i < count; i++) {
    lo = height[i] < lo ? height[i] : lo;
    hi = height[i] > hi ? height[i] : hi;
  }
  for (size_t i = 0; i < count; i++) height[i] = hi > lo ? (height[i] - lo) / (hi - lo) : 0.0;
}

static bool read_counts(mjcf *m, const xmlNode *node, mjcf_hfield *h)
{
  double rows = 0.0, columns = 0.0;
  const mjcf_source s = {m, node, MJCF_NONE, -1};
  mjcf_numbers(&s, "nrow", &rows, 1);
  mjcf_numbers(&s, "ncol", &columns, 1);
  if (!(rows >= 2.0 && columns >= 2.0 && rows <= 1.0e6 && columns <= 1.0e6 && rows * columns <= 1.6e7)) {
    xml_input_error(m->in, node, SB_CODE_SCENE_MESH, "nrow, ncol: expected 2 or more and at most 16000000 heights, found %g and %g", rows, columns);
    return false;
  }
  h->rows = (uint32_t)rows;
  h->columns = (uint32_t)columns;
  return true;
}

/* Elevations in the file's text begin with the row at the largest y; binary files with that at the smallest. */
static bool read_elevation(mjcf *m, const xmlNode *node, mjcf_hfield *h)
{
  if (!read_counts(m, node, h)) return false;
  size_t want = (size_t)h->rows * h->columns, count;
  h->height = calloc(want, sizeof *h->height);
  if (!h->height) {
    no_memory(m, node);
    return false;
  }
  if (!xml_input_attribute(node, "elevation")) return true;
  double *read = all_numbers(m, node, "elevation", &count);
  bool good = read && count == want;
  if (read && !good) xml_input_error(m->in, node, SB_CODE_SCENE_MESH, "elevation: expected nrow * ncol = %zu numbers, found %zu", want, count);
  for (uint32_t r = 0; good && r < h->rows; r++)
    memcpy(h->height + (size_t)(h->rows - 1 - r) * h->columns, read + (size_t)r * h->columns, h->columns * sizeof *read);
  free(read);
  return good;
}

static bool read_heights(mjcf *m, const xmlNode *node, mjcf_hfield *h)
{
  const char *file = xml_input_attribute(node, "file");
  if (!file || !*file) return read_elevation(m, node, h);
  size_t n = strlen(file);
  if (n > 4 && !strcmp(file + n - 4, ".png")) {
    xml_input_error(m->in, node, SB_CODE_SCENE_MESH, "file: '%.200s' is an image; give the heights as a binary file or in elevation", file);
    return false;
  }
  char *path = path_of(m, node, NULL, file);
  if (!path) return false;
  xml_place place;
  sb_status status = height_file_read(path, xml_input_where(m->in, node, &place), &m->mesh_bytes, &h->rows, &h->columns, &h->height, m->in->diag);
  free(path);
  if (status != SB_OK) fail(m, status);
  return status == SB_OK;
}

static void read_hfield(mjcf *m, xmlNode *node)
{
  const mjcf_source s = {m, node, MJCF_NONE, -1};
  if (m->hfield_count >= MAX_HFIELDS) {
    xml_input_error(m->in, node, SB_CODE_SCENE_LIMIT, "a scene may have %u heightfields", (unsigned)MAX_HFIELDS);
    return;
  }
  mjcf_hfield *grown = realloc(m->hfields, (m->hfield_count + 1) * sizeof *grown);
  if (!grown) {
    no_memory(m, node);
    return;
  }
  m->hfields = grown;
  mjcf_hfield *h = &m->hfields[m->hfield_count];
  *h = (mjcf_hfield){0};
  const char *name = asset_name(node);
  if (!name || !mjcf_numbers(&s, "size", h->size, 4)) {
    xml_input_error(m->in, node, SB_CODE_SCENE_ATTRIBUTE, "<hfield> needs a name or a file, and size with 4 numbers");
    return;
  }
  if (!(h->size[0] > 0.0 && h->size[1] > 0.0 && h->size[2] > 0.0)) {
    xml_input_error(m->in, node, SB_CODE_SCENE_VALUE, "size: expected numbers above 0, found %g %g %g", h->size[0], h->size[1], h->size[2]);
    return;
  }
  bool good = read_heights(m, node, h);
  name_map_result added = good ? name_map_add(&m->hfield_names, name, (int32_t)m->hfield_count) : NAME_MAP_ADDED;
  if (added == NAME_MAP_TWICE) xml_input_error(m->in, node, SB_CODE_SCENE_DUPLICATE, "the hfield name '%.80s' is used twice", name);
  if (added == NAME_MAP_NO_MEMORY) no_memory(m, node);
  if (!good) {
    free(h->height);
    return;
  }
  normalise(h->height, (size_t)h->rows * h->columns);
  m->hfield_count++;
}

bool mjcf_hfield_shape(const mjcf_source *s, sb_build_shape *shape)
{
  int32_t index = refer(s, "hfield", &s->m->hfield_names);
  if (index < 0) return false;
  mjcf_hfield *h = &s->m->hfields[index];
  if (!h->placed) {
    size_t count = (size_t)h->rows * h->columns;
    for (size_t i = 0; i < count; i++) h->height[i] *= h->size[2];
    if (geometry_add_hfield(s->m->builder, h->rows, h->columns, h->size[0], h->size[1], h->height, &h->place) != GEOMETRY_GOOD) {
      no_memory(s->m, s->node);
      return false;
    }
    h->placed = true;
  }
  double centre[7];
  cook_pose_identity(centre);
  memcpy(centre, h->place.centre, sizeof h->place.centre);
  cook_pose_mul(shape->X, centre, shape->X);
  memcpy(shape->size, h->place.half, sizeof shape->size);
  shape->geometry = h->place.index;
  return true;
}

void mjcf_read_assets(mjcf *m)
{
  for (xmlNode *c = xml_input_element(m->root->children); c; c = xml_input_element(c->next)) {
    if (!xml_is(c, "asset") || !mjcf_check(m, c)) continue;
    for (xmlNode *a = xml_input_element(c->children); a; a = xml_input_element(a->next)) {
      if (!mjcf_check(m, a)) continue;
      if (xml_is(a, "mesh")) read_mesh(m, a);
      if (xml_is(a, "hfield")) read_hfield(m, a);
    }
  }
}

void mjcf_assets_clear(mjcf *m)
{
  for (uint32_t i = 0; i < m->hfield_count; i++) free(m->hfields[i].height);
  free(m->hfields);
  name_map_clear(&m->hfield_names);
}
