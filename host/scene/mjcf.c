/* The MJCF reader: order of the passes, <compiler> and <option>. */
#include "mjcf.h"

#include "scene_number.h"

#include <stdlib.h>
#include <string.h>

static const mjcf_compiler standard = {.degrees = true,
                                       .autolimits = true,
                                       .inertia_from_geom = MJCF_AUTO,
                                       .group_range = {0.0, 5.0},
                                       .total_mass = -1.0,
                                       .euler = "xyz"};

static void read_compiler(mjcf *m, const xmlNode *node, mjcf_compiler *to)
{
  static const char *const angles[] = {"radian", "degree", NULL}, *const coordinates[] = {"local", "global", NULL};
  const mjcf_source s = {m, node, MJCF_NONE, -1};
  to->degrees = mjcf_word(&s, "angle", angles, to->degrees) == 1;
  to->autolimits = mjcf_flag(&s, "autolimits", to->autolimits ? MJCF_TRUE : MJCF_FALSE) == MJCF_TRUE;
  to->inertia_from_geom = mjcf_flag(&s, "inertiafromgeom", to->inertia_from_geom);
  if (xml_input_attribute(node, "assetdir")) to->asset_dir = xml_input_attribute(node, "assetdir");
  if (xml_input_attribute(node, "meshdir")) to->mesh_dir = xml_input_attribute(node, "meshdir");
  to->strip_path = mjcf_flag(&s, "strippath", to->strip_path ? MJCF_TRUE : MJCF_FALSE) == MJCF_TRUE;
  to->balance_inertia = mjcf_flag(&s, "balanceinertia", to->balance_inertia ? MJCF_TRUE : MJCF_FALSE) == MJCF_TRUE;
  if (xml_input_attribute(node, "inertiagrouprange")) mjcf_range(&s, "inertiagrouprange", to->group_range);
  mjcf_numbers(&s, "settotalmass", &to->total_mass, 1);
  mjcf_number_from(&s, "boundmass", 0.0, &to->bound_mass);
  mjcf_number_from(&s, "boundinertia", 0.0, &to->bound_inertia);
  if (mjcf_word(&s, "coordinate", coordinates, 0) == 1)
    xml_input_error(m->in, node, SB_CODE_SCENE_VALUE,
                    "coordinate: global coordinates are not supported; write the poses in their parents' frames");
  const char *sequence = xml_input_attribute(node, "eulerseq");
  if (!sequence) return;
  if (strlen(sequence) == 3 && strspn(sequence, "xyzXYZ") == 3)
    memcpy(to->euler, sequence, 4);
  else
    xml_input_error(m->in, node, SB_CODE_SCENE_VALUE, "eulerseq: expected three of x y z X Y Z, found '%.20s'",
                    sequence);
}

static void read_option(mjcf *m, const xmlNode *node)
{
  const mjcf_source s = {m, node, MJCF_NONE, -1};
  double gravity[3];
  uint32_t numerator, denominator;
  const char *step = xml_input_attribute(node, "timestep");
  if (mjcf_numbers(&s, "gravity", gravity, 3)) sb_builder_set_gravity(m->builder, gravity);
  if (step && scene_parse_fraction(step, &numerator, &denominator))
    sb_builder_set_dt(m->builder, numerator, denominator);
  else if (step)
    xml_input_error(m->in, node, SB_CODE_SCENE_NUMBER,
                    "timestep: expected a decimal number above 0 of at most 9 digits, found '%.40s'", step);
  for (xmlNode *c = xml_input_element(node->children); c; c = xml_input_element(c->next)) mjcf_check(m, c);
}

void mjcf_read_compiler(mjcf *m, const xmlNode *root, mjcf_compiler *compiler)
{
  *compiler = standard;
  for (xmlNode *c = xml_input_element(root->children); c; c = xml_input_element(c->next))
    if (xml_is(c, "compiler") && mjcf_check(m, c)) read_compiler(m, c, compiler);
}

const mjcf_compiler *mjcf_compiler_of(const mjcf *m, const xmlNode *node)
{
  return &m->models[m->files[mjcf_file_of(m, node)].model].compiler;
}

/* Settings come first, wherever they stand in the file. */
static void read_settings(mjcf *m)
{
  mjcf_read_compiler(m, m->root, &m->models[0].compiler);
  for (xmlNode *c = xml_input_element(m->root->children); c; c = xml_input_element(c->next)) {
    if (xml_is(c, "option") && mjcf_check(m, c)) read_option(m, c);
  }
}

/* Sections that no pass reads are reported once. */
static void check_sections(mjcf *m)
{
  static const char *const read[] = {"compiler", "option",   "default",  "worldbody",
                                     "contact",  "equality", "tendon",   "actuator", "sensor", "keyframe", "asset", MJCF_ATTACHED_DEFAULT, NULL};
  for (xmlNode *c = xml_input_element(m->root->children); c; c = xml_input_element(c->next)) {
    bool known = false;
    for (int i = 0; read[i]; i++) known |= xml_is(c, read[i]);
    if (!known) mjcf_check(m, c);
  }
}

void mjcf_read(xml_input *in, const sb_scene_request *request, xmlNode *root, uint64_t remaining,
               sb_model_builder *builder)
{
  mjcf *m = calloc(1, sizeof *m);
  if (!m) {
    xml_input_error(in, root, SB_CODE_MEMORY, "no memory for the scene");
    return;
  }
  m->in = in;
  m->request = request;
  m->builder = builder;
  m->tree.in = in;
  m->root = root;
  m->remaining = remaining;
  m->models[0].compiler = standard;
  m->model_count = 1;
  m->mesh_bytes = request->max_file_size ? remaining : SCENE_MESH_LIMIT;
  m->files[0].from = -1;
  m->file_count = 1;
  size_t n = strlen(request->scene) + 1;
  m->files[0].path = malloc(n);
  if (m->files[0].path)
    memcpy(m->files[0].path, request->scene, n);
  else
    xml_input_error(in, root, SB_CODE_MEMORY, "no memory for the scene");
  sb_builder_set_dt(builder, 1, 500); /* MuJoCo's own tick, 2 ms */
  if (in->status == SB_OK) mjcf_include(m, root);
  if (in->status == SB_OK) mjcf_attach(m, root);
  if (in->status == SB_OK) mjcf_replicate(m, root);
  if (in->status == SB_OK) {
    mjcf_check(m, root);
    read_settings(m);
    mjcf_read_defaults(m);
  }
  if (in->status == SB_OK) mjcf_read_assets(m);
  if (in->status == SB_OK) {
    mjcf_read_world(m);
    check_sections(m);
  }
  if (in->status == SB_OK) scene_tree_build(&m->tree, builder);
  if (in->status == SB_OK) mjcf_read_flexes(m);
  if (in->status == SB_OK) {
    mjcf_read_contact(m);
    mjcf_read_equalities(m);
    mjcf_read_tendons(m);
    mjcf_read_actuators(m);
    mjcf_read_sensors(m);
    mjcf_read_keyframe(m);
  }
  scene_tree_clear(&m->tree);
  mjcf_assets_clear(m);
  mjcf_models_clear(m);
  mjcf_files_clear(m);
  name_map_clear(&m->class_names);
  name_map_clear(&m->actuator_names);
  name_map_clear(&m->tendon_names);
  name_map_clear(&m->sensor_names);
  free(m->flexes);
  free(m->actuators);
  free(m);
}
