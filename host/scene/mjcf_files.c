/* Files of an MJCF scene, and <include>: the content of another file takes the element's place. Paths are relative to the
 * file that names them. */
#include "mjcf.h"
#include "scene_file.h"

#include <stdlib.h>
#include <string.h>

#define MAX_INCLUDE_DEPTH 8

void mjcf_files_clear(mjcf *m)
{
  for (int32_t i = 0; i < m->file_count; i++) free(m->files[i].path);
}

int32_t mjcf_file_of(const mjcf *m, const xmlNode *node)
{
  const char *path = xml_input_path(m->in, node);
  for (int32_t i = 1; i < m->file_count; i++)
    if (m->files[i].path == path) return i;
  return 0;
}

static char *join_path(const char *from, const char *file)
{
  const char *slash = strrchr(from, '/');
  size_t folder = slash && *file != '/' ? (size_t)(slash - from) + 1 : 0, n = strlen(file);
  char *path = malloc(folder + n + 1);
  if (!path) return NULL;
  memcpy(path, from, folder);
  memcpy(path + folder, file, n + 1);
  return path;
}

char *mjcf_asset_path(const mjcf *m, const xmlNode *node, const char *folder, const char *file)
{
  const char *from = m->files[mjcf_file_of(m, node)].path;
  if (!folder || !*folder || *file == '/') return join_path(from, file);
  size_t n = strlen(folder), k = strlen(file);
  char *both = malloc(n + k + 2), *path = NULL;
  if (both) {
    memcpy(both, folder, n);
    both[n] = '/';
    memcpy(both + n + 1, file, k + 1);
    path = join_path(from, both);
  }
  free(both);
  return path;
}

int32_t mjcf_add_file(mjcf *m, const xmlNode *node)
{
  const char *file = xml_input_attribute(node, "file");
  int32_t from = mjcf_file_of(m, node), depth = 0;
  if (!file || !*file) {
    xml_input_error(m->in, node, SB_CODE_SCENE_ATTRIBUTE, "<%.40s> needs the attribute file",
                    (const char *)node->name);
    return -1;
  }
  if (m->file_count == MJCF_MAX_FILES) {
    xml_input_error(m->in, node, SB_CODE_SCENE_INCLUDE, "more than %d files besides the first", MJCF_MAX_FILES - 1);
    return -1;
  }
  char *path = join_path(m->files[from].path, file);
  if (!path) {
    xml_input_error(m->in, node, SB_CODE_MEMORY, "no memory for the scene");
    return -1;
  }
  for (int32_t f = from; f >= 0; f = m->files[f].from, depth++)
    if (!strcmp(m->files[f].path, path) || depth == MAX_INCLUDE_DEPTH) {
      xml_input_error(m->in, node, SB_CODE_SCENE_INCLUDE,
                      depth == MAX_INCLUDE_DEPTH ? "'%.200s' is more than 8 files deep"
                                                 : "'%.200s' includes itself",
                      file);
      free(path);
      return -1;
    }
  m->files[m->file_count] = (mjcf_file){path, from, m->files[from].model};
  return m->file_count++;
}

/* Copies the children of the other file's root to before the include element. */
static void graft(mjcf *m, xmlNode *include, xmlDoc *other, const char *path)
{
  for (xmlNode *c = xml_input_element(xmlDocGetRootElement(other)->children); c; c = xml_input_element(c->next)) {
    xmlNode *copy = xmlDocCopyNode(c, include->doc, 1);
    if (!copy) {
      xml_input_error(m->in, include, SB_CODE_MEMORY, "no memory for the scene");
      return;
    }
    xml_input_set_path(copy, path);
    xmlAddPrevSibling(include, copy);
  }
}

xmlDoc *mjcf_parse_file(mjcf *m, const xmlNode *node, int32_t file)
{
  const char *path = m->files[file].path;
  xml_place place;
  char *bytes;
  size_t size;
  sb_status status =
      scene_file_read(path, xml_input_where(m->in, node, &place), &m->remaining, &bytes, &size, m->in->diag);
  if (status != SB_OK) {
    m->in->errors++;
    if (m->in->status == SB_OK) m->in->status = status;
    return NULL;
  }
  xmlDoc *doc = xml_input_parse(m->in, bytes, size, path);
  free(bytes);
  return doc;
}

static void include_one(mjcf *m, xmlNode *node)
{
  int32_t f = mjcf_add_file(m, node);
  xmlDoc *other = f < 0 ? NULL : mjcf_parse_file(m, node, f);
  if (!other) return;
  xmlNode *root = xmlDocGetRootElement(other);
  if (xml_is(root, "mujoco") || xml_is(root, "mujocoinclude"))
    graft(m, node, other, m->files[f].path);
  else
    xml_input_error(m->in, root, SB_CODE_SCENE_FORMAT, "expected <mujoco> or <mujocoinclude>, found <%.40s>",
                    (const char *)root->name);
  xmlFreeDoc(other);
}

/* First <include> in document order; no recursion, so that grafted content is met as well. */
static xmlNode *next_include(xmlNode *root, xmlNode *n)
{
  while (n) {
    if (n->type == XML_ELEMENT_NODE && n != root && xml_is(n, "include")) return n;
    if (n->type == XML_ELEMENT_NODE && n->children) {
      n = n->children;
      continue;
    }
    while (n != root && !n->next) n = n->parent;
    n = n == root ? NULL : n->next;
  }
  return NULL;
}

void mjcf_include(mjcf *m, xmlNode *root)
{
  xmlNode *node = root;
  while (m->in->status == SB_OK && (node = next_include(root, node))) {
    xmlNode *parent = node->parent;
    include_one(m, node);
    xmlUnlinkNode(node);
    xmlFreeNode(node);
    node = parent;
  }
  const xmlNode *deep = xml_input_too_deep(root);
  if (deep && m->in->status == SB_OK)
    xml_input_error(m->in, deep, SB_CODE_SCENE_XML, "elements are nested more than %d deep", XML_INPUT_MAX_DEPTH);
}
