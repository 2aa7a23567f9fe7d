/* The parts of a session: steps of sb_session_open, in the order in which it takes them. */
#ifndef SAMEBIT_HOST_SESSION_PARTS_H
#define SAMEBIT_HOST_SESSION_PARTS_H

#include "session.h"

/* One part for the collision pipeline and one for each [solver.NAME], with plugin, backend, asked mode and parameters. */
sb_status sb_session_find_parts(sb_session *session, const sb_session_options *options, sb_diagnostics *diag);
/* Gives every body to exactly one solver. */
sb_status sb_session_assign_bodies(sb_session *session, sb_diagnostics *diag);
/* Bodies of [collision] ccd. */
sb_status sb_session_find_ccd(sb_session *session, sb_diagnostics *diag);
/* Declared, verified, granted; SB_E_MODE with one diagnostic for each part that cannot keep what is asked of it. */
sb_status sb_session_grant_modes(sb_session *session, sb_diagnostics *diag);
/* The part list of the simulation config. */
sb_status sb_session_fill_sim(sb_session *session, sb_diagnostics *diag);

#endif
