/* Records of particles, lists of elements, bundles with their constants. */
#include "xpbd_setup.h"

#include <stdlib.h>
#include <string.h>

static void *take(const sb_bind *bind, uint64_t bytes) { return bind->host->alloc(bind->host->context, bytes ? bytes : 1); }

/* ---- particles ---- */

static bool make_particles(xp_cloth *c, const sb_bind *bind)
{
  const sb_model *m = bind->model;
  uint32_t n = bind->particle_count, *index = take(bind, ((uint64_t)n + 1) * sizeof *index);
  xp_particles *p = &c->particles;
  c->local = take(bind, ((uint64_t)m->particle_count + 1) * sizeof *c->local);
  p->x = take(bind, ((uint64_t)n + 1) * 16);
  p->d = take(bind, ((uint64_t)n + 1) * 16);
  p->v = take(bind, ((uint64_t)n + 1) * 16);
  if (!index || !c->local || !p->x || !p->d || !p->v) return false;
  for (uint32_t i = 0; i < m->particle_count; i++) c->local[i] = XP_NONE;
  for (uint32_t i = 0; i < n; i++) {
    index[i] = bind->particles[i];
    c->local[index[i]] = i;
    p->d[4 * (size_t)i + 3] = m->particle_inv_mass[index[i]];
  }
  p->index = index;
  p->count = n;
  return true;
}

/* ---- which elements ---- */

/* Whether the constraint acts at all: it has a stiffness, and particles of this instance, some of which move. */
static bool acts(const xp_cloth *c, const sb_bind *bind, const xp_elements *e, uint32_t element, bool stiff)
{
  const int32_t *p = e->indices + (size_t)element * e->arity;
  bool moves = false;
  if (!stiff || c->local[p[0] < 0 ? p[1] : p[0]] == XP_NONE) return false;
  for (uint32_t k = 0; k < e->arity; k++) {
    if (p[k] < 0) return false; /* a border edge: nothing bends */
    moves = moves || bind->model->particle_inv_mass[p[k]] > 0.0f;
  }
  return moves;
}

static bool is_stiff(const sb_model *m, uint32_t kind, uint32_t i)
{
  switch (kind) {
  case XP_AIR: return m->tri_drag[i] > 0.0f || m->tri_lift[i] > 0.0f;
  case XP_SPRING: return m->spring_stiffness[i] > 0.0f || m->spring_damping[i] > 0.0f;
  case XP_TRI: return m->tri_ke[i] > 0.0f || m->tri_ka[i] > 0.0f || m->tri_kd[i] > 0.0f;
  case XP_EDGE: return m->edge_bending_ke[i] > 0.0f || m->edge_bending_kd[i] > 0.0f;
  default: return m->tet_k_mu[i] > 0.0f || m->tet_k_lambda[i] > 0.0f || m->tet_k_damp[i] > 0.0f;
  }
}

/* The chosen ones of each kind, in malloc'ed lists. */
static bool choose_elements(const xp_cloth *c, const sb_bind *bind, xp_elements e[XP_KINDS], uint32_t *chosen[XP_KINDS])
{
  const sb_model *m = bind->model;
  const uint32_t counts[XP_KINDS] = {m->tri_count, m->spring_count, m->tri_count, m->edge_count, m->tet_count};
  e[XP_AIR] = (xp_elements){.arity = 3, .indices = m->tri_indices};
  e[XP_SPRING] = (xp_elements){.arity = 2, .indices = m->spring_indices};
  e[XP_TRI] = (xp_elements){.arity = 3, .indices = m->tri_indices};
  e[XP_EDGE] = (xp_elements){.arity = 4, .indices = m->edge_indices};
  e[XP_TET] = (xp_elements){.arity = 4, .indices = m->tet_indices};
  for (uint32_t kind = 0; kind < XP_KINDS; kind++) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < counts[kind]; i++) n += acts(c, bind, &e[kind], i, is_stiff(m, kind, i));
    chosen[kind] = malloc(((size_t)n + 1) * sizeof *chosen[kind]);
    if (!chosen[kind]) return false;
    for (uint32_t i = 0; i < counts[kind]; i++)
      if (acts(c, bind, &e[kind], i, is_stiff(m, kind, i))) chosen[kind][e[kind].count++] = i;
    e[kind].chosen = chosen[kind];
  }
  return true;
}

/* ---- bundles ---- */

/* Element of a place, and its particles' records; XP_NONE and `nobody` where the place is left over. */
static uint32_t place(const xp_cloth *c, const xp_elements *e, uint32_t kind, uint32_t bundle, uint32_t lane, uint32_t (*p)[XP_WIDTH])
{
  uint32_t i = c->graph.order[kind][(size_t)bundle * XP_WIDTH + lane];
  for (uint32_t k = 0; k < e->arity; k++)
    p[k][lane] = i == XP_NONE ? c->particles.count : c->local[e->indices[(size_t)i * e->arity + k]];
  return i;
}

static bool fill_springs(xp_cloth *c, const sb_bind *bind, const xp_elements *e)
{
  const sb_model *m = bind->model;
  uint32_t count = c->graph.bundle_count[XP_SPRING];
  bool damped = false;
  for (uint32_t i = 0; i < e->count && !damped; i++) damped = m->spring_damping[e->chosen[i]] > 0.0f;
  c->springs = take(bind, (uint64_t)count * sizeof *c->springs);
  if (damped) c->damped |= 1u << XP_SPRING;
  if (damped) c->spring_damping = take(bind, (uint64_t)count * XP_WIDTH * sizeof(float));
  if (!c->springs || (damped && !c->spring_damping)) return false;
  for (uint32_t b = 0; b < count; b++)
    for (uint32_t l = 0; l < XP_WIDTH; l++) {
      uint32_t i = place(c, e, XP_SPRING, b, l, c->springs[b].p);
      if (i == XP_NONE) continue;
      c->springs[b].rest[l] = m->spring_rest_length[i];
      c->springs[b].stiffness[l] = m->spring_stiffness[i];
      if (damped) c->spring_damping[(size_t)b * XP_WIDTH + l] = m->spring_damping[i];
    }
  return true;
}

static bool fill_airs(xp_cloth *c, const sb_bind *bind, const xp_elements *e)
{
  const sb_model *m = bind->model;
  c->airs = take(bind, (uint64_t)c->graph.bundle_count[XP_AIR] * sizeof *c->airs);
  if (!c->airs) return false;
  for (uint32_t b = 0; b < c->graph.bundle_count[XP_AIR]; b++)
    for (uint32_t l = 0; l < XP_WIDTH; l++) {
      uint32_t i = place(c, e, XP_AIR, b, l, c->airs[b].p);
      if (i == XP_NONE) continue;
      c->airs[b].drag[l] = m->tri_drag[i] * m->tri_area[i];
      c->airs[b].lift[l] = m->tri_lift[i] * m->tri_area[i];
    }
  return true;
}

static bool fill_tris(xp_cloth *c, const sb_bind *bind, const xp_elements *e)
{
  const sb_model *m = bind->model;
  c->tris = take(bind, (uint64_t)c->graph.bundle_count[XP_TRI] * sizeof *c->tris);
  if (!c->tris) return false;
  for (uint32_t b = 0; b < c->graph.bundle_count[XP_TRI]; b++)
    for (uint32_t l = 0; l < XP_WIDTH; l++) {
      xp_tris *t = &c->tris[b];
      uint32_t i = place(c, e, XP_TRI, b, l, t->p);
      if (i == XP_NONE) continue;
      for (uint32_t k = 0; k < 4; k++) t->pose[k][l] = m->tri_pose[4 * (size_t)i + k];
      t->ke[l] = m->tri_ke[i] * m->tri_area[i];
      t->ka[l] = m->tri_ka[i] * m->tri_area[i];
      t->kd[l] = m->tri_kd[i] * m->tri_area[i];
      if (t->kd[l] > 0.0f) c->damped |= 1u << XP_TRI;
    }
  return true;
}

static bool fill_edges(xp_cloth *c, const sb_bind *bind, const xp_elements *e)
{
  const sb_model *m = bind->model;
  c->edges = take(bind, (uint64_t)c->graph.bundle_count[XP_EDGE] * sizeof *c->edges);
  if (!c->edges) return false;
  for (uint32_t b = 0; b < c->graph.bundle_count[XP_EDGE]; b++)
    for (uint32_t l = 0; l < XP_WIDTH; l++) {
      xp_edges *t = &c->edges[b];
      uint32_t i = place(c, e, XP_EDGE, b, l, t->p);
      if (i == XP_NONE) continue;
      t->rest[l] = m->edge_rest_angle[i];
      t->ke[l] = m->edge_bending_ke[i];
      t->kd[l] = m->edge_bending_kd[i];
      if (t->kd[l] > 0.0f) c->damped |= 1u << XP_EDGE;
    }
  return true;
}

/* The law's mu is k_mu and its lambda k_lambda + k_mu: then k_mu and k_lambda are the Lame parameters at small strain. */
static bool fill_tets(xp_cloth *c, const sb_bind *bind, const xp_elements *e)
{
  const sb_model *m = bind->model;
  c->tets = take(bind, (uint64_t)c->graph.bundle_count[XP_TET] * sizeof *c->tets);
  if (!c->tets) return false;
  for (uint32_t b = 0; b < c->graph.bundle_count[XP_TET]; b++)
    for (uint32_t l = 0; l < XP_WIDTH; l++) {
      xp_tets *t = &c->tets[b];
      uint32_t i = place(c, e, XP_TET, b, l, t->p);
      if (i == XP_NONE) continue;
      for (uint32_t k = 0; k < 9; k++) t->pose[k][l] = m->tet_pose[9 * (size_t)i + k];
      t->mu[l] = m->tet_k_mu[i] * m->tet_volume[i];
      t->lambda[l] = (m->tet_k_lambda[i] + m->tet_k_mu[i]) * m->tet_volume[i];
      t->damping[l] = m->tet_k_damp[i] * m->tet_volume[i];
      if (t->damping[l] > 0.0f) c->damped |= 1u << XP_TET;
    }
  return true;
}

static bool make_multipliers(xp_cloth *c, const sb_bind *bind)
{
  const uint32_t *bundles = c->graph.bundle_count;
  const uint64_t lane = XP_WIDTH * sizeof(float);
  c->spring_lambda = take(bind, bundles[XP_SPRING] * lane);
  c->tri_lambda = take(bind, bundles[XP_TRI] * lane * 3);
  c->edge_lambda = take(bind, bundles[XP_EDGE] * lane);
  c->tet_lambda = take(bind, bundles[XP_TET] * lane * 2);
  return c->spring_lambda && c->tri_lambda && c->edge_lambda && c->tet_lambda;
}

sb_status xp_cloth_bind(xp_cloth *c, const sb_bind *bind, bool multipliers)
{
  xp_elements e[XP_KINDS];
  uint32_t *chosen[XP_KINDS] = {NULL};
  bool ok = make_particles(c, bind) && choose_elements(c, bind, e, chosen) && xp_graph_make(&c->graph, bind, c->local, e);
  ok = ok && fill_springs(c, bind, &e[XP_SPRING]) && fill_airs(c, bind, &e[XP_AIR]) && fill_tris(c, bind, &e[XP_TRI]) &&
       fill_edges(c, bind, &e[XP_EDGE]) && fill_tets(c, bind, &e[XP_TET]);
  if (multipliers) ok = ok && make_multipliers(c, bind);
  xp_graph_drop(&c->graph);
  for (uint32_t kind = 0; kind < XP_KINDS; kind++) free(chosen[kind]);
  return ok ? SB_OK : SB_E_MEMORY;
}
