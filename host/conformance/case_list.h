/* The functions behind the cases, by file. */
#ifndef SAMEBIT_HOST_CASE_LIST_H
#define SAMEBIT_HOST_CASE_LIST_H

#include "conformance.h"

/* cases_file.c */
bool case_file_place(sb_case_context *c);
#define SB_CASE_DECLARE_FILE(name, limit, text) bool case_file_##name(sb_case_context *c);
SB_AUDIT_RULES(SB_CASE_DECLARE_FILE)
#undef SB_CASE_DECLARE_FILE

/* cases_entry.c */
bool case_load(sb_case_context *c);
bool case_entry_magic(sb_case_context *c);
bool case_entry_abi_major(sb_case_context *c);
bool case_entry_abi_minor(sb_case_context *c);
bool case_entry_size(sb_case_context *c);
bool case_entry_fp_flags(sb_case_context *c);
bool case_entry_lanes(sb_case_context *c);
bool case_entry_compiler(sb_case_context *c);
bool case_entry_functions(sb_case_context *c);
bool case_environment_load(sb_case_context *c);
bool case_negotiate(sb_case_context *c);
bool case_factory_known(sb_case_context *c);
bool case_factory_unknown(sb_case_context *c);
bool case_factory_stable(sb_case_context *c);

/* cases_descriptor.c */
bool case_descriptor_sizes(sb_case_context *c, const sb_solver_api *api);
bool case_descriptor_functions(sb_case_context *c, const sb_solver_api *api);
bool case_descriptor_id(sb_case_context *c, const sb_solver_api *api);
bool case_descriptor_version(sb_case_context *c, const sb_solver_api *api);
bool case_descriptor_texts(sb_case_context *c, const sb_solver_api *api);
bool case_descriptor_modes(sb_case_context *c, const sb_solver_api *api);
bool case_descriptor_handles(sb_case_context *c, const sb_solver_api *api);
bool case_param_names(sb_case_context *c, const sb_solver_api *api);
bool case_param_texts(sb_case_context *c, const sb_solver_api *api);
bool case_param_ranges(sb_case_context *c, const sb_solver_api *api);
bool case_param_choices(sb_case_context *c, const sb_solver_api *api);
bool case_golden_table(sb_case_context *c, const sb_solver_api *api);
bool case_golden_present(sb_case_context *c, const sb_solver_api *api);

/* cases_life.c */
bool case_create(sb_case_context *c, const sb_solver_api *api);
bool case_bind_version(sb_case_context *c, const sb_solver_api *api);
bool case_bind_backend(sb_case_context *c, const sb_solver_api *api);
bool case_error_bounds(sb_case_context *c, const sb_solver_api *api);
bool case_bind(sb_case_context *c, const sb_solver_api *api);
bool case_environment_life(sb_case_context *c, const sb_solver_api *api);
bool case_bind_empty(sb_case_context *c, const sb_solver_api *api);
bool case_activate_dt(sb_case_context *c, const sb_solver_api *api);
bool case_step_version(sb_case_context *c, const sb_solver_api *api);
bool case_modes(sb_case_context *c, const sb_solver_api *api);
bool case_restart(sb_case_context *c, const sb_solver_api *api);
bool case_destroy_active(sb_case_context *c, const sb_solver_api *api);
bool case_leak(sb_case_context *c, const sb_solver_api *api);

/* cases_run.c */
bool case_steps(sb_case_context *c, const sb_solver_api *api);
bool case_environment_step(sb_case_context *c, const sb_solver_api *api);
bool case_finite(sb_case_context *c, const sb_solver_api *api);
bool case_free_joints(sb_case_context *c, const sb_solver_api *api);
bool case_growth(sb_case_context *c, const sb_solver_api *api);
bool case_instances(sb_case_context *c, const sb_solver_api *api);
bool case_golden_match(sb_case_context *c, const sb_solver_api *api);
bool case_param_effect(sb_case_context *c, const sb_solver_api *api);
bool case_param_limits(sb_case_context *c, const sb_solver_api *api);
bool case_hostile_nan(sb_case_context *c, const sb_solver_api *api);
bool case_hostile_huge(sb_case_context *c, const sb_solver_api *api);

/* cases_behaviour.c: a check of behaviour.h on each micro-scene */
#define SB_CASE_BEHAVIOURS(X) X(bounds) X(repeat) X(lanes) X(memory) X(shuffle) X(threads) X(padding) X(worlds) X(crowd) X(unrelated) X(ownership) X(model) X(snapshot) X(reset)
#define SB_CASE_DECLARE_BEHAVIOUR(name) bool case_##name(sb_case_context *c, const sb_solver_api *api);
SB_CASE_BEHAVIOURS(SB_CASE_DECLARE_BEHAVIOUR)
#undef SB_CASE_DECLARE_BEHAVIOUR

#endif
