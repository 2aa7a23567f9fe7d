/* Sleep: islands of bodies that have been slow for long enough stand still and cost little. All that is remembered from
 * tick to tick lies in registered arrays, so that a snapshot holds it. */
#ifndef SAMEBIT_STEEL_SLEEP_H
#define SAMEBIT_STEEL_SLEEP_H

#include "steel_graph.h"

typedef struct st_sleep {
  uint32_t ticks;   /* 0: nobody sleeps, and nothing is registered */
  float speed2;     /* (m/s)^2 */
  uint32_t *state;  /* registered, 2 per body: ticks in a row below the speed; world-local number of the island's first
                       body plus 1, 0 awake */
  float *pose;      /* registered, 7 per body: body_q when it fell asleep */
  uint32_t *parent; /* scratch, per body: union-find */
  uint32_t *mark;   /* scratch, at an island's first body: it wakes, it does not fall asleep */
  float *cache;     /* scratch, per contact: impulses that are kept */
} st_sleep;

/* Registers the arrays; bind->params have given ticks and speed2. */
sb_status st_sleep_bind(st_sleep *sleep, const sb_bind *bind, char *error, uint32_t error_size);
/* Wakes whole islands: one of their bodies has a force on it or was moved from outside, or it touches a link, a body of another solver, or
 * a body that is awake and not slow. Then writes st_frame.awake of every record. */
void st_sleep_wake(const st_sleep *sleep, const st_tick *tick);
/* Contacts that nobody solves because their bodies sleep keep their impulses: `before` the cache is cleared they are
 * put aside, and `after` it back. */
void st_sleep_keep_before(const st_sleep *sleep, const st_tick *tick);
void st_sleep_keep_after(const st_sleep *sleep, const st_tick *tick);
/* Counts slow ticks of records first to end - 1, after the tick. */
void st_sleep_count(const st_sleep *sleep, const st_tick *tick, uint32_t first, uint32_t end);
/* Islands all of whose bodies have been slow for long enough fall asleep, unless they touch a link or a body of another solver. */
void st_sleep_islands(const st_sleep *sleep, const st_tick *tick, const st_graph *graph);

#endif
