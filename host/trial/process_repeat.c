/* Both sides of it: what a process says, and how what several say is compared. */
#define _GNU_SOURCE
#include "process_repeat.h"

#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "micro_scenes.h"
#include "module.h"
#include "trial_child.h"

/* ---- in the process ---- */

void sb_process_digest(const sb_module *m, const char *junk)
{
#ifdef M_PERTURB
  mallopt(M_PERTURB, atoi(junk));
#else
  (void)junk;
#endif
  for (uint32_t i = 0; m->solvers && i < m->solvers->solver_count; i++)
    for (size_t k = 0; k < sb_micro_scene_count; k++) {
      const sb_solver_api *api = m->solvers->solvers[i];
      const sb_micro_scene *scene = &sb_micro_scenes[k];
      uint64_t hash = 0;
      if (api->desc->mode[SB_BACKEND_CPU] == SB_MODE_OFF || (api->desc->handles & scene->handles) != scene->handles) continue;
      sb_trial_say("at the micro-scene %s of %s in a process of its own", scene->name, api->desc->id);
      sb_status status = sb_micro_scene_hash(scene, api, SB_BACKEND_CPU, 1, 0, 0, &hash, NULL);
      sb_trial_say("digest %s %s %016" PRIx64 " %d", api->desc->id, scene->name, hash, (int)status);
    }
}

/* ---- outside ---- */

/* What M_PERTURB is set to in each: 0 leaves fresh memory as it comes, another byte fills it with its complement: zeros, floats of 3e38, floats of 0.7. */
static const int junk_bytes[] = {0, 0xff, 0x80, 0xc0};
#define PROCESSES (sizeof junk_bytes / sizeof junk_bytes[0])

typedef struct lines {
  char *text;
  size_t size;
  bool lost; /* some had no memory */
} lines;

static void add_line(void *user, const char *line)
{
  lines *l = user;
  size_t n = strlen(line);
  if (strncmp(line, "digest ", 7)) return;
  char *grown = realloc(l->text, l->size + n + 2);
  if (!grown) l->lost = true;
  if (!grown) return;
  l->text = grown;
  memcpy(grown + l->size, line, n + 1);
  grown[l->size + n] = '\n';
  l->size += n + 1;
  grown[l->size] = 0;
}

typedef struct digest {
  char solver[64], scene[32];
  uint64_t hash;
  int status;
} digest;

static bool next_digest(const char **at, digest *d)
{
  if (!*at || sscanf(*at, "digest %63s %31s %" SCNx64 " %d", d->solver, d->scene, &d->hash, &d->status) != 4) return false;
  *at = strchr(*at, '\n') + 1;
  return true;
}

#define MOST_SOLVERS 64

typedef struct differences {
  char solver[MOST_SOLVERS][64]; /* told already */
  size_t count;
  sb_process_difference tell;
  void *user;
} differences;

static void tell_all(differences *d, const char *text)
{
  d->tell(d->user, NULL, text);
  d->count++;
}

/* The lines come in one order, so those of two processes stand beside each other. */
static void compare(const lines *first, const lines *other, differences *d)
{
  const char *a = first->text, *b = other->text;
  digest x, y;
  bool more_a = next_digest(&a, &x), more_b = next_digest(&b, &y);
  for (; more_a && more_b; more_a = next_digest(&a, &x), more_b = next_digest(&b, &y)) {
    bool known = x.hash == y.hash && x.status == y.status;
    for (size_t i = 0; i < d->count && !known; i++) known = !strcmp(d->solver[i], x.solver);
    if (known || d->count == MOST_SOLVERS) continue;
    memcpy(d->solver[d->count++], x.solver, sizeof x.solver);
    char text[240];
    snprintf(text, sizeof text, "micro-scene %s gives %016" PRIx64 " in one process and %016" PRIx64 " in another", x.scene, x.hash, y.hash);
    d->tell(d->user, x.solver, text);
  }
  if (more_a != more_b || first->lost || other->lost) tell_all(d, "processes did not say the same number of hashes");
}

size_t sb_process_repeat(const sb_trial_request *request, sb_process_difference tell, void *user)
{
  lines said[PROCESSES] = {{0}};
  differences d = {.tell = tell, .user = user};
  bool ended = false;
  for (size_t i = 0; i < PROCESSES && !ended; i++) {
    char task[32];
    sb_trial_request r = *request;
    sb_trial_outcome outcome;
    snprintf(task, sizeof task, "digest %d", junk_bytes[i]);
    r.task = task;
    sb_trial_run(&r, add_line, &said[i], &outcome);
    ended = outcome.end != SB_TRIAL_DONE;
    if (ended) tell_all(&d, outcome.why);
    if (i > 0 && !ended) compare(&said[0], &said[i], &d);
  }
  for (size_t i = 0; i < PROCESSES; i++) free(said[i].text);
  return d.count;
}
