/* From manifolds to contacts in canonical order. PASS: 0 how many pairs are taken, 1 how many contacts, 2 where each world's begin, 3 the contacts,
 * a pair a thread, 4 the same where pairs with heightfields are among them. */
#version 450
#extension GL_GOOGLE_include_directive : require
#include "collision_device.glsl"

layout(local_size_x = 64) in;
layout(std430, binding = 0) buffer Counts { uint counts[]; };
#if PASS >= 2
layout(std430, binding = 1) readonly buffer Pairs { uvec2 pairs[]; };
layout(std430, binding = 2) readonly buffer First { uint first[]; }; /* contact of each pair */
#endif
#if PASS == 2
layout(std430, binding = 3) readonly buffer Tables { uint tables[]; };
layout(std430, binding = 4) buffer Starts { uint world_start[]; };
#elif PASS >= 3
layout(std430, binding = 3) readonly buffer Shapes { uint shapes[]; };
layout(std430, binding = 4) readonly buffer Manifolds { float manifolds[]; };
layout(std430, binding = 5) readonly buffer Found { uint pair_contacts[]; };
layout(std430, binding = 6) buffer Contacts { uint contacts[]; };
#endif
#if PASS == 4
layout(std430, binding = 7) readonly buffer FirstMet { uint first_met[]; }; /* triangle of each pair */
layout(std430, binding = 8) readonly buffer Work { uint work[]; };
#endif

#if PASS >= 3
float shape_float(uint s, uint at) { return uintBitsToFloat(shapes[SHAPE_WORDS * s + at]); }
void put(uint array, uint at, uint word) { contacts[push.contact_capacity * array + at] = word; }

/* Friction of the pair: the larger coefficient, as far as condim goes. */
float friction_of(uint a, uint b, uint condim, uint k)
{
  float fa = shape_float(a, S_FRICTION + k);
  float fb = shape_float(b, S_FRICTION + k);
  uint least = k == 0u ? 3u : (k == 1u ? 4u : 6u);
  return condim < least ? 0.0 : f_sel(fa > fb, fa, fb);
}

/* Where contact k of a pair has its normal, and its points, gap and feature: words of manifolds, or for heightfields of work. */
struct EmitSource { uint normal; uint point; bool met; };

EmitSource source_of(uint i, uvec2 pair, uint k)
{
  EmitSource s;
  s.normal = MANIFOLD_WORDS * i;
  s.point = MANIFOLD_WORDS * i + M_POINT + M_POINT_WORDS * k;
  s.met = false;
#if PASS == 4
  s.met = max(shapes[SHAPE_WORDS * pair.x + S_TYPE], shapes[SHAPE_WORDS * pair.y + S_TYPE]) == HFIELD;
  if (s.met) {
    s.normal = TRIANGLE_WORDS * first_met[i] + T_POINT_WORDS * k;
    s.point = s.normal + T_ON_A;
  }
#endif
  return s;
}

uint source_word(EmitSource s, uint at)
{
#if PASS == 4
  if (s.met) return work[at];
#endif
  return floatBitsToUint(manifolds[at]);
}

shared uint group_deepest;

uint emit(uint i)
{
  uvec2 pair = pairs[i];
  uint a = SHAPE_WORDS * pair.x;
  uint b = SHAPE_WORDS * pair.y;
  uint condim = max(shapes[a + S_CONDIM], shapes[b + S_CONDIM]);
  float ra = uintBitsToFloat(shapes[a + S_RESTITUTION]);
  float rb = uintBitsToFloat(shapes[b + S_RESTITUTION]);
  uint low_a = pair.x - shapes[a + S_FIRST];
  uint low_b = pair.y - shapes[a + S_FIRST];
  uint deepest = 0u;
  for (uint k = 0u; k < pair_contacts[i]; k++) {
    uint at = first[i] + k;
    if (at >= counts[C_CONTACTS]) break; /* truncated */
    EmitSource source = source_of(i, pair, k);
    put(SB_AT_KEY, 2u * at, low_b << 16u | source_word(source, source.point + 7u));
    put(SB_AT_KEY, 2u * at + 1u, low_a << 8u | low_b >> 16u);
    put(SB_AT_WORLD, at, shapes[a + S_WORLD]);
    put(SB_AT_SHAPE_A, at, pair.x);
    put(SB_AT_SHAPE_B, at, pair.y);
    put(SB_AT_BODY_A, at, shapes[a + S_FIXED] != 0u ? 0xffffffffu : shapes[a + S_BODY]);
    put(SB_AT_BODY_B, at, shapes[b + S_FIXED] != 0u ? 0xffffffffu : shapes[b + S_BODY]);
    for (uint c = 0u; c < 3u; c++) {
      put(SB_AT_POINT_A, 3u * at + c, source_word(source, source.point + c));
      put(SB_AT_POINT_B, 3u * at + c, source_word(source, source.point + 3u + c));
      put(SB_AT_NORMAL, 3u * at + c, source_word(source, source.normal + c));
      put(SB_AT_FRICTION, 3u * at + c, floatBitsToUint(friction_of(pair.x, pair.y, condim, c)));
    }
    float gap = uintBitsToFloat(source_word(source, source.point + 6u));
    put(SB_AT_GAP, at, floatBitsToUint(gap));
    put(SB_AT_RESTITUTION, at, floatBitsToUint(f_sel(ra > rb, ra, rb)));
    if (gap < 0.0) deepest = max(deepest, f_bits(-gap)); /* floats above 0 have the order of their bits */
  }
  return deepest;
}
#endif

void main()
{
  uint i = gl_GlobalInvocationID.x;
#if PASS == 0
  if (i == 0u) counts[C_PAIRS] = counts[C_PAIRS_FOUND] > push.pair_capacity ? 0u : counts[C_PAIRS_FOUND];
#elif PASS == 1
  /* of too many the first ones, or none */
  uint found = counts[C_CONTACTS_FOUND];
  if (i == 0u) counts[C_CONTACTS] = found <= push.contact_capacity ? found : (push.truncate != 0u ? push.contact_capacity : 0u);
#elif PASS == 2
  if (i > push.worlds) return;
  uint low = 0u;
  uint high = counts[C_PAIRS];
  uint shape = tables[push.world_shapes + i];
  while (low < high) { /* the first pair of this world or a later one */
    uint middle = low + (high - low) / 2u;
    if (pairs[middle].x < shape) low = middle + 1u;
    else high = middle;
  }
  world_start[i] = min(low < counts[C_PAIRS] ? first[low] : counts[C_CONTACTS_FOUND], counts[C_CONTACTS]);
#else
  if (gl_LocalInvocationIndex == 0u) group_deepest = 0u;
  barrier();
  uint deepest = i < counts[C_PAIRS] ? emit(i) : 0u;
  if (deepest != 0u) atomicMax(group_deepest, deepest);
  barrier();
  if (gl_LocalInvocationIndex == 0u && group_deepest != 0u) atomicMax(counts[C_DEEPEST], group_deepest);
#endif
}
