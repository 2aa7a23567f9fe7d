/* Loading scenes from text in tests: through a file of their own, as users do. */
#ifndef SAMEBIT_TEST_SCENE_FIXTURE_H
#define SAMEBIT_TEST_SCENE_FIXTURE_H

#include "scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

/* Path of the file that all texts of this process go through. */
static inline const char *fixture_path(void)
{
  static char path[64];
  if (!*path) snprintf(path, sizeof path, "scene_fixture_%ld.xml", (long)getpid());
  return path;
}

static inline void fixture_write(const char *path, const void *bytes, size_t size)
{
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, size, file), size);
  assert_int_equal(fclose(file), 0);
}

static inline sb_status fixture_load_bytes(const void *bytes, size_t size, sb_model_store **out, sb_diagnostics *diag)
{
  sb_scene_request request = {.scene = fixture_path()};
  fixture_write(request.scene, bytes, size);
  sb_status status = sb_scene_load(&request, out, diag);
  remove(request.scene);
  return status;
}

/* A text that must load; prints what is wrong with it otherwise. */
static inline sb_model_store *fixture_good(const char *text)
{
  sb_diagnostics diag = {0};
  sb_model_store *store = NULL;
  sb_status status = fixture_load_bytes(text, strlen(text), &store, &diag);
  for (size_t i = 0; i < diag.count && status != SB_OK; i++)
    print_message("%s: %s\n", diag.items[i].where, diag.items[i].message);
  assert_int_equal(status, SB_OK);
  sb_diagnostics_clear(&diag);
  return store;
}

static inline int fixture_name(const sb_model_store *store, sb_name_kind kind, uint32_t count, const char *name)
{
  for (uint32_t i = 0; i < count; i++)
    if (!strcmp(sb_model_store_name(store, kind, i), name)) return (int)i;
  fail_msg("no entity is named %s", name);
  return -1;
}

#endif
