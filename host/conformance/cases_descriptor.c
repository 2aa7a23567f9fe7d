/* Cases of what a solver says about itself. */
#include "case_list.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "micro_scenes.h"

static bool is_given(const char *text) { return text && *text; }

static bool is_name(const char *text)
{
  return is_given(text) && strlen(text) < 64 && strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_") == strlen(text);
}

bool case_descriptor_sizes(sb_case_context *c, const sb_solver_api *api)
{
  if (api->struct_size != sizeof *api) return sb_case_fail(c, "the function table says %u bytes, this ABI has %zu", api->struct_size, sizeof *api);
  const sb_solver_desc *d = api->desc;
  if (!d) return sb_case_fail(c, "there is no descriptor");
  if (d->struct_size != sizeof *d) return sb_case_fail(c, "the descriptor says %u bytes, this ABI has %zu", d->struct_size, sizeof *d);
  if (d->param_count && (!d->params || d->param_size != sizeof(sb_param_desc))) return sb_case_fail(c, "parameters are %u bytes apart, expected %zu", d->param_size, sizeof(sb_param_desc));
  if (d->golden_count && (!d->goldens || d->golden_size != sizeof(sb_golden))) return sb_case_fail(c, "golden hashes are %u bytes apart, expected %zu", d->golden_size, sizeof(sb_golden));
  for (uint32_t i = 0; i < d->param_count; i++)
    if (d->params[i].struct_size != sizeof(sb_param_desc)) return sb_case_fail(c, "parameter %u says %u bytes", i, d->params[i].struct_size);
  return true;
}

bool case_descriptor_functions(sb_case_context *c, const sb_solver_api *api)
{
  return (api->create && api->bind && api->activate && api->step && api->deactivate && api->destroy) || sb_case_fail(c, "a function is NULL");
}

bool case_descriptor_id(sb_case_context *c, const sb_solver_api *api)
{
  if (!is_name(api->desc->id)) return sb_case_fail(c, "id \"%.60s\"", api->desc->id ? api->desc->id : "");
  uint32_t same = 0;
  bool is_files = false;
  char file[80];
  const char *slash = strrchr(c->module->path, '/');
  for (uint32_t i = 0; i < c->factory->solver_count; i++) {
    const char *id = c->factory->solvers[i]->desc->id;
    same += id && !strcmp(id, api->desc->id);
    snprintf(file, sizeof file, "%.60s.so", id ? id : "");
    is_files = is_files || !strcmp(file, slash ? slash + 1 : c->module->path);
  }
  if (same > 1) return sb_case_fail(c, "two solvers are called %s", api->desc->id);
  return is_files || sb_case_fail(c, "no solver of the module has the file's name; %s would be looked for in %s.so", api->desc->id, api->desc->id);
}

bool case_descriptor_version(sb_case_context *c, const sb_solver_api *api)
{
  unsigned a, b, d;
  char rest;
  const char *v = api->desc->version;
  return (v && sscanf(v, "%u.%u.%u%c", &a, &b, &d, &rest) == 3) || sb_case_fail(c, "version \"%.60s\"", v ? v : "");
}

bool case_descriptor_texts(sb_case_context *c, const sb_solver_api *api)
{
  return (is_given(api->desc->vendor) && is_given(api->desc->text)) || sb_case_fail(c, "vendor or text is missing");
}

bool case_descriptor_modes(sb_case_context *c, const sb_solver_api *api)
{
  for (uint32_t b = 0; b < SB_BACKEND_COUNT; b++) {
    if (api->desc->mode[b] >= SB_MODE_COUNT) return sb_case_fail(c, "%s: mode %u is none", sb_backend_name(b), api->desc->mode[b]);
    if (!is_given(api->desc->mode_reason[b])) return sb_case_fail(c, "%s: no reason is given", sb_backend_name(b));
  }
  return true;
}

bool case_descriptor_handles(sb_case_context *c, const sb_solver_api *api)
{
  const uint32_t known = SB_HANDLES_RIGID | SB_HANDLES_JOINTS | SB_HANDLES_CONTACT | SB_HANDLES_PARTICLES | SB_HANDLES_CLOTH | SB_HANDLES_SOFT |
                         SB_HANDLES_EQUALITIES | SB_HANDLES_TENDONS;
  return (api->desc->handles && !(api->desc->handles & ~known)) || sb_case_fail(c, "handles is 0x%x", api->desc->handles);
}

bool case_param_names(sb_case_context *c, const sb_solver_api *api)
{
  static const char *const taken[] = {"plugin", "bodies", "particles", "backend", "mode", "module_hash"};
  const sb_solver_desc *d = api->desc;
  for (uint32_t i = 0; i < d->param_count; i++) {
    if (!is_name(d->params[i].name)) return sb_case_fail(c, "parameter %u: name \"%.60s\"", i, d->params[i].name ? d->params[i].name : "");
    for (size_t k = 0; k < sizeof taken / sizeof taken[0]; k++)
      if (!strcmp(d->params[i].name, taken[k])) return sb_case_fail(c, "\"%s\" is a key of the host", taken[k]);
    for (uint32_t k = 0; k < i; k++)
      if (!strcmp(d->params[i].name, d->params[k].name)) return sb_case_fail(c, "\"%s\" is there twice", d->params[i].name);
  }
  return true;
}

bool case_param_texts(sb_case_context *c, const sb_solver_api *api)
{
  for (uint32_t i = 0; i < api->desc->param_count; i++)
    if (!is_given(api->desc->params[i].unit) || !is_given(api->desc->params[i].text)) return sb_case_fail(c, "\"%s\" has no unit or no text", api->desc->params[i].name);
  return true;
}

bool case_param_ranges(sb_case_context *c, const sb_solver_api *api)
{
  for (uint32_t i = 0; i < api->desc->param_count; i++) {
    const sb_param_desc *p = &api->desc->params[i];
    bool whole = p->type != SB_PARAM_FLOAT, fits = isfinite(p->minimum) && isfinite(p->maximum) && p->minimum <= p->value && p->value <= p->maximum;
    if (p->type > SB_PARAM_CHOICE) return sb_case_fail(c, "\"%s\": type %u is none", p->name, p->type);
    if (whole) fits = fits && p->value == floor(p->value) && p->minimum == floor(p->minimum) && p->maximum == floor(p->maximum);
    if (p->type == SB_PARAM_BOOL) fits = fits && p->minimum >= 0 && p->maximum <= 1;
    if (!fits) return sb_case_fail(c, "\"%s\": default %g, range %g to %g", p->name, p->value, p->minimum, p->maximum);
  }
  return true;
}

bool case_param_choices(sb_case_context *c, const sb_solver_api *api)
{
  for (uint32_t i = 0; i < api->desc->param_count; i++) {
    const sb_param_desc *p = &api->desc->params[i];
    if (p->type != SB_PARAM_CHOICE) continue;
    if (!is_given(p->choices) || strlen(p->choices) > 255) return sb_case_fail(c, "\"%s\" has no choices, or more than 255 characters of them", p->name);
    int names = 1;
    for (const char *at = p->choices; *at; at++) names += *at == '|';
    if (names > 31 || p->minimum != 0 || p->maximum != names - 1) return sb_case_fail(c, "\"%s\": %d names, range %g to %g", p->name, names, p->minimum, p->maximum);
  }
  return true;
}

static const sb_micro_scene *find_scene(const char *name)
{
  for (size_t i = 0; name && i < sb_micro_scene_count; i++)
    if (!strcmp(sb_micro_scenes[i].name, name)) return &sb_micro_scenes[i];
  return NULL;
}

bool case_golden_table(sb_case_context *c, const sb_solver_api *api)
{
  const sb_solver_desc *d = api->desc;
  for (uint32_t i = 0; i < d->golden_count; i++) {
    const sb_golden *g = &d->goldens[i];
    if (!find_scene(g->scene) || g->backend >= SB_BACKEND_COUNT)
      return sb_case_fail(c, "golden hash %u is of scene \"%.40s\" on backend %u", i, g->scene ? g->scene : "", g->backend);
    for (uint32_t k = 0; k < i; k++)
      if (d->goldens[k].backend == g->backend && !strcmp(d->goldens[k].scene, g->scene)) return sb_case_fail(c, "scene %s has two golden hashes", g->scene);
  }
  return true;
}

bool case_golden_present(sb_case_context *c, const sb_solver_api *api)
{
  const sb_solver_desc *d = api->desc;
  if (d->mode[SB_BACKEND_CPU] != SB_MODE_CROSS_PLATFORM) return true; /* nothing is claimed */
  for (size_t s = 0; s < sb_micro_scene_count; s++) {
    bool found = (d->handles & sb_micro_scenes[s].handles) != sb_micro_scenes[s].handles;
    for (uint32_t i = 0; i < d->golden_count; i++)
      found =
          found || (d->goldens[i].backend == SB_BACKEND_CPU && !strcmp(d->goldens[i].scene, sb_micro_scenes[s].name));
    if (!found)
      return sb_case_fail(c, "micro-scene %s has no golden hash; `samebit plugins goldens %s` prints it",
                          sb_micro_scenes[s].name, c->module->path);
  }
  return true;
}
