/* Contacts of particles with shapes, a particle a thread, each against the shapes of its world in their order. PASS: 0 counted, 1 how many are taken,
 * 2 placed; 3 and 4 are 0 and 2 where heightfields are among the shapes. */
#version 450
#extension GL_GOOGLE_include_directive : require
#include "collision_device.glsl"
#if PASS == 3 || PASS == 4
#define GRIDS
#endif
#if PASS == 2 || PASS == 4
#define PLACE
#endif
#ifdef GRIDS
#define GEO_PARAM
#define GEO
#define CONVEX_BASIC
#define HEIGHTS_PARAM
#define HEIGHTS
#define HEIGHT_AT(i) uintBitsToFloat(grids[i])
#endif
#include "collision/particle_shape.kernel.h"

layout(local_size_x = 64) in;
layout(std430, binding = 0) buffer Counts { uint counts[]; };
#if PASS != 1
layout(std430, binding = 1) readonly buffer Shapes { uint shapes[]; };
layout(std430, binding = 2) readonly buffer Poses { float poses[]; };
layout(std430, binding = 3) readonly buffer Boxes { uint boxes[]; };
layout(std430, binding = 4) readonly buffer Tables { uint tables[]; };
layout(std430, binding = 5) readonly buffer Particles { uvec2 particles[]; };   /* radius, deformable */
layout(std430, binding = 6) readonly buffer Deformables { uint deformables[]; }; /* 8 words each */
layout(std430, binding = 7) readonly buffer Held { uvec2 held[]; };              /* particle and body of attachments, sorted */
layout(std430, binding = 8) readonly buffer ParticleQ { float particle_q[]; };
layout(std430, binding = 9) readonly buffer ParticleQd { float particle_qd[]; };
layout(std430, binding = 10) buffer Found { uint found[]; }; /* contacts of each particle; then the first of each, and the end */
#endif
#ifdef PLACE
layout(std430, binding = 11) buffer Contacts { uint contacts[]; };
#endif
#ifdef GRIDS
layout(std430, binding = 12) readonly buffer Grids { uint grids[]; };
#include "collision/particle_surface.kernel.h"
#endif

#define C_TOUCHES_FOUND 6u
#define C_TOUCHES 7u
#define D_WORDS 8u
#define D_WORLD 0u
#define D_CONTYPE 1u
#define D_CONAFFINITY 2u
#define D_MARGIN 3u
#define D_FRICTION 4u
#define D_RESTITUTION 5u
#define D_FIRST 6u /* particle */
#define D_COUNT 7u

#if PASS != 1
float shape_float(uint s, uint at) { return uintBitsToFloat(shapes[SHAPE_WORDS * s + at]); }
V3 shape_v3(uint s, uint at) { return v3(shape_float(s, at), shape_float(s, at + 1u), shape_float(s, at + 2u)); }
uint shape_word(uint s, uint at) { return shapes[SHAPE_WORDS * s + at]; }
V3 pose_v3(uint at) { return v3(poses[at], poses[at + 1u], poses[at + 2u]); }
X7 pose_x7(uint s)
{
  uint p = POSE_WORDS * s;
  return x7(pose_v3(p), q4(poses[p + 3u], poses[p + 4u], poses[p + 5u], poses[p + 6u]));
}
X7 frame_of(uint s)
{
  if (shape_word(s, S_FIXED) != 0u) return pose_x7(s);
  return x7(shape_v3(s, S_X), q4(shape_float(s, S_X + 3u), shape_float(s, S_X + 4u), shape_float(s, S_X + 5u), shape_float(s, S_X + 6u)));
}

bool is_held(uint particle, int body)
{
  uint low = 0u;
  uint high = push.held;
  while (low < high) {
    uint middle = low + (high - low) / 2u;
    uvec2 key = held[middle];
    if (key.x < particle || (key.x == particle && key.y < uint(body))) low = middle + 1u;
    else high = middle;
  }
  return low < push.held && held[low].x == particle && held[low].y == uint(body);
}

/* The same vector, but that no constant 0 in it can be folded into what is made of it. */
V3 hide(V3 v) { return v3(f_from_bits(f_bits(v.x) ^ push.nothing), f_from_bits(f_bits(v.y) ^ push.nothing), f_from_bits(f_bits(v.z) ^ push.nothing)); }

ParticleHit meet(uint type, V3 x, V3 size)
{
  if (type == 1u) return particle_sphere(x, size);
  if (type == 2u) return particle_capsule(x, size);
  if (type == 3u) return particle_box(x, size);
  return particle_plane(x);
}

/* Whether the shape's box is out of the particle's way, which is `room` around it. */
bool is_far(uint s, V3 x, float room)
{
  uint e = ENTRY_WORDS * s;
  float pad = room + shape_float(s, S_MARGIN);
  float grown = pad * 1.0001; /* far from any rounding */
  return x.x - grown > uintBitsToFloat(boxes[e + E_HI]) || uintBitsToFloat(boxes[e + E_LO]) > x.x + grown ||
         x.y - grown > uintBitsToFloat(boxes[e + E_HI + 1u]) || uintBitsToFloat(boxes[e + E_LO + 1u]) > x.y + grown ||
         x.z - grown > uintBitsToFloat(boxes[e + E_HI + 2u]) || uintBitsToFloat(boxes[e + E_LO + 2u]) > x.z + grown;
}

#ifdef GRIDS
/* Whether the box around some particles from the first on comes near the shape: particle_contact.c takes or leaves blocks of 64 particles of a
 * deformable, which shows where a particle is below a heightfield's own box. */
bool block_meets(uint s, uint first, uint end, float allowed_but_radius)
{
  V3 lo = v3(3.402823466e38, 3.402823466e38, 3.402823466e38);
  V3 hi = v3_neg(lo);
  for (uint i = first; i < end; i++) {
    V3 q = v3(particle_q[3u * i], particle_q[3u * i + 1u], particle_q[3u * i + 2u]);
    V3 v = v3(particle_qd[3u * i], particle_qd[3u * i + 1u], particle_qd[3u * i + 2u]);
    float room = particle_room(uintBitsToFloat(particles[i].x) + allowed_but_radius, v, push.dt);
    if (q.x - room < lo.x) lo.x = q.x - room;
    if (q.y - room < lo.y) lo.y = q.y - room;
    if (q.z - room < lo.z) lo.z = q.z - room;
    if (q.x + room > hi.x) hi.x = q.x + room;
    if (q.y + room > hi.y) hi.y = q.y + room;
    if (q.z + room > hi.z) hi.z = q.z + room;
  }
  uint e = ENTRY_WORDS * s;
  float pad = shape_float(s, S_MARGIN);
  return !(lo.x - pad > uintBitsToFloat(boxes[e + E_HI]) || uintBitsToFloat(boxes[e + E_LO]) - pad > hi.x ||
           lo.y - pad > uintBitsToFloat(boxes[e + E_HI + 1u]) || uintBitsToFloat(boxes[e + E_LO + 1u]) - pad > hi.y ||
           lo.z - pad > uintBitsToFloat(boxes[e + E_HI + 2u]) || uintBitsToFloat(boxes[e + E_LO + 2u]) - pad > hi.z);
}

/* What a particle at x in the frame of heightfield s touches. */
ParticleSearch search_grid(uint s, HeightGrid g, GridCells c, V3 x, float reach, float radius)
{
  ParticleSearch found = particle_search(x, reach, radius, true);
  float low = x.z - reach;
  for (uint row = c.row0; row <= c.row1; row++)
    for (uint column = c.column0; column <= c.column1; column++) {
      if (!grid_cell_reaches(g, row, column, low)) continue;
      V3 lower = grid_normal(g, row, column, 0u);
      V3 upper = grid_normal(g, row, column, 1u);
      for (uint which = 0u; which < 2u; which++) {
        SurfaceTriangle t = grid_triangle(g, row, column, which, v3_sel(which == 0u, lower, upper), v3_sel(which == 0u, upper, lower));
        ParticleOffer o = particle_offer(found, t);
        bool owned = o.owner == 1u;
        if (o.owner > 1u) owned = grid_vertex_owns(g, t, o.owner - 2u, o.q);
        if (owned) particle_keep(found, o.hit, t.id);
      }
    }
  particle_settle(found);
  return found;
}

/* Set where a particle comes near more of a heightfield than is looked at. */
bool crowded = false;

ParticleSearch meet_grid(uint s, uint particle, uint d, V3 x, float reach, float radius)
{
  uint at = shape_word(s, S_GRID);
  HeightGrid g = grid_of(grids[at], grids[at + 1u], grids[at + 2u], v3(uintBitsToFloat(grids[at + 3u]), uintBitsToFloat(grids[at + 4u]), uintBitsToFloat(grids[at + 5u])));
  GridCells c = grid_cells(g, v3_sub(x, v3(reach, reach, reach)), v3_add(x, v3(reach, reach, reach)));
  ParticleSearch none = particle_search(x, reach, radius, true);
  if (!c.any) return none;
  float margins = uintBitsToFloat(deformables[d + D_MARGIN]) + push.speculative;
  uint first = deformables[d + D_FIRST];
  uint begin = particle - (particle - first) % 64u;
  if (!block_meets(s, particle, particle + 1u, margins) && !block_meets(s, begin, min(begin + 64u, first + deformables[d + D_COUNT]), margins)) return none;
  if ((c.row1 - c.row0 + 1u) * (c.column1 - c.column0 + 1u) > CELLS_MAX / 4u) {
    crowded = true;
    return none;
  }
  return search_grid(s, g, c, x, reach, radius);
}
#endif

#ifdef PLACE
void put(uint array, uint at, uint word) { contacts[push.particle_capacity * array + at] = word; }

void put_contact(uint at, uint particle, uint s, uint d, ParticleHit h, float radius)
{
  X7 frame = frame_of(s);
  V3 point = x7_point(frame, hide(h.point));
  V3 n = q4_rotate(frame.q, hide(h.n));
  float friction = uintBitsToFloat(deformables[d + D_FRICTION]);
  float other = shape_float(s, S_FRICTION);
  float restitution = uintBitsToFloat(deformables[d + D_RESTITUTION]);
  float shape_restitution = shape_float(s, S_RESTITUTION);
  put(SB_AT_TOUCH_PARTICLE, at, particle);
  put(SB_AT_TOUCH_SHAPE, at, s);
  put(SB_AT_TOUCH_BODY, at, shape_word(s, S_FIXED) != 0u ? 0xffffffffu : shape_word(s, S_BODY));
  put(SB_AT_TOUCH_POINT, 3u * at, f_bits(point.x));
  put(SB_AT_TOUCH_POINT, 3u * at + 1u, f_bits(point.y));
  put(SB_AT_TOUCH_POINT, 3u * at + 2u, f_bits(point.z));
  put(SB_AT_TOUCH_NORMAL, 3u * at, f_bits(n.x));
  put(SB_AT_TOUCH_NORMAL, 3u * at + 1u, f_bits(n.y));
  put(SB_AT_TOUCH_NORMAL, 3u * at + 2u, f_bits(n.z));
  put(SB_AT_TOUCH_GAP, at, f_bits(h.distance - radius));
  put(SB_AT_TOUCH_FRICTION, at, shape_word(s, S_CONDIM) < 3u ? 0u : f_bits(f_sel(friction > other, friction, other)));
  put(SB_AT_TOUCH_RESTITUTION, at, f_bits(f_sel(restitution > shape_restitution, restitution, shape_restitution)));
}

shared uint group_deepest;
#endif

/* In passes that place contacts: writes one where it is taken, and keeps the deepest overlap. */
void note_contact(uint at, uint particle, uint s, uint d, ParticleHit h, float radius, inout uint deepest)
{
#ifdef PLACE
  if (at < counts[C_TOUCHES]) put_contact(at, particle, s, d, h, radius);
  float overlap = radius - h.distance;
  if (overlap > 0.0) deepest = max(deepest, f_bits(overlap));
#endif
}

/* Visits the contacts of a particle; how many. Where they are placed they are written from `first` on, and the deepest overlap goes to *deepest. */
uint visit(uint particle, uint first, inout uint deepest)
{
  float radius = uintBitsToFloat(particles[particle].x);
  uint d = D_WORDS * particles[particle].y;
  uint world = deformables[d + D_WORLD];
  V3 x = v3(particle_q[3u * particle], particle_q[3u * particle + 1u], particle_q[3u * particle + 2u]);
  V3 move = v3_scale(v3(particle_qd[3u * particle], particle_qd[3u * particle + 1u], particle_qd[3u * particle + 2u]), push.dt);
  float allowed = radius + (uintBitsToFloat(deformables[d + D_MARGIN]) + push.speculative);
  float room = allowed + v3_len(move);
  uint count = 0u;
  for (uint s = tables[push.world_shapes + world]; s < tables[push.world_shapes + world + 1u]; s++) {
    uint type = shape_word(s, S_TYPE);
    if ((deformables[d + D_CONTYPE] & shape_word(s, S_CONAFFINITY)) == 0u && (shape_word(s, S_CONTYPE) & deformables[d + D_CONAFFINITY]) == 0u) continue;
    uint p = POSE_WORDS * s;
    float reach = particle_reach(move, pose_v3(p + P_MOVE), allowed + (shape_float(s, S_MARGIN) + poses[p + P_SWING]));
    int body = int(shape_word(s, S_BODY));
#ifdef GRIDS
    if (type == HFIELD) {
      ParticleSearch found = meet_grid(s, particle, d, x7_point_inv(pose_x7(s), x), reach, radius);
      if (found.count == 0u || (push.held > 0u && body >= 0 && is_held(particle, body))) continue;
      for (uint k = 0u; k < found.count; k++) note_contact(first + count + k, particle, s, d, particle_face(found, k), radius, deepest);
      count += found.count;
      continue;
    }
#endif
    if (type != PLANE && is_far(s, x, room)) continue;
    ParticleHit h = meet(type, x7_point_inv(pose_x7(s), x), shape_v3(s, S_SIZE));
    if (!(reach - h.distance > 0.0)) continue;
    if (push.held > 0u && body >= 0 && is_held(particle, body)) continue;
    note_contact(first + count, particle, s, d, h, radius, deepest);
    count++;
  }
  return count;
}
#endif

void main()
{
  uint i = gl_GlobalInvocationID.x;
  uint deepest = 0u;
#if PASS == 0 || PASS == 3
  if (i <= push.particles) found[i] = i < push.particles ? visit(i, 0u, deepest) : 0u;
#ifdef GRIDS
  if (crowded) atomicOr(counts[C_CROWDED], 1u);
#endif
#elif PASS == 1
  uint n = counts[C_TOUCHES_FOUND];
  if (i == 0u) counts[C_TOUCHES] = counts[C_CROWDED] != 0u ? 0u : n <= push.particle_capacity ? n : (push.truncate != 0u ? push.particle_capacity : 0u);
#else
  if (gl_LocalInvocationIndex == 0u) group_deepest = 0u;
  barrier();
  /* where there are too many, and the first ones are not kept, nothing is looked at again */
  if (i < push.particles && counts[C_TOUCHES] > 0u) visit(i, found[i], deepest);
  if (i <= push.particles) found[i] = min(found[i], counts[C_TOUCHES]);
  if (deepest != 0u) atomicMax(group_deepest, deepest);
  barrier();
  if (gl_LocalInvocationIndex == 0u && group_deepest != 0u) atomicMax(counts[C_DEEPEST], group_deepest);
#endif
}
