/* Mass properties of simple solids, in binary64. Knows only its header and the value of pi. */
#include "solid.h"

#include "cook_math.h"

double solid_volume(solid_kind kind, const double s[3])
{
  switch (kind) {
  case SOLID_SPHERE:
    return 4.0 / 3.0 * COOK_PI * (s[0] * s[0] * s[0]);
  case SOLID_CAPSULE:
    return COOK_PI * (s[0] * s[0]) * (2.0 * s[1]) + 4.0 / 3.0 * COOK_PI * (s[0] * s[0] * s[0]);
  case SOLID_BOX:
    return 8.0 * (s[0] * s[1] * s[2]);
  case SOLID_CYLINDER:
    return COOK_PI * (s[0] * s[0]) * (2.0 * s[1]);
  case SOLID_ELLIPSOID:
    return 4.0 / 3.0 * COOK_PI * (s[0] * s[1] * s[2]);
  }
  return 0.0;
}

static void capsule_inertia(double r, double h, double mass, double *along, double *across)
{
  /* Shares by volume: cylinder 2 h pi r^2, ball 4/3 pi r^3; common factor 2 pi r^2 taken out. */
  double cylinder = h / (h + 2.0 / 3.0 * r), mc = mass * cylinder, mb = mass - mc, l = 2.0 * h;
  *along = mc * (r * r) / 2.0 + mb * 0.4 * (r * r);
  /* Half ball: centre of mass at 3/8 r from its flat side, which lies h from the middle. */
  *across = mc * (l * l / 12.0 + r * r / 4.0) + mb * ((0.4 * (r * r) + l * l / 4.0) + 3.0 / 8.0 * l * r);
}

void solid_inertia(solid_kind kind, const double s[3], double mass, double inertia[6])
{
  double x = 0.0, y = 0.0, z = 0.0;
  switch (kind) {
  case SOLID_SPHERE:
    x = y = z = 0.4 * mass * (s[0] * s[0]);
    break;
  case SOLID_CAPSULE:
    capsule_inertia(s[0], s[1], mass, &z, &x);
    y = x;
    break;
  case SOLID_BOX:
    x = mass / 3.0 * (s[1] * s[1] + s[2] * s[2]);
    y = mass / 3.0 * (s[0] * s[0] + s[2] * s[2]);
    z = mass / 3.0 * (s[0] * s[0] + s[1] * s[1]);
    break;
  case SOLID_CYLINDER:
    x = y = mass * (s[0] * s[0] / 4.0 + s[1] * s[1] / 3.0);
    z = mass * (s[0] * s[0]) / 2.0;
    break;
  case SOLID_ELLIPSOID:
    x = mass / 5.0 * (s[1] * s[1] + s[2] * s[2]);
    y = mass / 5.0 * (s[0] * s[0] + s[2] * s[2]);
    z = mass / 5.0 * (s[0] * s[0] + s[1] * s[1]);
    break;
  }
  inertia[0] = x, inertia[1] = y, inertia[2] = z;
  inertia[3] = inertia[4] = inertia[5] = 0.0;
}
