/* Mesh assets: mass and shapes, made when they are asked for. */
#include "scene_mesh.h"

#include "cook_math.h"

#include <string.h>

static void report(xml_input *in, const scene_mesh *m, geometry_result result)
{
  if (result == GEOMETRY_FLAT)
    xml_input_error(in, m->node, SB_CODE_SCENE_MESH,
                    "the mesh's %u vertices lie in a plane or closer: what moves or has mass needs a hull with volume", m->triangles.vertex_count);
  else if (result == GEOMETRY_EMPTY)
    xml_input_error(in, m->node, SB_CODE_SCENE_MESH, "the mesh has no triangle of any area");
  else
    xml_input_error(in, m->node, SB_CODE_MEMORY, "no memory for the mesh");
}

static bool hull_mass(xml_input *in, scene_mesh *m)
{
  mesh hull;
  double left_out;
  mesh_solidity solidity;
  hull_result result = hull_build(&m->triangles, SB_HULL_MAX_VERTICES, &hull, &left_out);
  bool good = result == HULL_GOOD && mesh_integrate(&hull, &m->mass, &solidity);
  if (!good) report(in, m, result == HULL_FLAT ? GEOMETRY_FLAT : GEOMETRY_NO_MEMORY);
  mesh_clear(&hull);
  return good;
}

const mesh_mass *scene_mesh_mass(xml_input *in, scene_mesh *m)
{
  if (m->has_mass) return &m->mass;
  mesh_solidity solidity;
  if (!mesh_integrate(&m->triangles, &m->mass, &solidity)) {
    report(in, m, GEOMETRY_NO_MEMORY);
    return NULL;
  }
  if (solidity == MESH_OPEN) {
    xml_place place;
    if (!hull_mass(in, m)) return NULL;
    sb_report(in->diag, SB_NOTE, SB_CODE_SCENE_MESH, xml_input_where(in, m->node, &place),
              "the mesh of %u triangles is not closed: its mass is that of its convex hull", m->triangles.triangle_count);
  }
  if (solidity == MESH_INSIDE_OUT) {
    m->mass.volume = 0.0 - m->mass.volume;
    for (int i = 0; i < 6; i++) m->mass.inertia[i] = 0.0 - m->mass.inertia[i];
  }
  m->has_mass = true;
  return &m->mass;
}

/* Triangles of a closed mesh that was turned inside out face outwards again. */
static bool turn_outwards(scene_mesh *m)
{
  mesh_mass mass;
  mesh_solidity solidity;
  if (!mesh_integrate(&m->triangles, &mass, &solidity)) return false;
  if (solidity == MESH_INSIDE_OUT) mesh_flip(&m->triangles);
  return true;
}

bool scene_mesh_shape(xml_input *in, scene_mesh *m, sb_model_builder *builder, bool is_static, sb_build_shape *shape)
{
  bool *has = is_static ? &m->has_triangles : &m->has_hull;
  geometry_place *place = is_static ? &m->as_triangles : &m->as_hull;
  if (!*has) {
    double left_out = 0.0;
    geometry_result result = is_static && !turn_outwards(m) ? GEOMETRY_NO_MEMORY
                             : is_static                    ? geometry_add_mesh(builder, &m->triangles, place)
                                                            : geometry_add_hull(builder, &m->triangles, place, &left_out);
    if (result != GEOMETRY_GOOD) {
      report(in, m, result);
      return false;
    }
    *has = true;
  }
  double centre[7];
  cook_pose_identity(centre);
  memcpy(centre, place->centre, sizeof place->centre);
  cook_pose_mul(shape->X, centre, shape->X);
  memcpy(shape->size, place->half, sizeof shape->size);
  shape->type = is_static ? SB_SHAPE_MESH : SB_SHAPE_HULL;
  shape->geometry = place->index;
  return true;
}
