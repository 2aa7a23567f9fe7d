/* Lists of links by island: attachments at binding, contacts in a step or on the device. */
#include "xpbd_link_device.h"

#include <stdlib.h>
#include <string.h>

#include "xpbd_links_bounce_spv.h"
#include "xpbd_links_hold_spv.h"
#include "xpbd_links_solve_spv.h"
#include "xpbd_taken_items_spv.h"
#include "xpbd_taken_links_spv.h"
#include "xpbd_taken_unite_spv.h"

#define LOCAL 64u
#define CALL(k, ...) SB_COMPUTE_CALL(k, __VA_ARGS__)

enum { TAKEN_ITEMS, TAKEN_UNITE, TAKEN_LINKS };

typedef struct link_push {
  uint32_t own, fresh;
  float h, inv_h, threshold, most, zero;
} link_push;

typedef struct taken_push {
  uint32_t particles, capacity, nobody, own;
} taken_push;

/* ---- islands ---- */

static uint32_t find_root(const uint32_t *root, uint32_t body)
{
  while (root[body] != body) body = root[body];
  return body;
}

static void unite(uint32_t *root, uint32_t a, uint32_t b)
{
  a = find_root(root, a);
  b = find_root(root, b);
  if (a < b)
    root[b] = a;
  else
    root[a] = b;
}

/* Links, a body of each and its item, to `sorted`: its island and its item, by island, in their order within one. at: scratch of a word for each body and one more. */
static void sort_links(const uint32_t *unsorted, uint32_t count, const uint32_t *root, uint32_t bodies, uint32_t *at, uint32_t *sorted)
{
  memset(at, 0, ((size_t)bodies + 1) * sizeof *at);
  for (uint32_t i = 0; i < count; i++) at[find_root(root, unsorted[2 * (size_t)i]) + 1]++;
  for (uint32_t b = 0; b < bodies; b++) at[b + 1] += at[b];
  for (uint32_t i = 0; i < count; i++) {
    uint32_t island = find_root(root, unsorted[2 * (size_t)i]), *to = sorted + 2 * (size_t)at[island]++;
    to[0] = island, to[1] = unsorted[2 * (size_t)i + 1];
  }
}

/* ---- buffers ---- */

typedef struct held_scratch {
  uint32_t *body_of; /* an own body that holds each particle; XP_NONE for others */
  uint32_t *root, *unsorted, *sorted, *particle_of;
  float *items;
} held_scratch;

/* Attachments of particles that an own body holds; those of such a particle to the world or to others' bodies too. */
static uint32_t find_held(const xp_link_device *s, const xp_touches *t, held_scratch m)
{
  uint32_t own = s->rigid->bodies->own, count = 0;
  for (uint32_t b = 0; b < own; b++) m.root[b] = b;
  for (uint32_t i = 0; i < s->particles->cloth->particles.count; i++) m.body_of[i] = XP_NONE;
  for (uint32_t i = 0; i < t->attachment_count; i++) {
    const xp_attachment *a = &t->attachments[i];
    if (a->body >= own) continue;
    if (m.body_of[a->particle] != XP_NONE) unite(m.root, m.body_of[a->particle], a->body);
    m.body_of[a->particle] = a->body;
  }
  for (uint32_t i = 0; i < t->attachment_count; i++) {
    uint32_t particle = t->attachments[i].particle;
    if (m.body_of[particle] == XP_NONE) continue;
    m.unsorted[2 * (size_t)count] = m.body_of[particle], m.unsorted[2 * (size_t)count + 1] = count;
    m.particle_of[count] = particle;
    xp_attachment_words(&t->attachments[i], m.items + (size_t)count++ * XP_ATTACHMENT_WORDS);
  }
  sort_links(m.unsorted, count, m.root, own, m.root + own, m.sorted);
  return count;
}

static void make_held(xp_link_device *s, sb_compute_calls *k)
{
  const xp_touches *t = s->particles->touches;
  size_t n = (size_t)t->attachment_count + 1, own = s->rigid->bodies->own, particles = s->particles->cloth->particles.count;
  held_scratch m = {.body_of = malloc((particles + 1) * sizeof *m.body_of), .root = malloc((2 * own + 1) * sizeof *m.root), .unsorted = calloc(2 * n, sizeof *m.unsorted),
                    .sorted = malloc(2 * n * sizeof *m.sorted), .particle_of = malloc(n * sizeof *m.particle_of), .items = malloc(n * XP_ATTACHMENT_WORDS * sizeof *m.items)};
  if (!m.body_of || !m.root || !m.unsorted || !m.sorted || !m.particle_of || !m.items) {
    sb_compute_no_memory(k);
  } else {
    uint32_t count = find_held(s, t, m);
    s->held.most = count;
    sb_compute_fill_buffer(k, &s->held.links, m.sorted, (uint64_t)count * 2 * sizeof *m.sorted);
    sb_compute_fill_buffer(k, &s->held.count, &count, sizeof count);
    sb_compute_fill_buffer(k, &s->held.items, m.items, (uint64_t)count * XP_ATTACHMENT_WORDS * sizeof *m.items);
    sb_compute_fill_buffer(k, &s->held.particle_of, m.particle_of, (uint64_t)count * sizeof *m.particle_of);
    sb_compute_make_buffer(k, &s->held.kept, (uint64_t)count * 3 * sizeof(float));
  }
  free(m.body_of);
  free(m.root);
  free(m.unsorted);
  free(m.sorted);
  free(m.particle_of);
  free(m.items);
}

/* Where contacts lie there, and where they come from the host. */
static void make_contacts(xp_link_device *s, sb_compute_calls *k, bool taken)
{
  const sb_host *host = s->bind->host;
  uint64_t contacts = (uint64_t)s->touching.most + 1, own = s->rigid->bodies->own;
  s->touching.items = s->particles->contacts;
  s->touching.kept = s->particles->contacts_kept;
  sb_compute_make_buffer(k, &s->touching.count, sizeof(uint32_t));
  sb_compute_make_buffer(k, &s->touching.particle_of, contacts * sizeof(uint32_t));
  sb_compute_make_buffer(k, &s->pairs[0], contacts * 2 * sizeof(uint32_t));
  s->touching.links = s->pairs[0];
  if (taken) {
    sb_compute_make_buffer(k, &s->pairs[1], contacts * 2 * sizeof(uint32_t));
    sb_compute_make_buffer(k, &s->linked, contacts * sizeof(uint32_t));
    sb_compute_make_buffer(k, &s->before, contacts * sizeof(uint32_t));
    sb_compute_make_buffer(k, &s->root, own * sizeof(uint32_t));
    return;
  }
  s->unsorted = host->alloc(host->context, contacts * 2 * sizeof *s->unsorted);
  s->sorted = host->alloc(host->context, contacts * 2 * sizeof *s->sorted);
  s->particle_of = host->alloc(host->context, contacts * sizeof *s->particle_of);
  s->scratch = host->alloc(host->context, (2 * own + 1) * sizeof *s->scratch);
  if (!s->unsorted || !s->sorted || !s->particle_of || !s->scratch) sb_compute_no_memory(k);
}

sb_status xp_link_device_bind(xp_link_device *s, sb_compute_calls *k, xp_particle_device *particles, xp_rigid_device *rigid)
{
  const sb_device_contacts *there = particles->there;
  const bool taken = there && there->particle_capacity, own = rigid->bodies->own > 0;
  s->bind = particles->bind;
  s->particles = particles;
  s->rigid = rigid;
  s->touching.most = taken ? there->particle_capacity : s->bind->particle_contact_capacity;
  if (taken) SB_COMPUTE_PIPELINE(k, &s->taken[TAKEN_ITEMS], xpbd_taken_items, 7, taken_push);
  if (!own) return k->status;
  if (!k->status) make_held(s, k);
  if (!k->status) make_contacts(s, k, taken);
  if (taken) SB_COMPUTE_PIPELINE(k, &s->taken[TAKEN_UNITE], xpbd_taken_unite, 3, taken_push);
  if (taken) SB_COMPUTE_PIPELINE(k, &s->taken[TAKEN_LINKS], xpbd_taken_links, 7, taken_push);
  SB_COMPUTE_PIPELINE(k, &s->pass[XP_TOUCH_HOLD], xpbd_links_hold, 8, link_push);
  SB_COMPUTE_PIPELINE(k, &s->pass[XP_TOUCH_SOLVE], xpbd_links_solve, 9, link_push);
  SB_COMPUTE_PIPELINE(k, &s->pass[XP_TOUCH_BOUNCE], xpbd_links_bounce, 12, link_push);
  return k->status;
}

/* ---- the graph of a tick ---- */

static void dispatch(sb_compute_calls *k, uint32_t graph, uint32_t pipeline, const sb_binding *bindings, const void *push, uint32_t threads)
{
  CALL(k, dispatch, graph, pipeline, bindings, push, threads / LOCAL + (threads % LOCAL > 0));
  CALL(k, barrier, graph);
}

void xp_links_record_taken(xp_link_device *s, sb_compute_calls *k, uint32_t graph)
{
  const sb_device_contacts *there = s->particles->there;
  const xp_bodies *bodies = s->rigid->bodies;
  const sb_binding items = sb_whole_buffer(s->particles->contacts), start = sb_whole_buffer(there->particle_start), none = sb_whole_buffer(s->particles->none);
  const sb_binding root = bodies->own ? sb_whole_buffer(s->root) : none, linked = bodies->own ? sb_whole_buffer(s->linked) : none;
  const taken_push push = {s->particles->cloth->particles.count, there->particle_capacity, bodies->nobody, bodies->own};
  const sb_binding take[7] = {items, start, root, linked, sb_whole_buffer(there->particle_contacts), bodies->own ? sb_whole_buffer(s->rigid->graph.record_of) : none,
                              bodies->own ? sb_whole_buffer(s->touching.particle_of) : none};
  dispatch(k, graph, s->taken[TAKEN_ITEMS], take, &push, push.own > push.capacity + 1 ? push.own : push.capacity + 1);
  if (!bodies->own) return;
  const sb_binding join[3] = {items, start, root};
  const sb_binding list[7] = {items, start, root, linked, sb_whole_buffer(s->before), sb_whole_buffer(s->pairs[0]), sb_whole_buffer(s->touching.count)};
  dispatch(k, graph, s->taken[TAKEN_UNITE], join, &push, push.particles);
  contact_graph_record_sums(&s->rigid->graph, k, graph, s->linked, s->before, push.capacity + 1);
  dispatch(k, graph, s->taken[TAKEN_LINKS], list, &push, push.capacity);
  s->touching.links = contact_graph_record_sort(&s->rigid->graph, k, graph, s->pairs, s->touching.count, push.capacity, push.own);
}

void xp_links_record(xp_link_device *s, sb_compute_calls *k, uint32_t graph, uint32_t pass, uint32_t iteration)
{
  const xp_particle_device *p = s->particles;
  const xp_bodies *bodies = s->rigid->bodies;
  const xp_links *l = pass == XP_TOUCH_HOLD ? &s->held : &s->touching;
  const link_push push = {.own = bodies->own, .fresh = iteration == 0, .h = p->settings.h, .inv_h = p->settings.inv_h, .threshold = bodies->threshold,
                          .most = bodies->push * p->settings.h};
  const uint32_t buffers[12] = {p->x, p->d, s->rigid->live, l->count, l->links, l->items, l->kept, l->particle_of, p->radius, p->v, p->gravity, p->world};
  sb_binding bindings[12];
  for (uint32_t i = 0; i < 12; i++) bindings[i] = sb_whole_buffer(buffers[i]);
  if (l->most) dispatch(k, graph, s->pass[pass], bindings, &push, l->most);
}

/* ---- the step ---- */

/* Contacts with own bodies, in their order; a particle's follow one another. The items are those of xp_particles_send_contacts(). */
void xp_links_send(xp_link_device *s, sb_compute_calls *k, const sb_particle_contacts *c)
{
  const xp_bodies *bodies = s->rigid->bodies;
  const uint32_t *local = s->particles->cloth->local;
  uint32_t count = 0, last = XP_NONE, *root = s->scratch;
  for (uint32_t b = 0; b < bodies->own; b++) root[b] = b;
  for (uint32_t i = 0; i < c->count; i++) {
    uint32_t particle = local[c->particle[i]], *to = s->unsorted + 2 * (size_t)count;
    if (particle == XP_NONE || c->body[i] < 0 || bodies->record[c->body[i]] >= bodies->own) continue;
    to[0] = bodies->record[c->body[i]];
    to[1] = s->particles->start[particle] + (i - c->particle_start[c->particle[i]]);
    s->particle_of[to[1]] = particle;
    if (last == particle) unite(root, to[-2], to[0]);
    last = particle;
    count++;
  }
  sort_links(s->unsorted, count, root, bodies->own, root + bodies->own, s->sorted);
  CALL(k, upload, s->touching.links, 0, s->sorted, (uint64_t)count * 2 * sizeof *s->sorted);
  CALL(k, upload, s->touching.count, 0, &count, sizeof count);
  CALL(k, upload, s->touching.particle_of, 0, s->particle_of, (uint64_t)s->particles->start[s->particles->cloth->particles.count] * sizeof *s->particle_of);
}
