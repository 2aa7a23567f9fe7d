/* run and validate. */
#define _POSIX_C_SOURCE 200809L
#include "cli.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fp_env.h"
#include "frame_obj.h"
#include "hash_file.h"
#include "output_file.h"

static double seconds_now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A line on the terminal, at most five times a second; nothing when output is piped. */
static void show_progress(uint64_t done, uint64_t ticks, double start, double *last)
{
  double now = seconds_now();
  if (done < ticks && now - *last < 0.2) return;
  *last = now;
  double rate = (double)done / (now - start + 1e-9);
  fprintf(stderr, "\r%" PRIu64 " of %" PRIu64 " ticks, %.0f ticks/s, %.0f s left   ", done, ticks, rate, (double)(ticks - done) / (rate + 1e-9));
  if (done == ticks) fprintf(stderr, "\r%60s\r", "");
}

static void report_scene(cli *c, const sb_session *s)
{
  const sb_model *m = sb_model_store_view(s->model);
  if (c->json) {
    cJSON_AddNumberToObject(c->data, "worlds", m->world_count);
    cJSON_AddNumberToObject(c->data, "bodies", m->body_count);
    cJSON_AddNumberToObject(c->data, "dofs", m->dof_count);
    cJSON_AddNumberToObject(c->data, "shapes", m->shape_count);
    return;
  }
  printf("model   %016" PRIx64 ": %u worlds, %u bodies, %u dofs, %u shapes, dt %u/%u s\n", sb_model_store_hash(s->one), m->world_count,
         m->body_count, m->dof_count, m->shape_count, s->sim.dt_numerator, s->sim.dt_denominator);
}

static void report_run(cli *c, const sb_session *s, sb_sim *sim, double seconds, uint64_t ticks, bool failed)
{
  sb_sim_stats stats = sb_sim_statistics(sim);
  sb_sim_buffer buffers[SB_SIM_BUFFERS];
  uint32_t buffer_count = sb_sim_list_buffers(sim, buffers);
  double rate = (double)ticks / (seconds > 0 ? seconds : 1e-9);
  double simulated = (double)ticks * s->sim.dt_numerator / s->sim.dt_denominator;
  if (!c->json) {
    printf("ticks   %" PRIu64 " in %.3f s: %.0f ticks/s, %.1f times real time\n", ticks, seconds, rate, simulated / (seconds > 0 ? seconds : 1e-9));
    printf("deepest penetration %.3f mm, at tick %" PRIu64 "\n", 1e3 * (double)stats.largest_penetration, stats.penetration_tick);
    printf("buffers");
    for (uint32_t i = 0; i < buffer_count; i++) printf(" %s %u of %u,", buffers[i].what, buffers[i].peak, buffers[i].capacity);
    printf(" state %zu bytes\n", stats.state_bytes);
    if (stats.overflow_ticks) printf("        %" PRIu64 " ticks dropped contacts (mode Off)\n", stats.overflow_ticks);
    if (!failed) printf("hash    %016" PRIx64 "\n", sb_sim_hash(sim)); /* a tick that failed leaves a half-made state */
    return;
  }
  cJSON_AddNumberToObject(c->data, "ticks", (double)ticks);
  cJSON_AddNumberToObject(c->data, "ticks_per_second", rate);
  cJSON_AddNumberToObject(c->data, "largest_penetration", (double)stats.largest_penetration);
  if (!failed) cli_add_hash(c->data, "final_hash", sb_sim_hash(sim));
  cJSON *list = cJSON_AddObjectToObject(c->data, "buffers");
  for (uint32_t i = 0; i < buffer_count; i++) {
    cJSON *row = cJSON_AddObjectToObject(list, buffers[i].name);
    cJSON_AddNumberToObject(row, "peak", buffers[i].peak);
    cJSON_AddNumberToObject(row, "capacity", buffers[i].capacity);
  }
  cJSON_AddNumberToObject(c->data, "overflow_ticks", (double)stats.overflow_ticks);
  cJSON_AddNumberToObject(c->data, "not_finite_ticks", (double)stats.not_finite_ticks);
}

/* ---- interruption ---- */

static volatile sig_atomic_t interrupted;

static void note_signal(int signal)
{
  (void)signal;
  interrupted = 1;
}

/* The first SIGINT or SIGTERM ends the run after its tick, a second one the program at once. */
static void catch_signals(struct sigaction old[2])
{
  struct sigaction action = {.sa_handler = note_signal, .sa_flags = (int)SA_RESETHAND};
  sigemptyset(&action.sa_mask);
  interrupted = 0;
  sigaction(SIGINT, &action, &old[0]);
  sigaction(SIGTERM, &action, &old[1]);
}

static void release_signals(const struct sigaction old[2])
{
  sigaction(SIGINT, &old[0], NULL);
  sigaction(SIGTERM, &old[1], NULL);
}

/* ---- running ---- */

/* What a run writes besides its summary; files that are not asked for stay closed. */
typedef struct run_files {
  output_file hashes, events, dump, frame;
  bool drawn; /* the last state is in dump and frame, where they are asked for */
} run_files;

static const char *shape_name(const sb_session *s, int32_t shape) { return sb_model_store_name(s->model, SB_NAME_SHAPE, (uint32_t)shape); }

/* One line for each event; names are of the scene, shapes count over all worlds. */
static void write_events(const sb_session *s, const sb_sim *sim, uint64_t tick, FILE *file)
{
  static const char *const kinds[] = {"begin", "end", "hit"};
  uint32_t count;
  const sb_contact_event *events = sb_sim_events(sim, &count);
  for (uint32_t i = 0; i < count; i++) {
    const sb_contact_event *e = &events[i];
    cJSON *line = cJSON_CreateObject();
    cJSON_AddNumberToObject(line, "tick", (double)tick);
    cJSON_AddStringToObject(line, "event", kinds[e->kind]);
    cJSON_AddNumberToObject(line, "world", e->world);
    cJSON_AddNumberToObject(line, "shape_a", e->shape_a);
    cJSON_AddNumberToObject(line, "shape_b", e->shape_b);
    cJSON_AddStringToObject(line, "name_a", shape_name(s, e->shape_a));
    cJSON_AddStringToObject(line, "name_b", shape_name(s, e->shape_b));
    if (e->kind != SB_EVENT_END) cJSON_AddNumberToObject(line, "speed", (double)e->speed);
    char *text = cJSON_PrintUnformatted(line);
    if (text) fprintf(file, "%s\n", text);
    cJSON_free(text);
    cJSON_Delete(line);
  }
}

static void write_tick(const sb_session *s, const sb_sim *sim, uint64_t done, const run_files *files)
{
  if (files->hashes.file) sb_hash_file_row(files->hashes.file, sim);
  if (files->events.file) write_events(s, sim, done, files->events.file);
}

/* Steps the simulation; writes what is asked for. */
static int simulate(cli *c, const sb_session *s, sb_sim *sim, uint64_t ticks, run_files *files)
{
  struct sigaction old[2];
  bool terminal = isatty(STDERR_FILENO) && !c->json;
  double start = seconds_now(), last = start;
  sb_status status = SB_OK;
  uint64_t done = 0;
  if (files->hashes.file) {
    char domain[1024];
    sb_session_domain(s, domain, sizeof domain);
    sb_hash_file_begin(files->hashes.file, sim, domain);
  }
  catch_signals(old);
  while (!status && done < ticks && !interrupted) {
    status = sb_sim_step(sim, &c->diag);
    if (status) break;
    done++;
    write_tick(s, sim, done, files);
    if (terminal) show_progress(done, ticks, start, &last);
  }
  release_signals(old);
  double seconds = seconds_now() - start;
  if (!status && (files->dump.file || files->frame.file)) status = sb_sim_fetch(sim, &c->diag);
  if (files->dump.file && !status) sb_sim_dump(sim, files->dump.file);
  if (files->frame.file && !status && !sb_frame_write_obj(files->frame.file, sim, s->model, 0, 2.0))
    status = sb_report(&c->diag, SB_ERROR, SB_CODE_MEMORY, "--frame", "no memory for the surface");
  files->drawn = !status;
  report_run(c, s, sim, seconds, done, status != SB_OK);
  if (!status && sb_sim_statistics(sim).overflow_ticks) {
    sb_sim_buffer b[SB_SIM_BUFFERS];
    uint32_t n = sb_sim_list_buffers(sim, b), i = 0;
    while (i + 1 < n && b[i].peak <= b[i].capacity) i++;
    sb_report(&c->diag, SB_ERROR, SB_CODE_CAPACITY_COLLISION, "collision",
              "contacts were dropped in %" PRIu64 " ticks; set %s = %u in [collision]", sb_sim_statistics(sim).overflow_ticks, b[i].key,
              b[i].peak * 5 / 4);
    status = SB_E_CAPACITY;
  }
  if (!status && sb_sim_statistics(sim).not_finite_ticks)
    status = sb_report(&c->diag, SB_ERROR, SB_CODE_NUMERIC_NOT_FINITE, "state",
                       "NaN or infinity in the state after %" PRIu64 " ticks (mode Off goes on); a stronger mode stops and names the body",
                       sb_sim_statistics(sim).not_finite_ticks);
  if (!status && done < ticks) {
    sb_report(&c->diag, SB_WARNING, SB_CODE_CLI_INTERRUPTED, c->words[0],
              "stopped by a signal after %" PRIu64 " of %" PRIu64 " ticks; the summary and the files are of those", done, ticks);
    return CLI_INTERRUPTED;
  }
  if (status == SB_E_UNSUPPORTED || status == SB_E_MEMORY) return cli_exit_code(status); /* the machine failed, a device for one: there is no answer */
  return status ? CLI_BAD_ANSWER : CLI_DONE;
}

/* A file that an option names; nothing without the option. */
static sb_status open_file(cli *c, const char *option, output_file *out)
{
  const char *path = cli_value(c, option);
  return path ? output_file_open(out, path, &c->diag) : SB_OK;
}

/* The ending of a frame's file says its format, and there is one. */
static void check_frame(cli *c)
{
  const char *path = cli_value(c, "--frame"), *name = path ? strrchr(path, '/') : NULL,
             *dot = path ? strrchr(name ? name : path, '.') : NULL;
  if (path && (!dot || strcmp(dot, ".obj")))
    sb_report(&c->diag, SB_ERROR, SB_CODE_CLI_USAGE, "--frame",
              "\"%.200s\": frames are written as Wavefront OBJ; expected a file that ends in .obj", path);
}

int cmd_run(cli *c)
{
  sb_session s;
  if (cli_flag(c, "--hostile-fp")) sb_fp_env_make_hostile();
  sb_session_options options = cli_session_options(c);
  uint64_t ticks = cli_whole(c, "--ticks", UINT64_MAX, 0, UINT64_MAX - 1);
  check_frame(c);
  if (c->diag.error_count) return CLI_USAGE;
  sb_status status = sb_session_open(c->words[0], &options, &s, &c->diag);
  if (status == SB_E_MODE && s.part_count) cli_report_parts(c, &s);
  if (status) {
    sb_session_close(&s);
    return cli_exit_code(status);
  }
  c->session = &s;
  if (ticks == UINT64_MAX) ticks = s.ticks;
  int code = CLI_USAGE;
  sb_sim *sim = NULL;
  run_files files = {0};
  s.sim.events = cli_value(c, "--events") != NULL;
  status = open_file(c, "--hashes", &files.hashes);
  if (!status) status = open_file(c, "--events", &files.events);
  if (!status) status = open_file(c, "--dump", &files.dump);
  if (!status) status = open_file(c, "--frame", &files.frame);
  if (!status) status = sb_session_create_sim(&s, &sim, &c->diag);
  cli_report_parts(c, &s);
  report_scene(c, &s);
  if (!status) {
    fflush(stdout);
    c->sim = sim;
    code = simulate(c, &s, sim, ticks, &files);
    if (output_file_finish(&files.hashes, &c->diag)) code = CLI_BAD_ANSWER;
    if (output_file_finish(&files.events, &c->diag)) code = CLI_BAD_ANSWER;
    if (files.drawn && output_file_finish(&files.dump, &c->diag)) code = CLI_BAD_ANSWER;
    if (files.drawn && output_file_finish(&files.frame, &c->diag)) code = CLI_BAD_ANSWER;
  }
  output_file_drop(&files.hashes);
  output_file_drop(&files.events);
  output_file_drop(&files.dump);
  output_file_drop(&files.frame);
  sb_sim_destroy(sim);
  c->sim = NULL;
  c->session = NULL;
  sb_session_close(&s);
  return code;
}

int cmd_validate(cli *c)
{
  sb_session s;
  sb_session_options options = cli_session_options(c);
  if (c->diag.error_count) return CLI_USAGE;
  sb_status status = sb_session_open(c->words[0], &options, &s, &c->diag);
  bool known = !status || (status == SB_E_MODE && s.part_count);
  c->session = &s;
  if (!status) {
    /* Solvers say at binding what they cannot simulate. */
    sb_sim *sim;
    status = sb_session_create_sim(&s, &sim, &c->diag);
    if (!status) sb_sim_destroy(sim);
  }
  c->session = NULL;
  if (known) {
    cli_report_parts(c, &s);
    report_scene(c, &s);
  }
  sb_session_close(&s);
  return cli_exit_code(status);
}
