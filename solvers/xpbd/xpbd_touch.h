/* Particles that touch or are held by bodies, and particles near each other. */
#ifndef SAMEBIT_XPBD_TOUCH_H
#define SAMEBIT_XPBD_TOUCH_H

#include "xpbd_bodies.h"
#include "xpbd_setup.h"

typedef struct xp_attachment {
  uint32_t particle, body; /* records */
  float point[3];          /* in the body's frame; world where the body is `nobody` */
  float stiffness, damping, lambda[3];
} xp_attachment;

/* Multipliers of a particle's contact, and its velocity as predicted. */
typedef struct xp_particle_touch {
  float normal, slide[3], ahead[3];
} xp_particle_touch;

typedef struct xp_touches {
  const sb_bind *bind;
  const xp_cloth *cloth;
  xp_bodies *bodies;
  xp_attachment *attachments;
  uint32_t attachment_count;
  const sb_particle_contacts *contacts;
  xp_particle_touch *touch;  /* per contact */
  uint32_t *shared;          /* contacts with bodies of this instance, in order */
  uint32_t shared_count;
} xp_touches;

sb_status xp_touches_bind(xp_touches *touches, const sb_bind *bind, const xp_cloth *cloth, xp_bodies *bodies);
void xp_touches_begin(xp_touches *touches, const sb_step *step);
/* One iteration: all attachments; contacts of a part's particles with what this instance does not move; contacts with its own bodies. */
void xp_touches_attachments(xp_touches *touches, uint32_t iteration);
void xp_touches_part(xp_touches *touches, const xp_group *part, uint32_t iteration);
void xp_touches_shared(xp_touches *touches, uint32_t iteration);
/* Before velocities are known, and after. */
void xp_touches_keep_ahead(xp_touches *touches, const xp_group *part);
void xp_touches_bounce_part(xp_touches *touches, const xp_group *part);
void xp_touches_bounce_shared(xp_touches *touches);

#endif
