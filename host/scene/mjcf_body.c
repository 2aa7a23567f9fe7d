/* Bodies of MJCF: joints, geometry, inertia. */
#include "cook_math.h"
#include "mjcf.h"
#include "solid.h"

#include <string.h>

static const char *name_of(const xmlNode *node)
{
  const char *name = xml_input_attribute(node, "name");
  return name && *name ? name : NULL;
}

static double angle_unit(const mjcf_source *s)
{
  return mjcf_compiler_of(s->m, s->node)->degrees ? COOK_PI / 180.0 : 1.0;
}

/* Joints ----------------------------------------------------------------------------------------------------------- */

/* The largest effort of a range that should be symmetric about 0. */
static double effort_of(const mjcf_source *s, const char *name, const double range[2])
{
  double lower = cook_abs(range[0]), upper = cook_abs(range[1]);
  if (lower != upper) xml_input_unsupported(s->m->in, s->node, "a force range that is not symmetric about 0", name);
  return lower > upper ? lower : upper;
}

static void read_dof(const mjcf_source *s, bool angular, const double frame[7], sb_build_dof *dof)
{
  double unit = angular ? angle_unit(s) : 1.0, range[2], position[3] = {0.0, 0.0, 0.0}, axis[3] = {0.0, 0.0, 1.0};
  mjcf_numbers(s, "pos", position, 3);
  mjcf_numbers(s, "axis", axis, 3);
  if (!cook_normalize(axis, axis))
    xml_input_error(s->m->in, s->node, SB_CODE_SCENE_VALUE, "axis: expected a vector that is not zero");
  cook_quat_rotate(frame + 3, axis, dof->axis);
  cook_pose_point(frame, position, dof->anchor);
  dof->kind = angular ? SB_DOF_ANGULAR : SB_DOF_LINEAR;
  mjcf_number_from(s, "armature", 0.0, &dof->armature);
  mjcf_number_from(s, "damping", 0.0, &dof->damping);
  mjcf_number_from(s, "frictionloss", 0.0, &dof->friction);
  mjcf_number_from(s, "stiffness", 0.0, &dof->stiffness);
  if (mjcf_numbers(s, "ref", &dof->ref, 1)) dof->ref *= unit;
  if (mjcf_numbers(s, "springref", &dof->spring_ref, 1)) dof->spring_ref *= unit;
  dof->q = dof->ref;
  if (mjcf_limited(s, "limited", "range") && mjcf_range(s, "range", range))
    dof->lower = range[0] * unit, dof->upper = range[1] * unit;
  if (mjcf_limited(s, "actuatorfrclimited", "actuatorfrcrange") && mjcf_range(s, "actuatorfrcrange", range))
    dof->effort_limit = effort_of(s, "actuatorfrcrange", range);
}

/* Values that joints of several dofs cannot have here. */
static void report_extra(const mjcf_source *s, const char *type)
{
  const xmlNode *at;
  double value = 0.0;
  char what[64] = "stiffness of a joint of type ";
  strcat(what, type);
  if (mjcf_numbers(s, "stiffness", &value, 1) && value != 0.0) xml_input_unsupported(s->m->in, s->node, what, "");
  strcpy(what, "range of a joint of type ");
  strcat(what, type);
  int level;
  if (mjcf_text(s, "range", &at, &level) && mjcf_limited(s, "limited", "range"))
    xml_input_unsupported(s->m->in, at, what, "");
}

static void read_joint(mjcf *m, const xmlNode *node, int32_t link, const double frame[7], int32_t class)
{
  static const char *const types[] = {"free", "ball", "slide", "hinge", NULL};
  mjcf_source s = mjcf_source_of(m, node, MJCF_JOINT, class);
  scene_joint joint = {.node = node, .name = name_of(node), .dof = sb_build_dof_default()};
  int type = mjcf_word(&s, "type", types, 3);
  joint.kind = type == 0 ? SCENE_JOINT_FREE : type == 1 ? SCENE_JOINT_BALL : SCENE_JOINT_AXIS;
  if (type >= 2) {
    read_dof(&s, type == 3, frame, &joint.dof);
  } else {
    double position[3] = {0.0, 0.0, 0.0};
    mjcf_numbers(&s, "pos", position, 3);
    cook_pose_point(frame, position, joint.dof.anchor);
    mjcf_number_from(&s, "armature", 0.0, &joint.dof.armature);
    mjcf_number_from(&s, "damping", 0.0, &joint.dof.damping);
    mjcf_number_from(&s, "frictionloss", 0.0, &joint.dof.friction);
    report_extra(&s, types[type]);
  }
  scene_tree_add_joint(&m->tree, link, &joint);
}

static void read_free_joint(mjcf *m, const xmlNode *node, int32_t link)
{
  scene_joint joint = {.node = node, .name = name_of(node), .kind = SCENE_JOINT_FREE, .dof = sb_build_dof_default()};
  scene_tree_add_joint(&m->tree, link, &joint);
}

/* Geometry --------------------------------------------------------------------------------------------------------- */

enum {
  GEOM_PLANE,
  GEOM_HFIELD,
  GEOM_SPHERE,
  GEOM_CAPSULE,
  GEOM_ELLIPSOID,
  GEOM_CYLINDER,
  GEOM_BOX,
  GEOM_MESH,
  GEOM_SDF
};
static const char *const geom_types[] = {"plane",    "hfield", "sphere", "capsule", "ellipsoid",
                                         "cylinder", "box",    "mesh",   "sdf",     NULL};

/* Pose and size of an elongated solid from the two ends of its axis. */
static bool read_ends(const mjcf_source *s, const double ends[6], int type, double X[7], double size[3])
{
  double axis[3];
  for (int i = 0; i < 3; i++) {
    axis[i] = ends[i + 3] - ends[i];
    X[i] = (ends[i] + ends[i + 3]) * 0.5;
  }
  if (!cook_quat_z_axis(axis, X + 3)) {
    xml_input_error(s->m->in, s->node, SB_CODE_SCENE_VALUE, "fromto: expected two different points");
    return false;
  }
  double half = cook_length(axis) * 0.5;
  if (type == GEOM_BOX || type == GEOM_ELLIPSOID) {
    size[1] = size[0];
    size[2] = half;
  } else {
    size[1] = half;
  }
  return true;
}

/* Pose in the link and full size. False when the size is wrong (then with an error). */
static bool read_form(const mjcf_source *s, int type, const double frame[7], double X[7], double size[3])
{
  static const size_t needed[] = {0, 0, 1, 2, 3, 2, 3, 0, 0};
  double ends[6], local[7];
  size_t found = 0, needs = needed[type];
  const xmlNode *at;
  int level;
  size[0] = size[1] = size[2] = 0.0;
  mjcf_pose(s, local);
  bool has_size = mjcf_some_numbers(s, "size", size, 1, 3, &found);
  bool elongated = type == GEOM_CAPSULE || type == GEOM_CYLINDER || type == GEOM_BOX || type == GEOM_ELLIPSOID;
  if (needs == 0) {
    cook_pose_mul(frame, local, X);
    return true;
  }
  if (elongated && mjcf_text(s, "fromto", &at, &level)) {
    if (!mjcf_numbers(s, "fromto", ends, 6) || !read_ends(s, ends, type, local, size)) return false;
    if (has_size) found = needs;
  }
  if (found < needs) {
    if (!has_size && mjcf_text(s, "size", &at, &level)) return false;
    xml_input_error(s->m->in, s->node, SB_CODE_SCENE_ATTRIBUTE, "a geom of type %s needs %zu sizes, found %zu",
                    geom_types[type], needs, found);
    return false;
  }
  for (size_t i = 0; i < 3; i++) {
    if (i >= needs) size[i] = 0.0;
    if (i < needs && !(size[i] > 0.0)) {
      xml_input_error(s->m->in, s->node, SB_CODE_SCENE_VALUE, "size: expected numbers above 0, found %g", size[i]);
      return false;
    }
  }
  cook_pose_mul(frame, local, X);
  return true;
}

/* Mass properties of a geom's solid; false for what has none. */
static bool solid_of(const mjcf_source *s, int type, const scene_geom *geom, const double size[3], mesh_mass *out)
{
  static const solid_kind kinds[] = {SOLID_SPHERE,   SOLID_SPHERE, SOLID_SPHERE, SOLID_CAPSULE, SOLID_ELLIPSOID,
                                     SOLID_CYLINDER, SOLID_BOX,    SOLID_SPHERE, SOLID_SPHERE};
  if (type == GEOM_PLANE || type == GEOM_HFIELD || type == GEOM_SDF) return false;
  if (type == GEOM_MESH) {
    const mesh_mass *found = scene_mesh_mass(s->m->in, &s->m->tree.meshes[geom->mesh]);
    if (found) *out = *found;
    return found && found->volume > 0.0;
  }
  *out = (mesh_mass){.volume = solid_volume(kinds[type], size)};
  solid_inertia(kinds[type], size, out->volume, out->inertia);
  return true;
}

/* Adds the geom's mass to the body's when it counts. */
static void add_mass(const mjcf_source *s, int type, const scene_geom *geom, const double size[3], scene_link *masses)
{
  double density = 1000.0, mass = 0.0, group = 0.0, tensor[6], com[3];
  const double *X = geom->shape.X;
  mjcf_numbers(s, "group", &group, 1);
  mjcf_number_from(s, "density", 0.0, &density);
  bool has_mass = mjcf_number_from(s, "mass", 0.0, &mass);
  const mjcf_compiler *compiler = mjcf_compiler_of(s->m, s->node);
  if (!(group >= compiler->group_range[0] && group <= compiler->group_range[1])) return;
  if (has_mass ? mass == 0.0 : density == 0.0) return;
  mesh_mass solid;
  if (!solid_of(s, type, geom, size, &solid)) return;
  if (!has_mass) mass = density * solid.volume;
  for (int i = 0; i < 6; i++) solid.inertia[i] *= mass / solid.volume;
  cook_inertia_rotate(X + 3, solid.inertia, tensor);
  cook_pose_point(X, solid.com, com);
  scene_link_add_mass(masses, mass, com, tensor);
}

static void read_surface(const mjcf_source *s, sb_build_shape *shape)
{
  double margin = 0.0, gap = 0.0;
  size_t found;
  double friction[3];
  memcpy(friction, shape->friction, sizeof friction);
  if (mjcf_some_numbers(s, "friction", friction, 1, 3, &found)) {
    for (int i = 0; i < 3; i++)
      if (friction[i] < 0.0)
        xml_input_error(s->m->in, s->node, SB_CODE_SCENE_VALUE, "friction: expected at least 0, found %g", friction[i]);
    memcpy(shape->friction, friction, sizeof friction);
  }
  mjcf_mask(s, "contype", &shape->contype);
  mjcf_mask(s, "conaffinity", &shape->conaffinity);
  mjcf_mask(s, "condim", &shape->condim);
  if (shape->condim != 1 && shape->condim != 3 && shape->condim != 4 && shape->condim != 6)
    xml_input_error(s->m->in, s->node, SB_CODE_SCENE_VALUE, "condim: expected 1, 3, 4 or 6, found %u", shape->condim);
  mjcf_numbers(s, "margin", &margin, 1);
  mjcf_numbers(s, "gap", &gap, 1);
  /* Contacts begin to act at margin - gap. */
  shape->margin = margin - gap;
}

static void read_geom(mjcf *m, const xmlNode *node, int32_t link, const double frame[7], int32_t class,
                      scene_link *masses)
{
  static const uint32_t shapes[] = {SB_SHAPE_PLANE,    SB_SHAPE_HFIELD, SB_SHAPE_SPHERE, SB_SHAPE_CAPSULE, SB_SHAPE_ELLIPSOID,
                                    SB_SHAPE_CYLINDER, SB_SHAPE_BOX,    SB_SHAPE_MESH,   SB_SHAPE_TYPE_COUNT};
  mjcf_source s = mjcf_source_of(m, node, MJCF_GEOM, class);
  scene_geom geom = {.name = name_of(node), .link = link, .shape = sb_build_shape_default()};
  const xmlNode *at;
  int level, type = mjcf_word(&s, "type", geom_types, GEOM_SPHERE);
  double size[3];
  if (!read_form(&s, type, frame, geom.shape.X, size)) return;
  if (type == GEOM_SDF) {
    xml_input_unsupported(m->in, node, "geometry of type sdf", "it is left out");
    return;
  }
  if (type != GEOM_MESH && mjcf_text(&s, "mesh", &at, &level))
    xml_input_unsupported(m->in, node, "fitting a primitive to a mesh", "the sizes of the geom count");
  if (type == GEOM_MESH && !mjcf_mesh_of(&s, &geom.mesh)) return;
  add_mass(&s, type, &geom, size, masses);
  read_surface(&s, &geom.shape);
  geom.shape.type = shapes[type];
  if (type == GEOM_PLANE) size[0] = size[1] = size[2] = 0.0;
  memcpy(geom.shape.size, size, sizeof size);
  if (type == GEOM_HFIELD && !mjcf_hfield_shape(&s, &geom.shape)) return;
  scene_tree_add_geom(&m->tree, &geom, node);
}

static void read_site(mjcf *m, const xmlNode *node, int32_t link, const double frame[7], int32_t class)
{
  const mjcf_source s = mjcf_source_of(m, node, MJCF_SITE, class);
  scene_site site = {.name = name_of(node), .link = link};
  double local[7], ends[6], size[3] = {0.0, 0.0, 0.0};
  mjcf_pose(&s, local);
  if (mjcf_numbers(&s, "fromto", ends, 6) && !read_ends(&s, ends, GEOM_CAPSULE, local, size)) return;
  cook_pose_mul(frame, local, site.X);
  scene_tree_add_site(&m->tree, &site, node);
}

/* Inertia ---------------------------------------------------------------------------------------------------------- */

static void read_inertial(mjcf *m, const xmlNode *node, scene_link *out)
{
  const mjcf_source s = {m, node, MJCF_NONE, -1};
  double X[7], v[6] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
  mjcf_pose(&s, X);
  if (!xml_input_attribute(node, "mass") || !xml_input_attribute(node, "pos")) {
    xml_input_error(m->in, node, SB_CODE_SCENE_ATTRIBUTE, "<inertial> needs the attributes pos and mass");
    return;
  }
  mjcf_number_from(&s, "mass", 0.0, &out->mass);
  if (xml_input_attribute(node, "fullinertia"))
    mjcf_numbers(&s, "fullinertia", v, 6);
  else if (xml_input_attribute(node, "diaginertia"))
    mjcf_numbers(&s, "diaginertia", v, 3);
  else if (m->in->status == SB_OK && out->mass > 0.0)
    xml_input_error(m->in, node, SB_CODE_SCENE_ATTRIBUTE, "<inertial> needs diaginertia or fullinertia");
  memcpy(out->com, X, sizeof out->com);
  cook_inertia_rotate(X + 3, v, out->inertia);
}

/* Bounds and balance of the compiler element, and the triangle rule A + B >= C of principal moments. */
static void settle_inertia(mjcf *m, const xmlNode *node, scene_link *link)
{
  double e[3], v[9];
  const mjcf_compiler *compiler = mjcf_compiler_of(m, node);
  if (link->mass < compiler->bound_mass) link->mass = compiler->bound_mass;
  if (!(link->mass > 0.0)) return;
  cook_eigen(link->inertia, e, v);
  bool changed = false;
  for (int i = 0; i < 3; i++)
    if (e[i] < compiler->bound_inertia) e[i] = compiler->bound_inertia, changed = true;
  if (e[0] + e[1] < e[2] * (1.0 - 1.0e-6)) {
    if (!compiler->balance_inertia) {
      xml_input_error(m->in, node, SB_CODE_SCENE_MASS,
                      "no body has the principal moments %g %g %g: two must be at least the third; correct them or set "
                      "balanceinertia in <compiler>",
                      e[0], e[1], e[2]);
      return;
    }
    e[0] = e[1] = e[2] = ((e[0] + e[1]) + e[2]) / 3.0;
    changed = true;
  }
  if (!changed) return;
  double *out = link->inertia;
  static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
  for (int k = 0; k < 6; k++) {
    const double *a = v + 3 * row[k], *b = v + 3 * column[k];
    out[k] = (e[0] * a[0] * b[0] + e[1] * a[1] * b[1]) + e[2] * a[2] * b[2];
  }
}

/* Bodies ----------------------------------------------------------------------------------------------------------- */

/* What a body's own elements say of its mass. */
typedef struct body_masses {
  scene_link from_geoms;
  scene_link stated;
  bool is_stated;
} body_masses;

/* Joints, geometry and inertia of one body, also inside its frames; bodies are left for later so that what belongs to
 * one link lies together. */
static void read_own(mjcf *m, const xmlNode *node, int32_t link, const double frame[7], int32_t class,
                     body_masses *masses)
{
  for (xmlNode *c = xml_input_element(node->children); c; c = xml_input_element(c->next)) {
    if (xml_is(c, "body") || (!xml_is(c, MJCF_REPLICA) && !mjcf_check(m, c))) continue;
    if (xml_is(c, "geom")) {
      read_geom(m, c, link, frame, class, &masses->from_geoms);
    } else if (xml_is(c, "site")) {
      read_site(m, c, link, frame, class);
    } else if (xml_is(c, "flexcomp")) {
      mjcf_note_flex(m, c, link, frame);
    } else if (mjcf_is_frame(c)) {
      double local[7], X[7];
      mjcf_frame_pose(m, c, local);
      cook_pose_mul(frame, local, X);
      read_own(m, c, link, X, mjcf_class_of(m, c, "childclass", class), masses);
    } else if (link >= 0 && xml_is(c, "joint")) {
      read_joint(m, c, link, frame, class);
    } else if (link >= 0 && xml_is(c, "freejoint")) {
      read_free_joint(m, c, link);
    } else if (link >= 0 && xml_is(c, "inertial")) {
      masses->is_stated = true;
      read_inertial(m, c, &masses->stated);
    } else {
      xml_input_error(m->in, c, SB_CODE_SCENE_STRUCTURE, "<%.40s> cannot stand inside <%.40s>", (const char *)c->name,
                      (const char *)node->name);
    }
  }
}

static void read_children(mjcf *m, const xmlNode *node, int32_t link, const double frame[7], int32_t class);

static void read_body(mjcf *m, const xmlNode *node, int32_t parent, const double frame[7], int32_t class)
{
  const mjcf_source s = {m, node, MJCF_NONE, -1};
  scene_link link = {.node = node, .name = name_of(node), .parent = parent};
  double local[7], identity[7];
  mjcf_pose(&s, local);
  cook_pose_mul(frame, local, link.X);
  cook_pose_identity(identity);
  class = mjcf_class_of(m, node, "childclass", class);
  int32_t index = scene_tree_add_link(&m->tree, &link);
  if (index < 0) return;
  body_masses masses = {0};
  read_own(m, node, index, identity, class, &masses);
  mjcf_choice from_geom = mjcf_compiler_of(m, node)->inertia_from_geom;
  bool stated = masses.is_stated && from_geom != MJCF_TRUE;
  const scene_link *from = stated ? &masses.stated : &masses.from_geoms;
  scene_link *added = &m->tree.links[index];
  if (stated || from_geom != MJCF_FALSE) {
    added->mass = from->mass;
    memcpy(added->com, from->com, sizeof added->com);
    memcpy(added->inertia, from->inertia, sizeof added->inertia);
  }
  settle_inertia(m, node, added);
  read_children(m, node, index, identity, class);
}

static void read_children(mjcf *m, const xmlNode *node, int32_t link, const double frame[7], int32_t class)
{
  for (xmlNode *c = xml_input_element(node->children); c; c = xml_input_element(c->next)) {
    if (mjcf_is_frame(c)) {
      double local[7], X[7];
      mjcf_frame_pose(m, c, local);
      cook_pose_mul(frame, local, X);
      read_children(m, c, link, X, mjcf_class_of(m, c, "childclass", class));
    } else if (xml_is(c, "body") && mjcf_check(m, c)) {
      read_body(m, c, link, frame, class);
    }
  }
}

void mjcf_read_world(mjcf *m)
{
  double identity[7];
  cook_pose_identity(identity);
  for (xmlNode *c = xml_input_element(m->root->children); c; c = xml_input_element(c->next)) {
    if (!xml_is(c, "worldbody") || !mjcf_check(m, c)) continue;
    body_masses masses = {0};
    read_own(m, c, -1, identity, 0, &masses);
    read_children(m, c, -1, identity, 0);
  }
  double wanted = m->models[0].compiler.total_mass;
  if (wanted <= 0.0) return;
  double total = 0.0;
  for (uint32_t i = 0; i < m->tree.link_count; i++) total += m->tree.links[i].mass;
  for (uint32_t i = 0; i < m->tree.link_count && total > 0.0; i++) {
    scene_link *link = &m->tree.links[i];
    link->mass *= wanted / total;
    for (int k = 0; k < 6; k++) link->inertia[k] *= wanted / total;
  }
}
