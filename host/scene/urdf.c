/* The URDF reader: links, joints, collision geometry. Poses are xyz and rpy (turns about fixed x, y, z). */
#include "urdf.h"

#include "cook_math.h"
#include "mesh_file.h"
#include "scene_tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_PATH 1024

static const xml_element schema[] = {
    {"robot", XML_USED, "name", "version", ""},
    {"link", XML_USED, "name", "type", ""},
    {"joint", XML_USED, "name type", "", ""},
    {"inertial", XML_USED, "", "", ""},
    {"origin", XML_USED, "xyz rpy", "", ""},
    {"mass", XML_USED, "value", "", ""},
    {"inertia", XML_USED, "ixx ixy ixz iyy iyz izz", "", ""},
    {"collision", XML_USED, "", "name group", ""},
    {"geometry", XML_USED, "", "", ""},
    {"box", XML_USED, "size", "", ""},
    {"sphere", XML_USED, "radius", "", ""},
    {"capsule", XML_USED, "radius length", "", ""},
    {"cylinder", XML_USED, "radius length", "", ""},
    {"mesh", XML_USED, "filename scale", "", ""},
    {"parent", XML_USED, "link", "", ""},
    {"child", XML_USED, "link", "", ""},
    {"axis", XML_USED, "xyz", "", ""},
    {"limit", XML_USED, "lower upper effort velocity", "", "acceleration jerk"},
    {"dynamics", XML_USED, "damping friction", "D K mu_coulomb mu_viscous", "spring_stiffness spring_reference"},
    {"mimic", XML_USED, "joint multiplier offset", "", ""},
    {"visual", XML_IDLE, "", "", ""},
    {"material", XML_IDLE, "", "", ""},
    {"calibration", XML_IDLE, "", "", ""},
    {"transmission", XML_NOTED, "", "", ""},
    {"gazebo", XML_IDLE, "", "", ""},
    {"safety_controller", XML_NOTED, "", "", ""},
    {"contact", XML_USED, "", "", ""},
    {"lateral_friction", XML_USED, "value", "", ""},
    {"spinning_friction", XML_USED, "value", "", ""},
    {"rolling_friction", XML_USED, "value", "", ""},
    {"restitution", XML_USED, "value", "", ""},
    {"contact_cfm", XML_MISSING, "", "", ""},
    {"contact_erp", XML_MISSING, "", "", ""},
    {"inertia_scaling", XML_MISSING, "", "", ""},
    {"stiffness", XML_MISSING, "", "", ""},
    {"damping", XML_MISSING, "", "", ""},
    {"joint_properties", XML_USED, "damping friction", "", ""},
    {"sensor", XML_MISSING, "", "", ""}};

typedef struct urdf_joint {
  const xmlNode *node;
  int32_t parent, child; /* links of the file */
  int32_t next;          /* joint with the same parent, later in the file; -1 at the end */
} urdf_joint;

typedef struct urdf_link {
  const xmlNode *node;
  int32_t joint;                   /* that it is the child of; -1 for a root */
  int32_t first_child, last_child; /* joints */
  int32_t index;                   /* in the tree; -1 before it is reached */
  bool is_static;
  double world[7]; /* pose of a static link */
} urdf_link;

typedef struct urdf {
  xml_input *in;
  const sb_scene_request *request;
  scene_tree tree;
  urdf_link *links;
  urdf_joint *joints;
  int32_t link_count, joint_count;
  name_map link_names, joint_names;
  uint64_t mesh_bytes; /* that may still be read */
  char **texts; /* names made here */
  size_t text_count, text_capacity;
} urdf;

static bool check(urdf *u, const xmlNode *node)
{
  return xml_input_check(u->in, node, schema, sizeof schema / sizeof *schema);
}

static void no_memory(urdf *u, const xmlNode *node)
{
  xml_input_error(u->in, node, SB_CODE_MEMORY, "no memory for the scene");
}

/* First child element of a name. */
static const xmlNode *child_of(const xmlNode *node, const char *name)
{
  for (const xmlNode *c = xml_input_element(node->children); c; c = xml_input_element(c->next))
    if (xml_is(c, name)) return c;
  return NULL;
}

static bool numbers(urdf *u, const xmlNode *node, const char *name, double *values, size_t count)
{
  const char *text = xml_input_attribute(node, name);
  return text && xml_input_numbers(u->in, node, name, text, values, count);
}

static bool needed_number(urdf *u, const xmlNode *node, const char *name, double lower, double *value)
{
  if (!xml_input_attribute(node, name)) {
    xml_input_error(u->in, node, SB_CODE_SCENE_ATTRIBUTE, "<%.40s> needs the attribute %s", (const char *)node->name,
                    name);
    return false;
  }
  if (!numbers(u, node, name, value, 1)) return false;
  if (*value >= lower) return true;
  xml_input_error(u->in, node, SB_CODE_SCENE_VALUE, "%s: expected at least %g, found %g", name, lower, *value);
  return false;
}

/* Pose of the <origin> inside a node; the identity without one. */
static void read_origin(urdf *u, const xmlNode *node, double X[7])
{
  const xmlNode *origin = child_of(node, "origin");
  double rpy[3];
  cook_pose_identity(X);
  if (!origin || !check(u, origin)) return;
  numbers(u, origin, "xyz", X, 3);
  if (numbers(u, origin, "rpy", rpy, 3) && !cook_quat_euler(rpy, "XYZ", X + 3))
    xml_input_error(u->in, origin, SB_CODE_SCENE_VALUE, "rpy: expected angles below 1e6 rad");
}

/* Links ------------------------------------------------------------------------------------------------------------ */

static void read_inertial(urdf *u, const xmlNode *node, scene_link *link)
{
  static const char *const names[6] = {"ixx", "iyy", "izz", "ixy", "ixz", "iyz"};
  const xmlNode *mass = child_of(node, "mass"), *inertia = child_of(node, "inertia");
  double X[7], tensor[6] = {0};
  read_origin(u, node, X);
  if (!mass) {
    xml_input_error(u->in, node, SB_CODE_SCENE_ATTRIBUTE, "<inertial> needs a <mass>");
    return;
  }
  check(u, mass);
  needed_number(u, mass, "value", 0.0, &link->mass);
  memcpy(link->com, X, sizeof link->com);
  if (!inertia || !check(u, inertia)) return;
  for (int i = 0; i < 6; i++) numbers(u, inertia, names[i], &tensor[i], 1);
  cook_inertia_rotate(X + 3, tensor, link->inertia);
}

/* A name made of two parts, kept until the reader is done. */
static const char *make_name(urdf *u, const xmlNode *node, const char *name, const char *suffix)
{
  if (u->text_count == u->text_capacity) {
    size_t capacity = u->text_capacity ? u->text_capacity * 2 : 16;
    char **texts = realloc(u->texts, capacity * sizeof *texts);
    if (!texts) {
      no_memory(u, node);
      return NULL;
    }
    u->texts = texts;
    u->text_capacity = capacity;
  }
  size_t n = strlen(name), k = strlen(suffix) + 1;
  char *text = malloc(n + k);
  if (!text) {
    no_memory(u, node);
    return NULL;
  }
  memcpy(text, name, n);
  memcpy(text + n, suffix, k);
  u->texts[u->text_count++] = text;
  return text;
}

static bool readable(const char *path) { return access(path, R_OK) == 0; }

/* Joins two parts of a path; false when it is too long. */
static bool join(char path[MAX_PATH], const char *folder, size_t length, const char *file)
{
  int n = snprintf(path, MAX_PATH, "%.*s%s", (int)length, folder, file);
  return n > 0 && n < MAX_PATH;
}

/* The file of package://PATH: PATH in a package directory, else the longest end of PATH below the URDF file's own folder. Other names
 * count from that folder unless they are absolute. */
static bool find_mesh_file(const urdf *u, const char *file, char path[MAX_PATH])
{
  static const char package[] = "package://", plain[] = "file://";
  const char *slash = strrchr(u->request->scene, '/');
  size_t folder = slash ? (size_t)(slash - u->request->scene) + 1 : 0;
  if (!strncmp(file, package, sizeof package - 1)) {
    file += sizeof package - 1;
    for (size_t i = 0; i < u->request->package_dir_count; i++) {
      int n = snprintf(path, MAX_PATH, "%s/%s", u->request->package_dirs[i], file);
      if (n > 0 && n < MAX_PATH && readable(path)) return true;
    }
    for (const char *end = file; end; end = strchr(end, '/') ? strchr(end, '/') + 1 : NULL)
      if (*end && join(path, u->request->scene, folder, end) && readable(path)) return true;
    return false;
  }
  if (!strncmp(file, plain, sizeof plain - 1)) file += sizeof plain - 1;
  return join(path, u->request->scene, *file == '/' ? 0 : folder, file) && readable(path);
}

/* The mesh of a <mesh>; -1 when it is left out, which is a warning, or wrong. Meshes of one file and scale are one. */
static int32_t read_mesh(urdf *u, const xmlNode *node)
{
  const char *file = xml_input_attribute(node, "filename");
  double scale[3] = {1.0, 1.0, 1.0};
  char path[MAX_PATH], detail[300];
  if (!file || !*file) {
    xml_input_error(u->in, node, SB_CODE_SCENE_ATTRIBUTE, "<mesh> needs the attribute filename");
    return -1;
  }
  if (xml_input_attribute(node, "scale") && !numbers(u, node, "scale", scale, 3)) return -1;
  bool known = mesh_file_known(file);
  if (!known || !find_mesh_file(u, file, path)) {
    snprintf(detail, sizeof detail, "'%.200s' %s; it is left out", file,
             known ? "is in none of the package directories and not beside the URDF file" : "is neither .stl nor .obj");
    xml_input_unsupported(u->in, node, known ? "collision geometry <mesh> without its file" : "this kind of mesh file", detail);
    return -1;
  }
  char key[MAX_PATH + 100];
  snprintf(key, sizeof key, "%s %.17g %.17g %.17g", path, scale[0], scale[1], scale[2]);
  int32_t same = name_map_find(&u->tree.mesh_names, key);
  if (same >= 0) return same;
  mesh triangles;
  xml_place place;
  sb_status status = mesh_file_read(path, xml_input_where(u->in, node, &place), &u->mesh_bytes, scale, &triangles, u->in->diag);
  if (status != SB_OK) {
    mesh_clear(&triangles);
    u->in->errors++;
    if (u->in->status == SB_OK) u->in->status = status;
    return -1;
  }
  if (scale[0] * scale[1] * scale[2] < 0.0) mesh_flip(&triangles);
  const char *name = make_name(u, node, key, "");
  return name ? scene_tree_add_mesh(&u->tree, node, name, &triangles) : -1;
}

/* Shape of a <geometry>; false when it gives none. */
static bool read_geometry(urdf *u, const xmlNode *geometry, sb_build_shape *shape, int32_t *mesh_index)
{
  const xmlNode *g = xml_input_element(geometry->children);
  double size[3], length;
  if (!g) {
    xml_input_error(u->in, geometry, SB_CODE_SCENE_ATTRIBUTE,
                    "<geometry> needs a box, sphere, capsule, cylinder or mesh");
    return false;
  }
  if (!check(u, g)) return false;
  if (xml_is(g, "mesh")) {
    shape->type = SB_SHAPE_MESH;
    *mesh_index = read_mesh(u, g);
    return *mesh_index >= 0;
  }
  if (xml_is(g, "box")) {
    shape->type = SB_SHAPE_BOX;
    if (!xml_input_attribute(g, "size")) {
      xml_input_error(u->in, g, SB_CODE_SCENE_ATTRIBUTE, "<box> needs the attribute size");
      return false;
    }
    if (!numbers(u, g, "size", size, 3)) return false;
    for (int i = 0; i < 3; i++) shape->size[i] = size[i] / 2.0;
  } else if (xml_is(g, "sphere") || xml_is(g, "capsule") || xml_is(g, "cylinder")) {
    shape->type = xml_is(g, "sphere") ? SB_SHAPE_SPHERE : xml_is(g, "capsule") ? SB_SHAPE_CAPSULE : SB_SHAPE_CYLINDER;
    if (!needed_number(u, g, "radius", 0.0, &shape->size[0])) return false;
    if (shape->type != SB_SHAPE_SPHERE) {
      if (!needed_number(u, g, "length", 0.0, &length)) return false;
      shape->size[1] = length / 2.0;
    }
  } else {
    xml_input_error(u->in, g, SB_CODE_SCENE_STRUCTURE, "<%.40s> is no geometry", (const char *)g->name);
    return false;
  }
  int used = shape->type == SB_SHAPE_BOX ? 3 : shape->type == SB_SHAPE_SPHERE ? 1 : 2;
  for (int i = 0; i < used; i++)
    if (!(shape->size[i] > 0.0)) {
      xml_input_error(u->in, g, SB_CODE_SCENE_VALUE, "a geometry's sizes must be above 0");
      return false;
    }
  return true;
}

/* Surface of all shapes of a link, as Bullet's extension of URDF has it. */
static void read_surface(urdf *u, const xmlNode *link, sb_build_shape *shape)
{
  static const char *const names[4] = {"lateral_friction", "spinning_friction", "rolling_friction", "restitution"};
  double *const values[4] = {&shape->friction[0], &shape->friction[1], &shape->friction[2], &shape->restitution};
  const xmlNode *contact = child_of(link, "contact");
  for (xmlNode *c = contact ? xml_input_element(contact->children) : NULL; c; c = xml_input_element(c->next)) {
    if (!check(u, c)) continue;
    for (int i = 0; i < 4; i++)
      if (xml_is(c, names[i])) needed_number(u, c, "value", 0.0, values[i]);
  }
  if (shape->restitution > 1.0)
    xml_input_error(u->in, contact, SB_CODE_SCENE_VALUE, "restitution: expected 0 to 1, found %g", shape->restitution);
}

static void read_collision(urdf *u, const xmlNode *node, int32_t link)
{
  scene_geom geom = {.link = link, .shape = sb_build_shape_default()};
  read_surface(u, u->tree.links[link].node, &geom.shape);
  const xmlNode *geometry = child_of(node, "geometry");
  read_origin(u, node, geom.shape.X);
  if (!geometry) {
    xml_input_error(u->in, node, SB_CODE_SCENE_ATTRIBUTE, "<collision> needs a <geometry>");
    return;
  }
  if (check(u, geometry) && read_geometry(u, geometry, &geom.shape, &geom.mesh)) scene_tree_add_geom(&u->tree, &geom, node);
}

/* Adds a link to the tree, below the tree's link `parent` at X. */
static int32_t add_link(urdf *u, const urdf_link *from, int32_t parent, const double X[7])
{
  scene_link link = {.node = from->node, .name = xml_input_attribute(from->node, "name"), .parent = parent};
  memcpy(link.X, X, sizeof link.X);
  for (const xmlNode *c = xml_input_element(from->node->children); c; c = xml_input_element(c->next))
    if (check(u, c) && xml_is(c, "inertial")) read_inertial(u, c, &link);
  int32_t index = scene_tree_add_link(&u->tree, &link);
  if (index < 0) return -1;
  for (const xmlNode *c = xml_input_element(from->node->children); c; c = xml_input_element(c->next))
    if (xml_is(c, "collision")) read_collision(u, c, index);
  return index;
}

/* Joints ----------------------------------------------------------------------------------------------------------- */

enum { REVOLUTE, CONTINUOUS, PRISMATIC, FIXED, FLOATING, PLANAR };
static const char *const joint_types[] = {"revolute", "continuous", "prismatic", "fixed", "floating", "planar", NULL};

static void read_limit(urdf *u, const xmlNode *node, int type, sb_build_dof *dof)
{
  const xmlNode *limit = child_of(node, "limit");
  bool bounded = type == REVOLUTE || type == PRISMATIC;
  if (!limit) {
    if (bounded) xml_input_unsupported(u->in, node, "a revolute or prismatic joint without <limit>", "it moves freely");
    return;
  }
  double lower = 0.0, upper = 0.0;
  numbers(u, limit, "lower", &lower, 1);
  numbers(u, limit, "upper", &upper, 1);
  if (xml_input_attribute(limit, "effort")) needed_number(u, limit, "effort", 0.0, &dof->effort_limit);
  if (xml_input_attribute(limit, "velocity")) needed_number(u, limit, "velocity", 0.0, &dof->velocity_limit);
  if (!bounded) return;
  if (lower > upper)
    xml_input_error(u->in, limit, SB_CODE_SCENE_VALUE, "limit: lower %g is above upper %g", lower, upper);
  dof->lower = lower;
  dof->upper = upper;
}

static void read_values(urdf *u, const xmlNode *node, int type, sb_build_dof *dof)
{
  const xmlNode *dynamics = child_of(node, "dynamics");
  if (!dynamics) dynamics = child_of(node, "joint_properties"); /* its name in old files */
  read_limit(u, node, type, dof);
  if (dynamics && xml_input_attribute(dynamics, "damping")) needed_number(u, dynamics, "damping", 0.0, &dof->damping);
  if (dynamics && xml_input_attribute(dynamics, "friction"))
    needed_number(u, dynamics, "friction", 0.0, &dof->friction);
}

static void read_axis(urdf *u, const xmlNode *node, double axis[3])
{
  const xmlNode *given = child_of(node, "axis");
  axis[0] = 1.0, axis[1] = axis[2] = 0.0;
  if (given) numbers(u, given, "xyz", axis, 3);
  if (!cook_normalize(axis, axis))
    xml_input_error(u->in, given, SB_CODE_SCENE_VALUE, "axis: expected a vector that is not zero");
}

/* Two linear dofs in the plane whose normal the axis is, then one angular dof about the axis. */
static void add_planar(urdf *u, const xmlNode *node, int32_t link, const char *name, const double normal[3])
{
  static const char *const suffix[3] = {".x", ".y", ".turn"};
  double axes[3][3];
  const double x[3] = {1.0, 0.0, 0.0}, y[3] = {0.0, 1.0, 0.0};
  cook_cross(cook_abs(normal[0]) < 0.9 ? x : y, normal, axes[1]);
  cook_normalize(axes[1], axes[1]);
  for (int i = 0; i < 3; i++) axes[1][i] = 0.0 - axes[1][i];
  cook_cross(axes[1], normal, axes[0]);
  memcpy(axes[2], normal, sizeof axes[2]);
  for (int i = 0; i < 3; i++) {
    scene_joint joint = {.node = node, .kind = SCENE_JOINT_AXIS, .dof = sb_build_dof_default()};
    joint.name = make_name(u, node, name, suffix[i]);
    joint.dof.kind = i < 2 ? SB_DOF_LINEAR : SB_DOF_ANGULAR;
    memcpy(joint.dof.axis, axes[i], sizeof axes[i]);
    read_values(u, node, PLANAR, &joint.dof);
    scene_tree_add_joint(&u->tree, link, &joint);
  }
}

static void add_child(urdf *u, const urdf_joint *from)
{
  const xmlNode *node = from->node;
  const urdf_link *parent = &u->links[from->parent];
  urdf_link *child = &u->links[from->child];
  double X[7];
  const char *name = xml_input_attribute(node, "name"), *type_name = xml_input_attribute(node, "type");
  for (const xmlNode *c = xml_input_element(node->children); c; c = xml_input_element(c->next)) check(u, c);
  int type = xml_input_word(u->in, node, "type", type_name ? type_name : "", joint_types);
  if (type < 0) return;
  read_origin(u, node, X);
  if (parent->is_static) cook_pose_mul(parent->world, X, child->world);
  child->is_static = parent->is_static && type == FIXED;
  int32_t above = parent->index;
  if (type == FLOATING) {
    /* Free of its parent is free in the world; it begins where the parent has it. */
    double world[7];
    scene_tree_rest_pose(&u->tree, above, world);
    cook_pose_mul(world, X, X);
    above = -1;
  }
  child->index = add_link(u, child, above, X);
  if (child->index < 0 || type == FIXED) return;
  scene_joint joint = {.node = node, .name = name, .kind = SCENE_JOINT_AXIS, .dof = sb_build_dof_default()};
  if (type == FLOATING) {
    joint.kind = SCENE_JOINT_FREE;
  } else {
    read_axis(u, node, joint.dof.axis);
    if (type == PLANAR) {
      add_planar(u, node, child->index, name, joint.dof.axis);
      return;
    }
    joint.dof.kind = type == PRISMATIC ? SB_DOF_LINEAR : SB_DOF_ANGULAR;
    read_values(u, node, type, &joint.dof);
  }
  scene_tree_add_joint(&u->tree, child->index, &joint);
}

/* The tree --------------------------------------------------------------------------------------------------------- */

static bool collect_links(urdf *u, const xmlNode *root)
{
  size_t links = 1, joints = 1;
  for (const xmlNode *c = xml_input_element(root->children); c; c = xml_input_element(c->next))
    links += xml_is(c, "link"), joints += xml_is(c, "joint");
  u->links = calloc(links, sizeof *u->links);
  u->joints = calloc(joints, sizeof *u->joints);
  if (!u->links || !u->joints) {
    no_memory(u, root);
    return false;
  }
  for (const xmlNode *c = xml_input_element(root->children); c; c = xml_input_element(c->next)) {
    if (!check(u, c) || !xml_is(c, "link")) continue;
    const char *name = xml_input_attribute(c, "name");
    if (!name || !*name) {
      xml_input_error(u->in, c, SB_CODE_SCENE_ATTRIBUTE, "<link> needs the attribute name");
    } else if (name_map_add(&u->link_names, name, u->link_count) == NAME_MAP_TWICE) {
      xml_input_error(u->in, c, SB_CODE_SCENE_DUPLICATE, "the link name '%.80s' is used twice", name);
    } else {
      u->links[u->link_count++] = (urdf_link){.node = c, .joint = -1, .first_child = -1, .last_child = -1, .index = -1};
    }
  }
  return true;
}

/* The link that a joint's <parent> or <child> names; -1 after an error. */
static int32_t end_of(urdf *u, const xmlNode *joint, const char *which)
{
  const xmlNode *node = child_of(joint, which);
  const char *name = node ? xml_input_attribute(node, "link") : NULL;
  if (!name) {
    xml_input_error(u->in, joint, SB_CODE_SCENE_ATTRIBUTE, "<joint> needs <%s link=\"...\"/>", which);
    return -1;
  }
  int32_t link = name_map_find(&u->link_names, name);
  if (link >= 0 || u->in->errors >= XML_INPUT_MAX_ERRORS) return link;
  const char *near = name_map_nearest(&u->link_names, name);
  xml_input_error(u->in, node, SB_CODE_SCENE_REFERENCE, "%s: there is no link '%.80s'%s%.80s%s", which, name,
                  near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
  return -1;
}

static void collect_joints(urdf *u, const xmlNode *root)
{
  for (const xmlNode *c = xml_input_element(root->children); c; c = xml_input_element(c->next)) {
    if (!xml_is(c, "joint")) continue;
    const char *name = xml_input_attribute(c, "name");
    if (!name || !*name) {
      xml_input_error(u->in, c, SB_CODE_SCENE_ATTRIBUTE, "<joint> needs the attribute name");
      continue;
    }
    if (name_map_add(&u->joint_names, name, u->joint_count) == NAME_MAP_TWICE) {
      xml_input_error(u->in, c, SB_CODE_SCENE_DUPLICATE, "the joint name '%.80s' is used twice", name);
      continue;
    }
    urdf_joint j = {c, end_of(u, c, "parent"), end_of(u, c, "child"), -1};
    if (j.parent < 0 || j.child < 0) continue;
    if (u->links[j.child].joint >= 0 || j.parent == j.child) {
      xml_input_error(u->in, c, SB_CODE_SCENE_STRUCTURE,
                      "joint '%.80s': a link is the child of one joint, and never its own; loops are not supported",
                      name);
      continue;
    }
    urdf_link *parent = &u->links[j.parent];
    u->links[j.child].joint = u->joint_count;
    if (parent->last_child >= 0)
      u->joints[parent->last_child].next = u->joint_count;
    else
      parent->first_child = u->joint_count;
    parent->last_child = u->joint_count;
    u->joints[u->joint_count++] = j;
  }
}

static int32_t find_root(urdf *u, const xmlNode *root)
{
  int32_t found = -1;
  for (int32_t i = 0; i < u->link_count; i++) {
    if (u->links[i].joint >= 0) continue;
    if (found >= 0) {
      xml_input_error(u->in, u->links[i].node, SB_CODE_SCENE_STRUCTURE,
                      "'%.60s' and '%.60s' are both without a parent; a robot has one root link",
                      xml_input_attribute(u->links[found].node, "name"), xml_input_attribute(u->links[i].node, "name"));
      return -1;
    }
    found = i;
  }
  if (found < 0)
    xml_input_error(u->in, root, SB_CODE_SCENE_STRUCTURE,
                    u->link_count ? "no link is the root: the joints form a loop" : "the robot has no link");
  return found;
}

static void add_root(urdf *u, int32_t root)
{
  urdf_link *link = &u->links[root];
  cook_pose_identity(link->world);
  link->is_static = !u->request->floating_base;
  link->index = add_link(u, link, -1, link->world);
  if (link->index < 0 || link->is_static) return;
  scene_joint joint = {.node = link->node, .kind = SCENE_JOINT_FREE, .dof = sb_build_dof_default()};
  scene_tree_add_joint(&u->tree, link->index, &joint);
}

/* Depth first, children in file order, without recursion: up again through the links' joints. */
static void add_links(urdf *u, const xmlNode *robot, int32_t root)
{
  int32_t reached = 1, j = u->links[root].first_child;
  add_root(u, root);
  while (j >= 0 && u->in->status == SB_OK) {
    add_child(u, &u->joints[j]);
    reached++;
    int32_t link = u->joints[j].child;
    j = u->links[link].first_child;
    while (j < 0 && link != root) {
      j = u->joints[u->links[link].joint].next;
      link = u->joints[u->links[link].joint].parent;
    }
  }
  if (reached < u->link_count && u->in->status == SB_OK)
    xml_input_error(u->in, robot, SB_CODE_SCENE_STRUCTURE,
                    "%d links are not connected to the root: their joints form a loop", (int)(u->link_count - reached));
}

/* Mimic: q = multiplier * q' + offset. */
static void add_mimic(urdf *u, sb_model_builder *builder, const xmlNode *joint)
{
  const xmlNode *mimic = child_of(joint, "mimic");
  if (!mimic) return;
  const char *names[2] = {xml_input_attribute(joint, "name"), xml_input_attribute(mimic, "joint")};
  sb_build_equality equality = sb_build_equality_default();
  equality.type = SB_EQUALITY_JOINT;
  for (int i = 0; i < 2; i++) {
    int32_t index = names[i] ? name_map_find(&u->tree.joint_names, names[i]) : -1;
    if (index < 0 || u->tree.joints[index].kind != SCENE_JOINT_AXIS) {
      const char *near = names[i] && i ? name_map_nearest(&u->tree.joint_names, names[i]) : NULL;
      xml_input_error(u->in, mimic, SB_CODE_SCENE_REFERENCE,
                      "mimic: '%.80s' is no revolute, continuous or prismatic joint%s%.80s%s", names[i] ? names[i] : "",
                      near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
      return;
    }
    equality.dof[i] = u->tree.joints[index].first_dof;
  }
  if (equality.dof[0] == equality.dof[1]) {
    xml_input_error(u->in, mimic, SB_CODE_SCENE_VALUE, "joint '%.80s' mimics itself; name another joint", names[0]);
    return;
  }
  numbers(u, mimic, "multiplier", &equality.poly[1], 1);
  numbers(u, mimic, "offset", &equality.poly[0], 1);
  sb_builder_add_equality(builder, &equality, names[0]);
}

void urdf_read(xml_input *in, const sb_scene_request *request, xmlNode *root, sb_model_builder *builder)
{
  urdf u = {.in = in, .request = request, .mesh_bytes = request->max_file_size ? request->max_file_size : SCENE_MESH_LIMIT};
  u.tree.in = in;
  if (request->key)
    xml_input_error(in, root, SB_CODE_SCENE_REFERENCE, "URDF has no keyframes, so '%.80s' cannot be found",
                    request->key);
  check(&u, root);
  if (collect_links(&u, root)) collect_joints(&u, root);
  int32_t first = in->status == SB_OK ? find_root(&u, root) : -1;
  if (first >= 0) add_links(&u, root, first);
  if (in->status == SB_OK) scene_tree_build(&u.tree, builder);
  for (int32_t j = 0; j < u.joint_count && in->status == SB_OK; j++) add_mimic(&u, builder, u.joints[j].node);
  scene_tree_clear(&u.tree);
  name_map_clear(&u.link_names);
  name_map_clear(&u.joint_names);
  for (size_t i = 0; i < u.text_count; i++) free(u.texts[i]);
  free(u.texts);
  free(u.links);
  free(u.joints);
}
