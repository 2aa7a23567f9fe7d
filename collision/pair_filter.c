/* Which shapes may collide: tables built once from the model. Knows collision_state.h. */
#include "collision_state.h"

static int32_t shape_group(const sb_model *m, const int32_t *of_body, uint32_t shape)
{
  int32_t body = m->shape_body[shape];
  return body < 0 ? -1 : of_body[body];
}

/* Buckets of bodies that exclude_body keeps apart, by the lower body; body -1 has bucket 0. */
static sb_status build_excludes(sb_collision *c)
{
  const sb_model *m = c->model;
  c->exclude_start = collision_alloc(c, (size_t)m->body_count + 2, sizeof *c->exclude_start);
  c->exclude_list = collision_alloc(c, m->exclude_count, sizeof *c->exclude_list);
  if (!c->exclude_start || !c->exclude_list) return SB_E_MEMORY;
  for (uint32_t i = 0; i < m->exclude_count; i++) {
    int32_t lower = m->exclude_body[2 * i];
    if (lower < -1 || lower >= (int32_t)m->body_count) return SB_E_ARGUMENT;
    c->exclude_start[lower + 2]++;
  }
  for (uint32_t b = 0; b <= m->body_count; b++) c->exclude_start[b + 1] += c->exclude_start[b];
  /* Filling from the back moves each start down to where its bucket begins; then buckets are [start[b], start[b + 1]).
   */
  for (uint32_t i = m->exclude_count; i-- > 0;) {
    uint32_t end = --c->exclude_start[m->exclude_body[2 * i] + 2];
    c->exclude_list[end] = m->exclude_body[2 * i + 1];
  }
  for (uint32_t b = 0; b <= m->body_count; b++) c->exclude_start[b] = c->exclude_start[b + 1];
  c->exclude_start[m->body_count + 1] = m->exclude_count;
  return SB_OK;
}

/* Listed pairs by their lower shape; a pair listed twice counts once, with its first entry. */
static sb_status build_listed(sb_collision *c)
{
  const sb_model *m = c->model;
  c->listed_start = collision_alloc(c, (size_t)m->shape_count + 1, sizeof *c->listed_start);
  c->listed = collision_alloc(c, m->pair_count, sizeof *c->listed);
  c->shape_listed = collision_alloc(c, m->shape_count, sizeof *c->shape_listed);
  if (!c->listed_start || !c->listed || !c->shape_listed) return SB_E_MEMORY;
  for (uint32_t i = 0; i < m->pair_count; i++) {
    int32_t a = m->pair_shape[2 * i];
    int32_t b = m->pair_shape[2 * i + 1];
    if (a < 0 || b <= a || b >= (int32_t)m->shape_count || m->shape_world[a] != m->shape_world[b]) return SB_E_ARGUMENT;
    c->shape_listed[a] = c->shape_listed[b] = 1;
    c->listed_start[a + 1]++;
  }
  for (uint32_t s = 0; s < m->shape_count; s++) c->listed_start[s + 1] += c->listed_start[s];
  /* Stable insertion into each bucket by higher shape. */
  uint32_t *used = collision_alloc(c, m->shape_count, sizeof *used);
  if (!used) return SB_E_MEMORY;
  for (uint32_t i = 0; i < m->pair_count; i++) {
    uint32_t a = (uint32_t)m->pair_shape[2 * i];
    uint32_t *bucket = c->listed + c->listed_start[a];
    uint32_t at = used[a]++;
    while (at > 0 && m->pair_shape[2 * bucket[at - 1] + 1] > m->pair_shape[2 * i + 1]) {
      bucket[at] = bucket[at - 1];
      at--;
    }
    bucket[at] = i;
  }
  return SB_OK;
}

sb_status collision_filter_build(sb_collision *c)
{
  const sb_model *m = c->model;
  c->shape_fixed = collision_alloc(c, m->shape_count, sizeof *c->shape_fixed);
  c->shape_weld = collision_alloc(c, m->shape_count, sizeof *c->shape_weld);
  c->shape_weld_parent = collision_alloc(c, m->shape_count, sizeof *c->shape_weld_parent);
  if (!c->shape_fixed || !c->shape_weld || !c->shape_weld_parent) return SB_E_MEMORY;
  for (uint32_t s = 0; s < m->shape_count; s++) {
    int32_t body = m->shape_body[s];
    if (body < -1 || body >= (int32_t)m->body_count) return SB_E_ARGUMENT;
    if (m->shape_type[s] >= SB_SHAPE_TYPE_COUNT) return SB_E_UNSUPPORTED;
    c->shape_fixed[s] = body < 0 || (m->body_flags[body] & SB_BODY_STATIC) != 0;
    if (collision_is_surface(m, s) && !c->shape_fixed[s]) return SB_E_UNSUPPORTED;
    c->shape_weld[s] = shape_group(m, m->body_weld, s);
    c->shape_weld_parent[s] = shape_group(m, m->body_weld_parent, s);
  }
  sb_status status = build_excludes(c);
  return status == SB_OK ? build_listed(c) : status;
}

static bool excluded(const sb_collision *c, int32_t body_a, int32_t body_b)
{
  int32_t lower = body_a < body_b ? body_a : body_b;
  int32_t higher = body_a < body_b ? body_b : body_a;
  for (uint32_t i = c->exclude_start[lower + 1]; i < c->exclude_start[lower + 2]; i++)
    if (c->exclude_list[i] == higher) return true;
  return false;
}

static bool listed(const sb_collision *c, uint32_t a, uint32_t b)
{
  uint32_t lower = a < b ? a : b;
  uint32_t higher = a < b ? b : a;
  for (uint32_t i = c->listed_start[lower]; i < c->listed_start[lower + 1]; i++)
    if (c->model->pair_shape[2 * c->listed[i] + 1] == (int32_t)higher) return true;
  return false;
}

bool collision_may_collide(const sb_collision *c, uint32_t a, uint32_t b)
{
  const sb_model *m = c->model;
  if (c->shape_fixed[a] && c->shape_fixed[b]) return false;
  if (!(m->shape_contype[a] & m->shape_conaffinity[b]) && !(m->shape_contype[b] & m->shape_conaffinity[a]))
    return false;
  if (m->shape_body[a] == m->shape_body[b]) return false;
  /* Groups joined by FIXED joints; the world's own group (-1) is nobody's parent here. */
  int32_t wa = c->shape_weld[a];
  int32_t wb = c->shape_weld[b];
  if (wa >= 0 && wb >= 0 && (wa == wb || c->shape_weld_parent[a] == wb || c->shape_weld_parent[b] == wa)) return false;
  if (m->exclude_count && excluded(c, m->shape_body[a], m->shape_body[b])) return false;
  if (c->shape_listed[a] && c->shape_listed[b] && listed(c, a, b)) return false;
  return true;
}
