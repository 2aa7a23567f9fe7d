/* From the model to bundles: which elements an instance solves, with what constants. */
#ifndef SAMEBIT_XPBD_SETUP_H
#define SAMEBIT_XPBD_SETUP_H

#include "xpbd_graph.h"

/* Particles and elements of an instance. */
typedef struct xp_cloth {
  xp_graph graph;
  uint32_t *local; /* record of each model particle, XP_NONE for those of others */
  xp_particles particles;
  xp_springs *springs;
  float *spring_damping;
  uint32_t damped; /* bits 1 << kind: some of that kind have damping */
  xp_airs *airs;
  xp_tris *tris;
  xp_edges *edges;
  xp_tets *tets;
  float *spring_lambda, *tri_lambda, *edge_lambda, *tet_lambda;
} xp_cloth;

/* Memory comes from the host; SB_E_MEMORY when there is none. multipliers: whether they are kept, for more than one iteration. */
sb_status xp_cloth_bind(xp_cloth *cloth, const sb_bind *bind, bool multipliers);

#endif
