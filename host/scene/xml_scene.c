/* From an XML file to a filled builder: parses it and lets the root element decide the format. */
#include "xml_scene.h"

#include "mjcf.h"
#include "urdf.h"

sb_status xml_scene_build(const sb_scene_request *request, const char *bytes, size_t size, uint64_t remaining,
                          sb_model_builder *builder, sb_diagnostics *diag)
{
  xml_input in = {.diag = diag, .path = request->scene};
  xmlDoc *doc = xml_input_parse(&in, bytes, size, request->scene);
  if (doc) {
    xmlNode *root = xmlDocGetRootElement(doc);
    if (xml_is(root, "mujoco"))
      mjcf_read(&in, request, root, remaining, builder);
    else if (xml_is(root, "robot"))
      urdf_read(&in, request, root, builder);
    else
      xml_input_error(&in, root, SB_CODE_SCENE_FORMAT,
                      "expected <mujoco> or <robot> as the root element, found <%.60s>", (const char *)root->name);
    xmlFreeDoc(doc);
  }
  xml_input_clear(&in);
  return in.status;
}
