/* The URDF reader. Private to the scene layer. */
#ifndef SAMEBIT_HOST_URDF_H
#define SAMEBIT_HOST_URDF_H

#include "model_builder.h"
#include "scene.h"
#include "xml_input.h"

/* Fills the builder from the document's root <robot>. Errors go to in. */
void urdf_read(xml_input *in, const sb_scene_request *request, xmlNode *root, sb_model_builder *builder);

#endif
