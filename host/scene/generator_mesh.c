/* A membrane from a mesh file, OBJ or STL. Knows the model builder and mesh_file.h. */
#include "deformable_mesh.h"
#include "generator_parts.h"
#include "mesh_file.h"

#include <stdlib.h>

static const char *const mesh_pins[] = {"none", "top", NULL};
const sb_generator_param cloth_mesh_params[CLOTH_MESH_PARAMS] = {
    FILE_PATH("file", "mesh of triangles, OBJ or STL"),
    N("scale", "", "1", 1e-9, 1e9, "metres for each unit of the file"),
    N("height", "m", "0", -1e6, 1e6, "added to the heights of the file"),
    CHOICE("pins", "none", mesh_pins, "top: the highest particles are held"),
    N("mass", "kg/m^2", "0.2", 1e-6, 1e6, "mass per area"),
    N("thickness", "m", "0.01", 0.0, 10.0, "twice the radius of the particles"),
    N("young", "N/m", "2000", 0.0, 1e12, "Young's modulus times the thickness"),
    N("poisson", "", "0.3", 0.0, 0.49, "Poisson's ratio"),
    N("bending", "N m", "1e-4", 0.0, 1e6, "flexural rigidity"),
    N("damping", "N s/m", "0", 0.0, 1e6, "of the membrane"),
    N("bending_damping", "N m s", "0", 0.0, 1e6, "damping of the bending edges"),
    N("drag", "N s/m^3", "0", 0.0, 1e6, "force of the air along the surface"),
    N("lift", "N s/m^3", "0", 0.0, 1e6, "force of the air across the surface"),
    COUNT("flat_rest", "0", 0, 1, "1: at rest it is flat, 0: it keeps the angles of the file"),
    COUNT("self_contact", "0", 0, 1, "1: the cloth touches itself"),
    OBSTACLE_PARAMS};

/* Masses by the area around each vertex; a vertex of no triangle has none and becomes no particle. */
static double *areas_of(const mesh *m)
{
  double *area = calloc((size_t)m->vertex_count + 1, sizeof *area);
  for (uint32_t t = 0; area && t < m->triangle_count; t++) {
    const uint32_t *c = m->corner + 3 * (size_t)t;
    double u[3], v[3], n[3];
    for (int k = 0; k < 3; k++) {
      u[k] = m->vertex[3 * (size_t)c[1] + (size_t)k] - m->vertex[3 * (size_t)c[0] + (size_t)k];
      v[k] = m->vertex[3 * (size_t)c[2] + (size_t)k] - m->vertex[3 * (size_t)c[0] + (size_t)k];
    }
    cook_cross(u, v, n);
    double third = cook_sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]) / 6.0;
    for (int k = 0; k < 3; k++) area[c[k]] += third;
  }
  return area;
}

/* Particles of the mesh; which is whose, -1 for none. NULL without memory; free() it. */
static int32_t *add_particles(const mesh *m, const double *v, sb_model_builder *b)
{
  double *area = areas_of(m), top = 0.0;
  int32_t *particle = malloc(((size_t)m->vertex_count + 1) * sizeof *particle), next = sb_builder_particle_count(b);
  bool any = false;
  for (uint32_t i = 0; area && i < m->vertex_count; i++) {
    double z = m->vertex[3 * (size_t)i + 2];
    if (area[i] > 0.0 && (!any || z > top)) top = z, any = true;
  }
  for (uint32_t i = 0; area && particle && i < m->vertex_count; i++) {
    const double *x = m->vertex + 3 * (size_t)i;
    particle[i] = area[i] > 0.0 ? next++ : -1;
    if (particle[i] < 0) continue;
    sb_build_particle p = {.q = {x[0], x[1], x[2] + v[2]},
                           .mass = v[4] * area[i],
                           .radius = 0.5 * v[5],
                           .pinned = v[3] == 1.0 && x[2] == top};
    sb_builder_add_particle(b, &p);
  }
  if (!area) free(particle), particle = NULL;
  free(area);
  return particle;
}

sb_status make_cloth_mesh(const double *v, const generator_file *file, sb_model_builder *b, sb_diagnostics *diag)
{
  const double *around = v + CLOTH_MESH_PARAMS - OBSTACLE_PARAM_COUNT, scale[3] = {v[1], v[1], v[1]};
  uint64_t remaining = file->limit;
  mesh m = {0};
  if (!file->path)
    return sb_report(diag, SB_ERROR, SB_CODE_SCENE_PARAMETER, file->where,
                     "generator cloth_mesh needs the parameter file: the path of an OBJ or STL mesh");
  sb_status status = mesh_file_read(file->path, file->where, &remaining, scale, &m, diag);
  if (!status && !m.triangle_count)
    status =
        sb_report(diag, SB_ERROR, SB_CODE_SCENE_MESH, file->where, "%s: no triangle of it has an area", file->path);
  if (!status) {
    add_generated_deformable(b, around, v[14] != 0.0, "cloth");
    int32_t *particle = add_particles(&m, v, b), bad = -1;
    deformable_surface s = {.ke = v[6] / (2.0 * (1.0 + v[7])),
                            .ka = v[6] * v[7] / (1.0 - v[7] * v[7]),
                            .kd = v[9],
                            .drag = v[11],
                            .lift = v[12],
                            .rigidity = v[8],
                            .bending_kd = v[10],
                            .flat_rest = v[13] != 0.0};
    for (uint32_t t = 0; particle && t < m.triangle_count; t++) {
      const uint32_t *c = m.corner + 3 * (size_t)t;
      const int32_t tri[3] = {particle[c[0]], particle[c[1]], particle[c[2]]};
      if (!deformable_surface_add(&s, tri)) break;
    }
    if (!particle || !deformable_surface_build(&s, b, &bad))
      status = bad < 0 ? sb_report(diag, SB_ERROR, SB_CODE_MEMORY, file->where, "no memory for the cloth")
                       : sb_report(diag, SB_ERROR, SB_CODE_SCENE_MESH, file->where, "%s: triangle %d has no area",
                                   file->path, (int)bad);
    free(particle);
    add_generated_surroundings(b, around);
    sb_builder_set_dt(b, 1, 60);
  }
  mesh_clear(&m);
  return status;
}
