/* Free bodies under steel on a compute device: the same kernels over the same records. Where contacts lie there, manifolds and colours are made there
 * too; else all three come from the host. */
#ifndef SAMEBIT_STEEL_DEVICE_H
#define SAMEBIT_STEEL_DEVICE_H

#include "contact_graph.h"
#include "steel_graph.h"

/* Empty dispatches cost time, so graphs differ in how many colours they go through. */
#define ST_COLOR_STEPS 5u

typedef struct st_device {
  const sb_bind *bind;
  const sb_compute *compute;
  const sb_device_contacts *there; /* NULL where contacts come from the host */
  contact_graph graph; /* what makes manifolds and colours there */
  uint32_t coloring;   /* its commands */
  st_settings settings;
  uint32_t records; /* bodies with a record; the one after them does not move */
  uint32_t *words;  /* scratch for uploads */
  /* handles */
  uint32_t bodies, frames, masses, warms, fixed, gravity, radius, blocks, manifolds, starts, groups, contacts, match, cache;
  uint32_t body_q, body_qd, body_f, joint_q, joint_qd;
  uint32_t body_pass[4], manifold_pass[6];
  uint32_t graphs[2][ST_COLOR_STEPS]; /* without and with restitution; one alone where contacts lie there */
  bool graphs_made;
  float graph_h; /* s, that they were made for */
} st_device;

/* records: of moving bodies; record: of each model body, as st_tick has it; moved: the model body of each record; frames: as they begin. SB_E_UNSUPPORTED, with the reason, for what does not run there. */
sb_status st_device_bind(st_device *device, const sb_bind *bind, uint32_t records, const uint32_t *record, const uint32_t *moved, const st_frame *frames,
                         const st_body *bodies, char *error, uint32_t error_size);
/* Records the graphs of a tick. */
sb_status st_device_activate(st_device *device, st_settings settings, char *error, uint32_t error_size);
/* A tick: manifolds as `graph`, in lanes of one, has them; the cache goes there and comes back. Where contacts lie there, neither is looked at. */
sb_status st_device_step(st_device *device, const st_tick *tick, const st_graph *graph, char *error, uint32_t error_size);

#endif
