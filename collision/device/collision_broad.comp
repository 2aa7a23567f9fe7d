/* The broad phase, a shape a thread. PASS: 0 poses and boxes, 1 shapes in the order of cells, 2 pairs whose boxes overlap, in any order.
 *
 * Shapes lie in grids of cells of 2^level, each in the grid whose cells are larger than its box and in the cell of the box's lower corner. So
 * in a grid no smaller than its own a box meets others from one cell below its lower corner's to its upper corner's, 27 cells at most.
 * Cells are found by a hash; who shares a bucket shows in nothing but time. */
#version 450
#extension GL_GOOGLE_include_directive : require
#include "collision_device.glsl"
#include "collision/shape_bounds.kernel.h"

layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer Shapes { uint shapes[]; };
layout(std430, binding = 1) buffer Poses { float poses[]; };
layout(std430, binding = 2) buffer Counts { uint counts[]; };
#if PASS == 0
layout(std430, binding = 3) readonly buffer BodyQ { float body_q[]; };
layout(std430, binding = 4) readonly buffer BodyQd { float body_qd[]; };
layout(std430, binding = 5) buffer Boxes { uint boxes[]; };
layout(std430, binding = 6) buffer Buckets { uint bucket_count[]; };
#elif PASS == 1
layout(std430, binding = 3) readonly buffer Starts { uint bucket_start[]; };
layout(std430, binding = 4) buffer Buckets { uint bucket_count[]; };
layout(std430, binding = 5) readonly buffer Boxes { uint boxes[]; };
layout(std430, binding = 6) buffer Entries { uint entries[]; };
#else
layout(std430, binding = 3) readonly buffer Starts { uint bucket_start[]; };
layout(std430, binding = 4) readonly buffer Tables { uint tables[]; };
layout(std430, binding = 5) readonly buffer Boxes { uint boxes[]; };
layout(std430, binding = 6) readonly buffer Entries { uint entries[]; };
layout(std430, binding = 7) buffer Pairs { uvec2 pairs[]; };
#endif

#define LEVEL_ZERO 12 /* level 0 has cells of 2^-12 m */
#define LEVEL_TOP 31u /* one cell for all that is too large, or not finite */

float shape_float(uint s, uint at) { return uintBitsToFloat(shapes[SHAPE_WORDS * s + at]); }
V3 shape_v3(uint s, uint at) { return v3(shape_float(s, at), shape_float(s, at + 1u), shape_float(s, at + 2u)); }
uint shape_word(uint s, uint at) { return shapes[SHAPE_WORDS * s + at]; }

uint level_of(V3 lo, V3 hi)
{
  float x = hi.x - lo.x;
  float y = hi.y - lo.y;
  float z = hi.z - lo.z;
  uint widest = max(max(f_bits(x) & 0x7fffffffu, f_bits(y) & 0x7fffffffu), f_bits(z) & 0x7fffffffu);
  int level = int(widest >> 23u) - 126 + LEVEL_ZERO; /* below 2^level, and so exactly, whatever was rounded */
  return level >= int(LEVEL_TOP) ? LEVEL_TOP : uint(max(level, 0));
}

/* Monotone in x; far enough from the ends of integers for a neighbour. */
int cell_of(float x, uint level)
{
  return level == LEVEL_TOP ? 0 : clamp(f_to_i(f_floor(x * f_pow2(LEVEL_ZERO - int(level)))), -0x40000000, 0x40000000);
}
ivec3 cells_of(V3 v, uint level) { return ivec3(cell_of(v.x, level), cell_of(v.y, level), cell_of(v.z, level)); }

uint bucket_of(ivec3 cell, uint level, uint world)
{
  uint h = uint(cell.x) * 0x9e3779b1u ^ uint(cell.y) * 0x85ebca77u ^ uint(cell.z) * 0xc2b2ae3du ^ (world * 32u + level) * 0x27d4eb2fu;
  h ^= h >> 15u;
  h *= 0x2c1b3c6du;
  h ^= h >> 13u;
  return h & push.mask;
}

#if PASS == 0
X7 load_x7(uint at)
{
  return x7(v3(body_q[at], body_q[at + 1u], body_q[at + 2u]), q4(body_q[at + 3u], body_q[at + 4u], body_q[at + 5u], body_q[at + 6u]));
}

void put_v3(uint at, V3 v)
{
  poses[at] = v.x;
  poses[at + 1u] = v.y;
  poses[at + 2u] = v.z;
}

void put_box(uint at, V3 v)
{
  boxes[at] = f_bits(v.x);
  boxes[at + 1u] = f_bits(v.y);
  boxes[at + 2u] = f_bits(v.z);
}

shared uint group_levels;

uint place(uint s)
{
  uint type = shape_word(s, S_TYPE);
  int body = int(shape_word(s, S_BODY));
  X7 x = x7(shape_v3(s, S_X), q4(shape_float(s, S_X + 3u), shape_float(s, S_X + 4u), shape_float(s, S_X + 5u), shape_float(s, S_X + 6u)));
  if (body >= 0) x = x7_mul(load_x7(7u * uint(body)), x);
  uint p = POSE_WORDS * s;
  put_v3(p + P_X, x.p);
  poses[p + P_X + 3u] = x.q.x;
  poses[p + P_X + 4u] = x.q.y;
  poses[p + P_X + 5u] = x.q.z;
  poses[p + P_X + 6u] = x.q.w;
  V3 extent = bounds_half(type, shape_v3(s, S_SIZE), x.q);
  ShapeStep step = bounds_rest();
  if (type != PLANE && shape_word(s, S_FIXED) == 0u) {
    uint qd = 6u * uint(body);
    BoundsBody b;
    b.pose = load_x7(7u * uint(body));
    b.com = shape_v3(s, S_COM);
    b.v = v3(body_qd[qd], body_qd[qd + 1u], body_qd[qd + 2u]);
    b.w = v3(body_qd[qd + 3u], body_qd[qd + 4u], body_qd[qd + 5u]);
    step = bounds_step(b, x.p, extent, push.dt);
  }
  put_v3(p + P_MOVE, step.move);
  poses[p + P_SWING] = step.swing;
  if (type == PLANE) return 0u;
  float grow = bounds_grow(shape_float(s, S_MARGIN), push.speculative, step.reach);
  V3 lo = v3(x.p.x - (extent.x + grow), x.p.y - (extent.y + grow), x.p.z - (extent.z + grow));
  V3 hi = v3(x.p.x + (extent.x + grow), x.p.y + (extent.y + grow), x.p.z + (extent.z + grow));
  uint level = level_of(lo, hi);
  ivec3 cell = cells_of(lo, level);
  uint bucket = bucket_of(cell, level, shape_word(s, S_WORLD));
  uint e = ENTRY_WORDS * s;
  put_box(e + E_LO, lo);
  put_box(e + E_HI, hi);
  boxes[e + E_CELL] = uint(cell.x);
  boxes[e + E_CELL + 1u] = uint(cell.y);
  boxes[e + E_CELL + 2u] = uint(cell.z);
  boxes[e + E_LEVEL] = level;
  boxes[e + E_WORLD] = shape_word(s, S_WORLD);
  boxes[e + E_SHAPE] = s;
  poses[p + P_BUCKET] = uintBitsToFloat(bucket);
  atomicAdd(bucket_count[bucket], 1u);
  return 1u << level;
}

void main()
{
  uint s = gl_GlobalInvocationID.x;
  if (gl_LocalInvocationIndex == 0u) group_levels = 0u;
  barrier();
  uint levels = s < push.shapes ? place(s) : 0u;
  if (levels != 0u) atomicOr(group_levels, levels);
  barrier();
  if (gl_LocalInvocationIndex == 0u && group_levels != 0u) atomicOr(counts[C_LEVELS], group_levels);
}
#elif PASS == 1
/* The counts are 0 again when all have taken their place. */
void main()
{
  uint s = gl_GlobalInvocationID.x;
  if (s >= push.shapes || shape_word(s, S_TYPE) == PLANE) return;
  uint bucket = floatBitsToUint(poses[POSE_WORDS * s + P_BUCKET]);
  uint slot = bucket_start[bucket] + atomicAdd(bucket_count[bucket], 0xffffffffu) - 1u;
  for (uint k = 0u; k < ENTRY_WORDS; k++) entries[ENTRY_WORDS * slot + k] = boxes[ENTRY_WORDS * s + k];
}
#else
V3 box_v3(uint at) { return v3(uintBitsToFloat(boxes[at]), uintBitsToFloat(boxes[at + 1u]), uintBitsToFloat(boxes[at + 2u])); }
V3 entry_v3(uint at) { return v3(uintBitsToFloat(entries[at]), uintBitsToFloat(entries[at + 1u]), uintBitsToFloat(entries[at + 2u])); }

bool excluded(int a, int b)
{
  int lower = min(a, b);
  int higher = max(a, b);
  for (uint i = tables[push.exclude_start + uint(lower + 1)]; i < tables[push.exclude_start + uint(lower + 2)]; i++)
    if (int(tables[push.excludes + i]) == higher) return true;
  return false;
}

/* collision_may_collide() of pair_filter.c, without listed pairs. */
bool may_collide(uint a, uint b)
{
  if (shape_word(a, S_FIXED) != 0u && shape_word(b, S_FIXED) != 0u) return false;
  if ((shape_word(a, S_CONTYPE) & shape_word(b, S_CONAFFINITY)) == 0u && (shape_word(b, S_CONTYPE) & shape_word(a, S_CONAFFINITY)) == 0u) return false;
  int body_a = int(shape_word(a, S_BODY));
  int body_b = int(shape_word(b, S_BODY));
  if (body_a == body_b) return false;
  int wa = int(shape_word(a, S_WELD));
  int wb = int(shape_word(b, S_WELD));
  if (wa >= 0 && wb >= 0 && (wa == wb || int(shape_word(a, S_WELD_PARENT)) == wb || int(shape_word(b, S_WELD_PARENT)) == wa)) return false;
  return push.exclude_start == 0u || !excluded(body_a, body_b);
}

shared uint group_pairs;
shared uint group_first;

/* Partners of the shape that were found while they were counted; with more than these it looks again. */
#define KEPT 24u
uint kept[KEPT];

#define NONE 0xffffffffu
void put_pair(uint s, uint other, uint first, uint found)
{
  if (first == NONE && found < KEPT) kept[found] = other;
  if (first != NONE && first + found < push.pair_capacity) pairs[first + found] = uvec2(min(s, other), max(s, other));
}

/* Pairs of the shape with those of its own level that it finds, those of higher levels, and planes: each pair once. They are written
 * from `first` on, or counted where that is NONE. */
uint find_pairs(uint s, uint first)
{
  uint own = ENTRY_WORDS * s;
  uint world = boxes[own + E_WORLD];
  uint own_level = boxes[own + E_LEVEL];
  V3 lo = box_v3(own + E_LO);
  V3 hi = box_v3(own + E_HI);
  uint found = 0u;
  for (uint levels = counts[C_LEVELS] >> own_level << own_level; levels != 0u; levels &= levels - 1u) {
    uint level = uint(findLSB(levels));
    /* among boxes of one level the one whose cell comes first finds the pair, in one cell the one with the lower index */
    bool level_mates = level == own_level;
    ivec3 mine = cells_of(lo, level);
    ivec3 low = level == LEVEL_TOP ? ivec3(0) : mine - 1;
    ivec3 high = cells_of(hi, level);
    for (int z = level_mates ? mine.z : low.z; z <= high.z; z++)
      for (int y = level_mates && z == mine.z ? mine.y : low.y; y <= high.y; y++)
        for (int x = level_mates && z == mine.z && y == mine.y ? mine.x : low.x; x <= high.x; x++) {
          bool shared_cell = level_mates && ivec3(x, y, z) == mine;
          uint bucket = bucket_of(ivec3(x, y, z), level, world);
          for (uint i = bucket_start[bucket]; i < bucket_start[bucket + 1u]; i++) {
            uint e = ENTRY_WORDS * i;
            uint other = entries[e + E_SHAPE];
            if (entries[e + E_LEVEL] != level || entries[e + E_WORLD] != world || (shared_cell && other <= s)) continue;
            if (int(entries[e + E_CELL]) != x || int(entries[e + E_CELL + 1u]) != y || int(entries[e + E_CELL + 2u]) != z) continue;
            V3 a = entry_v3(e + E_LO);
            V3 b = entry_v3(e + E_HI);
            if (!(a.x <= hi.x && lo.x <= b.x && a.y <= hi.y && lo.y <= b.y && a.z <= hi.z && lo.z <= b.z)) continue;
            if (!may_collide(s, other)) continue;
            put_pair(s, other, first, found);
            found++;
          }
        }
  }
  for (uint i = tables[push.plane_start + world]; i < tables[push.plane_start + world + 1u]; i++) {
    uint plane = tables[push.planes + i];
    uint p = POSE_WORDS * plane;
    X7 at = x7(v3(poses[p], poses[p + 1u], poses[p + 2u]), q4(poses[p + 3u], poses[p + 4u], poses[p + 5u], poses[p + 6u]));
    if (!bounds_reach_plane(lo, hi, at, shape_float(plane, S_MARGIN) + 0.5 * push.speculative)) continue;
    if (!may_collide(plane, s)) continue;
    put_pair(s, plane, first, found);
    found++;
  }
  return found;
}

void main()
{
  uint s = gl_GlobalInvocationID.x;
  bool solid = s < push.shapes && shape_word(s, S_TYPE) != PLANE;
  if (gl_LocalInvocationIndex == 0u) group_pairs = 0u;
  barrier();
  uint found = solid ? find_pairs(s, NONE) : 0u;
  uint at = found > 0u ? atomicAdd(group_pairs, found) : 0u;
  barrier();
  if (gl_LocalInvocationIndex == 0u && group_pairs > 0u) group_first = atomicAdd(counts[C_PAIRS_FOUND], group_pairs);
  barrier();
  if (found > KEPT) find_pairs(s, group_first + at);
  for (uint k = 0u; k < found && found <= KEPT; k++) put_pair(s, kept[k], group_first + at, k);
}
#endif
