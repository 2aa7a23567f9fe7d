/* Equality constraints and fixed tendons of MJCF; they refer to bodies, joints and sites that are in the builder. */
#include "cook_math.h"
#include "mjcf.h"

#include <string.h>

/* Equality --------------------------------------------------------------------------------------------------------- */

/* Both links of a connect or weld and the frames in them that are held together. */
typedef struct ends {
  int32_t link[2]; /* -1 the world */
  double X[2][7];
} ends;

/* A link by the name of its body; `absent` without the attribute, -2 after an error. */
static int32_t find_link(mjcf *m, const xmlNode *node, const char *attribute, int32_t absent)
{
  const char *name = xml_input_attribute(node, attribute);
  if (!name && absent > -2) return absent;
  if (name && !strcmp(name, "world")) return -1;
  int32_t link = mjcf_refer(m, node, attribute, &m->tree.link_names, "body");
  return link < 0 ? -2 : link;
}

static bool read_sites(mjcf *m, const xmlNode *node, ends *e)
{
  static const char *const names[2] = {"site1", "site2"};
  for (int i = 0; i < 2; i++) {
    int32_t site = mjcf_refer(m, node, names[i], &m->tree.site_names, "site");
    if (site < 0) return false;
    e->link[i] = m->tree.sites[site].link;
    memcpy(e->X[i], m->tree.sites[site].X, sizeof e->X[i]);
  }
  return true;
}

static bool read_bodies(mjcf *m, const xmlNode *node, ends *e)
{
  e->link[0] = find_link(m, node, "body1", -2);
  e->link[1] = find_link(m, node, "body2", -1);
  cook_pose_identity(e->X[0]);
  cook_pose_identity(e->X[1]);
  return e->link[0] > -2 && e->link[1] > -2;
}

/* Frame `from` of link a in link b, both where they are while no joint displaces anything. */
static void carry(const mjcf *m, int32_t a, const double from[7], int32_t b, double to[7])
{
  double world[7], at[7], back[4], shift[3];
  scene_tree_rest_pose(&m->tree, a, world);
  cook_pose_mul(world, from, world);
  scene_tree_rest_pose(&m->tree, b, at);
  cook_quat_conj(at + 3, back);
  for (int i = 0; i < 3; i++) shift[i] = world[i] - at[i];
  cook_quat_rotate(back, shift, to);
  cook_quat_mul(back, world + 3, to + 3);
}

/* A point of body1, held to the point of body2 that is there at rest. */
static bool read_connect(mjcf *m, const xmlNode *node, ends *e)
{
  const mjcf_source s = {m, node, MJCF_NONE, -1};
  if (xml_input_attribute(node, "site1")) return read_sites(m, node, e);
  if (!read_bodies(m, node, e)) return false;
  if (!xml_input_attribute(node, "anchor"))
    xml_input_error(m->in, node, SB_CODE_SCENE_ATTRIBUTE, "<connect> needs the attribute anchor, or site1 and site2");
  if (!mjcf_numbers(&s, "anchor", e->X[0], 3)) return false;
  carry(m, e->link[0], e->X[0], e->link[1], e->X[1]);
  return true;
}

/* The anchor is a point of body2; relpose is the pose of body2 in body1, without a quaternion that at rest. */
static bool read_weld(mjcf *m, const xmlNode *node, ends *e)
{
  const mjcf_source s = {m, node, MJCF_NONE, -1};
  double relpose[7] = {0.0}, pose[7];
  if (xml_input_attribute(node, "site1")) return read_sites(m, node, e);
  if (!read_bodies(m, node, e)) return false;
  mjcf_numbers(&s, "anchor", e->X[1], 3);
  mjcf_numbers(&s, "relpose", relpose, 7);
  bool stated = false;
  for (int i = 3; i < 7; i++) stated |= relpose[i] != 0.0;
  if (!stated) {
    carry(m, e->link[1], e->X[1], e->link[0], e->X[0]);
    return true;
  }
  memcpy(pose, relpose, 3 * sizeof *pose);
  for (int i = 0; i < 4; i++) pose[3 + i] = relpose[3 + ((i + 1) & 3)];
  if (!cook_quat_normalize(pose + 3)) {
    xml_input_error(m->in, node, SB_CODE_SCENE_VALUE, "relpose: expected a position and a quaternion of some length");
    return false;
  }
  cook_pose_mul(pose, e->X[1], e->X[0]);
  return true;
}

/* From links to the bodies that they are part of. */
static void add_ends(mjcf *m, const xmlNode *node, uint32_t type, const ends *e)
{
  sb_build_equality equality = sb_build_equality_default();
  double in_body[7], X[2][7], back[4];
  equality.type = type;
  for (int i = 0; i < 2; i++) {
    equality.body[i] = scene_tree_body(&m->tree, e->link[i], in_body);
    cook_pose_mul(in_body, e->X[i], X[i]);
    memcpy(equality.anchor[i], X[i], sizeof equality.anchor[i]);
  }
  if (equality.body[0] == equality.body[1]) {
    xml_input_error(m->in, node, SB_CODE_SCENE_VALUE,
                    "<%.40s> holds a body to itself; name two bodies that move on their own", (const char *)node->name);
    return;
  }
  cook_quat_conj(X[1] + 3, back);
  cook_quat_mul(X[0] + 3, back, equality.relpose);
  sb_builder_add_equality(m->builder, &equality, xml_input_attribute(node, "name"));
}

/* The only dof of a hinge or slide that an attribute names; -1 after an error. */
static int32_t find_dof(mjcf *m, const xmlNode *node, const char *attribute)
{
  int32_t joint = mjcf_refer(m, node, attribute, &m->tree.joint_names, "joint");
  if (joint < 0) return -1;
  if (m->tree.joints[joint].kind == SCENE_JOINT_AXIS) return m->tree.joints[joint].first_dof;
  xml_input_error(m->in, node, SB_CODE_SCENE_VALUE, "%s: expected a hinge or slide, found a ball or free joint",
                  attribute);
  return -1;
}

static void read_joint_equality(mjcf *m, const xmlNode *node)
{
  const mjcf_source s = {m, node, MJCF_NONE, -1};
  sb_build_equality equality = sb_build_equality_default();
  equality.type = SB_EQUALITY_JOINT;
  equality.dof[0] = find_dof(m, node, "joint1");
  if (equality.dof[0] < 0) return;
  if (xml_input_attribute(node, "joint2")) {
    equality.dof[1] = find_dof(m, node, "joint2");
    if (equality.dof[1] < 0) return;
  }
  size_t found;
  mjcf_some_numbers(&s, "polycoef", equality.poly, 1, 5, &found);
  if (equality.dof[1] < 0) memset(equality.poly + 1, 0, 4 * sizeof *equality.poly);
  if (equality.dof[0] == equality.dof[1])
    xml_input_error(m->in, node, SB_CODE_SCENE_VALUE, "joint1 and joint2 must be two joints");
  else
    sb_builder_add_equality(m->builder, &equality, xml_input_attribute(node, "name"));
}

static void read_equality(mjcf *m, const xmlNode *node)
{
  if (!mjcf_check_in(m, node, MJCF_IN_EQUALITY)) return;
  const mjcf_source s = mjcf_source_of(m, node, MJCF_EQUALITY, 0);
  ends e;
  if (mjcf_flag(&s, "active", MJCF_TRUE) == MJCF_FALSE)
    xml_input_unsupported(m->in, node, "an equality constraint that is not active", "it is left out");
  else if (xml_is(node, "joint"))
    read_joint_equality(m, node);
  else if (xml_is(node, "connect") && read_connect(m, node, &e))
    add_ends(m, node, SB_EQUALITY_CONNECT, &e);
  else if (xml_is(node, "weld") && read_weld(m, node, &e))
    add_ends(m, node, SB_EQUALITY_WELD, &e);
}

void mjcf_read_equalities(mjcf *m) { mjcf_each_in(m, "equality", read_equality); }

/* Tendons ---------------------------------------------------------------------------------------------------------- */

#define MAX_TERMS 256

typedef struct terms {
  int32_t dof[MAX_TERMS];
  double coef[MAX_TERMS];
  int count;
} terms;

static void read_terms(mjcf *m, const xmlNode *node, terms *t)
{
  t->count = 0;
  for (xmlNode *c = xml_input_element(node->children); c; c = xml_input_element(c->next)) {
    const mjcf_source s = {m, c, MJCF_NONE, -1};
    if (!mjcf_check_in(m, c, MJCF_IN_TENDON)) continue;
    int32_t dof = find_dof(m, c, "joint");
    double coef = 0.0;
    if (!xml_input_attribute(c, "coef"))
      xml_input_error(m->in, c, SB_CODE_SCENE_ATTRIBUTE, "<joint> of a tendon needs the attribute coef");
    if (dof < 0 || !mjcf_numbers(&s, "coef", &coef, 1)) continue;
    for (int i = 0; i < t->count; i++)
      if (t->dof[i] == dof)
        xml_input_error(m->in, c, SB_CODE_SCENE_VALUE, "joint '%.80s' stands twice; give it one coef, the sum",
                        xml_input_attribute(c, "joint"));
    if (t->count == MAX_TERMS) {
      xml_input_error(m->in, c, SB_CODE_SCENE_STRUCTURE, "a tendon has at most %d joints", MAX_TERMS);
      return;
    }
    t->dof[t->count] = dof;
    t->coef[t->count++] = coef;
  }
  if (t->count == 0 && m->in->status == SB_OK)
    xml_input_error(m->in, node, SB_CODE_SCENE_STRUCTURE, "a fixed tendon needs at least one <joint>");
}

/* The spring is slack between two lengths; -1 stands for the length with every joint at its springref. */
static void read_spring(const mjcf_source *s, const terms *t, sb_build_tendon *tendon)
{
  double length[2] = {-1.0, -1.0}, rest = 0.0;
  size_t found;
  if (mjcf_some_numbers(s, "springlength", length, 1, 2, &found) && found == 1) length[1] = length[0];
  for (int i = 0; i < t->count; i++) {
    const sb_build_dof *dof = sb_builder_dof(s->m->builder, t->dof[i]);
    if (dof) rest += t->coef[i] * dof->spring_ref;
  }
  if (length[0] == -1.0 && length[1] == -1.0) length[0] = length[1] = rest;
  if (length[0] > length[1])
    xml_input_error(s->m->in, s->node, SB_CODE_SCENE_VALUE, "springlength: %g is above %g; give the lower end first",
                    length[0], length[1]);
  tendon->spring_lower = length[0];
  tendon->spring_upper = length[1];
}

static int32_t add_tendon(mjcf *m, const xmlNode *node)
{
  const mjcf_source s = mjcf_source_of(m, node, MJCF_TENDON, 0);
  sb_build_tendon tendon = sb_build_tendon_default();
  double range[2];
  terms t;
  read_terms(m, node, &t);
  mjcf_number_from(&s, "stiffness", 0.0, &tendon.stiffness);
  mjcf_number_from(&s, "damping", 0.0, &tendon.damping);
  mjcf_number_from(&s, "frictionloss", 0.0, &tendon.friction);
  if (mjcf_limited(&s, "limited", "range") && mjcf_range(&s, "range", range))
    tendon.lower = range[0], tendon.upper = range[1];
  read_spring(&s, &t, &tendon);
  int32_t index = sb_builder_add_tendon(m->builder, &tendon, xml_input_attribute(node, "name"));
  for (int i = 0; i < t.count; i++) sb_builder_add_tendon_term(m->builder, t.dof[i], t.coef[i]);
  return index;
}

static void read_tendon(mjcf *m, const xmlNode *node)
{
  bool supported = mjcf_check_in(m, node, MJCF_IN_TENDON) && xml_is(node, "fixed");
  int32_t index = supported ? add_tendon(m, node) : MJCF_LEFT_OUT;
  const char *name = xml_input_attribute(node, "name");
  if (name && *name && name_map_add(&m->tendon_names, name, index) == NAME_MAP_TWICE)
    xml_input_error(m->in, node, SB_CODE_SCENE_DUPLICATE, "the tendon name '%.80s' is used twice", name);
}

void mjcf_read_tendons(mjcf *m) { mjcf_each_in(m, "tendon", read_tendon); }
