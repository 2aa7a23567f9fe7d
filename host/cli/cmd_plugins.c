/* plugins list and plugins show. */
#include "cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static sb_status open_catalogue(cli *c, sb_catalogue *catalogue)
{
  const cli_option *dirs = c->command->options;
  sb_status status = sb_catalogue_init(catalogue, dirs->given, dirs->count, &c->diag);
  catalogue->trial.cache_dir = cli_cache_dir(c);
  return status;
}

static int compare_ids(const void *a, const void *b)
{
  const sb_solver_api *const *x = a, *const *y = b;
  return strcmp((*x)->desc->id, (*y)->desc->id);
}

static void list_text(const sb_solver_desc *d)
{
  printf("%-16s %-8s %-14s %-14s %s\n", d->id, d->version, sb_mode_name(d->mode[SB_BACKEND_CPU]), sb_mode_name(d->mode[SB_BACKEND_VULKAN]),
         d->text);
  for (uint32_t b = 0; b < SB_BACKEND_COUNT; b++) printf("%-16s %-8s %s: %s\n", "", "", sb_backend_name(b), d->mode_reason[b]);
}

static cJSON *solver_json(const sb_solver_desc *d)
{
  cJSON *item = cJSON_CreateObject();
  cJSON_AddStringToObject(item, "id", d->id);
  cJSON_AddStringToObject(item, "version", d->version);
  cJSON_AddStringToObject(item, "vendor", d->vendor);
  cJSON_AddStringToObject(item, "text", d->text);
  cJSON *modes = cJSON_AddObjectToObject(item, "modes");
  for (uint32_t b = 0; b < SB_BACKEND_COUNT; b++) {
    cJSON *mode = cJSON_AddObjectToObject(modes, sb_backend_name(b));
    cJSON_AddStringToObject(mode, "strongest", sb_mode_name(d->mode[b]));
    cJSON_AddStringToObject(mode, "reason", d->mode_reason[b]);
  }
  return item;
}

int cmd_plugins_list(cli *c)
{
  sb_catalogue catalogue;
  sb_status status = open_catalogue(c, &catalogue);
  if (status) return cli_exit_code(status);
  sb_catalogue_load_all(&catalogue, &c->diag);
  const sb_solver_api *solvers[256];
  size_t count = 0;
  for (size_t m = 0; m < catalogue.module_count; m++)
    for (uint32_t i = 0; catalogue.modules[m].solvers && i < catalogue.modules[m].solvers->solver_count && count < 256; i++)
      solvers[count++] = catalogue.modules[m].solvers->solvers[i];
  qsort(solvers, count, sizeof solvers[0], compare_ids);
  cJSON *list = c->json ? cJSON_AddArrayToObject(c->data, "solvers") : NULL;
  if (!c->json) printf("%-16s %-8s %-14s %-14s %s\n", "solver", "version", "cpu", "vulkan", "what it is, and what limits its modes");
  for (size_t i = 0; i < count; i++) {
    if (c->json)
      cJSON_AddItemToArray(list, solver_json(solvers[i]->desc));
    else
      list_text(solvers[i]->desc);
  }
  sb_catalogue_free(&catalogue);
  return c->diag.error_count ? CLI_BAD_ANSWER : CLI_DONE;
}

static const char *const handle_names[] = {"rigid bodies", "joints", "contact", "particles", "cloth", "soft bodies"};
static const char *const type_names[] = {"number", "whole number", "yes or no", "choice"};

/* Constants of the model that a solver with such handles obeys, as samebit/model.h has them: they mean the same under every solver. */
typedef struct material {
  const char *name;
  uint32_t handles;
} material;

static const material materials[] = {
    {"spring_stiffness", SB_HANDLES_PARTICLES},   {"spring_damping", SB_HANDLES_PARTICLES},      {"attachment_stiffness", SB_HANDLES_PARTICLES},
    {"attachment_damping", SB_HANDLES_PARTICLES}, {"particle_mass", SB_HANDLES_PARTICLES},       {"particle_radius", SB_HANDLES_PARTICLES},
    {"deformable_friction", SB_HANDLES_PARTICLES}, {"deformable_restitution", SB_HANDLES_PARTICLES}, {"tri_ke", SB_HANDLES_CLOTH},
    {"tri_ka", SB_HANDLES_CLOTH},                 {"tri_kd", SB_HANDLES_CLOTH},                  {"tri_drag", SB_HANDLES_CLOTH},
    {"tri_lift", SB_HANDLES_CLOTH},               {"edge_bending_ke", SB_HANDLES_CLOTH},         {"edge_bending_kd", SB_HANDLES_CLOTH},
    {"tet_k_mu", SB_HANDLES_SOFT},                {"tet_k_lambda", SB_HANDLES_SOFT},             {"tet_k_damp", SB_HANDLES_SOFT}};
#define MATERIAL_COUNT (sizeof materials / sizeof materials[0])

/* Unit and meaning of an array of the model. */
static const char *model_text(const char *name)
{
#define SB_X_TEXT(domain, type, array, comps, ref, doc)                                                                \
  if (!strcmp(name, #array)) return doc;
  SB_MODEL_ARRAYS(SB_X_TEXT)
#undef SB_X_TEXT
  return "?";
}

static void show_materials(const sb_solver_desc *d)
{
  if (!(d->handles & (SB_HANDLES_PARTICLES | SB_HANDLES_CLOTH | SB_HANDLES_SOFT))) return;
  printf("\n%-24s %s\n", "material (of the model)", "unit and meaning, the same under every solver; docs/materials.md");
  for (size_t i = 0; i < MATERIAL_COUNT; i++)
    if (d->handles & materials[i].handles) printf("%-24s %s\n", materials[i].name, model_text(materials[i].name));
}

static void show_text(const sb_module *module, const sb_solver_desc *d)
{
  printf("%s %s by %s\n%s\n\nmodule   %s\n         XXH3 %016llx, ABI %u.%u, compiler %s, lanes mask %u\nhandles  ", d->id, d->version, d->vendor,
         d->text, module->path, (unsigned long long)module->file_hash, module->entry->abi_major, module->entry->abi_minor,
         module->entry->compiler, module->entry->lanes);
  const char *comma = "";
  for (uint32_t i = 0; i < 6; i++)
    if (d->handles >> i & 1) printf("%s%s", comma, handle_names[i]), comma = ", ";
  printf("\n");
  for (uint32_t b = 0; b < SB_BACKEND_COUNT; b++)
    printf("%-8s %s: %s\n", sb_backend_name(b), sb_mode_name(d->mode[b]), d->mode_reason[b]);
  printf("\n%-24s %-8s %-12s %-10s %-18s %s\n", "parameter", "unit", "type", "default", "range", "meaning");
  for (uint32_t i = 0; i < d->param_count; i++) {
    const sb_param_desc *p = &d->params[i];
    char range[64];
    snprintf(range, sizeof range, "%.9g to %.9g", p->minimum, p->maximum);
    printf("%-24s %-8s %-12s %-10.9g %-18s %s\n", p->name, p->unit, type_names[p->type], p->value,
           p->type == SB_PARAM_CHOICE ? p->choices : range, p->text);
  }
  show_materials(d);
}

static void show_json(cli *c, const sb_module *module, const sb_solver_desc *d)
{
  cJSON *item = solver_json(d);
  cJSON_AddStringToObject(item, "module", module->path);
  cli_add_hash(item, "module_hash", module->file_hash);
  cJSON *handles = cJSON_AddArrayToObject(item, "handles");
  for (uint32_t i = 0; i < 6; i++)
    if (d->handles >> i & 1) cJSON_AddItemToArray(handles, cJSON_CreateString(handle_names[i]));
  cJSON *list = cJSON_AddArrayToObject(item, "parameters");
  for (uint32_t i = 0; i < d->param_count; i++) {
    const sb_param_desc *p = &d->params[i];
    cJSON *row = cJSON_CreateObject();
    cJSON_AddStringToObject(row, "name", p->name);
    cJSON_AddStringToObject(row, "type", type_names[p->type]);
    cJSON_AddStringToObject(row, "unit", p->unit);
    cJSON_AddNumberToObject(row, "default", p->value);
    cJSON_AddNumberToObject(row, "minimum", p->minimum);
    cJSON_AddNumberToObject(row, "maximum", p->maximum);
    if (p->type == SB_PARAM_CHOICE) cJSON_AddStringToObject(row, "choices", p->choices);
    cJSON_AddStringToObject(row, "text", p->text);
    cJSON_AddItemToArray(list, row);
  }
  cJSON *constants = cJSON_AddArrayToObject(item, "materials");
  for (size_t i = 0; i < MATERIAL_COUNT; i++) {
    if (!(d->handles & materials[i].handles)) continue;
    cJSON *row = cJSON_CreateObject();
    cJSON_AddItemToArray(constants, row);
    cJSON_AddStringToObject(row, "name", materials[i].name);
    cJSON_AddStringToObject(row, "text", model_text(materials[i].name));
  }
  cJSON_AddItemToObject(c->data, "solver", item);
}

int cmd_plugins_show(cli *c)
{
  sb_catalogue catalogue;
  sb_module *module;
  const sb_solver_api *api;
  sb_status status = open_catalogue(c, &catalogue);
  if (status) return cli_exit_code(status);
  status = sb_catalogue_find_solver(&catalogue, c->words[0], "plugins show", NULL, &module, &api, &c->diag);
  if (!status && c->json) show_json(c, module, api->desc);
  if (!status && !c->json) show_text(module, api->desc);
  sb_catalogue_free(&catalogue);
  return cli_exit_code(status);
}
