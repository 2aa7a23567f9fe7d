/* Lists of links: attachments at binding, contacts in a step or on the device. */
#include "xpbd_link_device.h"

#include <stdlib.h>
#include <string.h>

#include "xpbd_links_bounce_spv.h"
#include "xpbd_links_hold_spv.h"
#include "xpbd_links_solve_spv.h"
#include "xpbd_taken_items_spv.h"
#include "xpbd_taken_links_spv.h"

#define LOCAL 64u
#define CALL(k, ...) SB_COMPUTE_CALL(k, __VA_ARGS__)

enum { TAKEN_ITEMS, TAKEN_LINKS };

typedef struct link_push {
  uint32_t worlds, own, fresh;
  float h, inv_h, threshold, most, zero;
} link_push;

typedef struct taken_push {
  uint32_t particles, capacity, nobody, own, worlds;
} taken_push;

/* ---- buffers ---- */

static uint32_t world_of(const xp_link_device *s, uint32_t particle)
{
  const sb_model *m = s->bind->model;
  return (uint32_t)m->deformable_world[m->particle_deformable[s->particles->cloth->particles.index[particle]]];
}

/* Counts of each world become the first of each. */
static void sum_up(uint32_t *start, uint32_t worlds)
{
  for (uint32_t w = 0; w < worlds; w++) start[w + 1] += start[w];
}

/* Attachments of particles that an own body holds, world by world, in their order. */
static void fill_attachments(xp_link_device *s, sb_compute_calls *k)
{
  const xp_touches *t = s->particles->touches;
  uint32_t worlds = s->bind->model->world_count, n = s->particles->cloth->particles.count, count = 0;
  uint32_t *start = calloc((size_t)worlds + 2, sizeof *start), *links = malloc(((size_t)t->attachment_count + 1) * 2 * sizeof *links);
  float *items = malloc(((size_t)t->attachment_count + 1) * XP_ATTACHMENT_WORDS * sizeof *items);
  bool *linked = calloc((size_t)n + 1, sizeof *linked);
  if (!start || !links || !items || !linked) {
    sb_compute_no_memory(k);
  } else {
    xp_attachments_mark_linked(t, linked);
    for (uint32_t i = 0; i < t->attachment_count; i++)
      if (linked[t->attachments[i].particle]) start[world_of(s, t->attachments[i].particle) + 2]++;
    sum_up(start + 1, worlds);
    for (uint32_t i = 0; i < t->attachment_count; i++) {
      uint32_t particle = t->attachments[i].particle;
      if (!linked[particle]) continue;
      uint32_t *to = links + 2 * (size_t)start[world_of(s, particle) + 1]++;
      to[0] = particle, to[1] = count;
      xp_attachment_words(&t->attachments[i], items + (size_t)count++ * XP_ATTACHMENT_WORDS);
    }
    s->held_count = count;
    sb_compute_fill_buffer(k, &s->held_start, start, ((uint64_t)worlds + 1) * sizeof *start);
    sb_compute_fill_buffer(k, &s->held_links, links, count * 2 * sizeof *links);
    sb_compute_fill_buffer(k, &s->held_items, items, (uint64_t)count * XP_ATTACHMENT_WORDS * sizeof *items);
    sb_compute_make_buffer(k, &s->held_kept, (uint64_t)count * 3 * sizeof(float));
  }
  free(start);
  free(links);
  free(items);
  free(linked);
}

/* Where contacts lie there: flags and sums over them, and the first particle of each world. Particles of a world follow one another. */
static void fill_taken(xp_link_device *s, sb_compute_calls *k, uint64_t contacts)
{
  uint32_t worlds = s->bind->model->world_count, n = s->particles->cloth->particles.count, *first = calloc((size_t)worlds + 2, sizeof *first);
  if (!first) {
    sb_compute_no_memory(k);
    return;
  }
  for (uint32_t i = 0; i < n; i++) first[world_of(s, i) + 1]++;
  sum_up(first, worlds);
  sb_compute_make_buffer(k, &s->linked, contacts * sizeof(uint32_t));
  sb_compute_make_buffer(k, &s->before, contacts * sizeof(uint32_t));
  sb_compute_fill_buffer(k, &s->world_first, first, ((uint64_t)worlds + 1) * sizeof *first);
  free(first);
}

sb_status xp_link_device_bind(xp_link_device *s, sb_compute_calls *k, xp_particle_device *particles, xp_rigid_device *rigid)
{
  const sb_bind *bind = particles->bind;
  const bool taken = particles->there && particles->there->particle_capacity, own = rigid->bodies->own > 0;
  uint64_t contacts = (uint64_t)bind->particle_contact_capacity + 1, worlds = (uint64_t)bind->model->world_count + 1;
  s->bind = bind;
  s->particles = particles;
  s->rigid = rigid;
  if (taken) SB_COMPUTE_PIPELINE(k, &s->taken[TAKEN_ITEMS], xpbd_taken_items, 5, taken_push);
  if (taken && !own) sb_compute_make_buffer(k, &s->linked, 4);
  if (!own) return k->status;
  if (!k->status) fill_attachments(s, k);
  sb_compute_make_buffer(k, &s->start, worlds * sizeof(uint32_t));
  sb_compute_make_buffer(k, &s->links, contacts * 2 * sizeof(uint32_t));
  s->words = bind->host->alloc(bind->host->context, (contacts * 2 + worlds) * sizeof *s->words);
  if (!s->words) sb_compute_no_memory(k);
  if (taken && !k->status) fill_taken(s, k, (uint64_t)particles->there->particle_capacity + 1);
  if (taken) SB_COMPUTE_PIPELINE(k, &s->taken[TAKEN_LINKS], xpbd_taken_links, 7, taken_push);
  SB_COMPUTE_PIPELINE(k, &s->pass[XP_TOUCH_HOLD], xpbd_links_hold, 7, link_push);
  SB_COMPUTE_PIPELINE(k, &s->pass[XP_TOUCH_SOLVE], xpbd_links_solve, 8, link_push);
  SB_COMPUTE_PIPELINE(k, &s->pass[XP_TOUCH_BOUNCE], xpbd_links_bounce, 10, link_push);
  return k->status;
}

/* ---- the graph of a tick ---- */

void xp_links_record_taken(xp_link_device *s, sb_compute_calls *k, uint32_t graph)
{
  const sb_device_contacts *there = s->particles->there;
  const xp_bodies *bodies = s->rigid->bodies;
  uint32_t worlds = s->bind->model->world_count, threads = there->particle_capacity + 1 > worlds + 1 ? there->particle_capacity + 1 : worlds + 1;
  const taken_push push = {s->particles->cloth->particles.count, there->particle_capacity, bodies->nobody, bodies->own, worlds};
  const sb_binding items[5] = {sb_whole_buffer(there->particle_contacts), sb_whole_buffer(there->particle_start), sb_whole_buffer(s->linked),
                               sb_whole_buffer(bodies->own ? s->rigid->graph.record_of : s->linked), sb_whole_buffer(s->particles->contacts)};
  CALL(k, dispatch, graph, s->taken[TAKEN_ITEMS], items, &push, (threads + LOCAL - 1) / LOCAL);
  CALL(k, barrier, graph);
  if (!bodies->own) return;
  const sb_binding links[7] = {sb_whole_buffer(there->particle_contacts), sb_whole_buffer(there->particle_start), sb_whole_buffer(s->linked), sb_whole_buffer(s->before),
                               sb_whole_buffer(s->world_first), sb_whole_buffer(s->links), sb_whole_buffer(s->start)};
  contact_graph_record_sums(&s->rigid->graph, k, graph, s->linked, s->before, there->particle_capacity + 1);
  CALL(k, dispatch, graph, s->taken[TAKEN_LINKS], links, &push, (threads + LOCAL - 1) / LOCAL);
  CALL(k, barrier, graph);
}

void xp_links_record(xp_link_device *s, sb_compute_calls *k, uint32_t graph, uint32_t pass, uint32_t iteration)
{
  const xp_particle_device *p = s->particles;
  const xp_bodies *bodies = s->rigid->bodies;
  const bool holds = pass == XP_TOUCH_HOLD;
  const link_push push = {.worlds = s->bind->model->world_count, .own = bodies->own, .fresh = iteration == 0, .h = p->settings.h, .inv_h = p->settings.inv_h,
                          .threshold = bodies->threshold, .most = bodies->push * p->settings.h};
  const sb_binding bindings[10] = {sb_whole_buffer(p->x), sb_whole_buffer(p->d), sb_whole_buffer(s->rigid->live), sb_whole_buffer(holds ? s->held_start : s->start),
                                   sb_whole_buffer(holds ? s->held_links : s->links), sb_whole_buffer(holds ? s->held_items : p->contacts),
                                   sb_whole_buffer(holds ? s->held_kept : p->contacts_kept), sb_whole_buffer(p->radius), sb_whole_buffer(p->v), sb_whole_buffer(p->gravity)};
  if (holds && !s->held_count) return;
  CALL(k, dispatch, graph, s->pass[pass], bindings, &push, (push.worlds + LOCAL - 1) / LOCAL);
  CALL(k, barrier, graph);
}

/* ---- the step ---- */

/* Contacts with own bodies in their order, which is that of particles in the model; world follows world. The items are those of xp_particles_send_contacts(). */
void xp_links_send(xp_link_device *s, sb_compute_calls *k, const sb_particle_contacts *c)
{
  const xp_bodies *bodies = s->rigid->bodies;
  const uint32_t *local = s->particles->cloth->local;
  uint32_t worlds = s->bind->model->world_count, count = 0, *start = s->words + 2 * ((size_t)s->bind->particle_contact_capacity + 1);
  memset(start, 0, ((size_t)worlds + 1) * sizeof *start);
  for (uint32_t i = 0; i < c->count; i++) {
    uint32_t particle = local[c->particle[i]], *to = s->words + 2 * (size_t)count;
    if (particle == XP_NONE || c->body[i] < 0 || bodies->record[c->body[i]] >= bodies->own) continue;
    to[0] = particle;
    to[1] = s->particles->start[particle] + (i - c->particle_start[c->particle[i]]);
    start[world_of(s, particle) + 1]++;
    count++;
  }
  sum_up(start, worlds);
  CALL(k, upload, s->links, 0, s->words, (uint64_t)count * 2 * sizeof *s->words);
  CALL(k, upload, s->start, 0, start, ((uint64_t)worlds + 1) * sizeof *start);
}
