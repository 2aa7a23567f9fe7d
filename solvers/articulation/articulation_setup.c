/* From a model to bundles: articulations, links, topologies, lane-blocked constants. */
#include "articulation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "samebit/maths.h"

#include "articulation_records.kernel.h"

/* One articulation while it is being sorted into bundles. */
typedef struct articulation {
  uint32_t first_body; /* into solver-wide list of bodies, grouped by articulation */
  uint32_t body_count;
  uint32_t first_link;
  uint32_t link_count;
  uint32_t dof_count;
} articulation;

/* Links of all articulations in a row, with where each takes its data. */
typedef struct link_source {
  ab_link link;
  uint32_t body;  /* of the model */
  uint32_t axis;  /* which dof of the body's joint */
} link_source;

typedef struct builder {
  ab_forest *forest;
  const ab_request *request;
  const sb_model *model;
  articulation *articulations;
  uint32_t articulation_count;
  uint32_t *bodies;
  link_source *links;
  uint32_t link_count;
  int32_t *last_link; /* of each model body, inside its articulation */
} builder;

static uint32_t joint_links(const sb_model *m, uint32_t body)
{
  return m->joint_type[body] == SB_JOINT_AXES ? m->joint_dof_count[body] : 1;
}

/* Root of each owned body, then bodies grouped by root in ascending order. */
static bool group_bodies(builder *b)
{
  const sb_model *m = b->model;
  const ab_request *ask = b->request;
  uint32_t *root = malloc(((size_t)m->body_count + 1) * sizeof *root);
  uint32_t *first = calloc((size_t)m->body_count + 1, sizeof *first);
  b->bodies = malloc(((size_t)ask->body_count + 1) * sizeof *b->bodies);
  b->articulations = calloc((size_t)ask->body_count + 1, sizeof *b->articulations);
  bool ok = root && first && b->bodies && b->articulations;
  for (uint32_t i = 0; ok && i < ask->body_count; i++) {
    uint32_t body = ask->bodies[i];
    int32_t parent = m->joint_parent[body];
    root[body] = parent < 0 ? body : root[parent];
    first[root[body]]++;
  }
  uint32_t at = 0;
  for (uint32_t i = 0; ok && i < ask->body_count; i++) {
    uint32_t body = ask->bodies[i], count = first[body];
    if (root[body] != body) continue;
    b->articulations[b->articulation_count++] = (articulation){.first_body = at};
    first[body] = at;
    at += count;
  }
  /* `first` of a root now is where its next body goes; articulations are in order of their roots. */
  for (uint32_t i = 0; ok && i < ask->body_count; i++) b->bodies[first[root[ask->bodies[i]]]++] = ask->bodies[i];
  for (uint32_t a = 0; ok && a < b->articulation_count; a++) {
    uint32_t end = a + 1 < b->articulation_count ? b->articulations[a + 1].first_body : at;
    b->articulations[a].body_count = end - b->articulations[a].first_body;
  }
  free(root);
  free(first);
  return ok;
}

static uint8_t link_kind(const sb_model *m, uint32_t body, uint32_t axis)
{
  switch (m->joint_type[body]) {
  case SB_JOINT_FREE: return AB_FREE;
  case SB_JOINT_BALL: return AB_BALL;
  case SB_JOINT_AXES:
    return m->dof_kind[(uint32_t)m->joint_qd_start[body] + axis] == SB_DOF_ANGULAR ? AB_ANGULAR : AB_LINEAR;
  default: return AB_FIXED;
  }
}

static uint32_t link_dofs(uint8_t kind)
{
  return kind == AB_FREE ? 6 : kind == AB_BALL ? 3 : kind == AB_FIXED ? 0 : 1;
}

static bool list_links(builder *b)
{
  const sb_model *m = b->model;
  size_t total = 0;
  for (uint32_t i = 0; i < b->request->body_count; i++) total += joint_links(m, b->bodies[i]);
  b->links = calloc(total + 1, sizeof *b->links);
  b->last_link = malloc(((size_t)m->body_count + 1) * sizeof *b->last_link);
  if (!b->links || !b->last_link) return false;
  for (uint32_t a = 0; a < b->articulation_count; a++) {
    articulation *art = &b->articulations[a];
    art->first_link = b->link_count;
    for (uint32_t i = 0; i < art->body_count; i++) {
      uint32_t body = b->bodies[art->first_body + i], count = joint_links(m, body);
      int32_t parent = m->joint_parent[body] < 0 ? -1 : b->last_link[m->joint_parent[body]];
      for (uint32_t axis = 0; axis < count; axis++) {
        uint8_t kind = link_kind(m, body, axis);
        int32_t here = (int32_t)(b->link_count - art->first_link);
        b->links[b->link_count++] = (link_source){
            .link = {.kind = kind, .has_body = axis + 1 == count, .parent = parent, .slot = art->dof_count}, .body = body, .axis = axis};
        art->dof_count += link_dofs(kind);
        parent = here;
      }
      b->last_link[body] = parent;
    }
    art->link_count = b->link_count - art->first_link;
  }
  return true;
}

static bool same_topology(const builder *b, const articulation *x, const articulation *y)
{
  if (x->link_count != y->link_count) return false;
  for (uint32_t i = 0; i < x->link_count; i++) {
    const ab_link *p = &b->links[x->first_link + i].link, *q = &b->links[y->first_link + i].link;
    if (p->kind != q->kind || p->has_body != q->has_body || p->parent != q->parent) return false;
  }
  return true;
}

/* ---- constants of one link, computed with the scalar kernels ---- */

static V3 read_v3(const float *p) { return v3(p[0], p[1], p[2]); }
static Q4 read_q4(const float *p) { return q4(p[0], p[1], p[2], p[3]); }

/* The point of a body that its last link's motion refers to, in the body frame. */
static V3 reference_point(const sb_model *m, uint32_t body)
{
  if (m->joint_type[body] == SB_JOINT_FREE) return read_v3(m->body_com + 3 * (size_t)body);
  if (m->joint_type[body] == SB_JOINT_FIXED) return v3_zero();
  uint32_t dof = (uint32_t)m->joint_qd_start[body] + (m->joint_type[body] == SB_JOINT_AXES ? m->joint_dof_count[body] - 1 : 0);
  return read_v3(m->joint_anchor + 3 * (size_t)dof);
}

static AbConstant link_constant(const sb_model *m, const link_source *source)
{
  AbConstant k;
  memset(&k, 0, sizeof k);
  uint32_t body = source->body;
  bool has_dof = source->link.kind != AB_FIXED && source->link.kind != AB_FREE;
  uint32_t dof = (uint32_t)m->joint_qd_start[body] + source->axis;
  V3 anchor = has_dof ? read_v3(m->joint_anchor + 3 * (size_t)dof) : v3_zero();
  if (source->axis == 0) {
    const float *frame = m->joint_X_p + 7 * (size_t)body;
    int32_t parent = m->joint_parent[body];
    V3 from = parent < 0 ? v3_zero() : reference_point(m, (uint32_t)parent);
    k.axis.rest = read_q4(frame + 3);
    k.axis.offset = v3_sub(v3_add(read_v3(frame), q4_rotate(k.axis.rest, anchor)), from);
  } else {
    k.axis.rest = q4_identity();
    k.axis.offset = v3_sub(anchor, read_v3(m->joint_anchor + 3 * (size_t)(dof - 1)));
  }
  if (has_dof) {
    V3 axis = read_v3(m->joint_axis + 3 * (size_t)dof);
    k.axis.axis = q4_rotate(k.axis.rest, axis);
    k.axis.rest_axis = q4_mul(k.axis.rest, q4(axis.x, axis.y, axis.z, 0.0f));
    k.dof.armature = m->joint_armature[dof];
    k.dof.damping = m->joint_damping[dof];
    k.dof.stiffness = m->joint_stiffness[dof];
    k.dof.spring_ref = m->joint_spring_ref[dof];
    k.dof.friction = m->joint_friction[dof];
    k.dof.lower = m->joint_limit_lower[dof];
    k.dof.upper = m->joint_limit_upper[dof];
    k.dof.effort = m->joint_effort_limit[dof];
    k.dof.ke = m->joint_target_ke[dof];
    k.dof.kd = m->joint_target_kd[dof];
    k.velocity_limit = m->joint_velocity_limit[dof];
    k.ref = m->joint_ref[dof];
  }
  if (source->link.has_body) {
    const float *i = m->body_inertia + 6 * (size_t)body;
    V3 reference = reference_point(m, body);
    k.mass = m->body_mass[body];
    k.inertia = s33(i[0], i[1], i[2], i[3], i[4], i[5]);
    k.com = v3_sub(read_v3(m->body_com + 3 * (size_t)body), reference);
    k.origin = v3_neg(reference);
  }
  return k;
}

static void put_lane(float *record, const void *fields, uint32_t count, uint32_t lanes, uint32_t lane)
{
  for (uint32_t f = 0; f < count; f++) memcpy(record + (size_t)f * lanes + lane, (const float *)fields + f, sizeof(float));
}

/* ---- bundles ---- */

static bool fill_bundle(builder *b, ab_bundle *bundle, const articulation *const *members, uint32_t used,
                        const ab_bundle *before)
{
  ab_forest *s = b->forest;
  const sb_host *host = b->request->bind->host;
  uint32_t lanes = b->request->bind->lanes, links = members[0]->link_count;
  size_t entries = (size_t)links * lanes;
  size_t constant_floats = entries * AB_CONSTANT_FLOATS;
  ab_link *shape = host->alloc(host->context, links * sizeof *shape);
  uint32_t *index = host->alloc(host->context, entries * 3 * sizeof *index);
  float *gravity = host->alloc(host->context, (size_t)3 * lanes * sizeof *gravity);
  float *constants = aligned_alloc(64, (constant_floats * sizeof(float) + 63) / 64 * 64);
  if (!shape || !index || !gravity || !constants) {
    free(constants);
    return false;
  }
  uint32_t *coord = index, *dof = index + entries, *body = index + 2 * entries;
  for (uint32_t i = 0; i < links; i++) {
    shape[i] = b->links[members[0]->first_link + i].link;
    for (uint32_t l = 0; l < lanes; l++) {
      const link_source *source = &b->links[members[l < used ? l : 0]->first_link + i];
      bool many = source->link.kind == AB_FREE || source->link.kind == AB_BALL;
      AbConstant k = link_constant(b->model, source);
      if (b->request->hard) k.dof.lower = -SB_NO_LIMIT, k.dof.upper = k.velocity_limit = SB_NO_LIMIT, k.dof.friction = 0.0f;
      put_lane(constants + (size_t)i * lanes * AB_CONSTANT_FLOATS, &k, AB_CONSTANT_FLOATS, lanes, l);
      coord[i * lanes + l] = (uint32_t)b->model->joint_q_start[source->body] + (many ? 0 : source->axis);
      dof[i * lanes + l] = (uint32_t)b->model->joint_qd_start[source->body] + (many ? 0 : source->axis);
      body[i * lanes + l] = source->link.has_body ? source->body : UINT32_MAX;
      const float *g = b->model->gravity + 3 * (size_t)b->model->body_world[source->body];
      put_lane(gravity, g, 3, lanes, l);
      if (!source->link.has_body || l >= used) continue;
      s->place[source->body] = (ab_body_place){(uint32_t)(bundle - s->bundles), i, l};
      put_lane(s->origin + 3 * (size_t)source->body, &k.origin, 3, 1, 0);
    }
  }
  *bundle = (ab_bundle){.links = shape, .link_count = links, .used = used, .gravity = gravity, .coord = coord, .dof = dof,
                        .body = body, .dof_count = members[0]->dof_count};
  /* Equal robots share one copy, which then stays in the cache. */
  if (before && before->link_count == links && !memcmp(before->constants, constants, constant_floats * sizeof(float))) {
    bundle->constants = before->constants;
  } else {
    float *kept = host->alloc(host->context, constant_floats * sizeof *kept);
    if (kept) memcpy(kept, constants, constant_floats * sizeof *kept);
    bundle->constants = kept;
  }
  bundle->work = host->alloc(host->context, (size_t)links * AB_WORK_FLOATS * lanes * sizeof(float));
  free(constants);
  return bundle->constants && bundle->work;
}

/* Articulations of one topology fill lanes in their order; topologies in order of first appearance. */
static bool make_bundles(builder *b)
{
  ab_forest *s = b->forest;
  const sb_host *host = b->request->bind->host;
  uint32_t n = b->articulation_count, lanes = b->request->bind->lanes;
  bool *taken = calloc((size_t)n + 1, sizeof *taken);
  s->bundles = host->alloc(host->context, ((uint64_t)n + 1) * sizeof *s->bundles);
  bool ok = taken && s->bundles;
  for (uint32_t a = 0; ok && a < n; a++) {
    if (taken[a]) continue;
    const articulation *members[8];
    uint32_t used = 0;
    const ab_bundle *before = NULL;
    for (uint32_t c = a; ok && c < n; c++) {
      if (taken[c] || !same_topology(b, &b->articulations[a], &b->articulations[c])) continue;
      taken[c] = true;
      members[used++] = &b->articulations[c];
      if (used < lanes) continue;
      ok = fill_bundle(b, &s->bundles[s->bundle_count], members, used, before);
      before = &s->bundles[s->bundle_count++];
      used = 0;
    }
    if (ok && used) {
      ok = fill_bundle(b, &s->bundles[s->bundle_count], members, used, before);
      s->bundle_count++;
    }
  }
  free(taken);
  return ok;
}

static sb_status check_joints(const ab_request *ask, char *error, uint32_t error_size)
{
  const sb_model *m = ask->bind->model;
  for (uint32_t i = 0; i < ask->body_count; i++) {
    uint32_t body = ask->bodies[i];
    if (m->joint_type[body] > SB_JOINT_AXES) {
      snprintf(error, error_size, "body %u has joint type %u, which %s does not know", body, m->joint_type[body], ask->solver);
      return SB_E_UNSUPPORTED;
    }
    if (m->joint_type[body] != SB_JOINT_BALL) continue;
    uint32_t dof = (uint32_t)m->joint_qd_start[body];
    if (m->joint_limit_upper[dof] < SB_NO_LIMIT || m->joint_stiffness[dof] != 0.0f || m->joint_friction[dof] != 0.0f ||
        m->joint_target_ke[dof] != 0.0f) {
      snprintf(error, error_size, "the ball joint of body %u has a limit, spring, dry friction or drive; %s gives ball joints damping and "
                                  "armature only", body, ask->solver);
      return SB_E_UNSUPPORTED;
    }
  }
  return SB_OK;
}

sb_status ab_setup(ab_forest *forest, const ab_request *request, char *error, uint32_t error_size)
{
  sb_status status = check_joints(request, error, error_size);
  if (status) return status;
  const sb_bind *bind = request->bind;
  uint64_t bodies = bind->model->body_count;
  forest->place = bind->host->alloc(bind->host->context, (bodies + 1) * sizeof *forest->place);
  forest->origin = bind->host->alloc(bind->host->context, (bodies + 1) * 3 * sizeof *forest->origin);
  builder b = {.forest = forest, .request = request, .model = bind->model};
  bool ok = forest->place && forest->origin;
  for (uint64_t i = 0; ok && i < bodies; i++) forest->place[i].bundle = UINT32_MAX;
  ok = ok && group_bodies(&b) && list_links(&b) && make_bundles(&b);
  free(b.articulations);
  free(b.bodies);
  free(b.links);
  free(b.last_link);
  if (ok) return SB_OK;
  snprintf(error, error_size, "out of memory");
  return SB_E_MEMORY;
}
