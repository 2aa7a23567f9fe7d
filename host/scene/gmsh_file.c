/* Reads meshes of Gmsh. Knows scene_file.h and scene_number.h. */
#include "gmsh_file.h"

#include "scene_file.h"
#include "scene_number.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_NODES 4000000.0

typedef struct gmsh_reader {
  const char *at;
  const char *path;
  sb_diagnostics *diag;
  uint32_t line;
  bool failed;
  double *tag; /* of each point */
  uint32_t capacity;
} gmsh_reader;

void gmsh_clear(gmsh_mesh *m)
{
  free(m->point);
  free(m->element);
  *m = (gmsh_mesh){0};
}

static void fail(gmsh_reader *r, const char *message)
{
  char where[512];
  if (r->failed) return;
  r->failed = true;
  snprintf(where, sizeof where, "%.400s:%u", r->path, r->line);
  sb_report(r->diag, SB_ERROR, SB_CODE_SCENE_MESH, where, "Gmsh: %s", message);
}

static void skip_blanks(gmsh_reader *r)
{
  for (; *r->at == ' ' || *r->at == '\t' || *r->at == '\r' || *r->at == '\n'; r->at++) r->line += *r->at == '\n';
}

/* The next number, 0 after an error. */
static double number(gmsh_reader *r)
{
  double value = 0;
  const char *end;
  skip_blanks(r);
  if (r->failed) return 0;
  if (!scene_parse_number(r->at, &end, &value)) {
    fail(r, "expected a number");
    return 0;
  }
  r->at = end;
  return value;
}

static uint32_t whole(gmsh_reader *r)
{
  double value = number(r);
  if (!(value >= 0 && value <= 4e9 && value == (double)(uint32_t)value)) fail(r, "expected a whole number from 0");
  return r->failed ? 0 : (uint32_t)value;
}

/* Goes behind the line of a section's name. */
static bool find_section(gmsh_reader *r, const char *start, const char *name)
{
  size_t n = strlen(name);
  r->line = 1;
  for (r->at = start; *r->at;) {
    bool here = !strncmp(r->at, name, n) && (r->at[n] == '\n' || r->at[n] == '\r');
    const char *end = strchr(r->at, '\n');
    if (!end) return false;
    r->at = end + 1;
    r->line++;
    if (here) return true;
  }
  return false;
}

static void add_point(gmsh_reader *r, gmsh_mesh *m, double tag, const double at[3])
{
  if (r->failed) return;
  r->tag[m->points] = tag;
  memcpy(m->point + 3 * (size_t)m->points++, at, 3 * sizeof *at);
}

static bool reserve_points(gmsh_reader *r, gmsh_mesh *m, double count)
{
  if (r->failed) return false;
  if (!(count >= 1 && count <= MAX_NODES)) {
    fail(r, "expected 1 to 4000000 nodes");
    return false;
  }
  r->capacity = (uint32_t)count;
  m->point = malloc(3 * (size_t)r->capacity * sizeof *m->point);
  r->tag = malloc(r->capacity * sizeof *r->tag);
  if (!m->point || !r->tag) fail(r, "no memory");
  return !r->failed;
}

static void read_nodes_2(gmsh_reader *r, gmsh_mesh *m)
{
  uint32_t count = whole(r);
  if (!reserve_points(r, m, count)) return;
  for (uint32_t i = 0; i < count && !r->failed; i++) {
    double tag = whole(r), at[3];
    for (int k = 0; k < 3; k++) at[k] = number(r);
    add_point(r, m, tag, at);
  }
}

static void read_nodes_4(gmsh_reader *r, gmsh_mesh *m)
{
  uint32_t blocks = whole(r), count = whole(r);
  whole(r), whole(r);
  if (!reserve_points(r, m, count)) return;
  for (uint32_t b = 0; b < blocks && !r->failed; b++) {
    whole(r), number(r);
    uint32_t parametric = whole(r), n = whole(r), first = m->points;
    if (parametric) fail(r, "parametric nodes are not supported");
    if (n > r->capacity - m->points) fail(r, "more nodes than announced");
    for (uint32_t i = 0; i < n && !r->failed; i++) r->tag[first + i] = whole(r);
    for (uint32_t i = 0; i < n && !r->failed; i++) {
      double at[3];
      for (int k = 0; k < 3; k++) at[k] = number(r);
      add_point(r, m, r->tag[first + i], at);
    }
  }
}

/* Place of a node, by tags that mostly ascend. */
static int32_t node_of(gmsh_reader *r, const gmsh_mesh *m, const uint32_t *order, double tag)
{
  uint32_t low = 0, high = m->points;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (r->tag[order[middle]] < tag)
      low = middle + 1;
    else
      high = middle;
  }
  if (low < m->points && r->tag[order[low]] == tag) return (int32_t)order[low];
  fail(r, "an element names a node that is not there");
  return 0;
}

/* Nodes of an element of a type; 0 for unknown types. */
static uint32_t nodes_of_type(uint32_t type)
{
  static const uint8_t nodes[20] = {0, 2, 3, 4, 4, 8, 6, 5, 3, 6, 9, 10, 27, 18, 14, 1, 8, 20, 15, 13};
  return type < 20 ? nodes[type] : 0;
}

static void add_element(gmsh_reader *r, gmsh_mesh *m, int dim, uint32_t type, const uint32_t *order)
{
  static const uint32_t wanted[4] = {0, 1, 2, 4};
  uint32_t n = nodes_of_type(type);
  if (n == 0) fail(r, "unknown type of element");
  for (uint32_t k = 0; k < n && !r->failed; k++) {
    double tag = whole(r);
    if (type == wanted[dim] && !r->failed) m->element[(size_t)m->elements * n + k] = node_of(r, m, order, tag);
  }
  if (type == wanted[dim] && !r->failed) m->elements++;
}

static void read_elements(gmsh_reader *r, gmsh_mesh *m, int dim, bool four, const uint32_t *order)
{
  uint32_t blocks = four ? whole(r) : 1, count = whole(r);
  if (four) whole(r), whole(r);
  if (count > 40000000) fail(r, "expected at most 40000000 elements");
  if (r->failed) return;
  m->element = malloc(((size_t)count + 1) * ((size_t)dim + 1) * sizeof *m->element);
  if (!m->element) fail(r, "no memory");
  for (uint32_t b = 0, done = 0; b < blocks && !r->failed; b++) {
    uint32_t type = 0, n = count;
    if (four) whole(r), number(r), type = whole(r), n = whole(r);
    if (n > count - done) fail(r, "more elements than announced");
    for (uint32_t i = 0; i < n && !r->failed; i++, done++) {
      whole(r);
      if (!four) {
        type = whole(r);
        for (uint32_t tags = whole(r); tags > 0 && !r->failed; tags--) number(r);
      }
      add_element(r, m, dim, type, order);
    }
  }
}

/* Points in the order of their tags, which must differ. */
static uint32_t *order_of(gmsh_reader *r, const gmsh_mesh *m)
{
  uint32_t *order = malloc(((size_t)m->points + 1) * sizeof *order), *other = malloc(((size_t)m->points + 1) * sizeof *order);
  if (!order || !other) fail(r, "no memory");
  for (uint32_t i = 0; order && i < m->points; i++) order[i] = i;
  for (uint32_t width = 1; !r->failed && width < m->points; width *= 2) { /* merge sort */
    for (uint32_t from = 0; from < m->points; from += 2 * width) {
      uint32_t a = from, middle = m->points - from < width ? m->points : from + width, b = middle;
      uint32_t end = m->points - from < 2 * width ? m->points : from + 2 * width;
      for (uint32_t k = from; k < end; k++) other[k] = b >= end || (a < middle && r->tag[order[a]] <= r->tag[order[b]]) ? order[a++] : order[b++];
    }
    uint32_t *sorted = other;
    other = order, order = sorted;
  }
  for (uint32_t i = 1; !r->failed && i < m->points; i++)
    if (r->tag[order[i]] == r->tag[order[i - 1]]) fail(r, "two nodes have one tag");
  free(other);
  return order;
}

sb_status gmsh_file_read(const char *path, const char *where, uint64_t *remaining, int dim, gmsh_mesh *out, sb_diagnostics *diag)
{
  char *bytes = NULL;
  size_t size;
  *out = (gmsh_mesh){0};
  sb_status status = scene_file_read(path, where, remaining, &bytes, &size, diag);
  if (status) return status;
  gmsh_reader r = {.path = path, .diag = diag, .line = 1};
  uint32_t *order = NULL;
  double version = 0;
  if (!find_section(&r, bytes, "$MeshFormat"))
    fail(&r, "no section $MeshFormat");
  else
    version = number(&r);
  bool four = version == 4.1;
  if (!r.failed && !four && version != 2.2) fail(&r, "expected format 2.2 or 4.1");
  if (!r.failed && whole(&r) != 0) fail(&r, "binary files are not supported; write ASCII");
  if (!r.failed && !find_section(&r, bytes, "$Nodes")) fail(&r, "no section $Nodes");
  if (!r.failed) four ? read_nodes_4(&r, out) : read_nodes_2(&r, out);
  if (!r.failed) order = order_of(&r, out);
  if (!r.failed && !find_section(&r, bytes, "$Elements")) fail(&r, "no section $Elements");
  if (!r.failed) read_elements(&r, out, dim, four, order);
  if (!r.failed && out->elements == 0) fail(&r, dim == 3 ? "no tetrahedra" : dim == 2 ? "no triangles" : "no lines");
  free(order);
  free(r.tag);
  free(bytes);
  return r.failed ? SB_E_FORMAT : SB_OK;
}
