/* A session: from an INI file to a simulation whose determinism mode is granted or refused. What `run`, `validate`, `bench` and
 * embedding programs share. */
#ifndef SAMEBIT_HOST_SESSION_H
#define SAMEBIT_HOST_SESSION_H

#include "catalogue.h"
#include "config.h"
#include "session_device.h"
#include "sim.h"
#include "verify.h"

/* What the command line adds to the INI file. All zero is good. */
typedef struct sb_session_options {
  const char *const *sets; /* "section.key=value" */
  size_t set_count;
  const char *const *plugin_dirs;
  size_t plugin_dir_count;
  uint32_t threads;        /* 0: 1 */
  uint32_t lanes;          /* 0: the widest */
  uint64_t shuffle;
  const char *backend;     /* for every solver; NULL: as the INI says */
  const char *cache_dir;   /* where outcomes of trials are kept; NULL: nowhere */
  double trial_seconds;    /* limit of a plugin's trial; 0: the usual one */
} sb_session_options;

/* A part of the run that has a mode: the collision pipeline, then each solver in INI order. */
typedef struct sb_session_part {
  char *name;             /* "collision", "robot" */
  const char *plugin;     /* solver id, or "collision" */
  uint32_t backend;
  uint32_t asked, declared, verified, granted; /* SB_MODE_* */
  bool harmful;                                /* its solver crashes, hangs, or writes where it may not */
  char reason[700];                            /* for what was granted */
  char *where;                                 /* where the mode was asked for */
  sb_module *module;                           /* NULL for the collision pipeline */
  const sb_solver_api *api;
  double *params;
  uint32_t *particles;
  uint32_t particle_count;
  uint32_t *bodies;
  uint32_t body_count;
} sb_session_part;

typedef struct sb_session {
  sb_config config;
  sb_catalogue catalogue;
  sb_model_store *one;   /* as cooked */
  sb_model_store *model; /* over all worlds */
  sb_session_part *parts;
  uint32_t part_count;
  uint32_t mode;  /* of the run: the weakest granted */
  uint64_t ticks; /* how far `run` goes unless told */
  sb_sim_part *sim_parts;
  uint32_t *ccd_bodies;
  sb_session_device *device; /* NULL where every part runs on the CPU */
  sb_sim_config sim; /* ready for sb_sim_create */
} sb_session;

/* Reads, loads, cooks, checks. SB_E_MODE: a part cannot keep the mode asked of it, one diagnostic for each; the session is then
 * still filled, for reports (but for a plugin that changes the floating-point environment while it is loaded: then it is empty). After any other error it is empty. */
sb_status sb_session_open(const char *ini_path, const sb_session_options *options, sb_session *session, sb_diagnostics *diag);
void sb_session_close(sb_session *session);

/* A simulation of it. Only with it is it known where the collision pipeline runs, and so the backend of that part. */
sb_status sb_session_create_sim(sb_session *session, sb_sim **out, sb_diagnostics *diag);

/* The same for a session: and on what device, where it has one. */
void sb_session_domain(const sb_session *session, char *text, size_t size);

/* One line on what this program runs on: architecture, system, CPU features that matter, compiler, C library, build, numerics. */
void sb_domain_text(char *text, size_t size);

#endif
