/* Particles of semi_implicit: what is set up once, and what a tick needs. Everything here is derived from the model or scratch of a tick. */
#ifndef SAMEBIT_SEMI_PARTICLES_H
#define SAMEBIT_SEMI_PARTICLES_H

#include <stddef.h>

#include "semi_implicit_data.h"

/* Kinds of work whose forces are summed into particles. */
typedef enum si_kind { SI_SPRINGS, SI_TRIS, SI_EDGES, SI_TETS, SI_HOLDS, SI_TOUCHES, SI_NEARS, SI_KINDS } si_kind;

/* Elements in one chunk of a parallel loop, and particles. A multiple of 8. */
#define SI_ELEMENT_CHUNK 256u
/* In a particle's list: the force acts the other way round. */
#define SI_REVERSED 0x80000000u
#define SI_NEAR_FLOATS 7u /* force on the first feature's side, weights of the four particles */

typedef struct si_particles {
  const sb_model *model;
  const sb_state *state;
  const float *body_inv_mass; /* 0 for bodies that this instance does not move */
  const uint32_t *own; /* particles of this instance, ascending */
  uint32_t own_count;
  /* elements whose particles are own ones */
  uint32_t *springs, *tris, *edges, *tets, *holds;
  uint32_t count[SI_KINDS]; /* touches and nears: of this tick */
  float *spring_ke;         /* per spring of the list: N/m, of rigid ones what the step holds */
  float *hold_ke, *hold_kd; /* per attachment of the list */
  float *force;             /* 3 per slot; slots of a kind follow those of the one before */
  uint32_t slot[SI_KINDS];  /* first of each kind: 1 a spring, 3 a triangle, 4 an edge, 4 a tetrahedron, 1 an attachment */
  uint32_t *first, *entry;  /* slots of each particle, in order of kind and element */
  /* bodies that attachments act on */
  uint32_t *hold_first, *hold_list;
  float *hold_wrench; /* 6 per attachment of the list */
  /* contacts with shapes, of this tick */
  const sb_particle_contacts *touches;
  float *touch_force, *touch_wrench; /* 3 and 6 per contact */
  uint32_t *touch_first, *touch_list;
  /* near pairs, of this tick */
  const sb_near_pairs *nears;
  float *near; /* SI_NEAR_FLOATS per pair */
  uint32_t *near_first, *near_entry; /* pairs of each particle: index * 4 + place */
  float *share; /* per particle: contacts and pairs that act on it, at least 1 */
  /* bodies of earlier solvers: pose and velocity in this substep */
  uint32_t *others, other_count;
  uint32_t *other_of; /* per body: its place + 1 among them, or 0 */
  float *other_q, *other_qd; /* 7 and 6 each */
} si_particles;

/* Lists and memory; false when there is none. body_inv_mass is kept. */
bool si_particles_bind(si_particles *p, const sb_bind *bind, const float *body_inv_mass);
/* What rigid springs and attachments get at this substep, and a warning through the host where the step is too long for the materials. */
void si_particles_activate(si_particles *p, const sb_bind *bind, float dt, uint32_t substeps);
/* Takes the contacts of this tick; adds to each body's number of forces. */
void si_particles_begin(si_particles *p, const sb_step *step, float *body_share);
/* Bodies of earlier solvers at substep `index` of `count`. */
void si_particles_move_others(si_particles *p, const sb_step *step, uint32_t index, uint32_t count, float dt);
/* Chunks of the loop over all forces, and what chunk `chunk` holds: elements first to end - 1 of a kind. */
uint32_t si_particles_chunks(const si_particles *p);
si_kind si_particles_chunk(const si_particles *p, uint32_t chunk, uint32_t *first, uint32_t *end);

/* Adds what attachments and contacts do to a body: force and torque, in their order. */
static inline void si_particles_add_wrench(const si_particles *p, uint32_t body, float out[6])
{
  for (uint32_t i = p->hold_first[body]; i < p->hold_first[body + 1]; i++)
    for (uint32_t k = 0; k < 6; k++) out[k] += p->hold_wrench[6 * (size_t)p->hold_list[i] + k];
  for (uint32_t i = p->touch_first[body]; i < p->touch_first[body + 1]; i++)
    for (uint32_t k = 0; k < 6; k++) out[k] += p->touch_wrench[6 * (size_t)p->touch_list[i] + k];
}

#define SI_PARTICLE_FUNCTIONS(lanes)                                                                                   \
  /* Forces of elements first to end - 1 of a kind. */                                                                 \
  void si_particle_forces_lanes##lanes(const si_tick *tick, si_kind kind, uint32_t first, uint32_t end);              \
  /* One substep of own particles first to end - 1. */                                                                 \
  void si_particle_moves_lanes##lanes(const si_tick *tick, uint32_t first, uint32_t end);
SI_PARTICLE_FUNCTIONS(1)
SI_PARTICLE_FUNCTIONS(4)
SI_PARTICLE_FUNCTIONS(8)

#endif
