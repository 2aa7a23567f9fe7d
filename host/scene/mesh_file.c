/* Readers of STL and OBJ, and of MuJoCo's binary heightfields. */
#include "mesh_file.h"

#include "scene_file.h"
#include "scene_number.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STL_HEADER 84u
#define STL_TRIANGLE 50u

typedef struct reader {
  const char *path;
  const char *bytes;
  size_t size;
  const double *scale;
  mesh *out;
  sb_diagnostics *diag;
} reader;

static sb_status no_memory(const reader *r)
{
  return sb_report(r->diag, SB_ERROR, SB_CODE_SCENE_SIZE, r->path, "the mesh needs more memory than there is, or has more than %u vertices",
                   MESH_MAX_VERTICES);
}

static uint32_t get32(const char *p)
{
  const unsigned char *u = (const unsigned char *)p;
  return (uint32_t)u[0] | (uint32_t)u[1] << 8 | (uint32_t)u[2] << 16 | (uint32_t)u[3] << 24;
}

static double get_float(const char *p)
{
  uint32_t word = get32(p);
  float x;
  memcpy(&x, &word, sizeof x);
  return (double)x;
}

static bool add_scaled(const reader *r, double at[3])
{
  for (int i = 0; i < 3; i++) at[i] *= r->scale[i];
  return mesh_add_vertex(r->out, at);
}

static bool finite3(const double v[3]) { return v[0] - v[0] == 0.0 && v[1] - v[1] == 0.0 && v[2] - v[2] == 0.0; }

static sb_status read_binary_stl(const reader *r)
{
  uint32_t triangles = get32(r->bytes + 80);
  if ((r->size - STL_HEADER) / STL_TRIANGLE < triangles)
    return sb_report(r->diag, SB_ERROR, SB_CODE_SCENE_MESH, r->path, "the header counts %u triangles, which take %llu bytes; the file has %zu",
                     triangles, (unsigned long long)STL_HEADER + (unsigned long long)STL_TRIANGLE * triangles, r->size);
  for (uint32_t t = 0; t < triangles; t++) {
    size_t at = STL_HEADER + (size_t)STL_TRIANGLE * t + 12;
    uint32_t first = r->out->vertex_count;
    for (int k = 0; k < 3; k++) {
      double v[3];
      for (int i = 0; i < 3; i++) v[i] = get_float(r->bytes + at + (size_t)(12 * k + 4 * i));
      if (!finite3(v))
        return sb_report(r->diag, SB_ERROR, SB_CODE_SCENE_MESH, r->path, "byte %zu: a vertex is not finite", at + (size_t)(12 * k));
      if (!add_scaled(r, v)) return no_memory(r);
    }
    if (!mesh_add_triangle(r->out, first, first + 1, first + 2)) return no_memory(r);
  }
  return SB_OK;
}

/* --- text --- */

typedef struct text_line {
  const char *begin, *end;
  unsigned number;
} text_line;

static bool next_line(const reader *r, text_line *line)
{
  const char *stop = r->bytes + r->size, *begin = line->end ? line->end : r->bytes;
  if (line->end && begin < stop) begin++;
  if (begin >= stop) return false;
  const char *end = memchr(begin, '\n', (size_t)(stop - begin));
  *line = (text_line){begin, end ? end : stop, line->number + 1};
  return true;
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/* Steps over blanks and, when the word stands there, over it. */
static bool take_word(const char **at, const char *end, const char *word)
{
  const char *c = *at;
  while (c < end && is_blank(*c)) c++;
  size_t n = strlen(word);
  if ((size_t)(end - c) < n || memcmp(c, word, n) != 0 || (c + n < end && !is_blank(c[n]))) return false;
  *at = c + n;
  return true;
}

static bool take_number(const char **at, const char *end, double *value)
{
  const char *c = *at, *after;
  while (c < end && is_blank(*c)) c++;
  if (c >= end || !scene_parse_number(c, &after, value) || after > end) return false;
  *at = after;
  return true;
}

static sb_status bad_line(const reader *r, const text_line *line, const char *expected)
{
  char where[512];
  size_t n = (size_t)(line->end - line->begin);
  snprintf(where, sizeof where, "%.400s:%u", r->path, line->number);
  return sb_report(r->diag, SB_ERROR, SB_CODE_SCENE_MESH, where, "expected %s, found '%.*s'", expected, (int)(n < 60 ? n : 60), line->begin);
}

static sb_status read_ascii_stl(const reader *r)
{
  text_line line = {0};
  uint32_t corners = 0;
  while (next_line(r, &line)) {
    const char *at = line.begin;
    if (take_word(&at, line.end, "endloop") && corners % 3 != 0) return bad_line(r, &line, "three vertices in each loop");
    at = line.begin;
    if (!take_word(&at, line.end, "vertex")) continue;
    double v[3];
    for (int i = 0; i < 3; i++)
      if (!take_number(&at, line.end, &v[i])) return bad_line(r, &line, "vertex and three numbers");
    if (!add_scaled(r, v)) return no_memory(r);
    if (++corners % 3 == 0 && !mesh_add_triangle(r->out, corners - 3, corners - 2, corners - 1)) return no_memory(r);
  }
  if (corners == 0) return bad_line(r, &line, "an STL file with triangles");
  return SB_OK;
}

/* Binary when its size is what the header says, whatever the first word; some exporters begin binary files with "solid". */
static sb_status read_stl(const reader *r)
{
  bool fits = r->size >= STL_HEADER && r->size - STL_HEADER == (size_t)STL_TRIANGLE * get32(r->bytes + 80);
  bool text = r->size >= 5 && !memcmp(r->bytes, "solid", 5);
  if (!fits && text) return read_ascii_stl(r);
  if (r->size >= STL_HEADER) return read_binary_stl(r);
  return sb_report(r->diag, SB_ERROR, SB_CODE_SCENE_MESH, r->path, "expected an STL file, found %zu bytes that are none", r->size);
}

/* One corner of an OBJ face: its vertex, counted from 1 or, when negative, back from the last. Texture and normal are passed over. */
static bool take_corner(const reader *r, const char **at, const char *end, uint32_t *vertex)
{
  double value;
  if (!take_number(at, end, &value)) return false;
  double count = (double)r->out->vertex_count, index = value < 0.0 ? count + value : value - 1.0;
  while (*at < end && !is_blank(**at)) ++*at;
  if (!(index >= 0.0 && index < count) || index != (double)(uint32_t)index) return false;
  *vertex = (uint32_t)index;
  return true;
}

static sb_status read_obj(const reader *r)
{
  text_line line = {0};
  while (next_line(r, &line)) {
    const char *at = line.begin;
    if (take_word(&at, line.end, "v")) {
      double v[3];
      for (int i = 0; i < 3; i++)
        if (!take_number(&at, line.end, &v[i])) return bad_line(r, &line, "v and three numbers");
      if (!add_scaled(r, v)) return no_memory(r);
    } else if (take_word(&at, line.end, "f")) {
      uint32_t first = 0, before = 0, corner, count = 0;
      for (;; count++) {
        while (at < line.end && is_blank(*at)) at++;
        if (at == line.end) break;
        if (!take_corner(r, &at, line.end, &corner)) return bad_line(r, &line, "f and vertices that the file has named before");
        if (count == 0) first = corner;
        if (count >= 2 && !mesh_add_triangle(r->out, first, before, corner)) return no_memory(r);
        before = corner;
      }
      if (count < 3) return bad_line(r, &line, "a face of three or more vertices");
    }
  }
  return SB_OK;
}

static bool ends_with(const char *text, const char *lower)
{
  size_t n = strlen(text), k = strlen(lower);
  if (n < k) return false;
  for (size_t i = 0; i < k; i++) {
    char c = text[n - k + i];
    if ((c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c) != lower[i]) return false;
  }
  return true;
}

bool mesh_file_known(const char *path) { return ends_with(path, ".stl") || ends_with(path, ".obj"); }

sb_status mesh_file_read(const char *path, const char *where, uint64_t *remaining, const double scale[3], mesh *out,
                         sb_diagnostics *diag)
{
  *out = (mesh){0};
  bool stl = ends_with(path, ".stl");
  if (!mesh_file_known(path))
    return sb_report(diag, SB_ERROR, SB_CODE_SCENE_MESH, where, "'%.300s': meshes are read from .stl and .obj files", path);
  char *bytes;
  size_t size;
  sb_status status = scene_file_read(path, where, remaining, &bytes, &size, diag);
  if (status != SB_OK) return status;
  const reader r = {path, bytes, size, scale, out, diag};
  status = stl ? read_stl(&r) : read_obj(&r);
  free(bytes);
  if (status == SB_OK && !mesh_weld(out)) status = no_memory(&r);
  return status;
}

sb_status height_file_read(const char *path, const char *where, uint64_t *remaining, uint32_t *rows, uint32_t *columns, double **height,
                           sb_diagnostics *diag)
{
  char *bytes;
  size_t size;
  *height = NULL;
  sb_status status = scene_file_read(path, where, remaining, &bytes, &size, diag);
  if (status != SB_OK) return status;
  *rows = size >= 8 ? get32(bytes) : 0;
  *columns = size >= 8 ? get32(bytes + 4) : 0;
  if (*rows < 2 || *columns < 2 || *rows > (size - 8) / 4 / *columns || size != 8 + 4 * (size_t)*rows * *columns)
    status = sb_report(diag, SB_ERROR, SB_CODE_SCENE_MESH, path,
                       "expected two 32-bit counts of at least 2 and as many 32-bit floats, little-endian; found %zu bytes", size);
  size_t count = (size_t)*rows * *columns;
  if (status == SB_OK && !(*height = malloc(count * sizeof **height)))
    status = sb_report(diag, SB_ERROR, SB_CODE_MEMORY, where, "no memory for %zu heights", count);
  for (size_t i = 0; status == SB_OK && i < count; i++) {
    (*height)[i] = get_float(bytes + 8 + 4 * i);
    if ((*height)[i] - (*height)[i] == 0.0) continue;
    status = sb_report(diag, SB_ERROR, SB_CODE_SCENE_MESH, path, "byte %zu: a height is not finite", 8 + 4 * i);
    free(*height);
    *height = NULL;
  }
  free(bytes);
  return status;
}
