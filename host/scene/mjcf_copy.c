/* Copying parts of MJCF documents: the file that they came from, their names, and how much may be copied. */
#include "mjcf.h"

#include <stdlib.h>
#include <string.h>

/* What attach and replicate may add to a scene. */
#define MAX_COPIED (512.0 * 1024.0 * 1024.0)

static void no_memory(mjcf *m, const xmlNode *node)
{
  xml_input_error(m->in, node, SB_CODE_MEMORY, "no memory for the scene");
}

/* Names ------------------------------------------------------------------------------------------------------------ */

/* Names that are changed but that no section refers to. */
enum { OTHER_NAME = MJCF_SPACES, NO_NAME };

typedef struct word_space {
  const char *word;
  int space;
} word_space;

static int find_word(const word_space *table, size_t count, const char *word, int absent)
{
  for (size_t i = 0; i < count; i++)
    if (!strcmp(table[i].word, word)) return table[i].space;
  return absent;
}

/* What an element's own name is, below a body. */
static int own_space(const xmlNode *node)
{
  static const word_space table[] = {{"body", MJCF_BODY_NAME},       {"joint", MJCF_JOINT_NAME},
                                     {"freejoint", MJCF_JOINT_NAME}, {"geom", MJCF_GEOM_NAME},
                                     {"site", MJCF_SITE_NAME},       {"camera", MJCF_CAMERA_NAME}};
  return find_word(table, sizeof table / sizeof *table, (const char *)node->name, OTHER_NAME);
}

/* What an attribute refers to. */
static int reference_space(const xmlNode *node, const char *attribute)
{
  static const word_space table[] = {{"body", MJCF_BODY_NAME},         {"body1", MJCF_BODY_NAME},
                                     {"body2", MJCF_BODY_NAME},        {"target", MJCF_BODY_NAME},
                                     {"joint", MJCF_JOINT_NAME},       {"joint1", MJCF_JOINT_NAME},
                                     {"joint2", MJCF_JOINT_NAME},      {"jointinparent", MJCF_JOINT_NAME},
                                     {"geom", MJCF_GEOM_NAME},         {"geom1", MJCF_GEOM_NAME},
                                     {"geom2", MJCF_GEOM_NAME},        {"site", MJCF_SITE_NAME},
                                     {"site1", MJCF_SITE_NAME},        {"site2", MJCF_SITE_NAME},
                                     {"refsite", MJCF_SITE_NAME},      {"sidesite", MJCF_SITE_NAME},
                                     {"cranksite", MJCF_SITE_NAME},    {"slidersite", MJCF_SITE_NAME},
                                     {"camera", MJCF_CAMERA_NAME},     {"tendon", MJCF_TENDON_NAME},
                                     {"tendon1", MJCF_TENDON_NAME},    {"tendon2", MJCF_TENDON_NAME},
                                     {"actuator", MJCF_ACTUATOR_NAME}, {"class", OTHER_NAME},
                                     {"childclass", OTHER_NAME},       {"mesh", OTHER_NAME},
                                     {"material", OTHER_NAME},         {"hfield", OTHER_NAME},
                                     {"texture", OTHER_NAME}};
  static const word_space objects[] = {{"body", MJCF_BODY_NAME},
                                       {"xbody", MJCF_BODY_NAME},
                                       {"geom", MJCF_GEOM_NAME},
                                       {"site", MJCF_SITE_NAME},
                                       {"camera", MJCF_CAMERA_NAME}};
  bool object = !strcmp(attribute, "objname"), reference = !strcmp(attribute, "refname");
  if (!object && !reference) return find_word(table, sizeof table / sizeof *table, attribute, NO_NAME);
  const char *type = xml_input_attribute(node, object ? "objtype" : "reftype");
  return find_word(objects, sizeof objects / sizeof *objects, type ? type : "", NO_NAME);
}

static void add_name(mjcf *m, const xmlNode *node, int space, mjcf_names *names)
{
  const char *name = xml_input_attribute(node, "name");
  if (name && space < MJCF_SPACES && name_map_add(&names->in[space], name, 0) == NAME_MAP_NO_MEMORY) no_memory(m, node);
}

void mjcf_names_collect(mjcf *m, const xmlNode *node, mjcf_names *names)
{
  add_name(m, node, own_space(node), names);
  for (xmlNode *c = xml_input_element(node->children); c; c = xml_input_element(c->next))
    mjcf_names_collect(m, c, names);
}

void mjcf_names_clear(mjcf_names *names)
{
  for (int i = 0; i < MJCF_SPACES; i++) name_map_clear(&names->in[i]);
}

static bool is_in(const mjcf_names *names, int space, const char *name)
{
  return space < MJCF_SPACES && name_map_find(&names->in[space], name) >= 0;
}

/* Counts references at and below a node. */
static void count_references(const xmlNode *node, const mjcf_names *names, int *inside, int *outside)
{
  for (const xmlAttr *a = node->properties; a; a = a->next) {
    int space = reference_space(node, (const char *)a->name);
    const char *name = xml_input_attribute(node, (const char *)a->name);
    if (space >= MJCF_SPACES || (space == MJCF_BODY_NAME && !strcmp(name, "world"))) continue;
    ++*(is_in(names, space, name) ? inside : outside);
  }
  for (xmlNode *c = xml_input_element(node->children); c; c = xml_input_element(c->next))
    count_references(c, names, inside, outside);
}

void mjcf_each_dependent(mjcf *m, xmlNode *root, mjcf_names *names, mjcf_visit visit, void *user)
{
  static const char *const sections[] = {"contact", "tendon", "equality", "actuator", "sensor"};
  for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
    int space = i == 1 ? MJCF_TENDON_NAME : i == 3 ? MJCF_ACTUATOR_NAME : OTHER_NAME;
    for (xmlNode *s = xml_input_element(root->children); s; s = xml_input_element(s->next)) {
      if (!xml_is(s, sections[i])) continue;
      for (xmlNode *c = xml_input_element(s->children); c && m->in->status == SB_OK; c = xml_input_element(c->next)) {
        int inside = 0, outside = 0;
        count_references(c, names, &inside, &outside);
        if (inside && visit(user, sections[i], c, outside == 0)) add_name(m, c, space, names);
      }
    }
  }
}

static void change_attribute(mjcf *m, xmlNode *node, const char *attribute, const char *prefix, const char *suffix)
{
  const char *old = xml_input_attribute(node, attribute);
  size_t p = strlen(prefix), n = strlen(old), s = strlen(suffix) + 1;
  char *text = malloc(p + n + s);
  if (text) {
    memcpy(text, prefix, p);
    memcpy(text + p, old, n);
    memcpy(text + p + n, suffix, s);
  }
  if (!text || !xmlSetProp(node, (const xmlChar *)attribute, (const xmlChar *)text)) no_memory(m, node);
  free(text);
}

void mjcf_rename(mjcf *m, xmlNode *node, const mjcf_names *only, const char *prefix, const char *suffix)
{
  for (xmlAttr *a = node->properties, *next; a; a = next) {
    const char *attribute = (const char *)a->name, *name = xml_input_attribute(node, attribute);
    next = a->next;
    int space = reference_space(node, attribute);
    bool own = !strcmp(attribute, "name") && *name;
    bool wanted =
        only ? is_in(only, space, name) : space != NO_NAME && !(space == MJCF_BODY_NAME && !strcmp(name, "world"));
    if (own || wanted) change_attribute(m, node, attribute, prefix, suffix);
  }
  for (xmlNode *c = xml_input_element(node->children); c; c = xml_input_element(c->next))
    mjcf_rename(m, c, only, prefix, suffix);
}

/* Copies ----------------------------------------------------------------------------------------------------------- */

uint64_t mjcf_cost(const xmlNode *node)
{
  uint64_t cost = 256; /* an element with the white space beside it */
  for (const xmlAttr *a = node->properties; a; a = a->next)
    cost += 256 + strlen(xml_input_attribute(node, (const char *)a->name));
  for (xmlNode *c = xml_input_element(node->children); c; c = xml_input_element(c->next)) cost += mjcf_cost(c);
  return cost;
}

bool mjcf_spend(mjcf *m, const xmlNode *what, double bytes)
{
  if ((double)m->copied + bytes <= MAX_COPIED) {
    m->copied += (uint64_t)bytes;
    return true;
  }
  xml_input_error(
      m->in, what, SB_CODE_SCENE_LIMIT,
      "<%.40s> makes elements of about %.0f MiB, and a scene may have %.0f MiB of copies; make fewer, or use "
      "\"replicate\" of [world]",
      (const char *)what->name, (bytes + (double)m->copied) / 1048576.0, MAX_COPIED / 1048576.0);
  return false;
}

/* A copy has the structure of the original. */
static void mark(const xmlNode *from, xmlNode *to)
{
  to->_private = from->_private;
  const xmlNode *f = xml_input_element(from->children);
  for (xmlNode *t = xml_input_element(to->children); f && t; t = xml_input_element(t->next)) {
    mark(f, t);
    f = xml_input_element(f->next);
  }
}

xmlNode *mjcf_copy(mjcf *m, xmlNode *node, xmlDoc *doc)
{
  xmlNode *copy = xmlDocCopyNode(node, doc, 1);
  if (!copy) {
    no_memory(m, node);
    return NULL;
  }
  mark(node, copy);
  xml_input_set_path(copy, xml_input_path(m->in, node));
  return copy;
}

xmlNode *mjcf_element(mjcf *m, const xmlNode *at, const char *name)
{
  xmlNode *node = xmlNewDocNode(at->doc, NULL, (const xmlChar *)name, NULL);
  if (!node) {
    no_memory(m, at);
    return NULL;
  }
  node->line = at->line;
  xml_input_set_path(node, xml_input_path(m->in, at));
  return node;
}
