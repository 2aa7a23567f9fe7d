/* Builders of the micro-scenes of particles. Private to host/verify. */
#ifndef SAMEBIT_HOST_MICRO_SCENES_SOFT_H
#define SAMEBIT_HOST_MICRO_SCENES_SOFT_H

#include "model_builder.h"

void sb_micro_scene_curtain(sb_model_builder *builder);
void sb_micro_scene_jelly(sb_model_builder *builder);

#endif
