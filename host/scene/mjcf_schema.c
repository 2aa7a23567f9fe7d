/* Which elements and attributes of MJCF are read, which mean nothing to a solver, and which are missing. The names are
 * those of MuJoCo's XML reference. */
#include "mjcf.h"

#define POSE "pos quat axisangle euler xyaxes zaxis"
#define TENDON "limited range springlength stiffness damping frictionloss"
#define TENDON_IDLE "group width material rgba user"
#define TENDON_MISSING                                                                                                 \
  "actuatorfrclimited actuatorfrcrange solreflimit solimplimit solreffriction solimpfriction margin armature"
#define ACTUATOR_MISSING                                                                                               \
  "jointinparent slidersite cranksite site refsite body cranklength lengthrange actlimited actrange actdim "    \
  "actearly inheritrange dampratio dyntype gaintype biastype dynprm gainprm biasprm delay nsample damping armature"

static const xml_element schema[] = {
    {"mujoco", XML_USED, "model", "", ""},
    {"mujocoinclude", XML_USED, "", "", ""},
    {"compiler", XML_USED,
     "angle eulerseq autolimits inertiafromgeom inertiagrouprange settotalmass boundmass boundinertia balanceinertia "
     "coordinate meshdir assetdir strippath",
     "texturedir usethread discardvisual convexhull exactmeshinertia",
     "fitaabb fusestatic alignfree saveinertial"},
    {"option", XML_USED, "timestep gravity",
     "solver iterations tolerance ls_iterations ls_tolerance noslip_iterations noslip_tolerance ccd_iterations "
     "ccd_tolerance mpr_iterations mpr_tolerance sdf_iterations sdf_initpoints jacobian cone integrator apirate "
     "impratio",
     "wind magnetic density viscosity o_margin o_solref o_solimp o_friction actuatorgroupdisable collision"},
    {"flag", XML_MISSING, "", "", ""},
    {"size", XML_IDLE, "", "", ""},
    {"visual", XML_IDLE, "", "", ""},
    {"statistic", XML_IDLE, "", "", ""},
    {"custom", XML_IDLE, "", "", ""},
    {"asset", XML_USED, "", "", ""},
    {"texture", XML_IDLE, "", "", ""},
    {"material", XML_IDLE, "", "", ""},
    {"mesh", XML_USED, "name class file vertex face scale", "texcoord normal smoothnormal maxhullvert content_type material",
     "refpos refquat inertia builtin params"},
    {"hfield", XML_USED, "name file nrow ncol size elevation", "content_type", ""},
    {"skin", XML_IDLE, "", "", ""},
    {"model", XML_USED, "name file", "content_type", ""},
    {"default", XML_USED, "class", "", ""},
    {"worldbody", XML_USED, "", "name", ""},
    {"body", XML_USED, "name childclass " POSE, "user", "mocap gravcomp sleep"},
    {"frame", XML_USED, "childclass " POSE, "name", ""},
    {"inertial", XML_USED, POSE " mass diaginertia fullinertia", "", ""},
    {"joint", XML_USED,
     "name class type pos axis range limited stiffness damping springref armature frictionloss ref actuatorfrcrange "
     "actuatorfrclimited",
     "group user", "springdamper solreflimit solimplimit solreffriction solimpfriction margin actuatorgravcomp"},
    {"freejoint", XML_USED, "name", "group", "align"},
    {"geom", XML_USED,
     "name class type size fromto density mass friction condim contype conaffinity margin gap group mesh hfield " POSE,
     "rgba material user", "fitscale priority solmix solref solimp shellinertia fluidshape fluidcoef"},
    {"site", XML_USED, "name class fromto " POSE, "type size group material rgba user", ""},
    {"camera", XML_IDLE, "", "", ""},
    {"light", XML_IDLE, "", "", ""},
    {"attach", XML_USED, "model body prefix", "", "frame"},
    {"replicate", XML_USED, "count sep offset euler childclass", "", ""},
    {"composite", XML_MISSING, "", "", ""},
    {"flexcomp", XML_USED, "name type dim count spacing file point element mass radius scale " POSE,
     "group texcoord inertiabox material rgba flatskin", "dof rigid origin cellcount"},
    {"flex", XML_MISSING, "", "", ""},
    {"plugin", XML_MISSING, "", "", ""},
    {"contact", XML_USED, "", "", ""},
    {"pair", XML_USED, "name class geom1 geom2 condim friction margin gap", "", "solref solimp solreffriction"},
    {"exclude", XML_USED, "name body1 body2", "", ""},
    {"deformable", XML_MISSING, "", "", ""},
    {"equality", XML_USED, "class active", "", "solref solimp"},
    {"tendon", XML_USED, TENDON, TENDON_IDLE, TENDON_MISSING},
    {"sensor", XML_USED, "", "", ""},
    {"extension", XML_MISSING, "", "", ""},
    {"actuator", XML_USED, "", "", ""},
    {"motor", XML_USED, "name class joint tendon gear ctrlrange ctrllimited forcerange forcelimited", "group user",
     ACTUATOR_MISSING},
    {"position", XML_USED, "name class joint tendon gear ctrlrange ctrllimited forcerange forcelimited kp kv", "group user",
     ACTUATOR_MISSING " timeconst"},
    {"velocity", XML_USED, "name class joint tendon gear ctrlrange ctrllimited forcerange forcelimited kv", "group user",
     ACTUATOR_MISSING},
    {"general", XML_USED,
     "name class joint tendon gear ctrlrange ctrllimited forcerange forcelimited dyntype gaintype biastype gainprm biasprm",
     "group user dynprm",
     "jointinparent slidersite cranksite site refsite body cranklength lengthrange actlimited actrange actdim actearly "
     "delay nsample damping armature"},
    {"intvelocity", XML_MISSING, "", "", ""},
    {"damper", XML_MISSING, "", "", ""},
    {"cylinder", XML_MISSING, "", "", ""},
    {"muscle", XML_MISSING, "", "", ""},
    {"adhesion", XML_MISSING, "", "", ""},
    {"dcmotor", XML_MISSING, "", "", ""},
    {"keyframe", XML_USED, "", "", ""},
    {"key", XML_USED, "name qpos qvel ctrl", "time", "act mpos mquat"},
    {"include", XML_USED, "file", "", ""}};

static const xml_element equality_schema[] = {
    {"connect", XML_USED, "name class active body1 body2 site1 site2 anchor", "", "solref solimp"},
    {"weld", XML_USED, "name class active body1 body2 site1 site2 anchor relpose", "", "solref solimp torquescale"},
    {"joint", XML_USED, "name class active joint1 joint2 polycoef", "", "solref solimp"},
    {"tendon", XML_MISSING, "", "", ""},
    {"flex", XML_MISSING, "", "", ""},
    {"flexvert", XML_MISSING, "", "", ""},
    {"flexstrain", XML_MISSING, "", "", ""}};

static const xml_element tendon_schema[] = {
    {"fixed", XML_USED, "name class " TENDON, TENDON_IDLE, TENDON_MISSING},
    {"joint", XML_USED, "joint coef", "", ""},
    {"spatial", XML_MISSING, "", "", ""}};

#define SENSOR_MISSING "noise delay nsample interval interp"
#define SENSOR(name, of) {name, XML_USED, "name cutoff " of, "user", SENSOR_MISSING}
#define SEEN "objtype objname reftype refname"

static const xml_element sensor_schema[] = {SENSOR("jointpos", "joint"),
                                            SENSOR("jointvel", "joint"),
                                            SENSOR("jointlimitpos", "joint"),
                                            SENSOR("jointlimitvel", "joint"),
                                            SENSOR("jointactuatorfrc", "joint"),
                                            SENSOR("ballquat", "joint"),
                                            SENSOR("ballangvel", "joint"),
                                            SENSOR("tendonpos", "tendon"),
                                            SENSOR("tendonvel", "tendon"),
                                            SENSOR("actuatorpos", "actuator"),
                                            SENSOR("actuatorvel", "actuator"),
                                            SENSOR("actuatorfrc", "actuator"),
                                            SENSOR("framepos", SEEN),
                                            SENSOR("framequat", SEEN),
                                            SENSOR("framexaxis", SEEN),
                                            SENSOR("frameyaxis", SEEN),
                                            SENSOR("framezaxis", SEEN),
                                            SENSOR("framelinvel", SEEN),
                                            SENSOR("frameangvel", SEEN),
                                            SENSOR("framelinacc", "objtype objname"),
                                            SENSOR("frameangacc", "objtype objname"),
                                            SENSOR("gyro", "site"),
                                            SENSOR("velocimeter", "site"),
                                            SENSOR("accelerometer", "site"),
                                            SENSOR("clock", ""),
                                            {"touch", XML_MISSING, "", "", ""},
                                            {"force", XML_MISSING, "", "", ""},
                                            {"torque", XML_MISSING, "", "", ""},
                                            {"magnetometer", XML_MISSING, "", "", ""},
                                            {"camprojection", XML_MISSING, "", "", ""},
                                            {"rangefinder", XML_MISSING, "", "", ""},
                                            {"tendonactuatorfrc", XML_MISSING, "", "", ""},
                                            {"jointlimitfrc", XML_MISSING, "", "", ""},
                                            {"tendonlimitpos", XML_MISSING, "", "", ""},
                                            {"tendonlimitvel", XML_MISSING, "", "", ""},
                                            {"tendonlimitfrc", XML_MISSING, "", "", ""},
                                            {"subtreecom", XML_MISSING, "", "", ""},
                                            {"subtreelinvel", XML_MISSING, "", "", ""},
                                            {"subtreeangmom", XML_MISSING, "", "", ""},
                                            {"insidesite", XML_MISSING, "", "", ""},
                                            {"distance", XML_MISSING, "", "", ""},
                                            {"normal", XML_MISSING, "", "", ""},
                                            {"fromto", XML_MISSING, "", "", ""},
                                            {"contact", XML_MISSING, "", "", ""},
                                            {"e_potential", XML_MISSING, "", "", ""},
                                            {"e_kinetic", XML_MISSING, "", "", ""},
                                            {"tactile", XML_MISSING, "", "", ""},
                                            {"user", XML_MISSING, "", "", ""},
                                            {"plugin", XML_MISSING, "", "", ""}};

static const xml_element flex_schema[] = {
    {"pin", XML_USED, "id range grid gridrange", "", ""},
    {"edge", XML_USED, "equality stiffness damping", "", "solref solimp"},
    {"elasticity", XML_USED, "young poisson damping thickness elastic2d", "", ""},
    {"contact", XML_USED, "contype conaffinity friction margin selfcollide", "condim internal activelayers vertcollide passive",
     "priority solmix solref solimp gap"},
    {"plugin", XML_MISSING, "", "", ""}};

bool mjcf_check_in(mjcf *m, const xmlNode *node, mjcf_section section)
{
  switch (section) {
  case MJCF_IN_EQUALITY:
    return xml_input_check(m->in, node, equality_schema, sizeof equality_schema / sizeof *equality_schema);
  case MJCF_IN_TENDON:
    return xml_input_check(m->in, node, tendon_schema, sizeof tendon_schema / sizeof *tendon_schema);
  case MJCF_IN_FLEX:
    return xml_input_check(m->in, node, flex_schema, sizeof flex_schema / sizeof *flex_schema);
  case MJCF_IN_SENSOR:
    return xml_input_check(m->in, node, sensor_schema, sizeof sensor_schema / sizeof *sensor_schema);
  default:
    return xml_input_check(m->in, node, schema, sizeof schema / sizeof *schema);
  }
}

bool mjcf_check(mjcf *m, const xmlNode *node) { return mjcf_check_in(m, node, MJCF_IN_BODY); }
