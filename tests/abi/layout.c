/* Prints where each field of each struct of the plugin ABI lies: struct, size, then field and offset. layout.sh compares with the file of
 * this version; a change there is a change of the ABI. */
#include <stddef.h>
#include <stdio.h>

#include "samebit/samebit.h"

#define BEGIN(type) printf(#type " %zu\n", sizeof(type));
#define FIELD(type, name) printf("  " #name " %zu\n", offsetof(type, name));

static void print_entry(void)
{
  BEGIN(sb_host_info)
  FIELD(sb_host_info, struct_size) FIELD(sb_host_info, abi_major) FIELD(sb_host_info, abi_minor) FIELD(sb_host_info, abi_min_minor)
  FIELD(sb_host_info, version)
  BEGIN(sb_plugin_entry)
  FIELD(sb_plugin_entry, struct_size) FIELD(sb_plugin_entry, magic) FIELD(sb_plugin_entry, abi_major) FIELD(sb_plugin_entry, abi_minor)
  FIELD(sb_plugin_entry, abi_min_minor) FIELD(sb_plugin_entry, fp_flags) FIELD(sb_plugin_entry, lanes) FIELD(sb_plugin_entry, reserved)
  FIELD(sb_plugin_entry, compiler) FIELD(sb_plugin_entry, negotiate) FIELD(sb_plugin_entry, get_factory)
}

static void print_solver(void)
{
  BEGIN(sb_param_desc)
  FIELD(sb_param_desc, struct_size) FIELD(sb_param_desc, type) FIELD(sb_param_desc, name) FIELD(sb_param_desc, unit) FIELD(sb_param_desc, text)
  FIELD(sb_param_desc, choices) FIELD(sb_param_desc, value) FIELD(sb_param_desc, minimum) FIELD(sb_param_desc, maximum)
  BEGIN(sb_golden)
  FIELD(sb_golden, struct_size) FIELD(sb_golden, backend) FIELD(sb_golden, scene) FIELD(sb_golden, hash)
  BEGIN(sb_solver_desc)
  FIELD(sb_solver_desc, struct_size) FIELD(sb_solver_desc, handles) FIELD(sb_solver_desc, id) FIELD(sb_solver_desc, version)
  FIELD(sb_solver_desc, vendor) FIELD(sb_solver_desc, text) FIELD(sb_solver_desc, mode) FIELD(sb_solver_desc, mode_reason)
  FIELD(sb_solver_desc, params) FIELD(sb_solver_desc, goldens) FIELD(sb_solver_desc, param_count) FIELD(sb_solver_desc, golden_count)
  FIELD(sb_solver_desc, param_size) FIELD(sb_solver_desc, golden_size)
  BEGIN(sb_host)
  FIELD(sb_host, struct_size) FIELD(sb_host, reserved) FIELD(sb_host, context) FIELD(sb_host, log) FIELD(sb_host, alloc)
  FIELD(sb_host, register_array) FIELD(sb_host, parallel_for) FIELD(sb_host, get_extension)
  BEGIN(sb_bind)
  FIELD(sb_bind, struct_size) FIELD(sb_bind, backend) FIELD(sb_bind, lanes) FIELD(sb_bind, body_count) FIELD(sb_bind, contact_capacity)
  FIELD(sb_bind, particle_count) FIELD(sb_bind, seed) FIELD(sb_bind, bodies) FIELD(sb_bind, particles) FIELD(sb_bind, particle_contact_capacity)
  FIELD(sb_bind, near_pair_capacity) FIELD(sb_bind, params) FIELD(sb_bind, model) FIELD(sb_bind, state) FIELD(sb_bind, host)
  BEGIN(sb_step)
  FIELD(sb_step, struct_size) FIELD(sb_step, reserved) FIELD(sb_step, tick) FIELD(sb_step, dt) FIELD(sb_step, reserved_f) FIELD(sb_step, contacts)
  FIELD(sb_step, match) FIELD(sb_step, body_q_before) FIELD(sb_step, particle_contacts) FIELD(sb_step, near_pairs)
  BEGIN(sb_solver_api)
  FIELD(sb_solver_api, struct_size) FIELD(sb_solver_api, reserved) FIELD(sb_solver_api, desc) FIELD(sb_solver_api, create) FIELD(sb_solver_api, bind)
  FIELD(sb_solver_api, activate) FIELD(sb_solver_api, step) FIELD(sb_solver_api, deactivate) FIELD(sb_solver_api, destroy)
  BEGIN(sb_solver_factory)
  FIELD(sb_solver_factory, struct_size) FIELD(sb_solver_factory, solver_count) FIELD(sb_solver_factory, solvers)
}

static void print_data(void)
{
  BEGIN(sb_array_desc)
  FIELD(sb_array_desc, struct_size) FIELD(sb_array_desc, type) FIELD(sb_array_desc, domain) FIELD(sb_array_desc, components)
  FIELD(sb_array_desc, count) FIELD(sb_array_desc, lane_block) FIELD(sb_array_desc, residence) FIELD(sb_array_desc, reserved)
  FIELD(sb_array_desc, name) FIELD(sb_array_desc, world_start)
#define SB_X_FIELD(type, name, comps, doc) FIELD(sb_contacts, name)
  BEGIN(sb_contacts)
  FIELD(sb_contacts, struct_size) FIELD(sb_contacts, count) FIELD(sb_contacts, capacity) SB_CONTACT_ARRAYS(SB_X_FIELD) FIELD(sb_contacts, world_start)
#undef SB_X_FIELD
#define SB_X_FIELD(type, name, comps, doc) FIELD(sb_particle_contacts, name)
  BEGIN(sb_particle_contacts)
  FIELD(sb_particle_contacts, struct_size) FIELD(sb_particle_contacts, count) FIELD(sb_particle_contacts, capacity)
  SB_PARTICLE_CONTACT_ARRAYS(SB_X_FIELD) FIELD(sb_particle_contacts, particle_start)
#undef SB_X_FIELD
#define SB_X_FIELD(type, name, comps, doc) FIELD(sb_near_pairs, name)
  BEGIN(sb_near_pairs)
  FIELD(sb_near_pairs, struct_size) FIELD(sb_near_pairs, count) FIELD(sb_near_pairs, capacity) SB_NEAR_PAIR_ARRAYS(SB_X_FIELD)
  FIELD(sb_near_pairs, world_start)
#undef SB_X_FIELD
#define SB_X_FIELD(domain, name, comps, doc) FIELD(sb_state, name)
  BEGIN(sb_state)
  FIELD(sb_state, struct_size) SB_STATE_ARRAYS(SB_X_FIELD)
#undef SB_X_FIELD
#define SB_X_COUNT(NAME, count) FIELD(sb_model, count)
#define SB_X_FIELD(domain, type, name, comps, ref, doc) FIELD(sb_model, name)
  BEGIN(sb_model)
  FIELD(sb_model, struct_size) SB_MODEL_DOMAINS(SB_X_COUNT) SB_MODEL_ARRAYS(SB_X_FIELD)
  FIELD(sb_model, world_body_start) FIELD(sb_model, world_coord_start) FIELD(sb_model, world_dof_start) FIELD(sb_model, world_shape_start)
  FIELD(sb_model, world_particle_start)
}

int main(void)
{
  printf("ABI %u.%u, pointers of %zu bytes\n", SB_ABI_MAJOR, SB_ABI_MINOR, sizeof(void *));
  print_entry();
  print_solver();
  print_data();
  return 0;
}
