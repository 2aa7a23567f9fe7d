/* Contacts of the tick before and of this one, as host/core/contact_cache.c has them. PASS: 0 which old contact each new one continues, a pair of
 * shapes a thread; 1 the new ones become the old ones. */
#version 450
#extension GL_GOOGLE_include_directive : require
#include "prelude.glsl"
#include "samebit/device_contacts.h"

layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer Contacts { uint contacts[]; };
layout(std430, binding = 1) readonly buffer Starts { uint world_start[]; };
layout(std430, binding = 2) buffer OldKey { uvec2 old_key[]; };
layout(std430, binding = 3) buffer OldPoint { float old_point[]; };
layout(std430, binding = 4) buffer OldStart { uint old_start[]; };
#if PASS == 0
layout(std430, binding = 5) buffer Match { int matched[]; };
#else
layout(std430, binding = 5) buffer OldCount { uint old_count[]; }; /* of each world */
#endif
layout(push_constant) uniform Push {
  uint worlds;
  uint capacity;
} push;

uint contact(uint array, uint i) { return contacts[push.capacity * array + i]; }
uvec2 key_of(uint i) { return uvec2(contact(SB_AT_KEY, 2u * i), contact(SB_AT_KEY, 2u * i + 1u)); }

#if PASS == 0
#define SWEPT 0xffffu
#define NO_LIMIT 3.0e38

bool same_pair(uvec2 a, uvec2 b) { return a.y == b.y && a.x >> 16u == b.x >> 16u; }
bool pair_before(uvec2 a, uvec2 b) { return a.y != b.y ? a.y < b.y : a.x >> 16u < b.x >> 16u; }
bool is_swept(uvec2 key) { return (key.x & 0xffffu) == SWEPT; }

/* Contacts first to end - 1 that have no match yet take the nearest old ones that nobody has taken; of equal distances the first. */
void match_by_distance(uint first, uint end, uint old, uint old_end)
{
  uint taken = 0u; /* bit per contact of the old run; runs are at most 32 long */
  old_end = min(old_end, old + 32u);
  for (uint i = first; i < end; i++)
    if (matched[i] >= 0 && uint(matched[i]) - old < 32u) taken |= 1u << (uint(matched[i]) - old);
  for (uint i = first; i < end; i++) {
    if (matched[i] >= 0 || is_swept(key_of(i))) continue;
    float best = NO_LIMIT;
    int found = -1;
    for (uint k = old; k < old_end; k++) {
      if ((taken >> (k - old) & 1u) != 0u || is_swept(old_key[k])) continue;
      float x = uintBitsToFloat(contact(SB_AT_POINT_A, 3u * i)) - old_point[3u * k];
      float y = uintBitsToFloat(contact(SB_AT_POINT_A, 3u * i + 1u)) - old_point[3u * k + 1u];
      float z = uintBitsToFloat(contact(SB_AT_POINT_A, 3u * i + 2u)) - old_point[3u * k + 2u];
      float d = (x * x + y * y) + z * z;
      if (d < best) {
        best = d;
        found = int(k);
      }
    }
    matched[i] = found;
    if (found >= 0) taken |= 1u << (uint(found) - old);
  }
}

void main()
{
  uint i = gl_GlobalInvocationID.x;
  if (i >= world_start[push.worlds]) return;
  uvec2 key = key_of(i);
  uint w = contact(SB_AT_WORLD, i);
  uint world_end = world_start[w + 1u];
  if (i > world_start[w] && same_pair(key, key_of(i - 1u))) return;
  uint low = old_start[w];
  uint high = old_start[w + 1u];
  uint old_last = high;
  while (low < high) { /* the first old contact whose pair is not before this one */
    uint middle = low + (high - low) / 2u;
    if (pair_before(old_key[middle], key)) low = middle + 1u;
    else high = middle;
  }
  uint old_end = low;
  while (old_end < old_last && same_pair(old_key[old_end], key)) old_end++;
  uint k = low;
  uint end = i;
  bool complete = true;
  for (; end < world_end && same_pair(key_of(end), key); end++) {
    uint own = key_of(end).x & 0xffffu;
    while (k < old_end && (old_key[k].x & 0xffffu) < own) k++;
    matched[end] = k < old_end && (old_key[k].x & 0xffffu) == own ? int(k) : -1;
    complete = complete && matched[end] >= 0;
  }
  if (!complete && low < old_end) match_by_distance(i, end, low, old_end);
}
#else
void main()
{
  uint i = gl_GlobalInvocationID.x;
  if (i <= push.worlds) old_start[i] = world_start[i];
  if (i < push.worlds) old_count[i] = world_start[i + 1u] - world_start[i];
  if (i >= world_start[push.worlds]) return;
  old_key[i] = key_of(i);
  for (uint c = 0u; c < 3u; c++) old_point[3u * i + c] = uintBitsToFloat(contact(SB_AT_POINT_A, 3u * i + c));
}
#endif
