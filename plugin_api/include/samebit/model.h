/* The model: everything about a scene that does not change while it runs.
 *
 * One list, SB_MODEL_ARRAYS, names every array with its domain, element type, components and meaning. Allocation, cooked
 * files, replication over worlds, hashing and printing all expand it. New arrays are appended, never inserted.
 *
 * Units are SI. Poses are 7 floats: position (m) and quaternion (x, y, z, w). World frame means the frame of the entity's
 * own world. Index -1 stands for the world itself.
 *
 * Tree joints: joint j has body j as its child, and its parent has a lower index. Free bodies have a FREE joint to the
 * world, bodies bolted to the world a FIXED one. So body_count == joint_count.
 * Kinematics: X(child) = X(parent) * joint_X_p * J(q), where J is
 *   FIXED  identity
 *   FREE   the pose in q itself, in the world frame (joint_X_p is the identity and joint_parent is -1)
 *   BALL   translate(anchor) * rotate(q) * translate(-anchor)
 *   AXES   the product, in dof order, of translate(axis * (q - ref)) for a linear dof and
 *          translate(anchor) * rotate(axis, q - ref) * translate(-anchor) for an angular one (1 to 6 dofs; one dof is
 *          a revolute or prismatic joint). Axis and anchor are in the child body's frame before the joint moves.
 * joint_q holds 7 coordinates for FREE, 4 (quaternion) for BALL, one per dof for AXES. joint_qd holds 6 for FREE (linear
 * velocity of the centre of mass, then angular velocity, world frame), 3 for BALL (angular velocity in the child's frame),
 * one per dof for AXES.
 *
 * Deformables (rope, cloth, soft bodies, loose grains) are groups of particles, each a point mass with a radius; springs, triangles,
 * bending edges and tetrahedra tie particles together. Elements lie in any order; an element's particles may belong to two
 * deformables of one solver. A particle with inv_mass 0 is pinned: it stays where it is. Stiffnesses are those of the material, whatever solver
 * and step use them:
 *   spring        force = stiffness * (length - rest_length) + damping * (rate of the length)
 *   triangle      energy density, for each unit of rest area, of the stretch F (3 x 2, F = [x1 - x0, x2 - x0] tri_pose):
 *                 ke * |E|^2 + ka / 2 * tr(E)^2 with the Green strain E = (F'F - 1) / 2 (St. Venant-Kirchhoff; ke and ka are the Lame
 *                 parameters mu and lambda of the plane, times the thickness), and kd / 2 * |rate of E|^2 as its dissipation
 *   drag, lift    force of the air on a triangle of area A, unit normal n and velocity v: -A * (drag * v_t + lift * v_n), with v_n
 *                 along n and v_t in the plane
 *   bending edge  energy = bending_ke / 2 * (angle - rest_angle)^2, dissipation bending_kd / 2 * (rate of the angle)^2; the angle is between
 *                 the normals of its triangles (particles 2, 3, 0 and 3, 2, 1), 0 when flat, positive when the normals part
 *   tetrahedron   energy density, for each unit of rest volume, of the deformation gradient F (F = [x1 - x0, x2 - x0, x3 - x0] tet_pose):
 *                 stable neo-Hookean (Smith, de Goes, Kim 2018) that has the Lame parameters k_mu and k_lambda at small strain:
 *                 mu / 2 * (tr(F'F) - 3) + L / 2 * (J - 1 - mu / L)^2 + constant, mu = k_mu, L = k_lambda + k_mu, J = det F; dissipation
 *                 k_damp / 2 * |rate of E|^2, E = (F'F - 1) / 2 */
#ifndef SAMEBIT_MODEL_H
#define SAMEBIT_MODEL_H

#include "samebit/fp_guard.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* joint_type */
#define SB_JOINT_FIXED 0u
#define SB_JOINT_FREE 1u
#define SB_JOINT_BALL 2u
#define SB_JOINT_AXES 3u
/* dof_kind */
#define SB_DOF_LINEAR 0u  /* q in m */
#define SB_DOF_ANGULAR 1u /* q in rad */
/* shape_type; shape_size holds */
#define SB_SHAPE_PLANE 0u   /* nothing; the half space below local +z through the origin */
#define SB_SHAPE_SPHERE 1u  /* radius, 0, 0 */
#define SB_SHAPE_CAPSULE 2u /* radius, half length of the segment along local z, 0 */
#define SB_SHAPE_BOX 3u     /* half extents */
#define SB_SHAPE_CYLINDER 4u  /* radius, half length along local z, 0 */
#define SB_SHAPE_ELLIPSOID 5u /* half axes */
#define SB_SHAPE_HULL 6u      /* half extents of its geometry, a convex polytope */
#define SB_SHAPE_MESH 7u      /* half extents of its geometry, triangles; on static bodies only */
#define SB_SHAPE_HFIELD 8u    /* half extents of its geometry, heights on a grid; solid below; on static bodies only */
#define SB_SHAPE_TYPE_COUNT 9u
/* Vertices of a hull, and corners of one of its faces, at most. */
#define SB_HULL_MAX_VERTICES 64u
#define SB_HULL_MAX_CORNERS 16u
/* body_flags */
#define SB_BODY_STATIC 1u /* bolted to the world through FIXED joints; never moves */
/* actuator_kind */
#define SB_ACTUATOR_MOTOR 0u    /* joint_f += gear * ctrl; on a tendon joint_f += coef * (gear * ctrl) for each term */
#define SB_ACTUATOR_POSITION 1u /* joint_target_q = ctrl / gear; the dof's target_ke and target_kd are cooked in */
#define SB_ACTUATOR_VELOCITY 2u /* joint_target_qd = ctrl / gear; the dof's target_kd is cooked in */
/* equality_type: what the constraint holds
 * CONNECT  the points anchor_a of body a and anchor_b of body b coincide
 * WELD     the points coincide, and orientation(b) = orientation(a) * relpose
 * JOINT    q0 - ref0 = sum over k of poly[k] * (q1 - ref1)^k, with q0 and q1 the coordinates of both dofs and ref their
 *          joint_ref; without a second dof q0 - ref0 = poly[0] */
#define SB_EQUALITY_CONNECT 0u
#define SB_EQUALITY_WELD 1u
#define SB_EQUALITY_JOINT 2u
/* sensor_type: X(NAME, numbers, what it is of, meaning). Of: DOF a dof of an AXES joint, BALL the first dof of a BALL joint,
 * TENDON, ACTUATOR, FRAME a frame in a body, seen from the reference frame where RELATIVE, or NONE. Values are those after a
 * tick; accelerations are the change of velocity over the tick, by dt, minus gravity, so that at rest they point up. */
#define SB_SENSORS(X)                                                                                                  \
  X(JOINT_POS, 1, DOF, "m or rad, coordinate")                                                                         \
  X(JOINT_VEL, 1, DOF, "m/s or rad/s")                                                                                 \
  X(JOINT_LIMIT_POS, 1, DOF, "m or rad, distance beyond the limit that is passed, below 0; 0 between the limits")      \
  X(JOINT_LIMIT_VEL, 1, DOF, "m/s or rad/s away from the limit that is passed; 0 between the limits")                  \
  X(JOINT_ACTUATOR_FORCE, 1, DOF, "N or N m of all motors and drives on the dof, within its effort limit")             \
  X(BALL_QUAT, 4, BALL, "quaternion of the joint, xyzw")                                                               \
  X(BALL_ANG_VEL, 3, BALL, "rad/s, child's frame")                                                                     \
  X(TENDON_POS, 1, TENDON, "length")                                                                                   \
  X(TENDON_VEL, 1, TENDON, "rate of the length")                                                                       \
  X(ACTUATOR_POS, 1, ACTUATOR, "gear times the coordinate or length that it drives")                                   \
  X(ACTUATOR_VEL, 1, ACTUATOR, "gear times the rate")                                                                  \
  X(ACTUATOR_FORCE, 1, ACTUATOR, "force before the gear")                                                              \
  X(FRAME_POS, 3, RELATIVE, "m")                                                                                       \
  X(FRAME_QUAT, 4, RELATIVE, "quaternion xyzw")                                                                        \
  X(FRAME_X_AXIS, 3, RELATIVE, "x axis of the frame")                                                                  \
  X(FRAME_Y_AXIS, 3, RELATIVE, "y axis of the frame")                                                                  \
  X(FRAME_Z_AXIS, 3, RELATIVE, "z axis of the frame")                                                                  \
  X(FRAME_LIN_VEL, 3, RELATIVE, "m/s")                                                                                 \
  X(FRAME_ANG_VEL, 3, RELATIVE, "rad/s")                                                                               \
  X(FRAME_LIN_ACC, 3, FRAME, "m/s^2, world axes")                                                                      \
  X(FRAME_ANG_ACC, 3, FRAME, "rad/s^2, world axes")                                                                    \
  X(GYRO, 3, FRAME, "rad/s, axes of the frame")                                                                        \
  X(VELOCIMETER, 3, FRAME, "m/s, axes of the frame")                                                                   \
  X(ACCELEROMETER, 3, FRAME, "m/s^2, axes of the frame")                                                               \
  X(CLOCK, 1, NONE, "s, ticks times dt")
enum {
#define SB_X_SENSOR(NAME, numbers, of, doc) SB_SENSOR_##NAME,
  SB_SENSORS(SB_X_SENSOR)
#undef SB_X_SENSOR
      SB_SENSOR_TYPE_COUNT
};
/* deformable_flags */
#define SB_DEFORMABLE_SELF_CONTACT 1u /* its particles, triangles and edges touch each other */
/* "no limit" in limit arrays; as a stiffness: rigid */
#define SB_NO_LIMIT 3.0e38f

/* Domains: X(NAME, count field). Geometry belongs to no world: all worlds share it, and replication leaves it as it is. */
#define SB_MODEL_DOMAINS(X)                                                                                            \
  X(WORLD, world_count)                                                                                                \
  X(BODY, body_count)                                                                                                  \
  X(COORD, coord_count)                                                                                                \
  X(DOF, dof_count)                                                                                                    \
  X(SHAPE, shape_count)                                                                                                \
  X(ACTUATOR, actuator_count)                                                                                          \
  X(EXCLUDE, exclude_count)                                                                                            \
  X(PAIR, pair_count)                                                                                                  \
  X(EQUALITY, equality_count)                                                                                          \
  X(TENDON, tendon_count)                                                                                              \
  X(TENDON_TERM, tendon_term_count)                                                                                    \
  X(SENSOR, sensor_count)                                                                                             \
  X(GEOMETRY, geometry_count)                                                                                          \
  X(GEOMETRY_VERTEX, geometry_vertex_count)                                                                            \
  X(GEOMETRY_FACE, geometry_face_count)                                                                                \
  X(GEOMETRY_CORNER, geometry_corner_count)                                                                            \
  X(GEOMETRY_NODE, geometry_node_count)                                                                                \
  X(GEOMETRY_HEIGHT, geometry_height_count)                                                                            \
  X(DEFORMABLE, deformable_count)                                                                                      \
  X(PARTICLE, particle_count)                                                                                          \
  X(SPRING, spring_count)                                                                                              \
  X(TRI, tri_count)                                                                                                    \
  X(EDGE, edge_count)                                                                                                  \
  X(TET, tet_count)                                                                                                    \
  X(ATTACHMENT, attachment_count)

/* X(DOMAIN, ctype, name, components, reference, unit and meaning)
 * reference says which domain an index array points into (for replication): NONE or a domain.
 *
 * Geometry has its origin in the middle of its bounding box. Indices inside one geometry (vertices, faces, nodes) count from its own
 * first. Corners of a face go round its outward normal counter-clockwise. Nodes are an AABB tree in preorder: where a node's box is
 * missed, the walk goes on at node_next. A heightfield has its columns along x and its rows along y, both from the negative end. */
#define SB_MODEL_ARRAYS(X)                                                                                             \
  X(WORLD, float, gravity, 3, NONE, "m/s^2, world frame")                                                              \
  X(WORLD, uint32_t, world_key, 1, NONE, "key of the world in random streams")                                         \
  X(BODY, int32_t, body_world, 1, WORLD, "world of the body")                                                          \
  X(BODY, uint32_t, body_flags, 1, NONE, "SB_BODY_* bits")                                                             \
  X(BODY, float, body_q, 7, NONE, "initial pose of the body frame")                                                    \
  X(BODY, float, body_qd, 6, NONE, "initial linear (m/s, at the centre of mass) and angular (rad/s) velocity")         \
  X(BODY, float, body_mass, 1, NONE, "kg; 0 for a static body")                                                        \
  X(BODY, float, body_inv_mass, 1, NONE, "1/kg; 0 for a static body")                                                  \
  X(BODY, float, body_com, 3, NONE, "m, centre of mass in the body frame")                                             \
  X(BODY, float, body_inertia, 6, NONE, "kg m^2 about the centre of mass, body axes: xx yy zz xy xz yz")               \
  X(BODY, float, body_inv_inertia, 6, NONE, "inverse of body_inertia; 0 for a static body")                            \
  X(BODY, int32_t, body_weld, 1, BODY, "first body of the group joined by FIXED joints; -1 when that is the world")    \
  X(BODY, int32_t, body_weld_parent, 1, BODY, "body_weld of the group's parent; -1 the world, itself when free")       \
  X(BODY, uint32_t, joint_type, 1, NONE, "SB_JOINT_*")                                                                 \
  X(BODY, int32_t, joint_parent, 1, BODY, "parent body or -1")                                                         \
  X(BODY, float, joint_X_p, 7, NONE, "joint frame in the parent body")                                                 \
  X(BODY, int32_t, joint_q_start, 1, COORD, "first coordinate in joint_q")                                             \
  X(BODY, int32_t, joint_qd_start, 1, DOF, "first dof in joint_qd")                                                    \
  X(BODY, uint32_t, joint_dof_count, 1, NONE, "0 FIXED, 6 FREE, 3 BALL, 1 to 6 AXES")                                  \
  X(COORD, float, joint_q, 1, NONE, "initial joint coordinates")                                                       \
  X(DOF, float, joint_qd, 1, NONE, "initial joint velocities")                                                         \
  X(DOF, uint32_t, dof_kind, 1, NONE, "SB_DOF_*")                                                                      \
  X(DOF, float, joint_axis, 3, NONE, "unit axis, child body frame")                                                    \
  X(DOF, float, joint_anchor, 3, NONE, "m, point on an angular dof's axis, child body frame")                          \
  X(DOF, float, joint_ref, 1, NONE, "coordinate at which the joint does not displace the child")                       \
  X(DOF, float, joint_armature, 1, NONE, "kg or kg m^2 added at the joint")                                            \
  X(DOF, float, joint_damping, 1, NONE, "N s/m or N m s/rad")                                                          \
  X(DOF, float, joint_stiffness, 1, NONE, "N/m or N m/rad towards joint_spring_ref")                                   \
  X(DOF, float, joint_spring_ref, 1, NONE, "rest coordinate of the spring")                                            \
  X(DOF, float, joint_friction, 1, NONE, "N or N m of dry friction")                                                   \
  X(DOF, float, joint_limit_lower, 1, NONE, "m or rad; -SB_NO_LIMIT for none")                                         \
  X(DOF, float, joint_limit_upper, 1, NONE, "m or rad; SB_NO_LIMIT for none")                                          \
  X(DOF, float, joint_effort_limit, 1, NONE, "N or N m, of drive plus motor; SB_NO_LIMIT for none")                    \
  X(DOF, float, joint_velocity_limit, 1, NONE, "m/s or rad/s; SB_NO_LIMIT for none")                                   \
  X(DOF, float, joint_target_ke, 1, NONE, "drive stiffness, N/m or N m/rad")                                           \
  X(DOF, float, joint_target_kd, 1, NONE, "drive damping, N s/m or N m s/rad")                                         \
  X(DOF, float, joint_target_q, 1, NONE, "initial drive target, m or rad")                                             \
  X(DOF, float, joint_target_qd, 1, NONE, "initial drive target velocity, m/s or rad/s")                               \
  X(SHAPE, uint32_t, shape_type, 1, NONE, "SB_SHAPE_*")                                                                \
  X(SHAPE, int32_t, shape_body, 1, BODY, "body or -1 for the world")                                                   \
  X(SHAPE, int32_t, shape_world, 1, WORLD, "world of the shape")                                                       \
  X(SHAPE, float, shape_X, 7, NONE, "shape frame in the body")                                                         \
  X(SHAPE, float, shape_size, 3, NONE, "m, by type")                                                                   \
  X(SHAPE, float, shape_friction, 3, NONE, "sliding (1), torsional (m), rolling (m) coefficients")                     \
  X(SHAPE, float, shape_restitution, 1, NONE, "coefficient of restitution, 0 to 1")                                    \
  X(SHAPE, float, shape_margin, 1, NONE, "m; a contact is made when the gap is below the sum of both margins")         \
  X(SHAPE, uint32_t, shape_contype, 1, NONE, "a pair may collide when contype of one meets conaffinity of the other")  \
  X(SHAPE, uint32_t, shape_conaffinity, 1, NONE, "see shape_contype")                                                  \
  X(SHAPE, uint32_t, shape_condim, 1, NONE, "1 frictionless, 3 sliding, 4 torsional, 6 rolling; a pair takes the larger") \
  X(ACTUATOR, uint32_t, actuator_kind, 1, NONE, "SB_ACTUATOR_*")                                                       \
  X(ACTUATOR, int32_t, actuator_dof, 1, DOF, "driven dof; -1 when it drives a tendon")                                 \
  X(ACTUATOR, float, actuator_gear, 1, NONE, "force or torque per unit of control")                                    \
  X(ACTUATOR, float, actuator_ctrl_lower, 1, NONE, "control range; -SB_NO_LIMIT for none")                             \
  X(ACTUATOR, float, actuator_ctrl_upper, 1, NONE, "control range; SB_NO_LIMIT for none")                              \
  X(ACTUATOR, float, actuator_ctrl, 1, NONE, "initial control")                                                        \
  X(EXCLUDE, int32_t, exclude_body, 2, BODY, "bodies whose shapes never collide with each other, lower index first")   \
  X(PAIR, int32_t, pair_shape, 2, SHAPE, "shapes that always collide, lower index first; the pair's own friction rules") \
  X(PAIR, float, pair_friction, 3, NONE, "as shape_friction")                                                          \
  X(PAIR, float, pair_restitution, 1, NONE, "as shape_restitution")                                                    \
  X(PAIR, float, pair_margin, 1, NONE, "m, in place of the sum of both shapes' margins")                               \
  X(PAIR, uint32_t, pair_condim, 1, NONE, "as shape_condim")                                                           \
  X(DOF, int32_t, dof_body, 1, BODY, "body whose joint has the dof")                                                   \
  X(DOF, int32_t, dof_coord, 1, COORD, "coordinate of an AXES joint's dof; -1 for FREE and BALL")                      \
  X(EQUALITY, uint32_t, equality_type, 1, NONE, "SB_EQUALITY_*")                                                       \
  X(EQUALITY, int32_t, equality_body, 2, BODY, "bodies a and b, -1 the world; JOINT: the bodies of its dofs")          \
  X(EQUALITY, float, equality_anchor_a, 3, NONE, "m, point in the frame of body a; of the world when a is -1")         \
  X(EQUALITY, float, equality_anchor_b, 3, NONE, "m, point in the frame of body b; of the world when b is -1")         \
  X(EQUALITY, float, equality_relpose, 4, NONE, "WELD: quaternion of b in a; else the identity")                       \
  X(EQUALITY, int32_t, equality_dof, 2, DOF, "JOINT: dofs of AXES joints, the second may be -1; else -1 -1")           \
  X(EQUALITY, float, equality_poly, 5, NONE, "JOINT: coefficients of the powers 0 to 4; else 0")                       \
  X(TENDON, int32_t, tendon_world, 1, WORLD, "world of the tendon")                                                    \
  X(TENDON, int32_t, tendon_first_term, 1, TENDON_TERM, "first of its terms; length = sum of coef * q, in order")      \
  X(TENDON, uint32_t, tendon_terms, 1, NONE, "number of its terms, 1 or more")                                         \
  X(TENDON, float, tendon_limit_lower, 1, NONE, "m or rad, of the length; -SB_NO_LIMIT for none")                      \
  X(TENDON, float, tendon_limit_upper, 1, NONE, "m or rad, of the length; SB_NO_LIMIT for none")                       \
  X(TENDON, float, tendon_stiffness, 1, NONE, "N/m or N m/rad, towards the spring's dead band")                        \
  X(TENDON, float, tendon_damping, 1, NONE, "N s/m or N m s/rad")                                                      \
  X(TENDON, float, tendon_friction, 1, NONE, "N or N m of dry friction")                                               \
  X(TENDON, float, tendon_spring_lower, 1, NONE, "m or rad, lower end of the dead band, where the spring is slack")    \
  X(TENDON, float, tendon_spring_upper, 1, NONE, "m or rad, upper end of the dead band")                               \
  X(TENDON_TERM, int32_t, tendon_term_tendon, 1, TENDON, "tendon of the term")                                         \
  X(TENDON_TERM, int32_t, tendon_term_dof, 1, DOF, "dof of an AXES joint; a tendon has each dof once")                 \
  X(TENDON_TERM, float, tendon_term_coef, 1, NONE, "length per unit of the coordinate")                                \
  X(ACTUATOR, int32_t, actuator_tendon, 1, TENDON, "driven tendon; -1 for none")                                       \
  X(SENSOR, uint32_t, sensor_type, 1, NONE, "SB_SENSOR_*")                                                             \
  X(SENSOR, int32_t, sensor_world, 1, WORLD, "world of the sensor")                                                    \
  X(SENSOR, int32_t, sensor_body, 1, BODY, "body of the frame that it measures; -1 the world")                         \
  X(SENSOR, float, sensor_X, 7, NONE, "that frame in the body")                                                        \
  X(SENSOR, int32_t, sensor_ref_body, 1, BODY, "body of the reference frame; -1 the world")                            \
  X(SENSOR, float, sensor_ref_X, 7, NONE, "reference frame in its body")                                               \
  X(SENSOR, int32_t, sensor_dof, 1, DOF, "dof that it measures; -1 for none")                                          \
  X(SENSOR, int32_t, sensor_tendon, 1, TENDON, "tendon that it measures; -1 for none")                                 \
  X(SENSOR, int32_t, sensor_actuator, 1, ACTUATOR, "actuator that it measures; -1 for none")                           \
  X(SENSOR, float, sensor_cutoff, 1, NONE, "largest size of a value, except quaternions and axes; 0 for none") \
  X(SHAPE, int32_t, shape_geometry, 1, NONE, "geometry of a hull, mesh or heightfield; -1 for others")                 \
  X(GEOMETRY, uint32_t, geometry_type, 1, NONE, "SB_SHAPE_HULL, SB_SHAPE_MESH or SB_SHAPE_HFIELD")                     \
  X(GEOMETRY, float, geometry_half, 3, NONE, "m, half extents of the bounding box")                                    \
  X(GEOMETRY, uint32_t, geometry_vertices, 2, NONE, "hull, mesh: first in geometry_vertex, and how many")              \
  X(GEOMETRY, uint32_t, geometry_faces, 2, NONE, "hull, mesh: first in face_normal, and how many")                     \
  X(GEOMETRY, uint32_t, geometry_nodes, 2, NONE, "mesh: first in node_box, and how many")                              \
  X(GEOMETRY, uint32_t, geometry_grid, 3, NONE, "heightfield: first in geometry_height, rows, columns")                \
  X(GEOMETRY_VERTEX, float, geometry_vertex, 3, NONE, "m, shape frame")                                                \
  X(GEOMETRY_FACE, float, face_normal, 3, NONE, "unit, outward, shape frame")                                          \
  X(GEOMETRY_FACE, uint32_t, face_corners, 2, NONE, "first in corner_vertex, and how many: 3 in a mesh")               \
  X(GEOMETRY_CORNER, uint32_t, corner_vertex, 1, NONE, "vertex")                                                       \
  X(GEOMETRY_CORNER, int32_t, corner_neighbour, 1, NONE, "face across the edge from this corner to the next; -1 for none") \
  X(GEOMETRY_NODE, float, node_box, 6, NONE, "m, lower then upper corner")                                             \
  X(GEOMETRY_NODE, uint32_t, node_next, 1, NONE, "node to go on with where this one is missed; the number of nodes at the end") \
  X(GEOMETRY_NODE, uint32_t, node_faces, 2, NONE, "first face of a leaf, and how many; 0 of an inner node")            \
  X(GEOMETRY_HEIGHT, float, geometry_height, 1, NONE, "m, shape frame, row by row")                                     \
  X(DEFORMABLE, int32_t, deformable_world, 1, WORLD, "world of the deformable")                                         \
  X(DEFORMABLE, int32_t, deformable_first_particle, 1, PARTICLE, "first of its particles, which follow one another")    \
  X(DEFORMABLE, uint32_t, deformable_particles, 1, NONE, "number of its particles, 1 or more")                          \
  X(DEFORMABLE, uint32_t, deformable_flags, 1, NONE, "SB_DEFORMABLE_* bits")                                            \
  X(DEFORMABLE, float, deformable_friction, 1, NONE, "coefficient of sliding friction; of two that touch, the larger")  \
  X(DEFORMABLE, float, deformable_restitution, 1, NONE, "coefficient of restitution; of two that touch, the larger")    \
  X(DEFORMABLE, float, deformable_margin, 1, NONE, "m, contacts are made at gaps below this plus the shape's margin")   \
  X(DEFORMABLE, uint32_t, deformable_contype, 1, NONE, "as shape_contype, against shapes and other deformables")        \
  X(DEFORMABLE, uint32_t, deformable_conaffinity, 1, NONE, "see shape_contype")                                         \
  X(PARTICLE, int32_t, particle_deformable, 1, DEFORMABLE, "deformable of the particle")                                \
  X(PARTICLE, float, particle_q, 3, NONE, "m, initial position, world frame")                                           \
  X(PARTICLE, float, particle_qd, 3, NONE, "m/s, initial velocity, world frame")                                        \
  X(PARTICLE, float, particle_mass, 1, NONE, "kg, also of a pinned one")                                                \
  X(PARTICLE, float, particle_inv_mass, 1, NONE, "1/kg; 0 when pinned")                                                 \
  X(PARTICLE, float, particle_radius, 1, NONE, "m, half the thickness of a cloth; 0 or more")                           \
  X(SPRING, int32_t, spring_indices, 2, PARTICLE, "its particles")                                                      \
  X(SPRING, float, spring_rest_length, 1, NONE, "m")                                                                    \
  X(SPRING, float, spring_stiffness, 1, NONE, "N/m; SB_NO_LIMIT when it does not stretch")                              \
  X(SPRING, float, spring_damping, 1, NONE, "N s/m")                                                                    \
  X(TRI, int32_t, tri_indices, 3, PARTICLE, "its particles, counter-clockwise seen from outside")                       \
  X(TRI, float, tri_pose, 4, NONE, "1/m, inverse of the rest edges [x1 - x0, x2 - x0] in the triangle's plane, row by row") \
  X(TRI, float, tri_area, 1, NONE, "m^2, at rest")                                                                      \
  X(TRI, float, tri_ke, 1, NONE, "N/m, resists stretch and shear; 0 where springs do")                                  \
  X(TRI, float, tri_ka, 1, NONE, "N/m, resists change of area")                                                         \
  X(TRI, float, tri_kd, 1, NONE, "N s/m, damps stretch and shear")                                                      \
  X(TRI, float, tri_drag, 1, NONE, "N s/m^3, force of the air along the surface")                                       \
  X(TRI, float, tri_lift, 1, NONE, "N s/m^3, force of the air across the surface")                                      \
  X(EDGE, int32_t, edge_indices, 4, PARTICLE, "the two opposite corners (the second -1 at a border), then both ends; rows 2, 3, 0 and 3, 2, 1 are triangles") \
  X(EDGE, float, edge_rest_angle, 1, NONE, "rad")                                                                       \
  X(EDGE, float, edge_rest_length, 1, NONE, "m")                                                                        \
  X(EDGE, float, edge_bending_ke, 1, NONE, "N m/rad")                                                                   \
  X(EDGE, float, edge_bending_kd, 1, NONE, "N m s/rad")                                                                 \
  X(TET, int32_t, tet_indices, 4, PARTICLE, "its particles; positive volume (x1 - x0) x (x2 - x0) . (x3 - x0) / 6")     \
  X(TET, float, tet_pose, 9, NONE, "1/m, inverse of the rest edges [x1 - x0, x2 - x0, x3 - x0], row by row")            \
  X(TET, float, tet_volume, 1, NONE, "m^3, at rest")                                                                    \
  X(TET, float, tet_k_mu, 1, NONE, "Pa, Lame's mu: resists change of shape")                                            \
  X(TET, float, tet_k_lambda, 1, NONE, "Pa, Lame's lambda: resists change of volume")                                   \
  X(TET, float, tet_k_damp, 1, NONE, "Pa s")                                                                            \
  X(ATTACHMENT, int32_t, attachment_particle, 1, PARTICLE, "particle that a body holds")                                \
  X(ATTACHMENT, int32_t, attachment_body, 1, BODY, "that body; -1 the world")                                           \
  X(ATTACHMENT, float, attachment_point, 3, NONE, "m, where it holds it, in the body's frame")                          \
  X(ATTACHMENT, float, attachment_stiffness, 1, NONE, "N/m; SB_NO_LIMIT when rigid")                                    \
  X(ATTACHMENT, float, attachment_damping, 1, NONE, "N s/m")

/* Read-only view of a model. Pointers are NULL where the domain's count is 0. Entities of one world are contiguous and
 * worlds are in order: world_body_start[w] to world_body_start[w + 1], likewise for the other domains. */
typedef struct sb_model {
  uint32_t struct_size;
  uint32_t reserved;
#define SB_X_COUNT(NAME, count) uint32_t count;
  SB_MODEL_DOMAINS(SB_X_COUNT)
#undef SB_X_COUNT
#define SB_X_ARRAY(DOMAIN, type, name, comps, ref, doc) const type *name;
  SB_MODEL_ARRAYS(SB_X_ARRAY)
#undef SB_X_ARRAY
  const uint32_t *world_body_start;  /* world_count + 1 */
  const uint32_t *world_coord_start; /* world_count + 1 */
  const uint32_t *world_dof_start;   /* world_count + 1 */
  const uint32_t *world_shape_start; /* world_count + 1 */
  const uint32_t *world_particle_start; /* world_count + 1 */
} sb_model;

#ifdef __cplusplus
}
#endif

#endif
