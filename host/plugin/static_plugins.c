/* The list of linked plugins. */
#include "static_plugins.h"

#include <string.h>

#include "static_plugin_list.h" /* STATIC_PLUGINS(X), X(name) for each solver: written by the build */

#define X_DECLARE(name) extern const sb_plugin_entry samebit_plugin_##name;
STATIC_PLUGINS(X_DECLARE)
#undef X_DECLARE

static const sb_plugin_entry *const entries[] = {
#define X_ENTRY(name) &samebit_plugin_##name,
    STATIC_PLUGINS(X_ENTRY)
#undef X_ENTRY
};

const sb_solver_api *sb_static_solver_at(size_t index)
{
  for (size_t e = 0; e < sizeof entries / sizeof entries[0]; e++) {
    const sb_solver_factory *factory = entries[e]->get_factory(SB_SOLVER_FACTORY_ID);
    size_t count = factory ? factory->solver_count : 0;
    if (index < count) return factory->solvers[index];
    index -= count;
  }
  return NULL;
}

const sb_solver_api *sb_static_solver(const char *id)
{
  for (size_t i = 0; sb_static_solver_at(i); i++)
    if (!strcmp(sb_static_solver_at(i)->desc->id, id)) return sb_static_solver_at(i);
  return NULL;
}
