/* Trials: plugins that crash, hang, overrun, break out or lie are named and refused; the host survives them all, and keeps what it has learnt. */
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#include "host_fixture.h"
#include "trial_cache.h"

typedef struct expectation {
  const char *plugin;
  const char *reason;
} expectation;

/* Opens a session with one plugin. */
static sb_status open_scene(const char *scene, const char *plugin, const char *mode, double seconds, const char *cache,
                            sb_session *session, sb_diagnostics *diag)
{
  char text[256], path[64];
  snprintf(text, sizeof text, "[world]\nscene = generator:%s\n[determinism]\nmode = %s\n[solver.a]\nplugin = %s\n",
           scene, mode, plugin);
  write_ini(text, path);
  sb_session_options options = {
      .plugin_dirs = fixture_dirs, .plugin_dir_count = 2, .trial_seconds = seconds, .cache_dir = cache};
  sb_status status = sb_session_open(path, &options, session, diag);
  unlink(path);
  return status;
}

static sb_status open_plugin(const char *plugin, const char *mode, double seconds, sb_session *session,
                             sb_diagnostics *diag)
{
  return open_scene("drop", plugin, mode, seconds, NULL, session, diag);
}

/* Each fault of behaviour is found by the check that looks for it, and the message says what to look at. */
static void misbehaviour_is_named(void **state)
{
  (void)state;
  static const expectation list[] = {
      {"crashes", "it crashed (Segmentation fault), during the check \"bounds\""},
      {"hangs", "it was not done after"},
      {"sleeps", "it was not done after"},
      {"overruns", "behind the end of the array or block \"solver.own\""},
      {"overruns_far", "reached behind the end of the array or block \"state.body_q\""},
      {"underruns", "4 bytes before the beginning of the array or block \"solver.own\""},
      {"writes_file", "system call openat"},
      {"starts_program", "system call clone"},
      {"exits", "ended the process by itself"},
      {"unclear_memory", "micro-scene"},
      {"other_bodies", "check ownership: tick 0: it wrote body_qd of body"},
      {"world_index", "check worlds: among"},
      {"counts_bodies", "check unrelated: with unrelated bodies"},
      {"reads_padding", "check padding"},
      {"static_state", "check repeat: run again"},
      {"hidden_state", "check snapshot: after a restore"},
      {"task_order", "task order"},
      {"flush_in_step", "floating-point environment"},
      {"writes_model", "check model: it wrote in the model"},
      {"reads_address", " in one process and "},
      {"flush_in_bind", "bind of the solver changed the floating-point environment (subnormals flushed)"},
  };
  for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
    sb_session session;
    sb_diagnostics diag = {0};
    double seconds = strcmp(list[i].plugin, "hangs") && strcmp(list[i].plugin, "sleeps") ? 0 : 1;
    if (open_plugin(list[i].plugin, "Off", seconds, &session, &diag)) {
      print_messages(&diag);
      fail_msg("%s does not load", list[i].plugin);
    }
    const sb_session_part *part = &session.parts[1];
    if (part->verified != SB_MODE_OFF || !strstr(part->reason, list[i].reason))
      fail_msg("%s: verified %s because \"%s\", expected \"%s\"", list[i].plugin, sb_mode_name(part->verified), part->reason, list[i].reason);
    assert_true(part->module->trial.ran);
    sb_session_close(&session);
    sb_diagnostics_clear(&diag);
    /* asked for more than Off, it is refused */
    assert_int_equal(open_plugin(list[i].plugin, "Local", seconds, &session, &diag), SB_E_MODE);
    if (count_messages(&diag, SB_CODE_MODE_REFUSED, list[i].reason) != 1) {
      print_messages(&diag);
      fail_msg("%s: expected \"%s\"", list[i].plugin, list[i].reason);
    }
    /* what does harm must be mended; mode Off would run it all the same */
    bool harm = i < 9,
         mend = count_messages(&diag, SB_CODE_MODE_REFUSED, "mend the plugin: samebit plugins check ") == 1;
    if (harm != mend || harm != session.parts[1].harmful ||
        harm == (count_messages(&diag, SB_CODE_MODE_REFUSED, "mode = Off") == 1)) {
      print_messages(&diag);
      fail_msg("%s: bad advice", list[i].plugin);
    }
    sb_session_close(&session);
    sb_diagnostics_clear(&diag);
  }
  assert_int_not_equal(access("/tmp/samebit_fixture_writes", F_OK), 0);
}

/* Solvers of particles alone are tried on a scene of particles alone. */
static void particle_solvers_are_tried(void **state)
{
  (void)state;
  static const struct {
    const char *plugin, *reason;
    uint32_t verified;
  } list[] = {{"attract",
               "micro-scene beads has no golden hash (1 of 1 have none); `samebit plugins goldens FILE` prints them",
               SB_MODE_RUN_TO_RUN},
              {"far_particles", "check unrelated: with unrelated bodies and particles, particle", SB_MODE_OFF},
              {"other_particles", "check ownership: tick 0: it wrote particle_q of particle", SB_MODE_OFF}};
  for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
    sb_session session;
    sb_diagnostics diag = {0};
    assert_int_equal(open_scene("rope", list[i].plugin, "Off", 0, NULL, &session, &diag), SB_OK);
    const sb_session_part *part = &session.parts[1];
    if (part->verified != list[i].verified || !strstr(part->reason, list[i].reason))
      fail_msg("%s: verified %s because \"%s\", expected \"%s\"", list[i].plugin, sb_mode_name(part->verified),
               part->reason, list[i].reason);
    sb_session_close(&session);
    sb_diagnostics_clear(&diag);
  }
}

/* What happens while a module is loaded happens elsewhere first. */
static void bad_loads_are_contained(void **state)
{
  (void)state;
  static const struct {
    const char *plugin;
    sb_code code;
    const char *text;
    sb_status status;
  } list[] = {
      {"abort_on_load", SB_CODE_PLUGIN_TRIAL, "it crashed (Aborted), during loading", SB_E_CONFIG},
      {"hang_on_load", SB_CODE_PLUGIN_TRIAL, "not done after 1 s, during loading", SB_E_CONFIG},
      {"flush_on_load", SB_CODE_MODE_FP_ENVIRONMENT, "subnormals flushed", SB_E_MODE},
      {"flush_in_factory", SB_CODE_MODE_FP_ENVIRONMENT, "get_factory", SB_E_MODE},
      {"newer_major", SB_CODE_ABI_VERSION, "ABI 9.", SB_E_CONFIG},
      {"refuses", SB_CODE_ABI_REFUSED, "refuses host", SB_E_CONFIG},
      {"exec_stack", SB_CODE_PLUGIN_AUDIT, "noexecstack", SB_E_CONFIG},
  };
  for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
    sb_session session;
    sb_diagnostics diag = {0};
    sb_status status = open_plugin(list[i].plugin, "Off", 1, &session, &diag);
    if (status != list[i].status || count_messages(&diag, list[i].code, list[i].text) != 1) {
      print_messages(&diag);
      fail_msg("%s: status %d, expected %d and \"%s\"", list[i].plugin, status, list[i].status, list[i].text);
    }
    sb_diagnostics_clear(&diag);
  }
}

#if defined(__x86_64__)
/* Claims that the file's own bytes disprove. */
static void false_claims_are_refused(void **state)
{
  (void)state;
  static const expectation list[] = {{"fused", "build it with -ffp-contract=off"},
                                     {"calls_sinf", "use samebit/maths.h"},
                                     {"estimate", "without -mrecip"}};
  for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
    sb_session session;
    sb_diagnostics diag = {0};
    assert_int_equal(open_plugin(list[i].plugin, "CrossPlatform", 0, &session, &diag), SB_E_MODE);
    /* the finding comes before the golden hash that is not met, or is not there */
    const char *reason = session.parts[1].reason, *finding = strstr(reason, list[i].reason),
               *golden = strstr(reason, "golden hash");
    if (!finding || (golden && golden < finding) || (!golden && i < 2)) fail_msg("%s: \"%s\"", list[i].plugin, reason);
    assert_int_equal(count_messages(&diag, SB_CODE_MODE_REFUSED, list[i].reason), 1);
    assert_int_equal(count_messages(&diag, SB_CODE_MODE_REFUSED, "samebit plugins check"), 1);
    sb_session_close(&session);
    sb_diagnostics_clear(&diag);
  }
}
#endif

static void pins_are_held_from_the_ini_file(void **state)
{
  (void)state;
  sb_session session;
  sb_diagnostics diag = {0};
  const char *text = "[world]\nscene = generator:drop\n[determinism]\nmode = Off\n[solver.a]\nplugin = no_golden\n";
  assert_int_equal(open_text(text, (sb_session_options){0}, &session, &diag), SB_OK);
  char pin[96];
  snprintf(pin, sizeof pin, "solver.a.module_hash=%016llx", (unsigned long long)session.parts[1].module->file_hash);
  sb_session_close(&session);
  const char *sets[] = {pin};
  assert_int_equal(open_text(text, (sb_session_options){.sets = sets, .set_count = 1}, &session, &diag), SB_OK);
  sb_session_close(&session);
  pin[strlen(pin) - 1] ^= 1;
  assert_int_equal(open_text(text, (sb_session_options){.sets = sets, .set_count = 1}, &session, &diag), SB_E_CONFIG);
  assert_int_equal(count_messages(&diag, SB_CODE_PLUGIN_HASH, "module_hash asks for"), 1);
  strcpy(pin, "solver.a.module_hash=xyz");
  assert_int_equal(open_text(text, (sb_session_options){.sets = sets, .set_count = 1}, &session, &diag), SB_E_CONFIG);
  assert_int_equal(count_messages(&diag, SB_CODE_INI_VALUE, "16 hexadecimal digits"), 1);
  sb_diagnostics_clear(&diag);
}

/* A solver without a verdict must not run in the host's process instead. */
static void solvers_beyond_the_table_get_off(void **state)
{
  (void)state;
  sb_trial *t = calloc(1, sizeof *t);
  assert_non_null(t);
  t->ran = t->behaved = true;
  for (; t->count < SB_MAX_VERDICTS; t->count++)
    t->verdicts[t->count] = (sb_trial_verdict){.solver = "one", .mode = SB_MODE_CROSS_PLATFORM};
  assert_int_equal(sb_trial_find(t, "one", SB_BACKEND_CPU)->mode, SB_MODE_CROSS_PLATFORM);
  const sb_trial_verdict *v = sb_trial_find(t, "seventeenth", SB_BACKEND_CPU);
  assert_non_null(v);
  assert_int_equal(v->mode, SB_MODE_OFF);
  assert_non_null(strstr(v->reason, "it was not tried"));
  free(t);
}

/* ---- the cache ---- */

static void try_cached(const char *dir, bool expected)
{
  char path[64];
  sb_session session;
  sb_diagnostics diag = {0};
  write_ini("[world]\nscene = generator:drop\n[solver.a]\nplugin = featherstone\n", path);
  sb_session_options options = {.plugin_dirs = fixture_dirs, .plugin_dir_count = 2, .cache_dir = dir};
  assert_int_equal(sb_session_open(path, &options, &session, &diag), SB_OK);
  assert_int_equal(session.parts[1].module->trial.cached, expected);
  assert_int_equal(session.parts[1].granted, SB_MODE_CROSS_PLATFORM);
  sb_session_close(&session);
  unlink(path);
}

static void only_file(const char *dir, char file[512])
{
  DIR *d = opendir(dir);
  assert_non_null(d);
  int n = 0;
  for (struct dirent *e; (e = readdir(d));)
    if (e->d_name[0] != '.') snprintf(file, 512, "%s/%.200s", dir, e->d_name), n++;
  closedir(d);
  assert_int_equal(n, 1);
}

static void the_cache_is_believed_only_when_ours(void **state)
{
  (void)state;
  char folder[] = "/tmp/samebit_trial_XXXXXX", dir[128], file[512], other[600];
  assert_non_null(mkdtemp(folder));
  snprintf(dir, sizeof dir, "%s/a/b", folder);
  try_cached(dir, false);
  try_cached(dir, true);
  only_file(dir, file);
  /* one byte is another */
  int fd = open(file, O_RDWR);
  char byte;
  assert_int_equal(pread(fd, &byte, 1, 250), 1);
  byte ^= 1;
  assert_int_equal(pwrite(fd, &byte, 1, 250), 1);
  close(fd);
  try_cached(dir, false);
  try_cached(dir, true);
  /* cut short */
  assert_int_equal(truncate(file, 230), 0);
  try_cached(dir, false);
  try_cached(dir, true);
  /* others may write it, or the folder */
  chmod(file, 0666);
  try_cached(dir, false);
  chmod(file, 0600);
  chmod(dir, 0777);
  try_cached(dir, false);
  chmod(dir, 0700);
  try_cached(dir, true);
  /* a link to a file that would do */
  snprintf(other, sizeof other, "%s/other", folder);
  assert_int_equal(rename(file, other), 0);
  assert_int_equal(symlink(other, file), 0);
  try_cached(dir, false);
  if (geteuid() == 0) { /* somebody else's */
    try_cached(dir, true);
    assert_int_equal(chown(file, 12345, 12345), 0);
    try_cached(dir, false);
  }
  /* another key is another outcome */
  sb_trial_cache_write(dir, "/x", "load", "key one", "loads\nwhole\n");
  char *lines = sb_trial_cache_read(dir, "/x", "load", "key one");
  assert_string_equal(lines, "loads\nwhole\n");
  free(lines);
  assert_null(sb_trial_cache_read(dir, "/x", "load", "key two"));
  assert_null(sb_trial_cache_read(dir, "/x", "behave", "key one"));
  char command[256];
  snprintf(command, sizeof command, "rm -r %s", folder);
  assert_int_equal(system(command), 0);
}

static double seconds_now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A plugin that hangs costs its time once, whether it does so in a check or while it is loaded. */
static void time_outs_are_kept(void **state)
{
  (void)state;
  char dir[] = "/tmp/samebit_trial_XXXXXX", command[64];
  assert_non_null(mkdtemp(dir));
  for (int again = 0; again < 2; again++) {
    sb_session session;
    sb_diagnostics diag = {0};
    double start = seconds_now();
    assert_int_equal(open_scene("drop", "hangs", "Off", 1, dir, &session, &diag), SB_OK);
    assert_int_equal(session.parts[1].module->trial.cached, again);
    assert_true(session.parts[1].harmful && strstr(session.parts[1].reason, "not done after 1 s"));
    assert_true((strstr(session.parts[1].reason, "--no-cache") != NULL) == (again == 1));
    sb_session_close(&session);
    assert_int_equal(open_scene("drop", "hang_on_load", "Off", 1, dir, &session, &diag), SB_E_CONFIG);
    assert_int_equal(count_messages(&diag, SB_CODE_PLUGIN_TRIAL, "not done after 1 s, during loading"), 1);
    assert_true(seconds_now() - start < 2 ? again == 1 : again == 0);
    sb_diagnostics_clear(&diag);
    /* another limit is another trial */
    assert_int_equal(open_scene("drop", "hangs", "Off", 0.5, again ? dir : NULL, &session, &diag), SB_OK);
    assert_false(session.parts[1].module->trial.cached);
    sb_session_close(&session);
    sb_diagnostics_clear(&diag);
  }
  snprintf(command, sizeof command, "rm -r %s", dir);
  assert_int_equal(system(command), 0);
}

/* What only other processes show is said from the cache too, with what to do; how one of them ended is seen anew. */
static void differences_between_processes_are_kept(void **state)
{
  (void)state;
  char dir[] = "/tmp/samebit_trial_XXXXXX", command[64];
  assert_non_null(mkdtemp(dir));
  for (int again = 0; again < 2; again++) {
    sb_session session;
    sb_diagnostics diag = {0};
    assert_int_equal(open_scene("drop", "reads_address", "Off", 0, dir, &session, &diag), SB_OK);
    assert_int_equal(session.parts[1].module->trial.cached, again);
    assert_int_equal(session.parts[1].verified, SB_MODE_OFF);
    assert_false(session.parts[1].harmful);
    assert_non_null(strstr(session.parts[1].reason, "use no address of a function, a variable or the stack as a number"));
    sb_session_close(&session);
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)
    assert_int_equal(open_scene("drop", "aborts_on_junk", "Off", 0, dir, &session, &diag), SB_OK);
    assert_false(session.parts[1].module->trial.cached);
    assert_int_equal(session.parts[1].verified, SB_MODE_OFF);
    assert_non_null(strstr(session.parts[1].reason, "tried in one more process, it crashed (Aborted)"));
    assert_null(strstr(session.parts[1].reason, "use no address"));
    sb_session_close(&session);
#endif
    sb_diagnostics_clear(&diag);
  }
  snprintf(command, sizeof command, "rm -r %s", dir);
  assert_int_equal(system(command), 0);
}

/* Several plugins of one session are tried at once; each has the outcome that it has alone. */
static void plugins_are_tried_side_by_side(void **state)
{
  (void)state;
  static const char *const plugins[] = {"steel", "hidden_state", "crashes", "no_golden", "steel"};
  char text[1024] = "[world]\nscene = generator:box_stack\n[scene]\ncount = 5\n[coupling]\ncontacts = "
                    "none\n[determinism]\nmode = Off\n",
       path[64];
  for (size_t i = 0; i < 5; i++)
    snprintf(text + strlen(text), sizeof text - strlen(text), "[solver.s%zu]\nplugin = %s\nbodies = *%zu\n", i,
             plugins[i], i);
  write_ini(text, path);
  sb_session_options options = {.plugin_dirs = fixture_dirs, .plugin_dir_count = 2};
  sb_session session;
  sb_diagnostics diag = {0};
  if (sb_session_open(path, &options, &session, &diag)) print_messages(&diag), fail();
  unlink(path);
  static const char *const reasons[] = {"golden hashes matched", "check snapshot", "it crashed", "no golden hash",
                                        "golden hashes matched"};
  assert_int_equal(session.catalogue.prepared_count, 4);
  for (size_t i = 0; i < 5; i++) {
    const sb_session_part *part = &session.parts[i + 1];
    assert_true(part->module->trial.ran && !part->module->trial.cached);
    if (!strstr(part->reason, reasons[i]))
      fail_msg("%s: \"%s\", expected \"%s\"", plugins[i], part->reason, reasons[i]);
  }
  assert_ptr_equal(session.parts[1].module, session.parts[5].module);
  sb_session_close(&session);
  sb_diagnostics_clear(&diag);
}

#if defined(__x86_64__)
/* What an author may do wrong, all in one process: each is refused, told what to change, and the process goes on. */
static void the_host_survives_them_all(void **state)
{
  (void)state;
  static const struct {
    const char *plugin, *what, *advice;
  } list[] = {
      {"fused", "fused multiply-add", "build it with -ffp-contract=off and without -mfma"},
      {"calls_sinf", "sinf", "use samebit/maths.h"},
      {"hidden_state", "after a restore into a new instance", "register what survives a tick"},
      {"flush_on_load", "subnormals flushed", "remove the constructor that does it"},
      {"hangs", "not done after", "look for a loop that does not end"},
      {"crashes", "Segmentation fault",
       "look for a bad pointer, an index out of bounds, a failed assert); mend the plugin: samebit plugins check"},
      {"overruns", "behind the end of the array",
       "check indices against counts); mend the plugin: samebit plugins check"},
  };
  for (int round = 0; round < 2; round++)
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
      sb_session session;
      sb_diagnostics diag = {0};
      assert_int_equal(
          open_plugin(list[i].plugin, "CrossPlatform", !strcmp(list[i].plugin, "hangs") ? 1 : 0, &session, &diag),
          SB_E_MODE);
      const char *message = diag.count ? diag.items[0].message : "";
      if (diag.error_count != 1 || !strstr(message, list[i].what) || !strstr(message, list[i].advice))
        fail_msg("%s: \"%s\"", list[i].plugin, message);
      sb_session_close(&session);
      sb_diagnostics_clear(&diag);
    }
  sb_session session;
  sb_diagnostics diag = {0};
  assert_int_equal(open_plugin("steel", "CrossPlatform", 0, &session, &diag), SB_OK);
  sb_session_close(&session);
  sb_diagnostics_clear(&diag);
}
#endif

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(misbehaviour_is_named),
    cmocka_unit_test(bad_loads_are_contained),
#if defined(__x86_64__)
    cmocka_unit_test(false_claims_are_refused),
    cmocka_unit_test(the_host_survives_them_all),
#endif
    cmocka_unit_test(particle_solvers_are_tried),
    cmocka_unit_test(time_outs_are_kept), cmocka_unit_test(differences_between_processes_are_kept),
    cmocka_unit_test(solvers_beyond_the_table_get_off),
    cmocka_unit_test(plugins_are_tried_side_by_side),
    cmocka_unit_test(pins_are_held_from_the_ini_file),
    cmocka_unit_test(the_cache_is_believed_only_when_ours)
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
