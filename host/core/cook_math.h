/* Binary64 mathematics for cooking: the same bits on every machine, because it needs + - * / and the square root alone.
 *
 * Vectors are double[3], quaternions double[4] (x, y, z, w), poses double[7] (position, quaternion), symmetric matrices
 * double[6] (xx yy zz xy xz yz). Results may alias arguments. */
#ifndef SAMEBIT_HOST_COOK_MATH_H
#define SAMEBIT_HOST_COOK_MATH_H

#include <stdbool.h>
#include <stdint.h>

#define COOK_PI 3.14159265358979323846

/* |x| up to 1e6 rad, within 1 ulp of the true value or so; NaN beyond, which every caller reports as a bad number. */
double cook_sin(double x);
double cook_cos(double x);
/* Angle of the point (x, y), within 1 ulp or so; 0 for the origin. */
double cook_atan2(double y, double x);
double cook_sqrt(double x);
double cook_abs(double x);
/* Neither NaN nor infinite. */
bool cook_finite(double x);

double cook_dot(const double a[3], const double b[3]);
void cook_cross(const double a[3], const double b[3], double out[3]);
double cook_length(const double a[3]);
/* Unit vector; false (and out untouched) when |a| is below 1e-12 or not finite. */
bool cook_normalize(const double a[3], double out[3]);

void cook_quat_identity(double q[4]);
void cook_quat_mul(const double a[4], const double b[4], double out[4]);
void cook_quat_conj(const double a[4], double out[4]);
void cook_quat_rotate(const double q[4], const double v[3], double out[3]);
/* False when the norm is below 1e-12 or not finite. */
bool cook_quat_normalize(double q[4]);
/* Turn by `angle` about the unit axis. */
void cook_quat_axis_angle(const double axis[3], double angle, double out[4]);
/* Three turns about the axes that `sequence` names: x y z about axes that turn along, X Y Z about fixed ones. */
bool cook_quat_euler(const double angles[3], const char *sequence, double out[4]);
/* Frame whose x axis is along x and whose y axis is y made orthogonal to it. */
bool cook_quat_xy_axes(const double x[3], const double y[3], double out[4]);
/* The smallest turn that takes +z to the direction z (about x when z points down). */
bool cook_quat_z_axis(const double z[3], double out[4]);
/* Rows of the rotation matrix, 9 numbers. */
void cook_quat_matrix(const double q[4], double m[9]);
/* Quaternion of a rotation matrix given by rows (Shepperd 1978). */
void cook_matrix_quat(const double m[9], double q[4]);

void cook_pose_identity(double x[7]);
void cook_pose_mul(const double a[7], const double b[7], double out[7]);
void cook_pose_point(const double a[7], const double p[3], double out[3]);

/* Inertia tensor in axes that q turns to: R I R^T. */
void cook_inertia_rotate(const double q[4], const double in[6], double out[6]);
/* Adds the tensor of a point mass m at offset d (parallel axis theorem). */
void cook_inertia_add_point(double m, const double d[3], double io[6]);
/* Eigenvalues of a symmetric 3 x 3 matrix, ascending, and the unit eigenvectors as columns of `vectors`, 9 numbers by
 * rows (cyclic Jacobi, fixed number of sweeps). */
void cook_eigen(const double s[6], double values[3], double vectors[9]);
/* Rest data of a triangle from its rest corners: inverse of [x1 - x0, x2 - x0] in its own plane (x axis along x1 - x0), row by row, and
 * its area; false where it is degenerate or not finite. */
bool cook_tri_rest(const double x0[3], const double x1[3], const double x2[3], double pose[4], double *area);
/* The same for a tetrahedron: inverse of [x1 - x0, x2 - x0, x3 - x0], row by row, and its volume; false where that is not above 0. */
bool cook_tet_rest(const double x0[3], const double x1[3], const double x2[3], const double x3[3], double pose[9], double *volume);

/* Inverse by cofactors; false unless the matrix is positive definite and the inverse finite. */
bool cook_inertia_inverse(const double s[6], double out[6]);

#endif
