/* Boxes of near pairs. PASS: 0 elements, leaves and nodes, a node a workgroup, 1 edges, an edge a thread, 2 blocks, a block a thread. */
#version 450
#extension GL_GOOGLE_include_directive : require
#include "collision_near.glsl"

layout(local_size_x = 64) in;
layout(std430, binding = 0) buffer Pieces { float pieces[]; };
#if PASS == 0
layout(std430, binding = 1) readonly buffer Plan { uint plan[]; };
layout(std430, binding = 2) readonly buffer Slots { uvec4 slots[]; }; /* corners, element */
layout(std430, binding = 3) readonly buffer Particles { uint particles[]; };
layout(std430, binding = 4) readonly buffer ParticleQ { float particle_q[]; };
layout(std430, binding = 5) readonly buffer ParticleQd { float particle_qd[]; };
layout(std430, binding = 6) buffer Elements { float elements[]; }; /* box of each slot */
layout(std430, binding = 7) buffer Normals { float normals[]; };
#elif PASS == 1
layout(std430, binding = 1) readonly buffer Edges { uvec4 edges[]; }; /* ends, edge */
layout(std430, binding = 2) readonly buffer ParticleQ { float particle_q[]; };
layout(std430, binding = 3) buffer EdgeBoxes { float edge_boxes[]; };
#endif

/* Whether a part of a piece's record is the least of its children's; else it is the largest. */
bool is_least(uint part) { return part < PIECE_RADIUS && part % 6u < 3u; }
float fold(uint part, float a, float b) { return is_least(part) ? f_min(a, b) : f_max(a, b); }

#if PASS != 2
V3 position(uint p) { return v3(particle_q[3u * p], particle_q[3u * p + 1u], particle_q[3u * p + 2u]); }
#endif

#if PASS == 0
V3 velocity(uint p) { return v3(particle_qd[3u * p], particle_qd[3u * p + 1u], particle_qd[3u * p + 2u]); }
float radius_of(uint p) { return uintBitsToFloat(particles[PARTICLE_WORDS * p]); }

shared float of_slots[PIECE_PARTS * SLOTS];
shared float of_leaves[PIECE_PARTS * EIGHT];

void share_box(uint part, NearBox b)
{
  uint at = SLOTS * part + gl_LocalInvocationIndex;
  of_slots[at] = b.lo.x;
  of_slots[at + SLOTS] = b.lo.y;
  of_slots[at + 2u * SLOTS] = b.lo.z;
  of_slots[at + 3u * SLOTS] = b.hi.x;
  of_slots[at + 4u * SLOTS] = b.hi.y;
  of_slots[at + 5u * SLOTS] = b.hi.z;
}

void put_element(uint slot, NearBox b, V3 n)
{
  elements[6u * slot] = b.lo.x;
  elements[6u * slot + 1u] = b.lo.y;
  elements[6u * slot + 2u] = b.lo.z;
  elements[6u * slot + 3u] = b.hi.x;
  elements[6u * slot + 4u] = b.hi.y;
  elements[6u * slot + 5u] = b.hi.z;
  normals[3u * slot] = n.x;
  normals[3u * slot + 1u] = n.y;
  normals[3u * slot + 2u] = n.z;
}

void main()
{
  uint node = gl_WorkGroupID.x;
  uint t = gl_LocalInvocationIndex;
  uint group = push.groups + GROUP_WORDS * plan[push.node_group + node];
  uint slot = SLOTS * node + t;
  uint index = slot - SLOTS * plan[group + G_FIRST];
  uvec4 s = slots[slot];
  V3 a = position(s.x);
  V3 b = position(s.y);
  V3 c = position(s.z);
  NearBox none = near_box_none();
  NearBox box = near_box_of(a, b, c);
  NearBox speed = near_box_of(velocity(s.x), velocity(s.y), velocity(s.z));
  V3 n = near_normal(a, b, c);
  NearBox normal = near_box_of(n, n, n);
  float radius = f_max(f_max(radius_of(s.x), radius_of(s.y)), radius_of(s.z));
  /* elements that are not there repeat the last one: they make no box larger, but must not be found */
  put_element(slot, box, n);
  if (index >= plan[group + G_ELEMENTS]) put_element(slot, none, n);
  if (index / EIGHT * EIGHT >= plan[group + G_ELEMENTS]) {
    box = none;
    speed = none;
    normal = none;
    radius = 0.0;
  }
  share_box(0u, box);
  share_box(PIECE_SPEED, speed);
  share_box(PIECE_NORMAL, normal);
  of_slots[SLOTS * PIECE_RADIUS + t] = radius;
  barrier();
  for (uint first = 0u; first < EIGHT * PIECE_PARTS; first += SLOTS) {
    uint leaf = (first + t) / PIECE_PARTS;
    uint part = (first + t) % PIECE_PARTS;
    if (leaf < EIGHT) {
      uint at = SLOTS * part + EIGHT * leaf;
      float folded = of_slots[at];
      for (uint k = 1u; k < EIGHT; k++) folded = fold(part, folded, of_slots[at + k]);
      of_leaves[EIGHT * part + leaf] = folded;
      pieces[PIECE_WORDS * (EIGHT * node + leaf) + part] = folded;
    }
  }
  barrier();
  if (t < PIECE_PARTS) {
    float folded = of_leaves[EIGHT * t];
    for (uint k = 1u; k < EIGHT; k++) folded = fold(t, folded, of_leaves[EIGHT * t + k]);
    pieces[PIECE_WORDS * (EIGHT * push.nodes + node) + t] = folded;
  }
}
#elif PASS == 1
void main()
{
  uint i = gl_GlobalInvocationID.x;
  if (i >= push.edges) return;
  V3 a = position(edges[i].x);
  V3 b = position(edges[i].y);
  NearBox box = near_box_of(a, b, b);
  edge_boxes[6u * i] = box.lo.x;
  edge_boxes[6u * i + 1u] = box.lo.y;
  edge_boxes[6u * i + 2u] = box.lo.z;
  edge_boxes[6u * i + 3u] = box.hi.x;
  edge_boxes[6u * i + 4u] = box.hi.y;
  edge_boxes[6u * i + 5u] = box.hi.z;
}
#else
void main()
{
  uint block = gl_GlobalInvocationID.x;
  if (block >= push.blocks) return;
  uint nodes = EIGHT * push.nodes;
  uint own = PIECE_WORDS * (nodes + push.nodes + block);
  for (uint part = 0u; part < PIECE_PARTS; part++) {
    float folded = pieces[PIECE_WORDS * (nodes + EIGHT * block) + part];
    for (uint k = 1u; k < EIGHT; k++)
      if (EIGHT * block + k < push.nodes) folded = fold(part, folded, pieces[PIECE_WORDS * (nodes + EIGHT * block + k) + part]);
    pieces[own + part] = folded;
  }
}
#endif
