/* From an XML file (MJCF or URDF) to a filled builder. Private to the scene layer. */
#ifndef SAMEBIT_HOST_XML_SCENE_H
#define SAMEBIT_HOST_XML_SCENE_H

#include "model_builder.h"
#include "scene.h"

/* `bytes` is the content of request->scene; `remaining` is what included files may still use of the size limit. */
sb_status xml_scene_build(const sb_scene_request *request, const char *bytes, size_t size, uint64_t remaining,
                          sb_model_builder *builder, sb_diagnostics *diag);

#endif
