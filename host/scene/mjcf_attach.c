/* <attach> of MJCF: a body of another model with all that belongs to it takes the element's place. Every name gets the
 * prefix. The other model's defaults and compiler settings go along; its options, world and other bodies stay behind.
 */
#include "mjcf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Each adds sections to the root, which later ones look through. */
#define ATTACH_COST 65536.0

void mjcf_models_clear(mjcf *m)
{
  for (int32_t i = 0; i < m->model_count; i++)
    if (m->models[i].doc) xmlFreeDoc(m->models[i].doc);
}

/* Models ----------------------------------------------------------------------------------------------------------- */

/* Notes the models that a document names; they are loaded when something is attached. */
static void list_models(mjcf *m, xmlNode *root)
{
  for (xmlNode *a = xml_input_element(root->children); a; a = xml_input_element(a->next)) {
    if (!xml_is(a, "asset")) continue;
    for (xmlNode *c = xml_input_element(a->children); c; c = xml_input_element(c->next)) {
      if (!xml_is(c, "model") || !mjcf_check(m, c)) continue;
      if (m->model_count == MJCF_MAX_MODELS) {
        xml_input_error(m->in, c, SB_CODE_SCENE_LIMIT, "more than %d elements <model>", MJCF_MAX_MODELS - 1);
        return;
      }
      m->models[m->model_count++] = (mjcf_model){.owner = root, .node = c};
    }
  }
}

/* Reads a model's file, which may include and attach others. */
static bool load_model(mjcf *m, int32_t index)
{
  mjcf_model *model = &m->models[index];
  if (model->doc) return true;
  int32_t file = mjcf_add_file(m, model->node);
  if (file < 0) return false;
  m->files[file].model = index;
  model->file = file;
  model->doc = mjcf_parse_file(m, model->node, file);
  if (!model->doc) return false;
  xmlNode *root = xmlDocGetRootElement(model->doc);
  if (!xml_is(root, "mujoco")) {
    xml_input_error(m->in, root, SB_CODE_SCENE_FORMAT, "expected <mujoco>, found <%.40s>", (const char *)root->name);
    return false;
  }
  mjcf_include(m, root);
  mjcf_read_compiler(m, root, &model->compiler);
  if (m->in->status == SB_OK) mjcf_attach(m, root);
  if (m->in->status == SB_OK) mjcf_replicate(m, root);
  return m->in->status == SB_OK;
}

/* A model is called by its name in <asset>, or else by that in its own file. */
static int32_t find_model(mjcf *m, const xmlNode *root, const xmlNode *node)
{
  const char *wanted = xml_input_attribute(node, "model");
  if (!wanted) {
    xml_input_error(m->in, node, SB_CODE_SCENE_ATTRIBUTE, "<attach> needs the attribute model");
    return -1;
  }
  for (int32_t i = 1; i < m->model_count; i++) {
    if (m->models[i].owner != root) continue;
    const char *name = xml_input_attribute(m->models[i].node, "name");
    if (name && strcmp(name, wanted) != 0) continue;
    if (!load_model(m, i)) return -1;
    if (!name) name = xml_input_attribute(xmlDocGetRootElement(m->models[i].doc), "model");
    if (name && !strcmp(name, wanted)) return i;
  }
  xml_input_error(m->in, node, SB_CODE_SCENE_REFERENCE,
                  "model: there is no model '%.80s'; name it in <asset> with <model name=\"%.80s\" file=\"...\"/>",
                  wanted, wanted);
  return -1;
}

/* Attaching -------------------------------------------------------------------------------------------------------- */

typedef struct attachment {
  mjcf *m;
  xmlNode *root; /* of the document that it goes to */
  xmlNode *at;   /* <attach> */
  xmlNode *from; /* root of the attached model */
  const char *prefix;
  const char *outermost; /* the model's outermost default class in its own file */
  char *class;           /* and in the root */
  xmlNode *section;
  const char *section_name;
} attachment;

static void no_memory(const attachment *a)
{
  xml_input_error(a->m->in, a->at, SB_CODE_MEMORY, "no memory for the scene");
}

/* Name of the model's outermost default class in its own file. */
static const char *outermost_class(const xmlNode *root)
{
  for (xmlNode *c = xml_input_element(root->children); c; c = xml_input_element(c->next)) {
    const char *name = xml_is(c, "default") ? xml_input_attribute(c, "class") : NULL;
    if (name && *name) return name;
  }
  return "main";
}

/* Classes have the prefix by now; the outermost one has a name of its own, so that it meets no other model's. */
static void settle_class(const attachment *a, xmlNode *node)
{
  static const char *const attributes[] = {"class", "childclass"};
  size_t n = strlen(a->prefix);
  for (int i = 0; i < 2; i++) {
    const char *name = xml_input_attribute(node, attributes[i]);
    if (!name || strncmp(name, a->prefix, n) != 0) continue;
    if (strcmp(name + n, "main") != 0 && strcmp(name + n, a->outermost) != 0) continue;
    if (!xmlSetProp(node, (const xmlChar *)attributes[i], (const xmlChar *)a->class)) no_memory(a);
  }
  for (xmlNode *c = xml_input_element(node->children); c; c = xml_input_element(c->next)) settle_class(a, c);
}

/* Copies a node of the model to the end of `parent`, or before `before`, with the prefix on its names. */
static xmlNode *bring(const attachment *a, xmlNode *node, xmlNode *parent, xmlNode *before)
{
  if (!mjcf_spend(a->m, a->at, (double)mjcf_cost(node))) return NULL;
  xmlNode *copy = mjcf_copy(a->m, node, a->root->doc);
  if (!copy) return NULL;
  if (before)
    xmlAddPrevSibling(before, copy);
  else
    xmlAddChild(parent, copy);
  mjcf_rename(a->m, copy, NULL, a->prefix, "");
  settle_class(a, copy);
  return copy;
}

static void set_class(const attachment *a, xmlNode *node, const char *attribute)
{
  if (xml_input_attribute(node, attribute)) return;
  if (!xmlSetProp(node, (const xmlChar *)attribute, (const xmlChar *)a->class)) no_memory(a);
}

/* What refers to the attached bodies alone comes along. */
static bool bring_dependent(void *user, const char *section, xmlNode *element, bool all)
{
  attachment *a = user;
  if (!all) return false;
  if (!a->section || strcmp(section, a->section_name) != 0) {
    a->section = mjcf_element(a->m, a->at, section);
    a->section_name = section;
    if (a->section) xmlAddChild(a->root, a->section);
  }
  xmlNode *copy = a->section ? bring(a, element, a->section, NULL) : NULL;
  if (!copy) return false;
  if (strcmp(section, "sensor") != 0 && !xml_is(copy, "exclude")) set_class(a, copy, "class");
  return true;
}

/* The file's name without folder and ending is the name of an asset that has none. */
static void name_asset(const attachment *a, xmlNode *asset, const char *file)
{
  const char *slash = strrchr(file, '/'), *start = slash ? slash + 1 : file, *dot = strrchr(start, '.');
  size_t n = dot ? (size_t)(dot - start) : strlen(start), p = strlen(a->prefix);
  char *name = malloc(p + n + 1);
  if (name) {
    memcpy(name, a->prefix, p);
    memcpy(name + p, start, n);
    name[p + n] = 0;
  }
  if (!name || !xmlSetProp(asset, (const xmlChar *)"name", (const xmlChar *)name)) no_memory(a);
  free(name);
}

static void bring_assets(const attachment *a, xmlNode *section)
{
  xmlNode *to = mjcf_element(a->m, a->at, "asset");
  if (!to) return;
  xmlAddChild(a->root, to);
  for (xmlNode *c = xml_input_element(section->children); c && a->m->in->status == SB_OK;
       c = xml_input_element(c->next)) {
    if (xml_is(c, "model")) continue;
    xmlNode *copy = bring(a, c, to, NULL);
    const char *file = copy ? xml_input_attribute(copy, "file") : NULL;
    if (file && !xml_input_attribute(copy, "name")) name_asset(a, copy, file);
  }
}

/* Whether this model has been attached with this prefix before, so that its defaults and assets are there. */
static bool is_known(const attachment *a)
{
  for (xmlNode *c = xml_input_element(a->root->children); c; c = xml_input_element(c->next))
    if (xml_is(c, MJCF_ATTACHED_DEFAULT) && !strcmp(xml_input_attribute(c, "class"), a->class)) return true;
  return false;
}

static void bring_settings(const attachment *a)
{
  xmlNode *empty = mjcf_element(a->m, a->at, MJCF_ATTACHED_DEFAULT);
  if (!empty) return;
  xmlAddChild(a->root, empty);
  set_class(a, empty, "class");
  for (xmlNode *c = xml_input_element(a->from->children); c && a->m->in->status == SB_OK;
       c = xml_input_element(c->next)) {
    if (xml_is(c, "asset")) bring_assets(a, c);
    if (xml_is(c, "keyframe"))
      xml_input_unsupported(a->m->in, c, "a keyframe of an attached model", "write one in the main file");
    if (xml_is(c, MJCF_ATTACHED_DEFAULT)) bring(a, c, a->root, NULL);
    if (!xml_is(c, "default")) continue;
    xmlNode *copy = bring(a, c, a->root, NULL);
    if (!copy) return;
    xmlNodeSetName(copy, (const xmlChar *)MJCF_ATTACHED_DEFAULT);
    xmlUnsetProp(copy, (const xmlChar *)"class");
    set_class(a, copy, "class");
  }
}

static xmlNode *find_body(xmlNode *node, const char *name)
{
  for (xmlNode *c = xml_input_element(node->children); c; c = xml_input_element(c->next)) {
    const char *found = xml_is(c, "body") ? xml_input_attribute(c, "name") : NULL;
    xmlNode *below = found && !strcmp(found, name) ? c : find_body(c, name);
    if (below) return below;
  }
  return NULL;
}

/* The world of the model inside a frame. */
static void bring_world(attachment *a, mjcf_names *names)
{
  xmlNode *frame = mjcf_element(a->m, a->at, "frame");
  if (!frame) return;
  xmlAddPrevSibling(a->at, frame);
  set_class(a, frame, "childclass");
  for (xmlNode *w = xml_input_element(a->from->children); w; w = xml_input_element(w->next)) {
    if (!xml_is(w, "worldbody")) continue;
    mjcf_names_collect(a->m, w, names);
    for (xmlNode *c = xml_input_element(w->children); c && a->m->in->status == SB_OK; c = xml_input_element(c->next))
      bring(a, c, frame, NULL);
  }
}

static void bring_body(attachment *a, const char *name, mjcf_names *names)
{
  xmlNode *body = find_body(a->from, name);
  if (!body) {
    mjcf_names all = {0};
    mjcf_names_collect(a->m, a->from, &all);
    const char *near = name_map_nearest(&all.in[MJCF_BODY_NAME], name);
    xml_input_error(a->m->in, a->at, SB_CODE_SCENE_REFERENCE, "body: the model has no body '%.80s'%s%.80s%s", name,
                    near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    mjcf_names_clear(&all);
    return;
  }
  mjcf_names_collect(a->m, body, names);
  xmlNode *copy = bring(a, body, NULL, a->at);
  if (copy) set_class(a, copy, "childclass");
}

static void attach_one(mjcf *m, xmlNode *root, xmlNode *node)
{
  mjcf_check(m, node);
  int32_t index = find_model(m, root, node);
  if (index < 0 || !mjcf_spend(m, node, ATTACH_COST)) return;
  const char *prefix = xml_input_attribute(node, "prefix"), *body = xml_input_attribute(node, "body");
  attachment a = {.m = m, .root = root, .at = node, .from = xmlDocGetRootElement(m->models[index].doc)};
  a.prefix = prefix ? prefix : "";
  a.outermost = outermost_class(a.from);
  /* With the number in it no class of a file can have the same name by chance. */
  int length = snprintf(NULL, 0, "%smain of model %d", a.prefix, (int)index);
  a.class = malloc((size_t)length + 1);
  if (!a.class) {
    no_memory(&a);
    return;
  }
  snprintf(a.class, (size_t)length + 1, "%smain of model %d", a.prefix, (int)index);
  mjcf_names names = {0};
  if (!is_known(&a)) bring_settings(&a);
  if (body)
    bring_body(&a, body, &names);
  else
    bring_world(&a, &names);
  if (m->in->status == SB_OK) mjcf_each_dependent(m, a.from, &names, bring_dependent, &a);
  mjcf_names_clear(&names);
  free(a.class);
}

static void attach_below(mjcf *m, xmlNode *root, xmlNode *node)
{
  for (xmlNode *c = xml_input_element(node->children), *next; c && m->in->status == SB_OK; c = next) {
    next = xml_input_element(c->next);
    if (!xml_is(c, "attach")) {
      attach_below(m, root, c);
      continue;
    }
    attach_one(m, root, c);
    xmlUnlinkNode(c);
    xmlFreeNode(c);
  }
}

void mjcf_attach(mjcf *m, xmlNode *root)
{
  list_models(m, root);
  for (xmlNode *c = xml_input_element(root->children); c && m->in->status == SB_OK; c = xml_input_element(c->next))
    if (xml_is(c, "worldbody")) attach_below(m, root, c);
  const xmlNode *deep = xml_input_too_deep(root);
  if (deep && m->in->status == SB_OK)
    xml_input_error(m->in, deep, SB_CODE_SCENE_XML, "elements are nested more than %d deep", XML_INPUT_MAX_DEPTH);
}
