/* The rules of particles and what ties them. C library only. */
#include "model_store_parts.h"

#define REQUIRE(condition, i, rule)                                                                                    \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      *index = (i);                                                                                                    \
      return rule;                                                                                                     \
    }                                                                                                                  \
  } while (0)

static const char *check_groups(const sb_model *m, uint32_t *index)
{
  uint32_t next = 0;
  for (uint32_t d = 0; d < m->deformable_count; d++) {
    REQUIRE(m->deformable_world[d] == 0, d, "its world is out of range");
    REQUIRE(m->deformable_first_particle[d] == (int32_t)next && m->deformable_particles[d] >= 1 &&
                m->deformable_particles[d] <= m->particle_count - next,
            d, "needs 1 particle or more, which follow those of the deformable before");
    for (uint32_t p = next; p < next + m->deformable_particles[d]; p++)
      REQUIRE(m->particle_deformable[p] == (int32_t)d, d, "holds a particle of another deformable");
    next += m->deformable_particles[d];
    REQUIRE(m->deformable_flags[d] <= SB_DEFORMABLE_SELF_CONTACT, d, "unknown flags");
    REQUIRE(m->deformable_friction[d] >= 0.0f && m->deformable_margin[d] >= 0.0f, d, "friction and margin must be 0 or more");
    REQUIRE(m->deformable_restitution[d] >= 0.0f && m->deformable_restitution[d] <= 1.0f, d, "restitution must be 0 to 1");
  }
  REQUIRE(next == m->particle_count, 0, "particles belong to no deformable");
  return NULL;
}

static const char *check_particles(const sb_model *m, uint32_t *index)
{
  for (uint32_t p = 0; p < m->particle_count; p++) {
    REQUIRE(m->particle_mass[p] > 0.0f, p, "mass must be above 0; pin it to hold it still");
    REQUIRE(m->particle_inv_mass[p] == 0.0f || m->particle_inv_mass[p] == sb_inverse_mass(m->particle_mass[p]), p,
            "inv_mass must be 0 (pinned) or 1 / mass");
    REQUIRE(m->particle_radius[p] >= 0.0f, p, "radius must be 0 or more");
  }
  return NULL;
}

/* n different particles of the model. */
static bool particles_known(const sb_model *m, const int32_t *particle, int n)
{
  for (int i = 0; i < n; i++) {
    if (particle[i] < 0 || (uint32_t)particle[i] >= m->particle_count) return false;
    for (int k = 0; k < i; k++)
      if (particle[k] == particle[i]) return false;
  }
  return true;
}

static const char *const unknown_particles = "its particles must be different ones of the model";

static const char *check_springs(const sb_model *m, uint32_t *index)
{
  for (uint32_t s = 0; s < m->spring_count; s++) {
    REQUIRE(particles_known(m, m->spring_indices + 2 * (size_t)s, 2), s, unknown_particles);
    REQUIRE(m->spring_rest_length[s] >= 0.0f, s, "rest_length must be 0 or more");
    REQUIRE(m->spring_stiffness[s] >= 0.0f && m->spring_damping[s] >= 0.0f, s, "stiffness and damping must be 0 or more");
  }
  return NULL;
}

static const char *check_tris(const sb_model *m, uint32_t *index)
{
  for (uint32_t t = 0; t < m->tri_count; t++) {
    const float *q = m->tri_pose + 4 * (size_t)t;
    REQUIRE(particles_known(m, m->tri_indices + 3 * (size_t)t, 3), t, unknown_particles);
    REQUIRE(m->tri_area[t] > 0.0f && q[0] * q[3] - q[1] * q[2] > 0.0f, t, "its rest area must be above 0");
    REQUIRE(m->tri_ke[t] >= 0.0f && m->tri_ka[t] >= 0.0f && m->tri_kd[t] >= 0.0f && m->tri_drag[t] >= 0.0f && m->tri_lift[t] >= 0.0f, t,
            "ke, ka, kd, drag and lift must be 0 or more");
  }
  return NULL;
}

static const char *check_edges(const sb_model *m, uint32_t *index)
{
  for (uint32_t e = 0; e < m->edge_count; e++) {
    const int32_t *i = m->edge_indices + 4 * (size_t)e;
    bool border = i[1] == -1;
    const int32_t known[4] = {i[0], i[2], i[3], i[1]};
    REQUIRE(particles_known(m, known, border ? 3 : 4), e, unknown_particles);
    REQUIRE(m->edge_rest_length[e] > 0.0f, e, "rest_length must be above 0");
    REQUIRE(m->edge_bending_ke[e] >= 0.0f && m->edge_bending_kd[e] >= 0.0f, e, "bending_ke and bending_kd must be 0 or more");
    REQUIRE(!border || (m->edge_bending_ke[e] == 0.0f && m->edge_bending_kd[e] == 0.0f), e, "an edge at a border cannot bend");
  }
  return NULL;
}

static const char *check_tets(const sb_model *m, uint32_t *index)
{
  for (uint32_t t = 0; t < m->tet_count; t++) {
    REQUIRE(particles_known(m, m->tet_indices + 4 * (size_t)t, 4), t, unknown_particles);
    REQUIRE(m->tet_volume[t] > 0.0f, t, "its rest volume must be above 0");
    REQUIRE(m->tet_k_mu[t] > 0.0f && m->tet_k_lambda[t] > 0.0f && m->tet_k_damp[t] >= 0.0f, t,
            "k_mu and k_lambda must be above 0, k_damp 0 or more");
  }
  return NULL;
}

static const char *check_attachments(const sb_model *m, uint32_t *index)
{
  for (uint32_t a = 0; a < m->attachment_count; a++) {
    REQUIRE(particles_known(m, m->attachment_particle + a, 1), a, "its particle must be one of the model");
    REQUIRE(m->attachment_body[a] >= -1 && m->attachment_body[a] < (int32_t)m->body_count, a, "its body is out of range");
    REQUIRE(m->attachment_stiffness[a] > 0.0f && m->attachment_damping[a] >= 0.0f, a, "stiffness must be above 0, damping 0 or more");
  }
  return NULL;
}

const char *sb_deformable_fault(const sb_model *m, const char **kind, uint32_t *index)
{
  static const struct {
    const char *kind;
    const char *(*check)(const sb_model *m, uint32_t *index);
  } steps[] = {{"deformable", check_groups}, {"particle", check_particles}, {"spring", check_springs},        {"triangle", check_tris},
               {"edge", check_edges},        {"tetrahedron", check_tets},   {"attachment", check_attachments}};
  for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
    const char *rule = steps[i].check(m, index);
    *kind = steps[i].kind;
    if (rule) return rule;
  }
  return NULL;
}
