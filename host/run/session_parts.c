/* Solvers of a session: plugins, parameters, bodies, modes. */
#define _GNU_SOURCE
#include "session_parts.h"

#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden_hashes.h"
#include "samebit/solver_tools.h"

static sb_status no_memory(sb_diagnostics *diag)
{
  return sb_report(diag, SB_ERROR, SB_CODE_MEMORY, "session", "no memory for the parts of the run");
}

/* ---- plugins and parameters ---- */

static double read_param(sb_config *c, const char *section, const sb_param_desc *p, sb_diagnostics *diag)
{
  static const char *const bool_names[] = {"no", "yes", "false", "true", "0", "1", NULL};
  switch (p->type) {
  case SB_PARAM_INT: {
    const sb_setting *s = sb_config_find(c, section, p->name);
    double value = sb_config_number(c, section, p->name, p->value, p->minimum, p->maximum, diag);
    if (s && value != (double)(int64_t)value)
      sb_report(diag, SB_ERROR, SB_CODE_INI_VALUE, s->where, "%s.%s: expected a whole number, found \"%s\"", section, p->name, s->value);
    return value;
  }
  case SB_PARAM_BOOL: return sb_config_choice(c, section, p->name, p->value != 0, bool_names, diag) & 1;
  case SB_PARAM_CHOICE: {
    char copy[256], *rest = copy;
    const char *names[32] = {0};
    snprintf(copy, sizeof copy, "%s", p->choices);
    size_t n = 0;
    for (char *word = strtok_r(copy, "|", &rest); word && n < 31; word = strtok_r(NULL, "|", &rest)) names[n++] = word;
    return sb_config_choice(c, section, p->name, (uint32_t)p->value, names, diag);
  }
  default: return sb_config_number(c, section, p->name, p->value, p->minimum, p->maximum, diag);
  }
}

static const char *const part_keys[] = {"plugin", "bodies", "backend", "mode", "module_hash"};
#define PART_KEYS (sizeof part_keys / sizeof part_keys[0])

/* `module_hash`: the hash that the plugin's file must have, as every report prints it. */
static sb_status read_pin(sb_config *c, const char *section, bool *pinned, uint64_t *hash, sb_diagnostics *diag)
{
  const sb_setting *pin = sb_config_find(c, section, "module_hash");
  *pinned = pin != NULL;
  *hash = 0;
  if (!pin) return SB_OK;
  if (strlen(pin->value) != 16 || strspn(pin->value, "0123456789abcdefABCDEF") != 16)
    return sb_report(diag, SB_ERROR, SB_CODE_INI_VALUE, pin->where, "%s.module_hash: expected 16 hexadecimal digits, found \"%.80s\"", section,
                     pin->value);
  *hash = strtoull(pin->value, NULL, 16);
  return SB_OK;
}

static sb_status read_part(sb_session *s, const char *section, const char *place, const sb_session_options *o, uint32_t inherited,
                           const char *inherited_where, sb_session_part *part, sb_diagnostics *diag)
{
  sb_config *c = &s->config;
  part->name = strdup(section + strlen("solver."));
  if (!part->name) return no_memory(diag);
  const sb_setting *plugin = sb_config_find(c, section, "plugin");
  if (!plugin)
    return sb_report(diag, SB_ERROR, SB_CODE_INI_MISSING, place, "[%s] needs \"plugin = ID\"; `samebit plugins list` shows them", section);
  bool pinned;
  uint64_t hash;
  sb_status status = read_pin(c, section, &pinned, &hash, diag);
  if (!status)
    status = sb_catalogue_find_solver(&s->catalogue, plugin->value, plugin->where, pinned ? &hash : NULL, &part->module, &part->api, diag);
  if (status) return status;
  const sb_solver_desc *desc = part->api->desc;
  part->plugin = desc->id;
  part->backend = sb_config_choice(c, section, "backend", SB_BACKEND_CPU, sb_backend_names, diag);
  if (o->backend)
    for (uint32_t b = 0; b < SB_BACKEND_COUNT; b++)
      if (!strcmp(o->backend, sb_backend_names[b])) part->backend = b;
  const sb_setting *mode = sb_config_find(c, section, "mode");
  part->asked = sb_config_choice(c, section, "mode", inherited, sb_mode_names, diag);
  part->where = strdup(mode ? mode->where : inherited_where);
  part->params = calloc((size_t)desc->param_count + 1, sizeof *part->params);
  const char **known = malloc((PART_KEYS + desc->param_count) * sizeof *known);
  if (!part->params || !known || !part->where) {
    free(known);
    return no_memory(diag);
  }
  memcpy(known, part_keys, sizeof part_keys);
  for (uint32_t i = 0; i < desc->param_count; i++) {
    part->params[i] = read_param(c, section, &desc->params[i], diag);
    known[PART_KEYS + i] = desc->params[i].name;
  }
  sb_config_find(c, section, "bodies"); /* read when the scene is known */
  sb_config_check_unused(c, section, known, PART_KEYS + desc->param_count, diag);
  free(known);
  return SB_OK;
}

/* The plugins of all parts are tried side by side, before each is asked for in turn. */
static bool prepare_plugins(sb_session *s)
{
  sb_config *c = &s->config;
  sb_wanted_solver *wanted = calloc(c->section_count + 1, sizeof *wanted);
  uint64_t *hashes = calloc(c->section_count + 1, sizeof *hashes);
  size_t count = 0;
  for (size_t i = 0; wanted && hashes && i < c->section_count; i++) {
    const char *section = c->sections[i].name;
    bool pinned;
    if (strncmp(section, "solver.", 7) || !section[7]) continue;
    const sb_setting *plugin = sb_config_find(c, section, "plugin");
    if (!plugin || read_pin(c, section, &pinned, &hashes[count], NULL)) continue;
    wanted[count] = (sb_wanted_solver){plugin->value, pinned ? &hashes[count] : NULL};
    count++;
  }
  bool ok = wanted && hashes;
  if (ok) sb_catalogue_prepare(&s->catalogue, wanted, count);
  free(wanted);
  free(hashes);
  return ok;
}

sb_status sb_session_find_parts(sb_session *s, const sb_session_options *o, sb_diagnostics *diag)
{
  sb_config *c = &s->config;
  size_t errors = diag->error_count;
  if (o->backend && strcmp(o->backend, "cpu") && strcmp(o->backend, "vulkan"))
    return sb_report(diag, SB_ERROR, SB_CODE_CLI_USAGE, "--backend", "expected cpu or vulkan, found \"%s\"", o->backend);
  const sb_setting *global = sb_config_find(c, "determinism", "mode");
  uint32_t mode = sb_config_choice(c, "determinism", "mode", SB_MODE_CROSS_PLATFORM, sb_mode_names, diag);
  const char *where = global ? global->where : "default mode";
  s->parts = calloc(c->section_count + 2, sizeof *s->parts);
  if (!s->parts) return no_memory(diag);
  const sb_setting *own = sb_config_find(c, "collision", "mode");
  sb_session_part *collision = &s->parts[s->part_count++];
  collision->name = strdup("collision");
  collision->plugin = "collision";
  collision->asked = sb_config_choice(c, "collision", "mode", mode, sb_mode_names, diag);
  collision->where = strdup(own ? own->where : where);
  if (!collision->name || !collision->where) return no_memory(diag);
  bool refused = false;
  if (!prepare_plugins(s)) return no_memory(diag);
  for (size_t i = 0; i < c->section_count; i++) {
    const char *section = c->sections[i].name;
    if (strncmp(section, "solver.", 7) || !section[7]) continue;
    sb_status status = read_part(s, section, c->sections[i].where, o, mode, where, &s->parts[s->part_count++], diag);
    if (status == SB_E_MEMORY) return status;
    if (status == SB_E_MODE) refused = true;
  }
  if (s->part_count == 1)
    sb_report(diag, SB_ERROR, SB_CODE_INI_MISSING, c->path, "no solver: add a section [solver.NAME] with \"plugin = ID\" and \"bodies = *\"");
  if (refused) return SB_E_MODE;
  return diag->error_count > errors ? SB_E_CONFIG : SB_OK;
}

/* ---- bodies ---- */

/* Whether one of the blank-separated patterns matches the body's name; a body without one is called body_INDEX. */
static bool pattern_matches(const char *patterns, const char *name)
{
  char word[256];
  while (*patterns) {
    size_t n = strcspn(patterns, " \t,");
    size_t kept = n < sizeof word - 1 ? n : sizeof word - 1;
    memcpy(word, patterns, kept);
    word[kept] = 0;
    if (n && !fnmatch(word, name, 0)) return true;
    patterns += n + strspn(patterns + n, " \t,");
  }
  return false;
}

static const char *body_label(const sb_session *s, uint32_t body, char *buffer, size_t size)
{
  const char *name = sb_model_store_name(s->one, SB_NAME_BODY, body);
  if (*name) return name;
  snprintf(buffer, size, "body_%u", body);
  return buffer;
}

static const char *deformable_label(const sb_session *s, uint32_t deformable, char *buffer, size_t size)
{
  const char *name = sb_model_store_name(s->one, SB_NAME_DEFORMABLE, deformable);
  if (*name) return name;
  snprintf(buffer, size, "deformable_%u", deformable);
  return buffer;
}

static void report_no_match(const sb_session *s, const char *patterns, const char *where, sb_diagnostics *diag)
{
  const sb_model *m = sb_model_store_view(s->one);
  uint32_t count = m->body_count + m->deformable_count;
  const char **names = malloc(((size_t)count + 1) * sizeof *names);
  for (uint32_t b = 0; names && b < m->body_count; b++) names[b] = sb_model_store_name(s->one, SB_NAME_BODY, b);
  for (uint32_t d = 0; names && d < m->deformable_count; d++)
    names[m->body_count + d] = sb_model_store_name(s->one, SB_NAME_DEFORMABLE, d);
  const char *near = names ? sb_nearest_name(patterns, names, count) : NULL;
  sb_report(diag, SB_ERROR, SB_CODE_BODY_NO_MATCH, where, "no body or deformable matches \"%s\"%s%s%s%s", patterns, near && *near ? "; did you mean \"" : "",
            near ? near : "", near && *near ? "\"?" : "", count ? "" : " (the scene has none)");
  free(names);
}

/* Claims the deformables that the patterns of part p match; true when there are any. */
static bool claim_deformables(sb_session *s, uint32_t p, const char *patterns, const char *where, uint32_t *owner, sb_diagnostics *diag)
{
  const sb_model *m = sb_model_store_view(s->one);
  char buffer[32];
  bool any = false;
  for (uint32_t d = 0; d < m->deformable_count; d++) {
    const char *name = deformable_label(s, d, buffer, sizeof buffer);
    if (!pattern_matches(patterns, name)) continue;
    any = true;
    if (owner[d])
      sb_report(diag, SB_ERROR, SB_CODE_BODY_OWNED_TWICE, where,
                "deformable \"%s\": owned by [solver.%s] already; give each deformable to one solver through \"bodies\"", name,
                s->parts[owner[d]].name);
    else
      owner[d] = p;
  }
  return any;
}

/* Owner of each body and deformable of one world: index of the part, 0 for none yet. */
static void claim_bodies(sb_session *s, uint32_t *owner, uint32_t *deformable_owner, sb_diagnostics *diag)
{
  const sb_model *m = sb_model_store_view(s->one);
  char buffer[32], other[32];
  size_t errors = diag->error_count;
  for (uint32_t p = 1; p < s->part_count; p++) {
    char section[300];
    snprintf(section, sizeof section, "solver.%.250s", s->parts[p].name);
    const sb_setting *setting = sb_config_find(&s->config, section, "bodies");
    const char *patterns = setting ? setting->value : "*";
    bool any = m->body_count == 0 && m->deformable_count == 0 && !setting;
    if (claim_deformables(s, p, patterns, setting ? setting->where : section, deformable_owner, diag)) any = true;
    uint32_t twice = 0, first = 0;
    for (uint32_t b = 0; b < m->body_count; b++) {
      const char *name = body_label(s, b, buffer, sizeof buffer);
      if (!pattern_matches(patterns, name)) continue;
      any = true;
      if (!owner[b])
        owner[b] = p;
      else if (twice++ == 0)
        first = b;
    }
    if (twice)
      sb_report(diag, SB_ERROR, SB_CODE_BODY_OWNED_TWICE, setting ? setting->where : section,
                "body \"%s\"%s: owned by [solver.%s] already; give each body to one solver through \"bodies\"",
                body_label(s, first, buffer, sizeof buffer), twice > 1 ? " and others" : "", s->parts[owner[first]].name);
    if (any) continue;
    report_no_match(s, patterns, setting ? setting->where : section, diag);
  }
  if (diag->error_count > errors) return; /* what follows would only repeat it */
  for (uint32_t d = 0; d < m->deformable_count; d++)
    if (!deformable_owner[d])
      sb_report(diag, SB_ERROR, SB_CODE_BODY_UNOWNED, s->config.path, "no solver owns deformable \"%s\"; add it to the \"bodies\" of one",
                deformable_label(s, d, buffer, sizeof buffer));
  /* A bolted body that nobody named goes with what hangs on it. */
  for (uint32_t b = m->body_count; b-- > 0;)
    if (m->joint_parent[b] >= 0 && owner[b] && !owner[m->joint_parent[b]] && (m->body_flags[m->joint_parent[b]] & SB_BODY_STATIC))
      owner[m->joint_parent[b]] = owner[b];
  for (uint32_t b = 0; b < m->body_count; b++) {
    const char *name = body_label(s, b, buffer, sizeof buffer);
    int32_t parent = m->joint_parent[b];
    if (!owner[b] && !(m->body_flags[b] & SB_BODY_STATIC))
      sb_report(diag, SB_ERROR, SB_CODE_BODY_UNOWNED, s->config.path, "no solver owns body \"%s\"; add it to the \"bodies\" of one", name);
    else if (parent >= 0 && owner[b] && owner[parent] != owner[b])
      sb_report(diag, SB_ERROR, SB_CODE_BODY_SPLIT, s->config.path,
                "body \"%s\" is jointed to \"%s\", but they belong to [solver.%s] and [solver.%s]; an articulation needs one solver", name,
                body_label(s, (uint32_t)parent, other, sizeof other), s->parts[owner[b]].name, owner[parent] ? s->parts[owner[parent]].name : "none");
    if (diag->error_count > 20) return;
  }
}

static void report_split(sb_session *s, const char *kind, sb_name_kind names, uint32_t index, uint32_t first,
                         uint32_t second, sb_diagnostics *diag)
{
  sb_report(diag, SB_ERROR, SB_CODE_BODY_SPLIT, s->config.path,
            "%s %u \"%s\" holds bodies of [solver.%s] and [solver.%s]; give them to one solver", kind, index,
            sb_model_store_name(s->one, names, index), s->parts[first].name, s->parts[second].name);
}

/* No constraint may reach from one solver to another; bolted bodies belong to all. */
static void check_constraints(sb_session *s, const uint32_t *owner, sb_diagnostics *diag)
{
  const sb_model *m = sb_model_store_view(s->one);
  for (uint32_t e = 0; e < m->equality_count; e++) {
    uint32_t part[2];
    for (uint32_t k = 0; k < 2; k++) {
      int32_t body = m->equality_body[2 * e + k];
      part[k] = body < 0 || (m->body_flags[body] & SB_BODY_STATIC) ? 0 : owner[body];
    }
    if (part[0] && part[1] && part[0] != part[1])
      report_split(s, "equality constraint", SB_NAME_EQUALITY, e, part[0], part[1], diag);
  }
  for (uint32_t i = 1; i < m->tendon_term_count; i++) {
    int32_t t = m->tendon_term_tendon[i];
    if (t != m->tendon_term_tendon[i - 1] || !sb_tendon_acts(m, t)) continue;
    uint32_t before = owner[m->dof_body[m->tendon_term_dof[i - 1]]], now = owner[m->dof_body[m->tendon_term_dof[i]]];
    if (before != now) report_split(s, "tendon", SB_NAME_TENDON, (uint32_t)t, before, now, diag);
  }
}

/* Elements of one list, n particles each, must not reach from one solver to another. */
static void check_elements(sb_session *s, const char *kind, uint32_t count, const int32_t *particles, uint32_t n, const uint32_t *owner,
                           sb_diagnostics *diag)
{
  const sb_model *m = sb_model_store_view(s->one);
  for (uint32_t e = 0; e < count; e++) {
    uint32_t first = owner[m->particle_deformable[particles[(size_t)e * n]]];
    for (uint32_t k = 1; k < n; k++) {
      int32_t p = particles[(size_t)e * n + k];
      uint32_t other = p < 0 ? first : owner[m->particle_deformable[p]];
      if (other == first) continue;
      sb_report(diag, SB_ERROR, SB_CODE_BODY_SPLIT, s->config.path,
                "%s %u holds particles of [solver.%s] and [solver.%s]; give both deformables to one solver", kind, e, s->parts[first].name,
                s->parts[other].name);
      return;
    }
  }
}

/* The particles of part p, of all worlds. */
static sb_status list_particles(sb_session *s, uint32_t p, const uint32_t *owner, sb_diagnostics *diag)
{
  const sb_model *one = sb_model_store_view(s->one), *all = sb_model_store_view(s->model);
  sb_session_part *part = &s->parts[p];
  size_t count = 0;
  for (uint32_t i = 0; i < one->particle_count; i++) count += owner[one->particle_deformable[i]] == p;
  part->particles = malloc((count * all->world_count + 1) * sizeof *part->particles);
  if (!part->particles) return no_memory(diag);
  for (uint32_t i = 0; i < all->particle_count; i++)
    if (owner[one->particle_deformable[i % one->particle_count]] == p) part->particles[part->particle_count++] = i;
  return SB_OK;
}

sb_status sb_session_assign_bodies(sb_session *s, sb_diagnostics *diag)
{
  const sb_model *one = sb_model_store_view(s->one), *all = sb_model_store_view(s->model);
  size_t errors = diag->error_count;
  uint32_t *owner = calloc((size_t)one->body_count + 1, sizeof *owner);
  uint32_t *deformable_owner = calloc((size_t)one->deformable_count + 1, sizeof *deformable_owner);
  if (!owner || !deformable_owner) {
    free(owner);
    free(deformable_owner);
    return no_memory(diag);
  }
  claim_bodies(s, owner, deformable_owner, diag);
  if (diag->error_count == errors) {
    check_constraints(s, owner, diag);
    check_elements(s, "spring", one->spring_count, one->spring_indices, 2, deformable_owner, diag);
    check_elements(s, "triangle", one->tri_count, one->tri_indices, 3, deformable_owner, diag);
    check_elements(s, "edge", one->edge_count, one->edge_indices, 4, deformable_owner, diag);
    check_elements(s, "tetrahedron", one->tet_count, one->tet_indices, 4, deformable_owner, diag);
  }
  sb_status status = diag->error_count > errors ? SB_E_CONFIG : SB_OK;
  for (uint32_t p = 1; !status && p < s->part_count; p++) {
    sb_session_part *part = &s->parts[p];
    status = list_particles(s, p, deformable_owner, diag);
    if (status) break;
    part->bodies = malloc(((size_t)all->body_count + 1) * sizeof *part->bodies);
    if (!part->bodies) status = no_memory(diag);
    for (uint32_t b = 0; !status && b < all->body_count; b++)
      if (owner[b % one->body_count] == p) part->bodies[part->body_count++] = b;
  }
  free(owner);
  free(deformable_owner);
  return status;
}

/* ---- coupling ---- */

/* Part that owns a deformable. */
static uint32_t deformable_part(const sb_session *s, const sb_model *m, uint32_t deformable)
{
  for (uint32_t p = 1; p < s->part_count; p++)
    if (sb_has_body(s->parts[p].particles, s->parts[p].particle_count, m->deformable_first_particle[deformable])) return p;
  return 0;
}

/* Part of a moving body; 0 for the world and for bolted bodies, which every solver may touch. */
static uint32_t body_part(const sb_session *s, const sb_model *m, int32_t body)
{
  if (body < 0 || (m->body_flags[body] & SB_BODY_STATIC)) return 0;
  for (uint32_t p = 1; p < s->part_count; p++)
    for (uint32_t i = 0; i < s->parts[p].body_count && s->parts[p].bodies[i] <= (uint32_t)body; i++)
      if (s->parts[p].bodies[i] == (uint32_t)body) return p;
  return 0;
}

static uint32_t shape_part(const sb_session *s, const sb_model *m, uint32_t shape) { return body_part(s, m, m->shape_body[shape]); }

/* Two solvers whose shapes or deformables could touch, or of which one holds the other's particles, by contype and conaffinity or because a pair names them; false when there are none. */
static bool find_coupled(const sb_session *s, uint32_t *first, uint32_t *second, bool *failed)
{
  const sb_model *m = sb_model_store_view(s->one);
  uint32_t *masks = calloc(2 * (size_t)s->part_count, sizeof *masks);
  *failed = !masks;
  bool found = false;
  for (uint32_t shape = 0; masks && shape < m->shape_count; shape++) {
    uint32_t p = shape_part(s, m, shape);
    masks[2 * p] |= m->shape_contype[shape];
    masks[2 * p + 1] |= m->shape_conaffinity[shape];
  }
  for (uint32_t d = 0; masks && d < m->deformable_count; d++) {
    uint32_t p = deformable_part(s, m, d);
    masks[2 * p] |= m->deformable_contype[d];
    masks[2 * p + 1] |= m->deformable_conaffinity[d];
  }
  for (uint32_t a = 0; masks && a < m->attachment_count && !found; a++) {
    uint32_t p = body_part(s, m, m->attachment_body[a]);
    uint32_t q = deformable_part(s, m, (uint32_t)m->particle_deformable[m->attachment_particle[a]]);
    if (p && q && p != q) *first = p < q ? p : q, *second = p < q ? q : p, found = true;
  }
  for (uint32_t p = 1; masks && p < s->part_count && !found; p++)
    for (uint32_t q = p + 1; q < s->part_count && !found; q++)
      if ((masks[2 * p] & masks[2 * q + 1]) || (masks[2 * q] & masks[2 * p + 1])) *first = p, *second = q, found = true;
  for (uint32_t i = 0; masks && i < m->pair_count && !found; i++) {
    uint32_t p = shape_part(s, m, (uint32_t)m->pair_shape[2 * i]), q = shape_part(s, m, (uint32_t)m->pair_shape[2 * i + 1]);
    if (p && q && p != q) *first = p < q ? p : q, *second = p < q ? q : p, found = true;
  }
  free(masks);
  return found;
}

/* ---- modes ---- */

static uint32_t weaker(uint32_t a, uint32_t b) { return a < b ? a : b; }

/* By what a process of its own has shown; without one the solver runs here, with fewer checks. */
static void verify_on_cpu(sb_session_part *part, uint32_t lanes, sb_verdict *verdict)
{
  const sb_trial_verdict *tried = sb_trial_find(&part->module->trial, part->api->desc->id, SB_BACKEND_CPU);
  if (!tried) {
    sb_verify_solver(part->api, SB_BACKEND_CPU, lanes, verdict);
    return;
  }
  const char *bare = part->module->trial.sandbox;
  *verdict = (sb_verdict){.mode = tried->mode, .harmful = tried->harmful};
  snprintf(verdict->reason, sizeof verdict->reason, "%.500s%s%.60s%s", tried->reason, *bare ? " (no sandbox: " : "",
           bare, *bare ? ")" : "");
}

/* Lowers a verdict by what the file's audit has found. A finding is named before what it may have caused. */
static void add_audit(const sb_audit *audit, sb_verdict *verdict)
{
  const sb_finding *finding;
  uint32_t limit = sb_audit_mode(audit, &finding);
  if (!finding || verdict->harmful || limit == SB_MODE_CROSS_PLATFORM) return;
  char seen[sizeof verdict->reason];
  snprintf(seen, sizeof seen, "%s", verdict->reason);
  if (limit < verdict->mode)
    snprintf(verdict->reason, sizeof verdict->reason, "%s", finding->text);
  else
    snprintf(verdict->reason, sizeof verdict->reason, "%.300s; and %.300s", finding->text, seen);
  verdict->mode = weaker(limit, verdict->mode);
}

/* On a device: what it gives there, and no more than the device and the solver on the CPU have shown. */
static sb_status verify_solver(const sb_session *s, sb_session_part *part, uint32_t lanes, sb_verdict *verdict, sb_diagnostics *diag)
{
  const sb_solver_desc *d = part->api->desc;
  if (part->backend == SB_BACKEND_CPU || d->mode[part->backend] == SB_MODE_OFF) {
    verify_on_cpu(part, lanes, verdict);
    return SB_OK;
  }
  sb_verdict cpu = {.mode = SB_MODE_CROSS_PLATFORM};
  if (d->mode[SB_BACKEND_CPU] != SB_MODE_OFF) verify_on_cpu(part, lanes, &cpu);
  sb_status status = sb_verify_on_device(part->api, sb_session_device_for_sim(s->device), verdict, diag);
  if (status) return status;
  if (cpu.mode < verdict->mode) {
    verdict->mode = cpu.mode;
    snprintf(verdict->reason, sizeof verdict->reason, "on the CPU: %.240s", cpu.reason);
  }
  if (!sb_session_device_passed(s->device) && verdict->mode > SB_MODE_RUN_TO_RUN) {
    verdict->mode = SB_MODE_RUN_TO_RUN;
    snprintf(verdict->reason, sizeof verdict->reason, "the device computes otherwise than the CPU: %.200s", sb_session_device_text(s->device));
  }
  return SB_OK;
}

/* The pipeline, and where there is a device, on which it may run, there too. */
static sb_status verify_collision(const sb_session *s, uint32_t lanes, sb_verdict *verdict, sb_diagnostics *diag)
{
  sb_verify_collision(SB_GOLDEN_COLLISION, lanes, verdict);
  if (!s->device || s->parts[0].asked == SB_MODE_OFF) return SB_OK;
  return sb_verify_collision_on_device(SB_GOLDEN_COLLISION, sb_session_device_for_sim(s->device), verdict, diag);
}

static sb_status judge_part(const sb_session *s, sb_session_part *part, uint32_t lanes, sb_diagnostics *diag)
{
  sb_verdict verdict;
  if (part->api) {
    const sb_solver_desc *d = part->api->desc;
    part->declared = d->mode[part->backend];
    sb_status status = verify_solver(s, part, lanes, &verdict, diag);
    if (status) return status;
    const uint32_t wanted = SB_FP_EVAL_METHOD_0 | SB_FP_NO_FAST_MATH;
    if ((part->module->entry->fp_flags & wanted) != wanted) {
      verdict.mode = SB_MODE_OFF;
      snprintf(verdict.reason, sizeof verdict.reason, "it was built with fast-math or another evaluation precision");
    }
    add_audit(&part->module->audit, &verdict);
    if (part->declared < verdict.mode)
      snprintf(verdict.reason, sizeof verdict.reason, "declares %s: %.200s", sb_mode_name(part->declared), d->mode_reason[part->backend]);
  } else {
    part->declared = SB_MODE_CROSS_PLATFORM;
    sb_status status = SB_OK;
    if (!strcmp(part->plugin, "sensors"))
      sb_verify_sensors(SB_GOLDEN_SENSORS, lanes, &verdict);
    else
      status = verify_collision(s, lanes, &verdict, diag);
    if (status) return status;
  }
  part->verified = verdict.mode;
  part->harmful = verdict.harmful;
  part->granted = weaker(part->asked, weaker(part->declared, part->verified));
  snprintf(part->reason, sizeof part->reason, "%s", verdict.reason);
  return SB_OK;
}

/* What to do about a part that cannot keep the mode asked of it. */
static void advise(const sb_session_part *part, char *text, size_t size)
{
  const char *path = part->module ? part->module->path : "";
  const char *section = part->api ? "solver." : "", *name = part->api                          ? part->name
                                                            : !strcmp(part->plugin, "sensors") ? "determinism"
                                                                                               : "collision";
  if (part->harmful) /* mode Off would run it all the same */
    snprintf(text, size, "mend the plugin: samebit plugins check %s", path);
  else if (part->api && part->backend != SB_BACKEND_CPU && part->declared == SB_MODE_OFF)
    snprintf(text, size, "use \"backend = cpu\" in [solver.%s]", name);
  else if (part->api && part->verified < part->declared)
    snprintf(text, size,
             "mend the plugin (samebit plugins check %s), or ask for a weaker mode with \"mode = %s\" in [%s%s]", path,
             sb_mode_name(part->granted), section, name);
  else
    snprintf(text, size, "ask for a weaker mode with \"mode = %s\" in [%s%s]", sb_mode_name(part->granted), section,
             name);
}

/* The host's sensors are a part, the last one, where the scene has any; they inherit the mode. */
static sb_status add_sensors(sb_session *s, sb_diagnostics *diag)
{
  if (sb_model_store_view(s->one)->sensor_count == 0) return SB_OK;
  const sb_setting *global = sb_config_find(&s->config, "determinism", "mode");
  sb_session_part *part = &s->parts[s->part_count++];
  part->name = strdup("sensors");
  part->plugin = "sensors";
  part->asked = sb_config_choice(&s->config, "determinism", "mode", SB_MODE_CROSS_PLATFORM, sb_mode_names, diag);
  part->where = strdup(global ? global->where : "default mode");
  return part->name && part->where ? SB_OK : no_memory(diag);
}

sb_status sb_session_grant_modes(sb_session *s, sb_diagnostics *diag)
{
  uint32_t first, second;
  bool failed = false;
  if (s->part_count > 2 && s->sim.coupling == SB_COUPLING_UNSET && find_coupled(s, &first, &second, &failed))
    return sb_report(diag, SB_ERROR, SB_CODE_COUPLING_UNSET, s->config.path,
                     "what [solver.%s] and [solver.%s] own could touch; say how, with a section [coupling] and the line \"contacts = none\" or "
                     "\"contacts = one_way\" (the later solver sees the earlier one's bodies as moving obstacles)",
                     s->parts[first].name, s->parts[second].name);
  if (failed) return no_memory(diag);
  sb_status status = add_sensors(s, diag);
  if (status) return status;
  s->mode = SB_MODE_CROSS_PLATFORM;
  for (uint32_t p = 0; p < s->part_count; p++) {
    sb_session_part *part = &s->parts[p];
    sb_status judged = judge_part(s, part, s->sim.lanes, diag);
    if (judged) return judged;
    s->mode = weaker(s->mode, part->granted);
    if (part->granted >= part->asked) continue;
    char advice[PATH_MAX + 200];
    advise(part, advice, sizeof advice);
    status = sb_report(diag, SB_ERROR, SB_CODE_MODE_REFUSED, part->where,
                       "%s%s cannot keep mode %s on %s: declared %s, verified %s (%s); %s",
                       part->api ? "solver "
                       : p       ? "the host's "
                                 : "the collision pipeline",
                       part->api || p ? part->name : "", sb_mode_name(part->asked), sb_backend_name(part->backend),
                       sb_mode_name(part->declared), sb_mode_name(part->verified), part->reason, advice);
  }
  return status;
}

sb_status sb_session_fill_sim(sb_session *s, sb_diagnostics *diag)
{
  s->sim_parts = calloc(s->part_count, sizeof *s->sim_parts);
  if (!s->sim_parts) return no_memory(diag);
  for (uint32_t p = 1; p < s->part_count; p++) {
    const sb_session_part *from = &s->parts[p];
    if (!from->api) continue; /* the sensors */
    s->sim_parts[s->sim.part_count++] = (sb_sim_part){.name = from->name, .api = from->api, .params = from->params, .bodies = from->bodies,
                                        .body_count = from->body_count, .particles = from->particles, .particle_count = from->particle_count, .backend = from->backend, .mode = from->granted,
                                        .lanes = from->module->entry->lanes};
  }
  s->sim.parts = s->sim_parts;
  s->sim.mode = s->mode;
  s->sim.device = sb_session_device_for_sim(s->device);
  return SB_OK;
}

sb_status sb_session_find_ccd(sb_session *s, sb_diagnostics *diag)
{
  const sb_setting *setting = sb_config_find(&s->config, "collision", "ccd");
  if (!setting) return SB_OK;
  const sb_model *one = sb_model_store_view(s->one);
  uint32_t worlds = sb_model_store_view(s->model)->world_count, found = 0;
  s->ccd_bodies = malloc(((size_t)one->body_count * worlds + 1) * sizeof *s->ccd_bodies);
  if (!s->ccd_bodies) return no_memory(diag);
  for (uint32_t w = 0; w < worlds; w++)
    for (uint32_t b = 0; b < one->body_count; b++) {
      char buffer[32];
      if (pattern_matches(setting->value, body_label(s, b, buffer, sizeof buffer))) s->ccd_bodies[found++] = w * one->body_count + b;
    }
  s->sim.ccd_bodies = s->ccd_bodies;
  s->sim.ccd_body_count = found;
  if (found) return SB_OK;
  report_no_match(s, setting->value, setting->where, diag);
  return SB_E_CONFIG;
}
