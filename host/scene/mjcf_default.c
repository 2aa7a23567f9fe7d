/* Default classes of MJCF and the attributes that elements get from themselves or from their classes. */
#include "cook_math.h"
#include "mjcf.h"
#include "scene_number.h"

#include <string.h>

static mjcf_kind kind_of(const xmlNode *node)
{
  static const char *const actuators[] = {"motor", "position", "velocity", "general", NULL};
  if (xml_is(node, "geom")) return MJCF_GEOM;
  if (xml_is(node, "joint")) return MJCF_JOINT;
  if (xml_is(node, "pair")) return MJCF_PAIR;
  if (xml_is(node, "equality")) return MJCF_EQUALITY;
  if (xml_is(node, "tendon")) return MJCF_TENDON;
  if (xml_is(node, "site")) return MJCF_SITE;
  if (xml_is(node, "mesh")) return MJCF_MESH;
  for (int i = 0; actuators[i]; i++)
    if (xml_is(node, actuators[i])) return MJCF_ACTUATOR;
  return MJCF_NONE;
}

static void add_entry(mjcf *m, int32_t class, const xmlNode *node)
{
  if (m->entry_count == MJCF_MAX_ENTRIES) {
    xml_input_error(m->in, node, SB_CODE_SCENE_STRUCTURE, "more than %d elements in default classes", MJCF_MAX_ENTRIES);
    return;
  }
  m->entries[m->entry_count] = (mjcf_entry){node, kind_of(node), m->classes[class].last};
  m->classes[class].last = m->entry_count++;
}

/* The class of a <default> inside class `parent`; -1 after an error. */
static int32_t add_class(mjcf *m, const xmlNode *node, int32_t parent)
{
  const char *name = xml_input_attribute(node, "class");
  if (!name || !*name) {
    xml_input_error(m->in, node, SB_CODE_SCENE_ATTRIBUTE, "a <default> inside another needs the attribute class");
    return -1;
  }
  if (m->class_count == MJCF_MAX_CLASSES) {
    xml_input_error(m->in, node, SB_CODE_SCENE_STRUCTURE, "more than %d default classes", MJCF_MAX_CLASSES);
    return -1;
  }
  name_map_result added = name_map_add(&m->class_names, name, m->class_count);
  if (added != NAME_MAP_ADDED) {
    xml_input_error(m->in, node, added == NAME_MAP_TWICE ? SB_CODE_SCENE_DUPLICATE : SB_CODE_MEMORY,
                    "default class '%.80s' cannot be added: %s", name,
                    added == NAME_MAP_TWICE ? "the name is used twice" : "no memory");
    return -1;
  }
  m->classes[m->class_count] = (mjcf_class){name, parent, -1};
  return m->class_count++;
}

static void read_class(mjcf *m, const xmlNode *node, int32_t class)
{
  for (xmlNode *c = xml_input_element(node->children); c; c = xml_input_element(c->next)) {
    if (xml_is(c, "default")) {
      if (!mjcf_check(m, c)) continue;
      int32_t inner = add_class(m, c, class);
      if (inner >= 0) read_class(m, c, inner);
    } else if (xml_is(c, "general") || mjcf_check(m, c)) {
      /* <general> in defaults gives every kind of actuator its ranges and gear. */
      add_entry(m, class, c);
    }
  }
}

/* Attributes are looked up along a class and those around it; this bounds the way. */
static void check_lengths(mjcf *m)
{
  int32_t length[MJCF_MAX_CLASSES];
  for (int32_t c = 0; c < m->class_count; c++) {
    length[c] = m->classes[c].parent >= 0 ? length[m->classes[c].parent] : 0;
    for (int32_t e = m->classes[c].last; e >= 0; e = m->entries[e].next) length[c]++;
    if (length[c] <= MJCF_MAX_CHAIN) continue;
    xml_input_error(m->in, m->entries[m->classes[c].last].node, SB_CODE_SCENE_STRUCTURE,
                    "default class '%.80s' and those around it have more than %d elements", m->classes[c].name,
                    MJCF_MAX_CHAIN);
    return;
  }
}

/* The outermost class of an attached model; several sections of one name add to it. */
static void read_attached(mjcf *m, const xmlNode *node)
{
  int32_t class = name_map_find(&m->class_names, xml_input_attribute(node, "class"));
  if (class < 0) class = add_class(m, node, -1);
  if (class >= 0) read_class(m, node, class);
}

void mjcf_read_defaults(mjcf *m)
{
  m->classes[0] = (mjcf_class){"main", -1, -1};
  m->class_count = 1;
  if (name_map_add(&m->class_names, "main", 0) != NAME_MAP_ADDED)
    xml_input_error(m->in, m->root, SB_CODE_MEMORY, "no memory for the scene");
  for (xmlNode *c = xml_input_element(m->root->children); c; c = xml_input_element(c->next)) {
    if (xml_is(c, MJCF_ATTACHED_DEFAULT)) read_attached(m, c);
    if (!xml_is(c, "default")) continue;
    const char *name = xml_input_attribute(c, "class");
    if (name && *name && strcmp(name, m->classes[0].name) != 0) {
      /* The outermost class may have another name than main. */
      m->classes[0].name = name;
      if (name_map_add(&m->class_names, name, 0) != NAME_MAP_ADDED)
        xml_input_error(m->in, c, SB_CODE_SCENE_DUPLICATE, "default class '%.80s' is used twice", name);
    }
    if (mjcf_check(m, c)) read_class(m, c, 0);
  }
  check_lengths(m);
}

int32_t mjcf_class_of(mjcf *m, const xmlNode *node, const char *attribute, int32_t inherited)
{
  const char *name = xml_input_attribute(node, attribute);
  if (!name) return inherited;
  int32_t class = name_map_find(&m->class_names, name);
  if (class >= 0) return class;
  if (m->in->errors >= XML_INPUT_MAX_ERRORS) return inherited;
  const char *near = name_map_nearest(&m->class_names, name);
  xml_input_error(m->in, node, SB_CODE_SCENE_REFERENCE, "%s: there is no default class '%.80s'%s%.80s%s", attribute,
                  name, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
  return inherited;
}

mjcf_source mjcf_source_of(mjcf *m, const xmlNode *node, mjcf_kind kind, int32_t inherited)
{
  int32_t class = kind == MJCF_NONE ? -1 : mjcf_class_of(m, node, "class", inherited);
  return (mjcf_source){m, node, kind, class};
}

const char *mjcf_text(const mjcf_source *s, const char *name, const xmlNode **at, int *level)
{
  *level = 0;
  *at = s->node;
  const char *text = xml_input_attribute(s->node, name);
  if (text) return text;
  for (int32_t class = s->class; class >= 0; class = s->m->classes[class].parent)
    for (int32_t e = s->m->classes[class].last; e >= 0; e = s->m->entries[e].next) {
      ++*level;
      if (s->m->entries[e].kind != s->kind) continue;
      *at = s->m->entries[e].node;
      text = xml_input_attribute(*at, name);
      if (text) return text;
    }
  return NULL;
}

bool mjcf_numbers(const mjcf_source *s, const char *name, double *values, size_t count)
{
  size_t found;
  return mjcf_some_numbers(s, name, values, count, count, &found);
}

bool mjcf_some_numbers(const mjcf_source *s, const char *name, double *values, size_t lower, size_t upper,
                       size_t *found)
{
  const xmlNode *at;
  int level;
  const char *text = mjcf_text(s, name, &at, &level);
  *found = 0;
  return text && xml_input_some_numbers(s->m->in, at, name, text, values, lower, upper, found);
}

bool mjcf_number_from(const mjcf_source *s, const char *name, double lower, double *value)
{
  double read;
  if (!mjcf_numbers(s, name, &read, 1)) return false;
  if (read >= lower) {
    *value = read;
    return true;
  }
  const xmlNode *at;
  int level;
  mjcf_text(s, name, &at, &level);
  xml_input_error(s->m->in, at, SB_CODE_SCENE_VALUE, "%s: expected at least %g, found %g", name, lower, read);
  return false;
}

bool mjcf_mask(const mjcf_source *s, const char *name, uint32_t *value)
{
  double read;
  if (!mjcf_numbers(s, name, &read, 1)) return false;
  if (read >= 0.0 && read <= 4294967295.0 && read == (double)(uint32_t)read) {
    *value = (uint32_t)read;
    return true;
  }
  const xmlNode *at;
  int level;
  mjcf_text(s, name, &at, &level);
  xml_input_error(s->m->in, at, SB_CODE_SCENE_VALUE, "%s: expected a whole number from 0 to 4294967295, found %g", name,
                  read);
  return false;
}

int mjcf_word(const mjcf_source *s, const char *name, const char *const *words, int fallback)
{
  const xmlNode *at;
  int level;
  const char *text = mjcf_text(s, name, &at, &level);
  int word = text ? xml_input_word(s->m->in, at, name, text, words) : fallback;
  return word < 0 ? fallback : word;
}

mjcf_choice mjcf_flag(const mjcf_source *s, const char *name, mjcf_choice fallback)
{
  static const char *const words[] = {"false", "true", "auto", NULL};
  return (mjcf_choice)mjcf_word(s, name, words, (int)fallback);
}

bool mjcf_limited(const mjcf_source *s, const char *limited, const char *range)
{
  const xmlNode *at;
  int level;
  mjcf_choice choice = mjcf_flag(s, limited, MJCF_AUTO);
  if (choice != MJCF_AUTO) return choice == MJCF_TRUE;
  return mjcf_compiler_of(s->m, s->node)->autolimits && mjcf_text(s, range, &at, &level);
}

bool mjcf_range(const mjcf_source *s, const char *name, double range[2])
{
  double read[2];
  const xmlNode *at;
  int level;
  if (!mjcf_text(s, name, &at, &level)) {
    xml_input_error(s->m->in, s->node, SB_CODE_SCENE_ATTRIBUTE, "what is limited needs the attribute %s", name);
    return false;
  }
  if (!mjcf_numbers(s, name, read, 2)) return false;
  if (read[0] > read[1]) {
    xml_input_error(s->m->in, at, SB_CODE_SCENE_VALUE, "%s: %g is above %g; give the lower end first", name, read[0],
                    read[1]);
    return false;
  }
  memcpy(range, read, sizeof read);
  return true;
}

/* The orientation that stands nearest to the element. */
static void read_orientation(const mjcf_source *s, double q[4])
{
  static const char *const names[5] = {"quat", "axisangle", "euler", "xyaxes", "zaxis"};
  static const size_t counts[5] = {4, 4, 3, 6, 3};
  int best = -1, best_level = 0, level;
  const xmlNode *at, *best_at = NULL;
  for (int i = 0; i < 5; i++)
    if (mjcf_text(s, names[i], &at, &level) && (best < 0 || level < best_level))
      best = i, best_level = level, best_at = at;
  double v[6];
  if (best < 0 || !mjcf_numbers(s, names[best], v, counts[best])) return;
  const mjcf_compiler *compiler = mjcf_compiler_of(s->m, best_at);
  double degree = compiler->degrees ? COOK_PI / 180.0 : 1.0, read[4] = {0.0, 0.0, 0.0, 1.0};
  bool good = true;
  switch (best) {
  case 0:
    for (int i = 0; i < 4; i++) read[i] = v[(i + 1) & 3];
    break;
  case 1:
    good = cook_normalize(v, v);
    if (good) cook_quat_axis_angle(v, v[3] * degree, read);
    break;
  case 2:
    for (int i = 0; i < 3; i++) v[i] *= degree;
    good = cook_quat_euler(v, compiler->euler, read);
    break;
  case 3:
    good = cook_quat_xy_axes(v, v + 3, read);
    break;
  default:
    good = cook_quat_z_axis(v, read);
  }
  if (good && cook_quat_normalize(read))
    memcpy(q, read, sizeof read);
  else
    xml_input_error(s->m->in, best_at, SB_CODE_SCENE_VALUE,
                    "%s: expected vectors of some length in different directions and angles below 1e6 rad",
                    names[best]);
}

void mjcf_pose(const mjcf_source *s, double X[7])
{
  cook_pose_identity(X);
  mjcf_numbers(s, "pos", X, 3);
  read_orientation(s, X + 3);
}

bool mjcf_is_frame(const xmlNode *node) { return xml_is(node, "frame") || xml_is(node, MJCF_REPLICA); }

/* Replica i stands at the i-th power of the step from one to the next; by squaring, so that many cost little. */
void mjcf_frame_pose(mjcf *m, const xmlNode *node, double X[7])
{
  const mjcf_source s = {m, node, MJCF_NONE, -1};
  mjcf_pose(&s, X);
  if (!xml_is(node, MJCF_REPLICA)) return;
  double step[7], index = 0.0;
  cook_pose_identity(step);
  mjcf_numbers(&s, "offset", step, 3);
  memcpy(step + 3, X + 3, 4 * sizeof *step);
  mjcf_numbers(&s, "index", &index, 1);
  cook_pose_identity(X);
  for (uint32_t i = (uint32_t)index; i; i >>= 1) {
    if (i & 1u) cook_pose_mul(step, X, X);
    cook_pose_mul(step, step, step);
  }
  cook_quat_normalize(X + 3);
}
