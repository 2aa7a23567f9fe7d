/* cook: a scene as model bytes, and what of it is not supported. */
#define _POSIX_C_SOURCE 200809L
#include "cli.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output_file.h"
#include "scene.h"

static const cli_option *option(const cli *c, const char *name)
{
  const cli_option *o = c->command->options;
  while (strcmp(o->name, name)) o++;
  return o;
}

static sb_status write_bytes(cli *c, const char *path, const void *bytes, size_t size)
{
  output_file out;
  sb_status status = output_file_open(&out, path, &c->diag);
  if (status) return status;
  fwrite(bytes, 1, size, out.file);
  return output_file_finish(&out, &c->diag);
}

static void report_model(cli *c, const sb_model_store *store, size_t size)
{
  const sb_model *m = sb_model_store_view(store);
  if (!c->json) {
    printf("model   %016" PRIx64 ", %zu bytes: %u bodies, %u dofs, %u shapes, %u actuators\n", sb_model_store_hash(store), size, m->body_count,
           m->dof_count, m->shape_count, m->actuator_count);
    return;
  }
  cli_add_hash(c->data, "model_hash", sb_model_store_hash(store));
  cJSON_AddNumberToObject(c->data, "bytes", (double)size);
  cJSON_AddNumberToObject(c->data, "bodies", m->body_count);
  cJSON_AddNumberToObject(c->data, "dofs", m->dof_count);
  cJSON_AddNumberToObject(c->data, "shapes", m->shape_count);
  cJSON_AddNumberToObject(c->data, "actuators", m->actuator_count);
}

int cmd_cook(cli *c)
{
  const cli_option *given = option(c, "--param"), *dirs = option(c, "--package-dir");
  const char *base = cli_value(c, "--base");
  if (base && strcmp(base, "fixed") && strcmp(base, "floating")) {
    sb_report(&c->diag, SB_ERROR, SB_CODE_CLI_USAGE, "--base", "expected fixed or floating, found \"%s\"", base);
    return CLI_USAGE;
  }
  sb_scene_param *params = calloc(given->count + 1, sizeof *params);
  char **keys = calloc(given->count + 1, sizeof *keys);
  sb_status status = params && keys ? SB_OK : SB_E_MEMORY;
  for (size_t i = 0; !status && i < given->count; i++) {
    const char *equals = strchr(given->given[i], '=');
    keys[i] = equals ? strndup(given->given[i], (size_t)(equals - given->given[i])) : NULL;
    if (!keys[i])
      status = sb_report(&c->diag, SB_ERROR, SB_CODE_CLI_USAGE, "--param", "expected KEY=VALUE, found \"%s\"", given->given[i]);
    else
      params[i] = (sb_scene_param){keys[i], equals + 1, "--param"};
  }
  sb_scene_request request = {.scene = c->words[0], .where = "cook", .params = params, .param_count = given->count,
                              .package_dirs = dirs->given, .package_dir_count = dirs->count, .key = cli_value(c, "--keyframe"),
                              .floating_base = base && !strcmp(base, "floating"), .ground = cli_flag(c, "--ground")};
  sb_model_store *store = NULL;
  void *bytes = NULL;
  size_t size = 0;
  if (!status) status = sb_scene_load(&request, &store, &c->diag);
  if (!status) status = sb_model_store_to_bytes(store, &bytes, &size, &c->diag);
  if (!status && cli_value(c, "--out")) status = write_bytes(c, cli_value(c, "--out"), bytes, size);
  if (!status) report_model(c, store, size);
  for (size_t i = 0; keys && i < given->count; i++) free(keys[i]);
  free(keys);
  free(params);
  free(bytes);
  sb_model_store_free(store);
  return cli_exit_code(status);
}
