/* Puts together what bodies and particles record and send. */
#include "semi_device.h"

sb_status si_device_bind(si_device *s, const sb_bind *bind, const si_particles *particles, const si_tick *tick, const si_settings *settings, char *error, uint32_t error_size)
{
  s->compute = sb_find_compute(bind, error, error_size);
  if (!s->compute) return SB_E_UNSUPPORTED;
  sb_compute_calls calls = {s->compute, SB_OK, error, error_size};
  s->has_particles = particles != NULL;
  s->has_bodies = tick->moved_count > 0 || !particles;
  if (s->has_bodies) si_rigid_device_bind(&s->rigid, bind, tick, settings, &calls);
  if (particles && !calls.status) si_particle_device_bind(&s->particles, bind, particles, s->has_bodies, settings, &calls);
  return calls.status;
}

/* All forces of a substep are of where everything was at its start; then everything moves. */
static void record_substep(si_device *s, uint32_t graph, uint32_t substep, bool touching, bool near, bool last, sb_compute_calls *calls)
{
  bool pressing = s->has_particles && s->has_bodies && (touching || s->particles.p->count[SI_HOLDS]);
  if (pressing) {
    si_rigid_device_record_places(&s->rigid, graph, si_particle_device_bodies(&s->particles, substep), calls);
    SB_COMPUTE_CALL(calls, barrier, graph);
  }
  if (s->has_particles) si_particle_device_record_forces(&s->particles, graph, substep, touching, near, calls);
  if (s->has_bodies) si_rigid_device_record_forces(&s->rigid, graph, calls);
  SB_COMPUTE_CALL(calls, barrier, graph);
  if (s->has_particles) si_particle_device_record_moves(&s->particles, graph, touching, near, calls);
  if (s->has_bodies) si_rigid_device_record_moves(&s->rigid, graph, pressing ? &s->particles.presses : NULL, last, calls);
  SB_COMPUTE_CALL(calls, barrier, graph);
}

sb_status si_device_activate(si_device *s, const si_settings *settings, char *error, uint32_t error_size)
{
  sb_compute_calls calls = {s->compute, SB_OK, error, error_size};
  uint32_t graphs = !s->has_particles ? 1u : s->particles.bind->near_pair_capacity ? 4u : 2u;
  if (s->graphs_made && s->graph_dt == settings->dt) return SB_OK;
  s->rigid.settings = *settings;
  if (s->has_particles) si_particle_device_activate(&s->particles, settings, &calls);
  for (uint32_t g = 0; g < graphs; g++) {
    SB_COMPUTE_CALL(&calls, create_graph, &s->graphs[g]);
    for (uint32_t n = 0; n < settings->substeps && !calls.status; n++) record_substep(s, s->graphs[g], n, g & 1u, g & 2u, n + 1 == settings->substeps, &calls);
    SB_COMPUTE_CALL(&calls, finish_graph, s->graphs[g]);
  }
  s->graphs_made = !calls.status;
  s->graph_dt = settings->dt;
  return calls.status;
}

sb_status si_device_step(si_device *s, si_particles *particles, const sb_step *step, const si_tick *tick, char *error, uint32_t error_size)
{
  sb_compute_calls calls = {s->compute, SB_OK, error, error_size};
  uint32_t graph = 0;
  if (s->has_bodies) si_rigid_device_send(&s->rigid, tick, &calls);
  if (s->has_particles) {
    si_particle_device_send(&s->particles, particles, step, tick, &calls);
    graph = (step->particle_contacts->count ? 1u : 0u) | (step->near_pairs->count ? 2u : 0u);
  }
  SB_COMPUTE_CALL(&calls, run, s->graphs[graph]);
  return calls.status;
}
