/* Pairs of nodes that come within reach of each other. PASS: 0 which of those that share particles are flat together, such a pair a workgroup in turn, 1 pairs in
 * any order, a node and the nodes after it a workgroup, 2 how many workgroups they get. */
#version 450
#extension GL_GOOGLE_include_directive : require
#include "collision_near.glsl"

layout(local_size_x = 64) in;
#if PASS == 0
layout(std430, binding = 0) readonly buffer Pieces { float pieces[]; };
layout(std430, binding = 1) readonly buffer Touch { uint touch[]; };
layout(std430, binding = 2) buffer Flats { uint flats[]; };
layout(std430, binding = 3) readonly buffer Normals { float normals[]; };
#elif PASS == 1
layout(std430, binding = 0) readonly buffer Pieces { float pieces[]; };
layout(std430, binding = 1) readonly buffer Touch { uint touch[]; };
layout(std430, binding = 2) readonly buffer Flats { uint flats[]; };
layout(std430, binding = 3) buffer Counts { uint counts[]; };
layout(std430, binding = 4) readonly buffer Plan { uint plan[]; };
layout(std430, binding = 5) buffer Pairs { uvec4 pairs[]; }; /* nodes, where they are in touch or NONE, what of them is passed over */
#else
layout(std430, binding = 0) buffer Counts { uint counts[]; };
layout(std430, binding = 1) buffer Groups { uint groups[]; }; /* twice three numbers of workgroups, then of pairs */
#define GROUPS_MAX 65535u /* that every device has */
#endif

#if PASS == 1
#define HAS_PLAN
#endif
#if PASS != 2
#include "collision_near_pieces.glsl"

uint node_piece(uint node) { return EIGHT * push.nodes + node; }
#endif

#if PASS == 0
shared float half_normals[24]; /* boxes: halves of the lower node, of the higher one */
shared float leans[20];        /* of pairs of halves and of the nodes: middle, least lean */
shared uint flat_boxes;        /* bits of what the boxes of normals tell to be flat */
shared uint bent;              /* bits of what holds a triangle that does not lean */

V3 normal_of(uint slot) { return v3(normals[3u * slot], normals[3u * slot + 1u], normals[3u * slot + 2u]); }

/* The normals of four leaves, as numbers 0 to 3: halves of node a, of node b. */
void join_half(uint a, uint b, uint number)
{
  uint first = EIGHT * (number < 2u ? a : b) + 4u * (number & 1u);
  NearBox n = piece_box(first, PIECE_NORMAL);
  for (uint k = 1u; k < 4u; k++) n = near_box_join(n, piece_box(first + k, PIECE_NORMAL));
  uint at = 6u * number;
  half_normals[at] = n.lo.x;
  half_normals[at + 1u] = n.lo.y;
  half_normals[at + 2u] = n.lo.z;
  half_normals[at + 3u] = n.hi.x;
  half_normals[at + 4u] = n.hi.y;
  half_normals[at + 5u] = n.hi.z;
}
NearBox half_box(uint number)
{
  uint at = 6u * number;
  NearBox n;
  n.lo = v3(half_normals[at], half_normals[at + 1u], half_normals[at + 2u]);
  n.hi = v3(half_normals[at + 3u], half_normals[at + 4u], half_normals[at + 5u]);
  return n;
}

bool is_there(uint leaf) { return pieces[PIECE_WORDS * leaf] <= pieces[PIECE_WORDS * leaf + 3u]; }

/* Pair k of halves, or the nodes: whether the box of normals tells that they are flat, and else how a triangle has to lean. */
void look_at_box(uint a, uint b, uint k)
{
  NearBox all = near_box_join(half_box(k >> 1u & 1u), half_box(2u + (k & 1u)));
  if (k == 4u) all = near_box_join(piece_box(node_piece(a), PIECE_NORMAL), piece_box(node_piece(b), PIECE_NORMAL));
  V3 middle = near_middle(all);
  leans[4u * k] = middle.x;
  leans[4u * k + 1u] = middle.y;
  leans[4u * k + 2u] = middle.z;
  leans[4u * k + 3u] = near_least_lean(middle);
  if (near_is_flat(all)) atomicOr(flat_boxes, 1u << k);
}

/* This thread's triangles of both nodes that are there and do not lean, as bits. */
uint bent_triangles(uint a, uint b)
{
  uint t = gl_LocalInvocationIndex;
  bool a_there = is_there(EIGHT * a + t / EIGHT);
  bool b_there = is_there(EIGHT * b + t / EIGHT);
  V3 na = normal_of(SLOTS * a + t);
  V3 nb = normal_of(SLOTS * b + t);
  uint own = 0u;
  uint k = 0u;
  do {
    V3 middle = v3(leans[4u * k], leans[4u * k + 1u], leans[4u * k + 2u]);
    float least = leans[4u * k + 3u];
    bool of_a = a_there && (k == 4u || t / 32u == k >> 1u);
    bool of_b = b_there && (k == 4u || t / 32u == (k & 1u));
    if ((of_a && !near_leans_by(na, middle, least)) || (of_b && !near_leans_by(nb, middle, least))) own |= 1u << k;
    k++;
  } while (k < 5u);
  return own;
}

void main()
{
  uint t = gl_LocalInvocationIndex;
  uint i = gl_WorkGroupID.x;
  do {
    uint a = touch[TOUCH_WORDS * i + T_LOWER];
    uint b = touch[TOUCH_WORDS * i];
    if (t == 0u) {
      bent = 0u;
      flat_boxes = 0u;
    }
    if (t < 4u) join_half(a, b, t);
    barrier();
    if (t < 5u) look_at_box(a, b, t);
    barrier();
    uint own = bent_triangles(a, b);
    if (own != 0u) atomicOr(bent, own);
    barrier();
    if (t == 0u) flats[i] = flat_boxes | (~bent & 31u);
    barrier();
    i += gl_NumWorkGroups.x;
  } while (i < push.touches);
}
#elif PASS == 1
uint block_piece(uint block) { return EIGHT * push.nodes + push.nodes + block; }

bool groups_meet(uint g, uint h)
{
  uint d = group_word(g, G_DEFORMABLE);
  uint e = group_word(h, G_DEFORMABLE);
  return d == NONE || e == NONE || deformables_meet(d, e); /* of particles each pair is asked */
}

/* Where two nodes stand in touch, or NONE. */
uint find_touch(uint a, uint b)
{
  uint low = plan[push.touch_start + a];
  uint high = plan[push.touch_start + a + 1u];
  uint end = high;
  while (low < high) {
    uint middle = low + (high - low) / 2u;
    if (touch[TOUCH_WORDS * middle] < b) low = middle + 1u;
    else high = middle;
  }
  return low < end && touch[TOUCH_WORDS * low] == b ? low : NONE;
}

void add_pair(uint a, uint g, uint b, uint h)
{
  uint share = g == h ? find_touch(a, b) : NONE;
  uint passed = share == NONE ? 0u : flats[share];
  if ((passed & FLAT_NODES) != 0u) return;
  bool loose = group_word(g, G_DEFORMABLE) == NONE || group_word(h, G_DEFORMABLE) == NONE;
  uint at = atomicAdd(counts[loose ? C_LOOSE_NODES : C_NODES], 1u);
  pairs[loose ? push.room - 1u - at : at] = uvec4(a, b, share, passed);
}

void main()
{
  uint a = push.row + gl_WorkGroupID.x;
  uint g = plan[push.node_group + a];
  uint end = group_word(g, G_END);
  for (uint block = a / EIGHT + gl_LocalInvocationIndex; EIGHT * block < end; block += 64u)
    if (pieces_meet(node_piece(a), block_piece(block)))
      for (uint node = max(EIGHT * block, a); node < min(EIGHT * block + EIGHT, end); node++) {
        uint h = plan[push.node_group + node];
        if (pieces_meet(node_piece(a), node_piece(node)) && groups_meet(g, h)) add_pair(a, g, node, h);
      }
}
#else
/* The counts are 0 again for the next round. */
void main()
{
  if (gl_LocalInvocationIndex != 0u) return;
  for (uint k = 0u; k < 2u; k++) {
    uint n = counts[C_NODES + k];
    counts[C_NODES + k] = 0u;
    groups[3u * k] = min(n, GROUPS_MAX);
    groups[3u * k + 1u] = 1u;
    groups[3u * k + 2u] = 1u;
    groups[6u + k] = n;
  }
}
#endif
