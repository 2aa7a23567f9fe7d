/* Forces from momenta: what a body's momentum has gained, less what is known to act on it, came through its joints. Scalar code. */
#include "steel_observe.h"

#include <stdio.h>
#include <string.h>

#include "samebit/maths.h"

static sb_status register_array(const sb_bind *bind, const char *name, uint32_t domain, uint32_t components, uint32_t count, float **slot)
{
  sb_array_desc desc = {.struct_size = sizeof desc, .type = SB_TYPE_F32, .domain = domain, .components = components, .count = count,
                        .lane_block = 1, .name = name};
  void *data = NULL;
  sb_status status = bind->host->register_array(bind->host->context, &desc, &data);
  *slot = data;
  return status;
}

sb_status st_observe_bind(st_observe *o, const sb_bind *bind, char *error, uint32_t error_size)
{
  if (!o->on) return SB_OK;
  const sb_host *host = bind->host;
  uint32_t bodies = bind->model->body_count;
  sb_status status = register_array(bind, "body_qdd", SB_DOMAIN_BODY, 6, bodies, &o->acceleration);
  if (!status) status = register_array(bind, "body_parent_f", SB_DOMAIN_BODY, 6, bodies, &o->parent);
  if (!status) status = register_array(bind, "contact_force", SB_DOMAIN_CONTACT, 3, bind->contact_capacity, &o->contact);
  if (status) return status;
  o->start_q = host->alloc(host->context, ((uint64_t)bodies + 1) * 7 * sizeof(float));
  o->start_qd = host->alloc(host->context, ((uint64_t)bodies + 1) * 6 * sizeof(float));
  o->impulse = host->alloc(host->context, ((uint64_t)bodies + 1) * 6 * sizeof(float));
  if (o->start_q && o->start_qd && o->impulse) return SB_OK;
  snprintf(error, error_size, "out of memory for the observables of %u bodies", bodies);
  return SB_E_MEMORY;
}

void st_observe_begin(st_observe *o, const st_tick *t)
{
  if (!o->on) return;
  size_t bodies = t->model->body_count;
  memcpy(o->start_q, t->state->body_q, bodies * 7 * sizeof(float));
  memcpy(o->start_qd, t->state->body_qd, bodies * 6 * sizeof(float));
  memset(o->impulse, 0, bodies * 6 * sizeof(float));
}

static V3 read_v3(const float *p) { return v3(p[0], p[1], p[2]); }

static void write_v3(float *to, V3 v) { to[0] = v.x, to[1] = v.y, to[2] = v.z; }

/* Spin momentum about the centre of mass, kg m^2/s, world axes. */
static V3 spin_of(const sb_model *m, uint32_t body, const float *q, const float *qd)
{
  const float *i = m->body_inertia + 6 * (size_t)body;
  Q4 turn = q4(q[3], q[4], q[5], q[6]);
  V3 w = q4_rotate_inv(turn, read_v3(qd + 3));
  return q4_rotate(turn, s33_mul_v3(s33(i[0], i[1], i[2], i[3], i[4], i[5]), w));
}

static V3 centre_of(const sb_model *m, uint32_t body, const float *q)
{
  return v3_add(read_v3(q), q4_rotate(q4(q[3], q[4], q[5], q[6]), read_v3(m->body_com + 3 * (size_t)body)));
}

/* A body's acceleration, and in `parent` what everything but gravity, commands, contacts and loops has done to it: its joints. */
static void observe_body(st_observe *o, const st_tick *t, uint32_t body, float rate)
{
  const sb_model *m = t->model;
  const float *q0 = o->start_q + 7 * (size_t)body, *q1 = t->state->body_q + 7 * (size_t)body;
  const float *v0 = o->start_qd + 6 * (size_t)body, *v1 = t->state->body_qd + 6 * (size_t)body;
  const float *command = t->state->body_f + 6 * (size_t)body, *got = o->impulse + 6 * (size_t)body;
  float mass = m->body_mass[body];
  V3 a = v3_scale(v3_sub(read_v3(v1), read_v3(v0)), rate);
  write_v3(o->acceleration + 6 * (size_t)body, a);
  write_v3(o->acceleration + 6 * (size_t)body + 3, v3_scale(v3_sub(read_v3(v1 + 3), read_v3(v0 + 3)), rate));
  V3 force = v3_scale(v3_sub(a, read_v3(m->gravity + 3 * (size_t)m->body_world[body])), mass);
  V3 torque = v3_scale(v3_sub(spin_of(m, body, q1, v1), spin_of(m, body, q0, v0)), rate);
  force = v3_sub(force, v3_add_scaled(read_v3(command), read_v3(got), rate));
  torque = v3_sub(torque, v3_add_scaled(read_v3(command + 3), read_v3(got + 3), rate));
  write_v3(o->parent + 6 * (size_t)body, force);
  write_v3(o->parent + 6 * (size_t)body + 3, torque);
}

static void observe_contacts(st_observe *o, const st_tick *t)
{
  const sb_contacts *c = t->contacts;
  float inv_h = t->settings.inv_h;
  for (uint32_t i = 0; i < c->count; i++) {
    const float *cache = t->cache + ST_CACHE_FLOATS * (size_t)i;
    V3 force = v3_add_scaled(read_v3(cache + 1), read_v3(c->normal + 3 * (size_t)i), cache[0]);
    write_v3(o->contact + 3 * (size_t)i, v3_scale(force, inv_h));
  }
}

void st_observe_end(st_observe *o, const st_tick *t, const sb_bind *bind)
{
  if (!o->on) return;
  const sb_model *m = t->model;
  float rate = t->settings.inv_h / (float)t->settings.substeps;
  for (uint32_t i = 0; i < bind->body_count; i++) observe_body(o, t, bind->bodies[i], rate);
  /* Children follow their parents: from the last body on, each one's joint carries all that hangs on it. */
  for (uint32_t i = bind->body_count; i-- > 0;) {
    uint32_t body = bind->bodies[i];
    int32_t p = m->joint_parent[body];
    float *own = o->parent + 6 * (size_t)body;
    if (m->joint_type[body] == SB_JOINT_FREE) {
      memset(own, 0, 6 * sizeof *own); /* no joint: what is left is rounding */
      continue;
    }
    if (p < 0) continue;
    float *to = o->parent + 6 * (size_t)p;
    V3 arm = v3_sub(centre_of(m, body, t->state->body_q + 7 * (size_t)body), centre_of(m, (uint32_t)p, t->state->body_q + 7 * (size_t)p));
    V3 f = read_v3(own);
    write_v3(to, v3_add(read_v3(to), f));
    write_v3(to + 3, v3_add(read_v3(to + 3), v3_add(read_v3(own + 3), v3_cross(arm, f))));
  }
  observe_contacts(o, t);
}
