/* Cases of the entry and the factory. */
#include "case_list.h"

#include <string.h>

#include "fp_env.h"

bool case_load(sb_case_context *c)
{
  (void)c;
  return true; /* it has been loaded, or this would not run */
}

bool case_entry_magic(sb_case_context *c)
{
  return c->entry->magic == SB_PLUGIN_MAGIC || sb_case_fail(c, "magic is 0x%08x, expected 0x%08x", c->entry->magic, SB_PLUGIN_MAGIC);
}

bool case_entry_abi_major(sb_case_context *c)
{
  return c->entry->abi_major == SB_ABI_MAJOR || sb_case_fail(c, "built for ABI %u.%u, the host has %u.%u", c->entry->abi_major, c->entry->abi_minor, SB_ABI_MAJOR, SB_ABI_MINOR);
}

bool case_entry_abi_minor(sb_case_context *c)
{
  const sb_plugin_entry *e = c->entry;
  if (e->abi_minor < SB_ABI_MIN_MINOR) return sb_case_fail(c, "built for ABI %u.%u, the host goes back to %u.%u", e->abi_major, e->abi_minor, SB_ABI_MAJOR, SB_ABI_MIN_MINOR);
  if (e->abi_minor > SB_ABI_MINOR && e->abi_min_minor > SB_ABI_MINOR)
    return sb_case_fail(c, "needs ABI %u.%u, the host has %u.%u", e->abi_major, e->abi_min_minor, SB_ABI_MAJOR, SB_ABI_MINOR);
  return true;
}

bool case_entry_size(sb_case_context *c)
{
  return c->entry->struct_size == sizeof *c->entry || sb_case_fail(c, "the entry says %u bytes, this ABI has %zu", c->entry->struct_size, sizeof *c->entry);
}

bool case_entry_fp_flags(sb_case_context *c)
{
  const uint32_t wanted = SB_FP_EVAL_METHOD_0 | SB_FP_NO_FAST_MATH;
  return (c->entry->fp_flags & wanted) == wanted || sb_case_fail(c, "fp_flags is %u, bits %u are needed", c->entry->fp_flags, wanted);
}

bool case_entry_lanes(sb_case_context *c)
{
  return ((c->entry->lanes & 1u) && !(c->entry->lanes & ~13u)) || sb_case_fail(c, "the lane mask is %u", c->entry->lanes);
}

bool case_entry_compiler(sb_case_context *c)
{
  return (c->entry->compiler && *c->entry->compiler) || sb_case_fail(c, "no compiler is named");
}

bool case_entry_functions(sb_case_context *c) { return c->entry->get_factory || sb_case_fail(c, "get_factory is NULL"); }

bool case_environment_load(sb_case_context *c)
{
  if (c->text[0]) return false; /* loading it did, and was noted */
  sb_fp_env_enter();
  c->entry->get_factory(SB_SOLVER_FACTORY_ID);
  return sb_fp_env_is_standard() || sb_case_fail(c, "get_factory changed it: %s", sb_fp_env_fault());
}

bool case_negotiate(sb_case_context *c)
{
  if (!c->entry->negotiate) return true;
  sb_host_info info = {sizeof info, SB_ABI_MAJOR, SB_ABI_MINOR, SB_ABI_MIN_MINOR, SAMEBIT_VERSION};
  char reason[256] = "";
  sb_status status = c->entry->negotiate(&info, reason, sizeof reason);
  reason[sizeof reason - 1] = 0;
  if (!status) return true;
  return sb_case_fail(c, "it refuses this host: %s", reason[0] ? reason : "and gives no reason");
}

bool case_factory_known(sb_case_context *c)
{
  const sb_solver_factory *f = c->entry->get_factory(SB_SOLVER_FACTORY_ID);
  if (!f) return sb_case_fail(c, "it gives NULL");
  if (f->struct_size != sizeof *f) return sb_case_fail(c, "the factory says %u bytes, this ABI has %zu", f->struct_size, sizeof *f);
  if (!f->solver_count || !f->solvers) return sb_case_fail(c, "the factory has no solvers");
  for (uint32_t i = 0; i < f->solver_count; i++)
    if (!f->solvers[i]) return sb_case_fail(c, "solver %u is NULL", i);
  return true;
}

bool case_factory_unknown(sb_case_context *c)
{
  static const char *const ids[] = {"samebit.nothing/1", "", "samebit.solver/99"};
  for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++)
    if (c->entry->get_factory(ids[i])) return sb_case_fail(c, "get_factory(\"%s\") gives something", ids[i]);
  return true;
}

bool case_factory_stable(sb_case_context *c)
{
  return c->entry->get_factory(SB_SOLVER_FACTORY_ID) == c->entry->get_factory(SB_SOLVER_FACTORY_ID) || sb_case_fail(c, "two calls give two factories");
}
