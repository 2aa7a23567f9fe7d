/* <replicate> of MJCF: copies of its content in a row of frames, and of what refers to it, with numbered names. */
#include "mjcf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_REPLICATES 1000
#define MAX_COUNT 1.0e9

/* Elements of the sections that refer to the content. */
typedef struct dependents {
  mjcf *m;
  xmlNode **nodes;
  const char **sections;
  size_t count, capacity;
} dependents;

static bool add_dependent(void *user, const char *section, xmlNode *element, bool all)
{
  dependents *d = user;
  (void)all; /* one that refers to other elements as well joins each copy to them */
  if (d->count == d->capacity) {
    size_t capacity = d->capacity ? d->capacity * 2 : 64;
    xmlNode **nodes = realloc(d->nodes, capacity * sizeof *nodes);
    if (nodes) d->nodes = nodes;
    const char **sections = nodes ? realloc(d->sections, capacity * sizeof *sections) : NULL;
    if (sections) d->sections = sections;
    if (!sections) {
      xml_input_error(d->m->in, element, SB_CODE_MEMORY, "no memory for the scene");
      return false;
    }
    d->capacity = capacity;
  }
  d->nodes[d->count] = element;
  d->sections[d->count++] = section;
  return true;
}

/* Number of copies, 0 after an error. */
static uint32_t read_count(mjcf *m, const xmlNode *node)
{
  const mjcf_source s = {m, node, MJCF_NONE, -1};
  double count = 0.0;
  if (!xml_input_attribute(node, "count")) {
    xml_input_error(m->in, node, SB_CODE_SCENE_ATTRIBUTE, "<replicate> needs the attribute count");
    return 0;
  }
  if (!mjcf_numbers(&s, "count", &count, 1)) return 0;
  if (count >= 1.0 && count <= MAX_COUNT && count == (double)(uint32_t)count) return (uint32_t)count;
  xml_input_error(m->in, node, SB_CODE_SCENE_VALUE, "count: expected a whole number from 1 to %.0f, found %g",
                  MAX_COUNT, count);
  return 0;
}

/* One copy's frame with the content; its pose is worked out when it is read. */
static void add_replica(mjcf *m, xmlNode *node, const mjcf_names *names, uint32_t index, const char *suffix)
{
  static const char *const kept[] = {"offset", "euler", "childclass"};
  xmlNode *frame = mjcf_element(m, node, MJCF_REPLICA);
  char number[16];
  snprintf(number, sizeof number, "%u", (unsigned)index);
  if (!frame) return;
  xmlAddPrevSibling(node, frame);
  bool set = xmlSetProp(frame, (const xmlChar *)"index", (const xmlChar *)number) != NULL;
  for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
    const char *text = xml_input_attribute(node, kept[i]);
    if (text) set = set && xmlSetProp(frame, (const xmlChar *)kept[i], (const xmlChar *)text) != NULL;
  }
  if (!set) xml_input_error(m->in, node, SB_CODE_MEMORY, "no memory for the scene");
  for (xmlNode *c = xml_input_element(node->children); c && m->in->status == SB_OK; c = xml_input_element(c->next)) {
    xmlNode *copy = mjcf_copy(m, c, node->doc);
    if (copy) xmlAddChild(frame, copy), mjcf_rename(m, copy, names, "", suffix);
  }
}

/* Copies of one replica's dependents, in sections of their own behind all others. */
static void add_dependents(mjcf *m, xmlNode *root, const dependents *d, const mjcf_names *names, const char *suffix)
{
  xmlNode *section = NULL;
  for (size_t i = 0; i < d->count && m->in->status == SB_OK; i++) {
    if (!section || strcmp(d->sections[i], d->sections[i - 1]) != 0) {
      section = mjcf_element(m, d->nodes[i], d->sections[i]);
      if (section) xmlAddChild(root, section);
    }
    xmlNode *copy = section ? mjcf_copy(m, d->nodes[i], root->doc) : NULL;
    if (copy) xmlAddChild(section, copy), mjcf_rename(m, copy, names, "", suffix);
  }
}

static void replicate_one(mjcf *m, xmlNode *root, xmlNode *node)
{
  mjcf_names names = {0};
  dependents d = {.m = m};
  char suffix[80], separator[64];
  const char *sep = xml_input_attribute(node, "sep");
  mjcf_check(m, node);
  uint32_t count = read_count(m, node);
  if (m->replicate_count++ == MAX_REPLICATES)
    xml_input_error(m->in, node, SB_CODE_SCENE_LIMIT, "more than %d elements <replicate>", MAX_REPLICATES);
  if (sep && strlen(sep) >= sizeof separator)
    xml_input_error(m->in, node, SB_CODE_SCENE_VALUE, "sep: expected fewer than %zu bytes", sizeof separator);
  snprintf(separator, sizeof separator, "%s", sep ? sep : "");
  mjcf_names_collect(m, node, &names);
  mjcf_each_dependent(m, root, &names, add_dependent, &d);
  double cost = (double)mjcf_cost(node);
  for (size_t i = 0; i < d.count; i++) cost += 256.0 + (double)mjcf_cost(d.nodes[i]);
  if (m->in->status == SB_OK) mjcf_spend(m, node, cost * count);
  int digits = snprintf(NULL, 0, "%u", (unsigned)count);
  for (uint32_t i = 0; i < count && m->in->status == SB_OK; i++) {
    snprintf(suffix, sizeof suffix, "%s%0*u", separator, digits, (unsigned)i);
    add_replica(m, node, &names, i, suffix);
    add_dependents(m, root, &d, &names, suffix);
  }
  mjcf_names_clear(&names);
  for (size_t i = 0; i < d.count; i++) {
    xmlUnlinkNode(d.nodes[i]);
    xmlFreeNode(d.nodes[i]);
  }
  free(d.nodes);
  free(d.sections);
}

/* What is inside comes first, so that its numbers stand before those of what is around it. */
static void replicate_below(mjcf *m, xmlNode *root, xmlNode *node)
{
  for (xmlNode *c = xml_input_element(node->children), *next; c && m->in->status == SB_OK; c = next) {
    replicate_below(m, root, c);
    next = xml_input_element(c->next);
    if (!xml_is(c, "replicate") || m->in->status != SB_OK) continue;
    replicate_one(m, root, c);
    xmlUnlinkNode(c);
    xmlFreeNode(c);
  }
}

void mjcf_replicate(mjcf *m, xmlNode *root)
{
  for (xmlNode *c = xml_input_element(root->children); c; c = xml_input_element(c->next))
    if (xml_is(c, "worldbody")) replicate_below(m, root, c);
  const xmlNode *deep = xml_input_too_deep(root);
  if (deep && m->in->status == SB_OK)
    xml_input_error(m->in, deep, SB_CODE_SCENE_XML, "elements are nested more than %d deep", XML_INPUT_MAX_DEPTH);
}
