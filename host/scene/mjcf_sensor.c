/* Sensors of MJCF; they refer to joints, tendons, actuators and frames that are in the builder. */
#include "cook_math.h"
#include "mjcf.h"

#include <string.h>

/* What an element measures, and the sensor that it becomes. */
typedef enum measured { OF_JOINT, OF_BALL, OF_TENDON, OF_ACTUATOR, OF_OBJECT, OF_SEEN, OF_SITE, OF_NOTHING } measured;

typedef struct sensor_row {
  const char *element;
  uint32_t type;
  measured of;
} sensor_row;

static const sensor_row rows[] = {{"jointpos", SB_SENSOR_JOINT_POS, OF_JOINT},
                                  {"jointvel", SB_SENSOR_JOINT_VEL, OF_JOINT},
                                  {"jointlimitpos", SB_SENSOR_JOINT_LIMIT_POS, OF_JOINT},
                                  {"jointlimitvel", SB_SENSOR_JOINT_LIMIT_VEL, OF_JOINT},
                                  {"jointactuatorfrc", SB_SENSOR_JOINT_ACTUATOR_FORCE, OF_JOINT},
                                  {"ballquat", SB_SENSOR_BALL_QUAT, OF_BALL},
                                  {"ballangvel", SB_SENSOR_BALL_ANG_VEL, OF_BALL},
                                  {"tendonpos", SB_SENSOR_TENDON_POS, OF_TENDON},
                                  {"tendonvel", SB_SENSOR_TENDON_VEL, OF_TENDON},
                                  {"actuatorpos", SB_SENSOR_ACTUATOR_POS, OF_ACTUATOR},
                                  {"actuatorvel", SB_SENSOR_ACTUATOR_VEL, OF_ACTUATOR},
                                  {"actuatorfrc", SB_SENSOR_ACTUATOR_FORCE, OF_ACTUATOR},
                                  {"framepos", SB_SENSOR_FRAME_POS, OF_SEEN},
                                  {"framequat", SB_SENSOR_FRAME_QUAT, OF_SEEN},
                                  {"framexaxis", SB_SENSOR_FRAME_X_AXIS, OF_SEEN},
                                  {"frameyaxis", SB_SENSOR_FRAME_Y_AXIS, OF_SEEN},
                                  {"framezaxis", SB_SENSOR_FRAME_Z_AXIS, OF_SEEN},
                                  {"framelinvel", SB_SENSOR_FRAME_LIN_VEL, OF_SEEN},
                                  {"frameangvel", SB_SENSOR_FRAME_ANG_VEL, OF_SEEN},
                                  {"framelinacc", SB_SENSOR_FRAME_LIN_ACC, OF_OBJECT},
                                  {"frameangacc", SB_SENSOR_FRAME_ANG_ACC, OF_OBJECT},
                                  {"gyro", SB_SENSOR_GYRO, OF_SITE},
                                  {"velocimeter", SB_SENSOR_VELOCIMETER, OF_SITE},
                                  {"accelerometer", SB_SENSOR_ACCELEROMETER, OF_SITE},
                                  {"clock", SB_SENSOR_CLOCK, OF_NOTHING}};

static const sensor_row *find_row(const xmlNode *node)
{
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (xml_is(node, rows[i].element)) return &rows[i];
  return NULL;
}

static bool read_site_frame(mjcf *m, const xmlNode *node, const char *attribute, int32_t *link, double X[7])
{
  int32_t site = mjcf_refer(m, node, attribute, &m->tree.site_names, "site");
  if (site < 0) return false;
  *link = m->tree.sites[site].link;
  memcpy(X, m->tree.sites[site].X, sizeof m->tree.sites[site].X);
  return true;
}

static bool read_geom_frame(mjcf *m, const xmlNode *node, const char *attribute, int32_t *link, double X[7])
{
  int32_t geom = mjcf_refer(m, node, attribute, &m->tree.geom_names, "supported geom");
  if (geom < 0) return false;
  *link = m->tree.geoms[geom].link;
  memcpy(X, m->tree.geoms[geom].shape.X, sizeof m->tree.geoms[geom].shape.X);
  return true;
}

/* xbody is the body's frame; body stands for the centre of mass with axes that are not kept. */
static bool read_body_frame(mjcf *m, const xmlNode *node, const char *attribute, bool inertial, int32_t *link,
                            double X[7])
{
  const char *name = xml_input_attribute(node, attribute);
  cook_pose_identity(X);
  if (name && !strcmp(name, "world")) {
    *link = -1;
    return true;
  }
  *link = mjcf_refer(m, node, attribute, &m->tree.link_names, "body");
  if (*link < 0) return false;
  if (inertial) memcpy(X, m->tree.links[*link].com, sizeof m->tree.links[*link].com);
  return true;
}

/* The frame of an object, in its link. False when there is none, then reported. */
static bool read_object(mjcf *m, const xmlNode *node, const char *type_attribute, const char *name_attribute,
                        bool turns, int32_t *link, double X[7])
{
  static const char *const types[] = {"body", "xbody", "geom", "site", "camera", NULL};
  const char *type = xml_input_attribute(node, type_attribute);
  int found = type ? xml_input_word(m->in, node, type_attribute, type, types) : -1;
  if (!type)
    xml_input_error(m->in, node, SB_CODE_SCENE_ATTRIBUTE, "<%.40s> needs the attribute %s", (const char *)node->name,
                    type_attribute);
  if (found == 2) return read_geom_frame(m, node, name_attribute, link, X);
  if (found == 3) return read_site_frame(m, node, name_attribute, link, X);
  if (found == 4) xml_input_unsupported(m->in, node, "a sensor of a camera", "it is left out");
  if (found == 0 && turns)
    xml_input_unsupported(m->in, node, "a sensor of a body's inertial axes", "it is left out; use xbody");
  return (found == 1 || (found == 0 && !turns)) && read_body_frame(m, node, name_attribute, found == 0, link, X);
}

/* From a frame in a link to one in the body that the link is part of. */
static int32_t settle(const mjcf *m, int32_t link, double X[7])
{
  double in_body[7];
  int32_t body = scene_tree_body(&m->tree, link, in_body);
  cook_pose_mul(in_body, X, X);
  return body;
}

static bool read_frames(mjcf *m, const xmlNode *node, const sensor_row *row, sb_build_sensor *sensor)
{
  int32_t link, ref = -1;
  bool axes = row->type >= SB_SENSOR_FRAME_QUAT && row->type <= SB_SENSOR_FRAME_Z_AXIS;
  if (row->of == OF_SITE ? !read_site_frame(m, node, "site", &link, sensor->X)
                         : !read_object(m, node, "objtype", "objname", axes, &link, sensor->X))
    return false;
  if (row->of == OF_SEEN && xml_input_attribute(node, "refname")) {
    if (!read_object(m, node, "reftype", "refname", true, &ref, sensor->ref_X)) return false;
    sensor->ref_body = settle(m, ref, sensor->ref_X);
  }
  sensor->body = settle(m, link, sensor->X);
  return true;
}

static bool read_joint(mjcf *m, const xmlNode *node, bool ball, sb_build_sensor *sensor)
{
  int32_t joint = mjcf_refer(m, node, "joint", &m->tree.joint_names, "joint");
  if (joint < 0) return false;
  if (m->tree.joints[joint].kind != (ball ? SCENE_JOINT_BALL : SCENE_JOINT_AXIS)) {
    xml_input_error(m->in, node, SB_CODE_SCENE_VALUE, "joint: <%.40s> needs a %s", (const char *)node->name,
                    ball ? "ball joint" : "hinge or slide");
    return false;
  }
  sensor->dof = m->tree.joints[joint].first_dof;
  return true;
}

/* A tendon or actuator that may have been left out; the sensor then is as well. */
static bool read_named(mjcf *m, const xmlNode *node, const char *kind, const name_map *names, int32_t *index)
{
  *index = mjcf_refer(m, node, kind, names, kind);
  if (*index < 0) return false;
  bool actuator = names == &m->actuator_names;
  if (actuator) *index = m->actuators[*index];
  if (*index >= 0 && *index != MJCF_LEFT_OUT) return true;
  xml_input_unsupported(m->in, node,
                        actuator ? "a sensor of an actuator that is left out" : "a sensor of a tendon that is left out",
                        "it is left out too");
  return false;
}

static bool read_measured(mjcf *m, const xmlNode *node, const sensor_row *row, sb_build_sensor *sensor)
{
  switch (row->of) {
  case OF_JOINT:
  case OF_BALL:
    return read_joint(m, node, row->of == OF_BALL, sensor);
  case OF_TENDON:
    return read_named(m, node, "tendon", &m->tendon_names, &sensor->tendon);
  case OF_ACTUATOR:
    return read_named(m, node, "actuator", &m->actuator_names, &sensor->actuator);
  case OF_NOTHING:
    return true;
  default:
    return read_frames(m, node, row, sensor);
  }
}

/* A cutoff keeps values within +-cutoff; the unit of an angle is the radian in every file. */
static void read_sensor(mjcf *m, const xmlNode *node)
{
  const mjcf_source s = {m, node, MJCF_NONE, -1};
  sb_build_sensor sensor = sb_build_sensor_default();
  const sensor_row *row = mjcf_check_in(m, node, MJCF_IN_SENSOR) ? find_row(node) : NULL;
  if (!row || !read_measured(m, node, row, &sensor)) return;
  sensor.type = row->type;
  mjcf_number_from(&s, "cutoff", 0.0, &sensor.cutoff);
  const char *name = xml_input_attribute(node, "name");
  if (name && *name && name_map_add(&m->sensor_names, name, 0) == NAME_MAP_TWICE)
    xml_input_error(m->in, node, SB_CODE_SCENE_DUPLICATE, "the sensor name '%.80s' is used twice", name);
  sb_builder_add_sensor(m->builder, &sensor, name);
}

void mjcf_read_sensors(mjcf *m) { mjcf_each_in(m, "sensor", read_sensor); }
