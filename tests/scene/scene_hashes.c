/* Loads the scenes of a golden file and compares the hashes of their cooked bytes.
 *
 *   scene_hashes GOLDEN MODELS SHARED          compares; exit 1 when one differs
 *   scene_hashes GOLDEN MODELS SHARED print    prints the file anew, which is how it is remade
 *
 * A line is HASH SCENE [key=value ...]. SCENE is generator:NAME, models/FILE (in MODELS) or shared/FILE (in SHARED,
 * left out when that folder is absent); key.NAME selects a keyframe. Lines that begin with # are kept. */
#include "scene.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_WORDS 16

static bool is_folder(const char *path)
{
  struct stat info;
  return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* Splits a line in place. */
static size_t split(char *line, char **words)
{
  size_t count = 0;
  for (char *c = line; *c && count < MAX_WORDS;) {
    while (*c == ' ' || *c == '\n') *c++ = 0;
    if (*c) words[count++] = c;
    while (*c && *c != ' ' && *c != '\n') c++;
  }
  return count;
}

/* 0 when the scene could not be loaded. */
static uint64_t hash_of(const char *path, char **words, size_t count)
{
  sb_scene_param params[MAX_WORDS];
  sb_scene_request request = {.scene = path, .params = params};
  for (size_t i = 0; i < count; i++) {
    char *equals = strchr(words[i], '=');
    if (!strncmp(words[i], "key.", 4)) {
      request.key = words[i] + 4;
    } else if (equals) {
      *equals = 0;
      params[request.param_count++] = (sb_scene_param){words[i], equals + 1, NULL};
    }
  }
  sb_diagnostics diag = {0};
  sb_model_store *store;
  uint64_t hash = 0;
  if (sb_scene_load(&request, &store, &diag) == SB_OK) {
    hash = sb_model_store_hash(store);
    sb_model_store_free(store);
  }
  for (size_t i = 0; i < diag.count && hash == 0; i++)
    fprintf(stderr, "%s: %s\n", diag.items[i].where, diag.items[i].message);
  sb_diagnostics_clear(&diag);
  return hash;
}

int main(int argc, char **argv)
{
  if (argc < 4) return 2;
  FILE *golden = fopen(argv[1], "r");
  if (!golden) return 2;
  bool print = argc > 4, shared = is_folder(argv[3]);
  int checked = 0, wrong = 0;
  char line[1024], copy[1024], path[1024];
  if (!shared) printf("%s is absent: its scenes are left out\n", argv[3]);
  while (fgets(line, sizeof line, golden)) {
    char *words[MAX_WORDS];
    memcpy(copy, line, sizeof copy);
    size_t count = split(copy, words);
    bool is_shared = count > 1 && !strncmp(words[1], "shared/", 7);
    if (count < 2 || *words[0] == '#' || (is_shared && !shared)) {
      if (print) fputs(line, stdout);
      continue;
    }
    if (is_shared)
      snprintf(path, sizeof path, "%s/%s", argv[3], words[1] + 7);
    else if (!strncmp(words[1], "models/", 7))
      snprintf(path, sizeof path, "%s/%s", argv[2], words[1] + 7);
    else
      snprintf(path, sizeof path, "%s", words[1]);
    uint64_t found = hash_of(path, words + 2, count - 2), expected = strtoull(words[0], NULL, 16);
    if (print) printf("%016" PRIx64 "%s", found, strchr(line, ' '));
    checked++;
    if (found == expected) continue;
    wrong++;
    if (!print) printf("%s: expected %016" PRIx64 ", found %016" PRIx64 "\n", words[1], expected, found);
  }
  fclose(golden);
  if (!print) printf("%d scenes, %d wrong\n", checked, wrong);
  return print ? 0 : wrong != 0 || checked == 0;
}
