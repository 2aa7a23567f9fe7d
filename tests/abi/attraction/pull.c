/* pull: particles attract each other, and nothing else acts on them. An example of a solver of another kind than the
 * template's. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pull.h"
#include "samebit/solver_tools.h"

enum { PARAM_STRENGTH, PARAM_RANGE, PARAM_SOFT, PARAM_COUNT };

static const sb_param_desc params[PARAM_COUNT] = {
    [PARAM_STRENGTH] = {sizeof(sb_param_desc), SB_PARAM_FLOAT, "strength", "m^3/(kg s^2)", "constant of gravitation",
                        NULL, 1, 0, 1000},
    [PARAM_RANGE] = {sizeof(sb_param_desc), SB_PARAM_FLOAT, "range", "m",
                     "particles that are further apart do not attract each other", NULL, 10, 0, 1000},
    [PARAM_SOFT] = {sizeof(sb_param_desc), SB_PARAM_FLOAT, "softening", "m",
                    "distance below which attraction grows no more", NULL, 0.05, 0.001, 10},
};

static const sb_golden goldens[] = {
#include "pull_goldens.h"
};

static const sb_solver_desc desc = {
    .struct_size = sizeof(sb_solver_desc),
    .handles = SB_HANDLES_PARTICLES,
    .id = "pull",
    .version = "0.1.0",
    .vendor = "me",
    .text = "Particles that attract each other.",
    .mode = {SB_MODE_CROSS_PLATFORM, SB_MODE_OFF},
    .mode_reason = {"sums in ascending order, shared maths", "has no Vulkan backend"},
    .params = params,
    .goldens = goldens,
    .param_count = PARAM_COUNT,
    .golden_count = sizeof goldens / sizeof goldens[0],
    .param_size = sizeof(sb_param_desc),
    .golden_size = sizeof(sb_golden),
};

#define CHUNK 64u

typedef struct chunk {
  uint32_t world, first, end;
} chunk;

typedef struct instance {
  sb_bind bind;
  pull_world *worlds;
  chunk *chunks;
  uint32_t chunk_count;
  float *pulled; /* scratch of a tick */
} instance;

static sb_status create(void **out)
{
  *out = calloc(1, sizeof(instance));
  return *out ? SB_OK : SB_E_MEMORY;
}

static uint32_t world_of(const sb_model *m, uint32_t particle)
{
  return (uint32_t)m->deformable_world[m->particle_deformable[particle]];
}

static sb_status bind(void *self, const sb_bind *b, char *error, uint32_t error_size)
{
  instance *s = self;
  const sb_model *m = b->model;
  const sb_host *h = b->host;
  sb_status status = sb_check_bind_cpu(b, "pull", error, error_size);
  if (status) return status;
  s->bind = *b;
  s->worlds = h->alloc(h->context, ((uint64_t)m->world_count + 1) * sizeof *s->worlds);
  s->chunks = h->alloc(h->context, ((uint64_t)m->world_count + b->particle_count / CHUNK + 1) * sizeof *s->chunks);
  s->pulled = h->alloc(h->context, ((uint64_t)m->particle_count + 1) * 3 * sizeof *s->pulled);
  if (!s->worlds || !s->chunks || !s->pulled) return SB_E_MEMORY;
  for (uint32_t i = 0; i < b->particle_count;) {
    uint32_t world = world_of(m, b->particles[i]), first = i;
    while (i < b->particle_count && world_of(m, b->particles[i]) == world) i++;
    s->worlds[world] = (pull_world){
        .model = m, .state = b->state, .particles = b->particles + first, .count = i - first, .pulled = s->pulled};
    for (uint32_t c = 0; c < i - first; c += CHUNK)
      s->chunks[s->chunk_count++] = (chunk){world, c, c + CHUNK < i - first ? c + CHUNK : i - first};
  }
  return SB_OK;
}

static sb_status activate(void *self, uint32_t mode, float dt, char *error, uint32_t error_size)
{
  instance *s = self;
  (void)mode;
  sb_status status = sb_check_dt(dt, error, error_size);
  if (status) return status;
  for (uint32_t w = 0; w < s->bind.model->world_count; w++) {
    float range = (float)s->bind.params[PARAM_RANGE], soft = (float)s->bind.params[PARAM_SOFT];
    s->worlds[w].strength = (float)s->bind.params[PARAM_STRENGTH];
    s->worlds[w].range2 = range * range;
    s->worlds[w].soft2 = soft * soft;
    s->worlds[w].dt = dt;
  }
  return SB_OK;
}

static void gather(void *self, uint32_t i)
{
  instance *s = self;
  const chunk *c = &s->chunks[i];
  SB_LANE_DISPATCH(s->bind.lanes, pull_gather, &s->worlds[c->world], c->first, c->end);
}

static void move(void *self, uint32_t i)
{
  instance *s = self;
  const chunk *c = &s->chunks[i];
  SB_LANE_DISPATCH(s->bind.lanes, pull_move, &s->worlds[c->world], c->first, c->end);
}

static sb_status step(void *self, const sb_step *now, char *error, uint32_t error_size)
{
  instance *s = self;
  const sb_host *host = s->bind.host;
  sb_status status = sb_check_step(now, error, error_size);
  if (status) return status;
  host->parallel_for(host->context, s->chunk_count, gather, s);
  host->parallel_for(host->context, s->chunk_count, move, s);
  return SB_OK;
}

static void deactivate(void *self) { (void)self; }
static void destroy(void *self) { free(self); }

static const sb_solver_api api = {sizeof(sb_solver_api), 0, &desc, create, bind, activate, step, deactivate, destroy};
static const sb_solver_api *const solvers[] = {&api};
static const sb_solver_factory factory = {sizeof(sb_solver_factory), 1, solvers};
static const void *get_factory(const char *id) { return strcmp(id, SB_SOLVER_FACTORY_ID) ? NULL : &factory; }

SB_DEFINE_PLUGIN(pull, 1u | 4u | 8u, NULL, get_factory);
