/* Runs build/bin/samebit as a user does: help, JSON, exit codes, options. Knows the command's outside only, and the catalogue. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "diagnostic.h"

static char folder[] = "/tmp/samebit_cli_XXXXXX";

/* What one call of the command gave. */
typedef struct result {
  int code;
  char *out;
  char *err;
} result;

static char *read_text(const char *path)
{
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  char *text = calloc(1, 1 << 20);
  assert_non_null(text);
  assert_true(fread(text, 1, (1 << 20) - 1, file) < (1 << 20) - 1);
  fclose(file);
  return text;
}

static void write_text(const char *name, const char *text)
{
  char path[128];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  fputs(text, file);
  assert_int_equal(fclose(file), 0);
}

/* Runs in the test's folder, where conf/ is linked to. */
static result call(const char *format, ...)
{
  char arguments[1024], command[4096];
  va_list list;
  va_start(list, format);
  vsnprintf(arguments, sizeof arguments, format, list);
  va_end(list);
  snprintf(command, sizeof command, "cd '%s' && '%s' %s >out.txt 2>err.txt", folder, SAMEBIT_COMMAND, arguments);
  int status = system(command);
  assert_true(WIFEXITED(status));
  result r = {.code = WEXITSTATUS(status)};
  snprintf(command, sizeof command, "%s/out.txt", folder);
  r.out = read_text(command);
  snprintf(command, sizeof command, "%s/err.txt", folder);
  r.err = read_text(command);
  return r;
}

static void done(result *r)
{
  free(r->out);
  free(r->err);
}

static void expect(result *r, int code, const char *in_out, const char *in_err)
{
  if (r->code != code || (in_out && !strstr(r->out, in_out)) || (in_err && !strstr(r->err, in_err)))
    fail_msg("expected exit %d, \"%s\", \"%s\"; found exit %d\n%s\n%s", code, in_out ? in_out : "", in_err ? in_err : "", r->code, r->out,
             r->err);
  done(r);
}

/* ---- JSON ---- */

/* Hashes are strings of 16 hex digits, wherever they stand. */
static int check_hashes(const cJSON *node)
{
  int found = 0;
  for (const cJSON *c = node->child; c; c = c->next) {
    const char *name = c->string ? c->string : "";
    size_t n = strlen(name);
    if (n >= 5 && (!strcmp(name + n - 5, "_hash") || !strcmp(name, "hash"))) {
      assert_true(cJSON_IsString(c));
      assert_int_equal(strlen(c->valuestring), 16);
      assert_int_equal(strspn(c->valuestring, "0123456789abcdef"), 16);
      found++;
    }
    found += check_hashes(c);
  }
  return found;
}

static cJSON *parse(result *r, int code)
{
  if (r->code != code) fail_msg("expected exit %d, found %d\n%s\n%s", code, r->code, r->out, r->err);
  const char *end;
  cJSON *root = cJSON_ParseWithOpts(r->out, &end, 0);
  if (!root) fail_msg("not JSON: %s", r->out);
  assert_int_equal(strspn(end, " \n"), strlen(end)); /* one object and nothing else */
  assert_int_equal(cJSON_GetObjectItem(root, "schema_version")->valueint, 1);
  const cJSON *ok = cJSON_GetObjectItem(root, "ok"), *list = cJSON_GetObjectItem(root, "diagnostics"), *item;
  assert_true(cJSON_IsBool(ok));
  assert_int_equal(cJSON_IsTrue(ok), code == 0);
  assert_true(cJSON_IsObject(cJSON_GetObjectItem(root, "data")));
  assert_true(cJSON_IsArray(list));
  int errors = 0;
  cJSON_ArrayForEach(item, list)
  {
    assert_int_not_equal(sb_code_find(cJSON_GetObjectItem(item, "code")->valuestring), SB_CODE_COUNT);
    assert_true(cJSON_IsString(cJSON_GetObjectItem(item, "message")));
    assert_true(cJSON_IsString(cJSON_GetObjectItem(item, "where")));
    errors += !strcmp(cJSON_GetObjectItem(item, "severity")->valuestring, "error");
  }
  assert_int_equal(errors > 0, code != 0);
  check_hashes(root);
  return root;
}

static const char *text_at(const cJSON *object, const char *name)
{
  const cJSON *item = cJSON_GetObjectItem(object, name);
  if (!cJSON_IsString(item)) fail_msg("no text \"%s\"", name);
  return item->valuestring;
}

static void every_command_speaks_json(void **state)
{
  (void)state;
  static const struct {
    const char *words;
    int code;
    int hashes; /* at least */
    const char *member;
  } list[] = {
      {"run conf/humanoid.ini --ticks 20", 0, 3, "final_hash"},
      {"validate conf/humanoid.ini", 0, 2, "parts"},
      {"bench conf/chain.ini --ticks 5 --repeats 2", 0, 1, "cases"},
      {"cook conf/models/biped.xml", 0, 1, "model_hash"},
      {"plugins list", 0, 0, "solvers"},
      {"plugins show featherstone", 0, 1, "solver"},
      {"explain", 0, 0, "codes"},
      {"explain SB-MEMORY", 0, 0, "advice"},
      {"run nowhere.ini", 2, 0, NULL},
      {"run", 2, 0, NULL},
      {"run conf/humanoid.ini --tikcs 3", 2, 0, NULL},
      {"fly", 2, 0, NULL},
      {"bench nowhere.ini --repeats 1", 2, 0, "cases"},
      {"cook nowhere.xml", 2, 0, NULL},
      {"plugins show nothing", 2, 0, NULL},
      {"explain SB-NOTHING-AT-ALL", 2, 0, NULL},
  };
  for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
    for (int before = 0; before < 2; before++) {
      result r = before ? call("--json %s", list[i].words) : call("%s --json", list[i].words);
      cJSON *root = parse(&r, list[i].code);
      assert_true(check_hashes(root) >= list[i].hashes);
      if (list[i].member && !cJSON_GetObjectItem(cJSON_GetObjectItem(root, "data"), list[i].member))
        fail_msg("%s: no \"%s\"", list[i].words, list[i].member);
      cJSON_Delete(root);
      done(&r);
    }
}

static void parts_tell_their_modes(void **state)
{
  (void)state;
  result r = call("run conf/humanoid.ini --ticks 3 --json");
  cJSON *root = parse(&r, 0), *data = cJSON_GetObjectItem(root, "data"), *parts = cJSON_GetObjectItem(data, "parts"), *part;
  assert_string_equal(text_at(data, "mode"), "CrossPlatform");
  assert_int_equal(cJSON_GetObjectItem(data, "ticks")->valueint, 3);
  assert_true(cJSON_GetObjectItem(data, "ticks_per_second")->valuedouble > 0);
  assert_non_null(strstr(text_at(data, "domain"), "numerics"));
  assert_int_equal(cJSON_GetArraySize(parts), 2);
  cJSON_ArrayForEach(part, parts)
  {
    static const char *const names[] = {"part", "backend", "declared", "verified", "granted", "reason"};
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) assert_true(*text_at(part, names[k]));
  }
  const cJSON *host = cJSON_GetObjectItem(data, "host");
  assert_true(*text_at(host, "version") && *text_at(host, "compiler"));
  assert_int_equal(cJSON_GetObjectItem(host, "fp_flags")->valueint & 3, 3);
  cJSON_Delete(root);
  done(&r);
}

/* ---- help ---- */

static void every_command_has_help(void **state)
{
  (void)state;
  static const char *const names[] = {"run", "validate", "bench", "cook", "plugins list", "plugins show", "explain"};
  result all = call("--help");
  assert_int_equal(all.code, 0);
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    char line[64];
    snprintf(line, sizeof line, "\n  %s ", names[i]);
    if (!strstr(all.out, line)) fail_msg("--help leaves out %s", names[i]);
    result r = call("%s --help", names[i]);
    assert_int_equal(r.code, 0);
    assert_string_equal(r.err, "");
    assert_non_null(strstr(r.out, "Example\n  samebit "));
    assert_non_null(strstr(r.out, names[i]));
    done(&r);
  }
  done(&all);
  result r = call("");
  expect(&r, 2, "Commands", NULL);
  r = call("--version");
  expect(&r, 0, "ABI ", NULL);
  r = call("--json run --help"); /* help is text */
  expect(&r, 0, "Options", NULL);
}

static void near_names_are_suggested(void **state)
{
  (void)state;
  result r = call("rnu conf/humanoid.ini");
  expect(&r, 2, NULL, "[SB-CLI-USAGE] unknown command \"rnu\"; did you mean \"run\"?");
  r = call("hashes dif a b");
  expect(&r, 2, NULL, "[SB-CLI-USAGE] unknown command \"hashes dif\"; did you mean \"hashes diff\"?");
  r = call("plugins lst");
  expect(&r, 2, NULL, "did you mean \"plugins list\"?");
  r = call("run conf/humanoid.ini --tick 3");
  expect(&r, 2, NULL, "unknown option \"--tick\"; did you mean \"--ticks\"?");
  r = call("explain SB-INI-UNKNOWN-KEI");
  expect(&r, 2, NULL, "did you mean \"SB-INI-UNKNOWN-KEY\"?");
  r = call("plugins show featherston");
  expect(&r, 2, NULL, "did you mean \"featherstone\"?");
  r = call("run conf/humanoid.ini --set solver.robot.substep=3");
  expect(&r, 2, NULL, "did you mean \"substeps\"?");
  r = call("run conf/humanoid.ini --set world.gravty=3");
  expect(&r, 2, NULL, "did you mean \"gravity\"?");
  r = call("run conf/humanoid.ini --set worl.dt=3");
  expect(&r, 2, NULL, "did you mean [world]?");
  r = call("run conf/humanoid.ini --ticks ten");
  expect(&r, 2, NULL, "--ticks: error [SB-CLI-USAGE] expected a whole number");
  r = call("run conf/humanoid.ini --ticks");
  expect(&r, 2, NULL, "a value must follow \"--ticks\"");
  r = call("run conf/humanoid.ini --lanes 3");
  expect(&r, 2, NULL, "expected 1, 4 or 8");
  r = call("run conf/humanoid.ini --backend gpu");
  expect(&r, 2, NULL, "expected cpu or vulkan");
}

static void explain_knows_every_code(void **state)
{
  (void)state;
  result all = call("explain");
  for (int i = 0; i < SB_CODE_COUNT; i++) {
    const char *name = sb_code_name((sb_code)i);
    assert_non_null(strstr(all.out, name));
    result r = call("explain %s", name);
    assert_int_equal(r.code, 0);
    assert_non_null(strstr(r.out, name));
    assert_non_null(strstr(r.out, sb_code_title((sb_code)i)));
    assert_non_null(strstr(r.out, sb_code_advice((sb_code)i)));
    done(&r);
  }
  done(&all);
}

/* ---- modes and exit codes ---- */

#define TWO_LOCAL                                                                                                      \
  "[world]\nscene = generator:box_stack\n[scene]\ncount = 2\n[coupling]\ncontacts = none\n"                             \
  "[solver.first]\nplugin = local_one\nbodies = *1\n[solver.second]\nplugin = local_two\nbodies = *0\n"

static void refusal_names_every_offender(void **state)
{
  (void)state;
  write_text("two.ini", TWO_LOCAL "[determinism]\nmode = CrossPlatform\n");
  static const char *const commands[] = {"run", "validate"};
  for (int i = 0; i < 2; i++) {
    result r = call("%s two.ini --plugins '%s'", commands[i], SAMEBIT_FIXTURES);
    assert_int_equal(r.code, 3);
    assert_non_null(strstr(r.err, "two.ini:14: error [SB-MODE-REFUSED] solver first cannot keep mode CrossPlatform"));
    assert_non_null(strstr(r.err, "two.ini:14: error [SB-MODE-REFUSED] solver second cannot keep mode CrossPlatform"));
    assert_non_null(strstr(r.out, "local_one"));
    assert_null(strstr(r.out, "ticks ")); /* nothing ran */
    done(&r);
    r = call("%s two.ini --json --plugins '%s'", commands[i], SAMEBIT_FIXTURES);
    cJSON *root = parse(&r, 3), *list = cJSON_GetObjectItem(root, "diagnostics"), *data = cJSON_GetObjectItem(root, "data");
    assert_int_equal(cJSON_GetArraySize(list), 2);
    for (int k = 0; k < 2; k++) assert_string_equal(text_at(cJSON_GetArrayItem(list, k), "code"), "SB-MODE-REFUSED");
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(data, "parts")), 3);
    assert_null(cJSON_GetObjectItem(data, "final_hash"));
    cJSON_Delete(root);
    done(&r);
    r = call("%s two.ini --set determinism.mode=Local --plugins '%s'", commands[i], SAMEBIT_FIXTURES);
    expect(&r, 0, "mode    Local", NULL);
  }
}

static void exit_codes_in_real_situations(void **state)
{
  (void)state;
  write_text("one.ini", "[world]\nscene = generator:drop\n[determinism]\nmode = Off\n[solver.a]\nplugin = nan_state\n");
  result r = call("run one.ini --ticks 20 --plugins '%s'", SAMEBIT_FIXTURES);
  expect(&r, 1, "hash ", "[SB-NUMERIC-NOT-FINITE]");
  r = call("run one.ini --ticks 4 --plugins '%s'", SAMEBIT_FIXTURES);
  expect(&r, 0, "hash ", NULL); /* before the fault shows */
  r = call("run one.ini --ticks 20 --set solver.a.plugin=fails --plugins '%s'", SAMEBIT_FIXTURES);
  expect(&r, 1, NULL, "tick 3: a fixture that fails at tick 3");
  r = call("run one.ini --set solver.a.plugin=unsupported --plugins '%s'", SAMEBIT_FIXTURES);
  expect(&r, 2, NULL, "[SB-SOLVER-REFUSED]");
  r = call("validate one.ini --set solver.a.plugin=unsupported --plugins '%s'", SAMEBIT_FIXTURES);
  expect(&r, 2, NULL, "[SB-SOLVER-REFUSED]");
  r = call("run conf/pyramid.ini --ticks 5 --set collision.contact_capacity=8");
  expect(&r, 1, NULL, "set contact_capacity = ");
  r = call("run conf/humanoid.ini --backend vulkan");
  expect(&r, 3, NULL, "cannot keep mode CrossPlatform on vulkan");
  r = call("run conf/humanoid.ini --hashes /nowhere/at/all");
  expect(&r, 2, NULL, "[SB-FILE-WRITE]");
}

/* Legs that agree, and one that does not: a script that runs the core program and changes what it wrote. */
static void determinism_compares_legs(void **state)
{
  (void)state;
  char text[1024];
  snprintf(text, sizeof text,
           "#!/bin/sh\n'%s/samebit_core' \"$@\" || exit 1\nwhile [ $# -gt 1 ]; do\n  case $1 in\n"
           "  --hashes) sed -i '8,$s/^\\([0-9]*\\) ./\\1 x/; s/ x\\([0-9a-f]*\\)/ 0\\1/' \"$2\" ;;\n"
           "  --dump) sed -i 's/^\\(state.body_qd 2 1\\) ......../\\1 3f800000/' \"$2\" ;;\n  esac\n  shift\ndone\n",
           SAMEBIT_BIN);
  snprintf(text + strlen(text), sizeof text - strlen(text), "exit 0\n");
  char command[512];
  snprintf(command, sizeof command, "mkdir -p '%s/cores/odd' '%s/cores/same' '%s/cores/stuck'", folder, folder, folder);
  assert_int_equal(system(command), 0);
  write_text("cores/odd/run", text);
  snprintf(text, sizeof text, "#!/bin/sh\nexec '%s/samebit_core' \"$@\"\n", SAMEBIT_BIN);
  write_text("cores/same/run", text);
  write_text("cores/stuck/run", "#!/bin/sh\n[ $1 = --solvers ] && { echo steel; exit 0; }\nsleep 60\n");
  snprintf(command, sizeof command, "chmod +x '%s'/cores/*/run", folder);
  assert_int_equal(system(command), 0);
  result r = call("determinism conf/pile.ini --ticks 6 --cores cores --legs same");
  expect(&r, 0, "2 legs, 6 ticks: 2 the same, 0 differ", NULL);
  r = call("determinism conf/pile.ini --ticks 6 --cores cores --legs odd");
  expect(&r, 1, "first at tick 3, stage state",
         "tick 3, stage state, solver pile: state.body_qd[2] component 1, body 2 \"cube2\", is 3f800000 (1), lanes-1 has ");
  r = call("determinism conf/pile.ini --ticks 6 --cores cores --legs stuck --limit 1");
  expect(&r, 1, "1 failed", "[SB-LEG-FAILED] killed after 1 s");
  r = call("determinism conf/humanoid.ini --ticks 3 --cores cores --legs stuck");
  expect(&r, 1, "its solver featherstone is not linked into that program", "only 1 leg ran");
  r = call("determinism conf/pile.ini --ticks 3 --cores /nowhere");
  expect(&r, 2, NULL, "[SB-FILE-OPEN]");
  r = call("determinism conf/pile.ini --ticks 3 --cores conf");
  expect(&r, 2, NULL, "conf has no core program: expected conf/NAME/run");
  r = call("determinism conf/pile.ini --ticks 0");
  expect(&r, 2, NULL, "expected a whole number from 1");
  r = call("--json determinism conf/pile.ini --ticks 3 --legs 'lanes-*' --keep kept");
  cJSON *root = cJSON_Parse(r.out);
  assert_non_null(root);
  assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(cJSON_GetObjectItem(root, "data"), "legs")), 3);
  cJSON_Delete(root);
  expect(&r, 0, "\"differs\":\t0", NULL);
  r = call("hashes diff kept/0.hashes kept/1.hashes");
  expect(&r, 0, "3 ticks the same", NULL);
}

static void hash_files_are_compared(void **state)
{
  (void)state;
  result r = call("run conf/pile.ini --ticks 6 --hashes a.txt");
  expect(&r, 0, NULL, NULL);
  r = call("run conf/pile.ini --ticks 4 --hashes b.txt --threads 2 --lanes 1 --hostile-fp");
  expect(&r, 0, NULL, NULL);
  r = call("hashes diff a.txt b.txt");
  expect(&r, 0, "4 ticks the same", NULL);
  r = call("run conf/pile.ini --ticks 4 --hashes c.txt --set world.seed=7");
  expect(&r, 0, NULL, NULL);
  r = call("hashes diff a.txt c.txt");
  expect(&r, 2, NULL, "[SB-HASH-UNRELATED]");
  char command[256];
  snprintf(command, sizeof command, "cd '%s' && sed '8s/ [0-9a-f]*$/ 0000000000000001/' a.txt > d.txt", folder);
  assert_int_equal(system(command), 0);
  r = call("hashes diff a.txt d.txt");
  expect(&r, 1, NULL, "tick 3, stage contacts: A has ");
  write_text("e.txt", "1 2 3\n");
  r = call("hashes diff a.txt e.txt");
  expect(&r, 2, NULL, "[SB-HASH-FILE] line 1");
  write_text("f.txt", "# samebit hashes 1\n1 0000000000000001 0000000000000001\n1 0000000000000001 0000000000000001\n");
  r = call("hashes diff f.txt f.txt");
  expect(&r, 2, NULL, "does not come after");
  r = call("hashes diff a.txt nothing.txt");
  expect(&r, 2, NULL, "[SB-FILE-OPEN]");
}

static void verify_prints_a_certificate(void **state)
{
  (void)state;
  result r = call("verify");
  expect(&r, 0, "0 differ, 0 failed", NULL);
  r = call("verify --json");
  cJSON *root = cJSON_Parse(r.out);
  assert_non_null(root);
  assert_true(check_hashes(root) > 20);
  cJSON_Delete(root);
  expect(&r, 0, "\"pack_hash\"", NULL);
  r = call("verify --pack /nowhere");
  expect(&r, 2, NULL, "[SB-FILE-OPEN]");
  char command[512];
  snprintf(command, sizeof command, "mkdir -p '%s/pack'", folder);
  assert_int_equal(system(command), 0);
  write_text("pack/scenes.txt", "one 3 generator:pendulum\nbad 3 generator:nothing\nfar 3 SHARED/x.xml\n");
  write_text("pack/run_hashes.txt", "one steel 3 0000000000000001\nbad steel 3 0000000000000001\nnone steel 3 0000000000000001\nfar steel 3 0000000000000001\n");
  r = call("verify --pack pack");
  expect(&r, 1, "0 matched, 1 differ, 2 failed, 1 left out", "steel ends with ");
  write_text("pack/run_hashes.txt", "# none\n");
  r = call("verify --pack pack");
  expect(&r, 1, "0 matched", "none of its 0 hashes was compared");
  write_text("pack/run_hashes.txt", "one steel three 1\n");
  r = call("verify --pack pack");
  expect(&r, 2, NULL, "expected scene, solver, ticks and hash");
  write_text("pack/run_hashes.txt", "one quartz 3 0000000000000001\n");
  r = call("verify --pack pack");
  expect(&r, 2, NULL, "[SB-PLUGIN-UNKNOWN]");
}

/* A frame's faces name vertices that stand before them, and every coordinate is a number. */
static void frames_are_whole(void **state)
{
  (void)state;
  static const char *const scenes[] = {"conf/shapes.ini", "frame_soft.ini", "frame_rope.ini"};
  write_text("frame_soft.ini", "[world]\nscene = generator:soft\n[determinism]\nmode = Off\n[solver.s]\nplugin = semi_implicit\nsubsteps = 64\n");
  write_text("frame_rope.ini", "[world]\nscene = generator:rope\n[determinism]\nmode = Off\n[solver.s]\nplugin = semi_implicit\nsubsteps = 64\n");
  for (size_t i = 0; i < 3; i++) {
    result r = call("run %s --ticks 2 --frame frame.obj", scenes[i]);
    expect(&r, 0, NULL, NULL);
    char path[128], *text;
    snprintf(path, sizeof path, "%s/frame.obj", folder);
    text = read_text(path);
    unsigned vertices = 0, drawn = 0;
    for (char *rest, *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
      double x, y, z;
      if (line[0] == 'v') vertices++, assert_int_equal(sscanf(line, "v %lf %lf %lf", &x, &y, &z), 3);
      for (char *more, *word = line[0] == 'f' || line[0] == 'l' ? strtok_r(line + 1, " ", &more) : NULL; word; word = strtok_r(NULL, " ", &more)) {
        unsigned long corner = strtoul(word, NULL, 10);
        assert_true(corner >= 1 && corner <= vertices);
        drawn++;
      }
    }
    assert_true(vertices > 10 && drawn > 10);
    free(text);
  }
}

/* Files appear whole or not at all, and under no other name; a signal ends a run after its tick. */
static void files_and_signals(void **state)
{
  (void)state;
  char path[160], *text;
  result r = call("run conf/pile.ini --ticks 40 --events events.jsonl --hashes hashes.txt");
  expect(&r, 0, "hash ", NULL);
  snprintf(path, sizeof path, "%s/events.jsonl", folder);
  text = read_text(path);
  char *line = strtok(text, "\n");
  assert_non_null(line);
  for (; line; line = strtok(NULL, "\n")) {
    cJSON *event = cJSON_Parse(line);
    assert_non_null(event);
    assert_true(cJSON_IsString(cJSON_GetObjectItem(event, "event")) && cJSON_IsNumber(cJSON_GetObjectItem(event, "tick")));
    cJSON_Delete(event);
  }
  free(text);
  /* A run that is refused leaves the file of the last one alone. */
  r = call("run conf/pile.ini --ticks 3 --hashes hashes.txt --set collision.contact_capacity=1 --events /nowhere/x");
  expect(&r, 2, NULL, "[SB-FILE-WRITE]");
  snprintf(path, sizeof path, "%s/hashes.txt", folder);
  text = read_text(path);
  assert_non_null(strstr(text, "\n40 "));
  free(text);
  r = call("run conf/pile.ini --ticks 5 --hashes /dev/stdout");
  expect(&r, 0, "5 ", NULL);
  char command[1024];
  snprintf(command, sizeof command,
           "cd '%s' && { '%s' run conf/pile.ini --ticks 1000000000 --hashes stopped.txt > out.txt 2> err.txt & pid=$!; sleep 1; kill -INT $pid; "
           "wait $pid; }",
           folder, SAMEBIT_COMMAND);
  /* A shell starts background jobs with SIGINT ignored; the program catches it all the same. */
  int status = system(command);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 130);
  snprintf(path, sizeof path, "%s/stopped.txt", folder);
  text = read_text(path);
  assert_true(strlen(text) > 18 && text[strlen(text) - 1] == '\n');
  free(text);
  snprintf(path, sizeof path, "%s/err.txt", folder);
  text = read_text(path);
  assert_non_null(strstr(text, "[SB-CLI-INTERRUPTED]"));
  free(text);
  snprintf(command, sizeof command, "ls '%s' | grep -q '\\.txt\\.\\|\\.jsonl\\.'", folder);
  assert_int_not_equal(system(command), 0); /* no temporary file is left */
}

/* ---- options of run ---- */

static char *final_hash(const char *words)
{
  result r = call("run %s --json", words);
  cJSON *root = parse(&r, 0);
  char *hash = strdup(text_at(cJSON_GetObjectItem(root, "data"), "final_hash"));
  cJSON_Delete(root);
  done(&r);
  return hash;
}

static void same_hash(const char *a, const char *b, bool same)
{
  char *x = final_hash(a), *y = final_hash(b);
  if (!strcmp(x, y) != same) fail_msg("%s: %s\n%s: %s", a, x, b, y);
  free(x);
  free(y);
}

static void settings_can_be_changed(void **state)
{
  (void)state;
  same_hash("conf/humanoid.ini --ticks 40", "conf/humanoid.ini --ticks 40 --set solver.robot.substeps=4", false);
  same_hash("conf/humanoid.ini --ticks 40", "conf/humanoid.ini --ticks=40 --set solver.robot.substeps=8", true);
  same_hash("conf/humanoid.ini --ticks 40", "conf/humanoid.ini --ticks 40 --threads 3 --lanes 1 --shuffle 7", true);
  same_hash("conf/humanoid.ini --ticks 40", "conf/humanoid.ini --set run.ticks=40 --lanes 4", true);
}

static void hashes_are_written(void **state)
{
  (void)state;
  result r = call("run conf/chain.ini --ticks 30 --hashes hashes.txt --json");
  cJSON *root = parse(&r, 0);
  char path[128], last[64];
  snprintf(path, sizeof path, "%s/hashes.txt", folder);
  char *text = read_text(path), *line = strstr(text, "\n1 ");
  assert_non_null(line);
  for (int tick = 1; tick <= 30; tick++) {
    int found, used = 0;
    char state_hash[20], contacts_hash[20];
    assert_int_equal(sscanf(line, " %d %16[0-9a-f] %16[0-9a-f]%n", &found, state_hash, contacts_hash, &used), 3);
    assert_int_equal(found, tick);
    assert_int_equal(strlen(state_hash) + strlen(contacts_hash), 32);
    line += used;
  }
  assert_string_equal(line, "\n");
  snprintf(last, sizeof last, "30 %s ", text_at(cJSON_GetObjectItem(root, "data"), "final_hash"));
  assert_non_null(strstr(text, last));
  free(text);
  cJSON_Delete(root);
  done(&r);
}

static void piped_output_has_no_progress(void **state)
{
  (void)state;
  result r = call("run conf/chain.ini --ticks 300");
  assert_int_equal(r.code, 0);
  assert_string_equal(r.err, "");
  assert_null(strchr(r.out, '\r'));
  done(&r);
}

static void cooked_scenes_run_the_same(void **state)
{
  (void)state;
  write_text("stack.ini", "[world]\nscene = generator:box_stack\n[scene]\ncount = 3\n[solver.a]\nplugin = semi_implicit\n");
  write_text("cooked.ini", "[world]\nscene = stack.sbm\n[solver.a]\nplugin = semi_implicit\n");
  result r = call("cook generator:box_stack --param count=3 --out stack.sbm");
  expect(&r, 0, "3 bodies", NULL);
  same_hash("stack.ini --ticks 60", "cooked.ini --ticks 60", true);
  r = call("cook conf/models/biped.xml --keyframe drop --out biped.sbm");
  expect(&r, 0, "13 bodies", NULL);
  same_hash("conf/humanoid.ini --ticks 60 --set world.keyframe=drop", "conf/humanoid.ini --ticks 60 --set world.scene=biped.sbm", true);
  same_hash("conf/humanoid.ini --ticks 60", "conf/humanoid.ini --ticks 60 --set world.scene=biped.sbm", false);
  r = call("cook generator:box_stack --param cout=3");
  expect(&r, 2, NULL, "did you mean 'count'?");
}

/* ---- bench and plugins ---- */

static void bench_compares_scenes_and_solvers(void **state)
{
  (void)state;
  result r = call("bench conf/chain.ini conf/humanoid.ini --ticks 10 --repeats 2");
  assert_int_equal(r.code, 0);
  assert_non_null(strstr(r.out, "conf/chain.ini"));
  assert_non_null(strstr(r.out, "conf/humanoid.ini"));
  done(&r);
  r = call("bench conf/chain.ini conf/humanoid.ini --ticks 10 --repeats 2 --solvers featherstone,semi_implicit --json");
  cJSON *root = parse(&r, 0), *cases = cJSON_GetObjectItem(cJSON_GetObjectItem(root, "data"), "cases"), *row;
  assert_int_equal(cJSON_GetArraySize(cases), 4);
  cJSON_ArrayForEach(row, cases)
  {
    assert_true(cJSON_IsTrue(cJSON_GetObjectItem(row, "hashes_repeat")));
    assert_true(cJSON_GetObjectItem(row, "ms_per_tick_median")->valuedouble > 0);
    cJSON *parts = cJSON_GetObjectItem(row, "parts");
    assert_int_equal(cJSON_GetArraySize(parts), 2);
    assert_string_equal(text_at(cJSON_GetArrayItem(parts, 1), "verified"), "CrossPlatform");
    assert_int_equal(strlen(text_at(cJSON_GetArrayItem(parts, 1), "module_hash")), 16);
  }
  assert_string_equal(text_at(cJSON_GetArrayItem(cases, 1), "solver"), "semi_implicit");
  cJSON_Delete(root);
  done(&r);
}

static void plugins_describe_themselves(void **state)
{
  (void)state;
  result r = call("plugins list");
  assert_int_equal(r.code, 0);
  assert_non_null(strstr(r.out, "featherstone     0.1.0    CrossPlatform"));
  assert_non_null(strstr(r.out, "semi_implicit    0.1.0    CrossPlatform"));
  done(&r);
  r = call("plugins show semi_implicit");
  expect(&r, 0, "joint_frequency", NULL);
  /* broken ones are told, the others listed */
  char command[600];
  snprintf(command, sizeof command, "mkdir '%s/listed' && cp '%s/local_one.so' '%s/wrong_magic.so' '%s/listed'", folder, SAMEBIT_FIXTURES, SAMEBIT_FIXTURES, folder);
  assert_int_equal(system(command), 0);
  r = call("plugins list --plugins listed");
  expect(&r, 1, "local_one", "wrong_magic.so: error [SB-ABI-VERSION]");
}

/* exit(0) in a solver is no good end of a run, not even in mode Off. */
static void an_exit_of_a_plugin_is_an_error(void **state)
{
  (void)state;
  write_text("exits.ini",
             "[world]\nscene = generator:drop\n[determinism]\nmode = Off\n[solver.robot]\nplugin = exits\n");
  result r = call("run exits.ini --ticks 10 --plugins '%s'", SAMEBIT_FIXTURES);
  expect(&r, 1, "mode    Off", "robot: error [SB-SOLVER-EXIT]");
  r = call("run exits.ini --ticks 3 --plugins '%s'", SAMEBIT_FIXTURES); /* it has not come so far */
  expect(&r, 0, "hash ", NULL);
  r = call("run exits.ini --ticks 10 --json --plugins '%s'", SAMEBIT_FIXTURES);
  cJSON *root = parse(&r, 1), *list = cJSON_GetObjectItem(root, "diagnostics");
  assert_string_equal(text_at(cJSON_GetArrayItem(list, cJSON_GetArraySize(list) - 1), "code"), "SB-SOLVER-EXIT");
  cJSON_Delete(root);
  done(&r);
}

static void an_exit_in_a_benchmark_is_told_once(void **state)
{
  (void)state;
  result r = call("bench exits.ini --ticks 10 --repeats 1 --json --plugins '%s'", SAMEBIT_FIXTURES);
  cJSON *root = parse(&r, 1);
  assert_string_equal(text_at(cJSON_GetArrayItem(cJSON_GetObjectItem(root, "diagnostics"), 0), "code"),
                      "SB-BENCH-FAILED");
  cJSON_Delete(root);
  done(&r);
}

/* What a plugin prints does not spoil the JSON object, and is not lost. */
static void printing_plugins_leave_json_alone(void **state)
{
  (void)state;
  write_text("prints.ini", "[world]\nscene = generator:drop\n[determinism]\nmode = Off\n[solver.a]\nplugin = prints\n");
  result r = call("run prints.ini --ticks 10 --json --plugins '%s'", SAMEBIT_FIXTURES);
  assert_non_null(strstr(r.err, "printed by a fixture"));
  assert_non_null(strstr(r.err, "written by a fixture"));
  cJSON_Delete(parse(&r, 0));
  done(&r);
  r = call("run prints.ini --ticks 10 --plugins '%s'", SAMEBIT_FIXTURES);
  expect(&r, 0, "printed by a fixture", NULL);
  r = call("run prints.ini --ticks 10 --json --plugins '%s' > /dev/full; echo $?", SAMEBIT_FIXTURES);
  expect(&r, 0, "1\n", NULL);
}

static void groups_and_endings(void **state)
{
  (void)state;
  result r = call("plugins");
  expect(&r, 2, "plugins check [FILE]", NULL);
  r = call("plugins --help");
  expect(&r, 0, "plugins new NAME", NULL);
  r = call("hashes");
  expect(&r, 2, "hashes diff A B", NULL);
  r = call("--json plugins");
  cJSON_Delete(parse(&r, 2));
  done(&r);
  r = call("plugins chekc");
  expect(&r, 2, NULL, "did you mean \"plugins check\"?");
  static const char *const bad[] = {"x.stl", "x", "obj", "a.obj/x", "x.obj.gz"};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    r = call("run conf/pile.ini --ticks 1 --frame %s", bad[i]);
    expect(&r, 2, NULL, "ends in .obj");
  }
  /* a solver without particles says so of itself */
  write_text("rope.ini", "[world]\nscene = generator:rope\n[solver.a]\nplugin = steel\n");
  r = call("run rope.ini");
  expect(&r, 2, NULL, "steel does not handle particles; give the scene's deformables to another solver");
}

/* The hint of a failed case is the case's own; one that has crashed or hung gets what fits that. */
static void hints_fit_the_outcome(void **state)
{
  (void)state;
  char command[512];
  snprintf(command, sizeof command, "mkfifo '%s/pipe.so'", folder);
  assert_int_equal(system(command), 0);
  result r = call("plugins check pipe.so --case file_place");
  expect(&r, 1, "a plugin must be a regular file", NULL);
  r = call("plugins check '%s/../broken/restart.so' --case restart", SAMEBIT_FIXTURES);
  assert_null(strstr(r.out, "free nothing in deactivate"));
  expect(&r, 1, "to mend it: look for a bad pointer", NULL);
  r = call("plugins check '%s/../broken/hostile_huge.so' --case hostile_huge --seconds 2", SAMEBIT_FIXTURES);
  assert_null(strstr(r.out, "until something is small\n"));
  expect(&r, 1, "to mend it: look for a loop that does not end", NULL);
  r = call("plugins check '%s/../broken/golden_present.so' --case golden_present", SAMEBIT_FIXTURES);
  assert_non_null(strstr(r.out, "micro-scene "));
  expect(&r, 1, "to mend it: `samebit plugins goldens FILE` prints", NULL);
}

static int make_folder(void **state)
{
  (void)state;
  char command[512];
  if (!mkdtemp(folder)) return -1;
  snprintf(command, sizeof command, "ln -s '%s/conf' '%s/conf'", SAMEBIT_ROOT, folder);
  return system(command);
}

static int remove_folder(void **state)
{
  (void)state;
  char command[128];
  snprintf(command, sizeof command, "rm -r '%s'", folder);
  return system(command);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(determinism_compares_legs),
                                     cmocka_unit_test(hash_files_are_compared),
                                     cmocka_unit_test(verify_prints_a_certificate),
                                     cmocka_unit_test(frames_are_whole),
                                     cmocka_unit_test(files_and_signals),
                                     cmocka_unit_test(every_command_speaks_json),
                                     cmocka_unit_test(parts_tell_their_modes),
                                     cmocka_unit_test(every_command_has_help),
                                     cmocka_unit_test(near_names_are_suggested),
                                     cmocka_unit_test(explain_knows_every_code),
                                     cmocka_unit_test(refusal_names_every_offender),
                                     cmocka_unit_test(exit_codes_in_real_situations),
                                     cmocka_unit_test(settings_can_be_changed),
                                     cmocka_unit_test(hashes_are_written),
                                     cmocka_unit_test(piped_output_has_no_progress),
                                     cmocka_unit_test(cooked_scenes_run_the_same),
                                     cmocka_unit_test(bench_compares_scenes_and_solvers),
                                     cmocka_unit_test(plugins_describe_themselves),
                                     cmocka_unit_test(an_exit_of_a_plugin_is_an_error),
                                     cmocka_unit_test(an_exit_in_a_benchmark_is_told_once),
                                     cmocka_unit_test(printing_plugins_leave_json_alone),
                                     cmocka_unit_test(groups_and_endings),
                                     cmocka_unit_test(hints_fit_the_outcome)};
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
