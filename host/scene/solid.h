/* Mass properties of simple solids of uniform density. Source: any table of moments of inertia, for instance Goldstein,
 * Classical Mechanics; the capsule is a cylinder and two half balls, moved by the parallel axis theorem. */
#ifndef SAMEBIT_HOST_SOLID_H
#define SAMEBIT_HOST_SOLID_H

typedef enum solid_kind { SOLID_SPHERE, SOLID_CAPSULE, SOLID_BOX, SOLID_CYLINDER, SOLID_ELLIPSOID } solid_kind;

/* size: radius | radius, half length along z | half extents | radius, half length along z | half axes. Volume in m^3.
 */
double solid_volume(solid_kind kind, const double size[3]);
/* Tensor xx yy zz xy xz yz about the centre for a solid of the given mass. */
void solid_inertia(solid_kind kind, const double size[3], double mass, double inertia[6]);

#endif
