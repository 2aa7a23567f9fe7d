/* Builders of the micro-scenes of particles. Private to host/verify. */
#ifndef SAMEBIT_HOST_MICRO_SCENES_SOFT_H
#define SAMEBIT_HOST_MICRO_SCENES_SOFT_H

#include "model_builder.h"

void sb_micro_scene_beads(sb_model_builder *builder);
void sb_micro_scene_curtain(sb_model_builder *builder);
void sb_micro_scene_jelly(sb_model_builder *builder);
/* Two particles tied to each other, 60 m away from everything else. */
void sb_micro_scene_far_beads(sb_model_builder *builder);

#endif
