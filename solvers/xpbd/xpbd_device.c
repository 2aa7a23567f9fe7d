/* What of a tick runs there, its graphs, and what a step brings. */
#include "xpbd_device.h"

#define CALL(k, ...) SB_COMPUTE_CALL(k, __VA_ARGS__)

static bool has_particles(const xp_device *s) { return s->bind->particle_count > 0; }
static bool has_bodies(const xp_device *s) { return s->bodies->own > 0; }

/* Contacts of all particles and of bodies that are all this instance's can be taken where they lie. */
static const sb_device_contacts *take_contacts(const xp_device *s)
{
  bool all = s->bind->particle_count == s->bind->model->particle_count && s->bodies->moving == s->bodies->own && !s->bind->near_pair_capacity;
  return all ? s->bind->host->get_extension(s->bind->host->context, SB_DEVICE_CONTACTS_EXTENSION_ID) : NULL;
}

/* How many colours graphs go through; an instance with bodies and particles has fewer steps, since they multiply. */
static void choose_steps(xp_device *s)
{
  static const uint32_t near[XP_NEAR_STEPS] = {0, 8, 24, XP_NEAR_GROUPS}, colors[XP_COLOR_STEPS] = {0, 4, 8, 16, XP_COLOR_GROUPS};
  s->near_step_count = s->color_step_count = 0;
  for (uint32_t i = 0; i < (s->bind->near_pair_capacity ? XP_NEAR_STEPS : 1u); i++) s->near_steps[s->near_step_count++] = near[i];
  for (uint32_t i = 0; i < (has_bodies(s) ? XP_COLOR_STEPS : 1u); i += has_particles(s) ? 2u : 1u) s->color_steps[s->color_step_count++] = colors[i];
}

sb_status xp_device_bind(xp_device *s, const sb_bind *bind, const xp_cloth *cloth, xp_bodies *bodies, const xp_touches *touches, xp_near *near, char *error, uint32_t error_size)
{
  s->bind = bind;
  s->bodies = bodies;
  if (s->jacobi) {
    snprintf(error, error_size, "order = jacobi does not run on the backend vulkan; use order = gauss_seidel, or backend = cpu");
    return SB_E_UNSUPPORTED;
  }
  s->compute = sb_find_compute(bind, error, error_size);
  if (!s->compute) return SB_E_UNSUPPORTED;
  sb_compute_calls k = {s->compute, SB_OK, error, error_size};
  s->particles.settings = s->rigid.settings = s->settings;
  s->there = take_contacts(s);
  choose_steps(s);
  xp_rigid_device_bind(&s->rigid, &k, bind, bodies, s->there);
  if (has_particles(s)) xp_particle_device_bind(&s->particles, &k, bind, cloth, bodies, touches, near, s->there, s->rigid.live);
  if (has_particles(s)) xp_link_device_bind(&s->links, &k, &s->particles, &s->rigid);
  return k.status;
}

void xp_device_free(xp_device *s) { xp_particle_device_free(&s->particles); }

/* ---- the graph of a tick ---- */

/* What a graph goes through. */
typedef struct tick_graph {
  uint32_t graph;
  bool touching; /* particles have contacts */
  uint32_t near_groups, colors;
} tick_graph;

static void record_iteration(xp_device *s, sb_compute_calls *k, tick_graph g, uint32_t substep, uint32_t iteration)
{
  const uint32_t all = (1u << XP_KINDS) - 1u;
  if (has_particles(s)) {
    if (iteration == 0) xp_particles_record_motion(&s->particles, k, g.graph, XP_MOTION_PREDICT, substep == 0 || g.touching);
    xp_particles_record_elements(&s->particles, k, g.graph, iteration == 0 ? all : all & ~(1u << XP_AIR), iteration, false);
    xp_particles_record_touches(&s->particles, k, g.graph, XP_TOUCH_HOLD, iteration);
    if (has_bodies(s)) xp_links_record(&s->links, k, g.graph, XP_TOUCH_HOLD, iteration);
    xp_particles_record_near(&s->particles, k, g.graph, g.near_groups);
  }
  if (has_bodies(s)) xp_rigid_record_contacts(&s->rigid, k, g.graph, iteration, g.colors);
  if (!g.touching) return;
  xp_particles_record_touches(&s->particles, k, g.graph, XP_TOUCH_SOLVE, iteration);
  if (has_bodies(s)) xp_links_record(&s->links, k, g.graph, XP_TOUCH_SOLVE, iteration);
}

static void record_substep(xp_device *s, sb_compute_calls *k, tick_graph g, uint32_t substep)
{
  if (s->bodies->moving) xp_rigid_record_predict(&s->rigid, k, g.graph, substep);
  for (uint32_t i = 0; i < s->settings.iterations; i++) record_iteration(s, k, g, substep, i);
  if (has_particles(s)) {
    if (s->particles.cloth->damped) xp_particles_record_elements(&s->particles, k, g.graph, s->particles.cloth->damped, 0, true);
    xp_particles_record_near(&s->particles, k, g.graph, g.near_groups);
  }
  if (g.touching) {
    xp_particles_record_touches(&s->particles, k, g.graph, XP_TOUCH_BOUNCE, 0);
    if (has_bodies(s)) xp_links_record(&s->links, k, g.graph, XP_TOUCH_BOUNCE, 0);
  }
  if (has_bodies(s)) xp_rigid_record_velocities(&s->rigid, k, g.graph, g.colors);
}

static void record_tick(xp_device *s, sb_compute_calls *k, tick_graph g)
{
  if (g.touching && s->there) xp_links_record_taken(&s->links, k, g.graph);
  if (has_particles(s)) xp_particles_record_motion(&s->particles, k, g.graph, XP_MOTION_LOAD, true);
  if (has_bodies(s)) xp_rigid_record_begin(&s->rigid, k, g.graph);
  for (uint32_t n = 0; n < s->settings.substeps && !k->status; n++) record_substep(s, k, g, n);
  if (has_particles(s)) xp_particles_record_motion(&s->particles, k, g.graph, XP_MOTION_STORE, g.touching);
  if (has_bodies(s)) xp_rigid_record_end(&s->rigid, k, g.graph);
}

/* Whether particles may have contacts: unknown where they come from the host. */
static bool may_touch(const xp_device *s) { return has_particles(s) && (!s->there || s->there->particle_capacity); }

sb_status xp_device_activate(xp_device *s, xp_settings settings, char *error, uint32_t error_size)
{
  sb_compute_calls k = {s->compute, SB_OK, error, error_size};
  if (s->graphs_made && s->graph_h == settings.h) return SB_OK;
  s->settings = s->particles.settings = s->rigid.settings = settings;
  if (s->there && has_bodies(s)) {
    CALL(&k, create_graph, &s->coloring);
    contact_graph_record(&s->rigid.graph, &k, s->coloring);
    CALL(&k, finish_graph, s->coloring);
  }
  for (uint32_t touching = 0; touching < (may_touch(s) ? 2u : 1u); touching++)
    for (uint32_t n = 0; n < s->near_step_count; n++)
      for (uint32_t c = 0; c < s->color_step_count; c++) {
        uint32_t *graph = &s->graphs[touching][n][c];
        CALL(&k, create_graph, graph);
        record_tick(s, &k, (tick_graph){*graph, touching, s->near_steps[n], s->color_steps[c]});
        CALL(&k, finish_graph, *graph);
      }
  s->graphs_made = !k.status;
  s->graph_h = settings.h;
  return k.status;
}

/* ---- the step ---- */

static uint32_t step_for(const uint32_t *steps, uint32_t used)
{
  uint32_t i = 0;
  while (steps[i] < used) i++;
  return i;
}

sb_status xp_device_step(xp_device *s, const sb_step *step, char *error, uint32_t error_size)
{
  sb_compute_calls k = {s->compute, SB_OK, error, error_size};
  uint32_t near = 0, colors = 0;
  if (s->there) {
    /* a wait for one number costs less than the dispatches of colours that nothing has */
    if (has_bodies(s)) CALL(&k, run, s->coloring);
    if (has_bodies(s)) colors = xp_rigid_count_colors(&s->rigid, &k);
    CALL(&k, run, s->graphs[may_touch(s)][0][step_for(s->color_steps, colors)]);
    return k.status;
  }
  bool touching = has_particles(s) && step->particle_contacts->count > 0;
  if (touching) xp_particles_send_contacts(&s->particles, &k, step->particle_contacts);
  if (touching && has_bodies(s)) xp_links_send(&s->links, &k, step->particle_contacts);
  if (has_particles(s) && step->near_pairs->count) near = xp_particles_send_near(&s->particles, &k, step);
  if (has_bodies(s) || (s->bodies->moving && (touching || s->particles.attached_rows))) {
    xp_bodies_meet(s->bodies, step);
    xp_rigid_send_others(&s->rigid, &k);
  }
  if (has_bodies(s)) colors = xp_rigid_send_contacts(&s->rigid, &k);
  CALL(&k, run, s->graphs[touching][step_for(s->near_steps, near)][step_for(s->color_steps, colors)]);
  if (has_bodies(s)) xp_rigid_keep(&s->rigid, &k);
  return k.status;
}
