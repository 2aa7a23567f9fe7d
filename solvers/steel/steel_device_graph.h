/* Manifolds and colours on the device, from contacts that lie there: the CPU's (steel_graph.c). */
#ifndef SAMEBIT_STEEL_DEVICE_GRAPH_H
#define SAMEBIT_STEEL_DEVICE_GRAPH_H

#include "steel_device.h"

/* A device and the calls to it. */
typedef struct chain {
  st_device *s;
  sb_compute_calls calls;
} chain;

#define CALL(k, ...) SB_COMPUTE_CALL(&(k)->calls, __VA_ARGS__)

/* Buffers and pipelines. record: of each model body. */
void st_device_make_graph(chain *k, const uint32_t *record);
/* Fills manifolds, starts and groups of the device from the contacts that are there. */
void st_device_record_graph(chain *k, uint32_t graph);

#endif
