/* One pass of a stable radix sort over 4 bits of one word of pairs of words. PASS: 0 digits of each tile counted, 1 pairs to their places, which
 * the prefix sums of those counts say. */
#version 450

#define THREADS 128u
#define EACH 16u
#define TILE 2048u
#define DIGITS 16u
#define WORDS 8u /* two counts in a word: a tile has fewer than 2^16 pairs */

layout(local_size_x = 128) in;
layout(std430, binding = 0) readonly buffer From { uvec2 from[]; };
layout(std430, binding = 1) buffer To { uvec2 to[]; };
layout(std430, binding = 2) buffer Digits { uint digits[]; }; /* by digit, then tile */
layout(std430, binding = 3) readonly buffer Counts { uint counts[]; };
layout(push_constant) uniform Push {
  uint count_at; /* counts[count_at] pairs */
  uint times;    /* that many times, */
  uint most;     /* and no more than this */
  uint tiles;    /* of the most */
  uint word;     /* 0 or 1 */
  uint shift;
} push;

uint digit_of(uvec2 pair) { return (push.word == 0u ? pair.x : pair.y) >> push.shift & 15u; }

#if PASS == 0
shared uint found[DIGITS];
#else
shared uint found[WORDS * THREADS]; /* by word, then thread */
uint found_at(uint digit) { return (digit >> 1u) * THREADS + gl_LocalInvocationIndex; }
#endif

void main()
{
  uint t = gl_LocalInvocationIndex;
  uint tile = gl_WorkGroupID.x;
  uint n = min(counts[push.count_at] * push.times, push.most);
  uint first = tile * TILE + t * EACH;
  uint end = min(first + EACH, n);
#if PASS == 0
  if (t < DIGITS) found[t] = 0u;
  barrier();
  for (uint i = first; i < end; i++) atomicAdd(found[digit_of(from[i])], 1u);
  barrier();
  if (t < DIGITS) digits[t * push.tiles + tile] = found[t];
#else
  if (tile * TILE >= n) return;
  for (uint k = 0u; k < WORDS; k++) found[k * THREADS + t] = 0u;
  for (uint i = first; i < end; i++) {
    uint d = digit_of(from[i]);
    found[found_at(d)] += 1u << (16u * (d & 1u));
  }
  barrier();
  for (uint step = 1u; step < THREADS; step *= 2u) {
    uint left[WORDS];
    for (uint k = 0u; k < WORDS; k++) left[k] = t >= step ? found[k * THREADS + t - step] : 0u;
    barrier();
    for (uint k = 0u; k < WORDS; k++) found[k * THREADS + t] += left[k];
    barrier();
  }
  uint before[WORDS];
  for (uint k = 0u; k < WORDS; k++) before[k] = t > 0u ? found[k * THREADS + t - 1u] : 0u;
  barrier();
  for (uint k = 0u; k < WORDS; k++) found[k * THREADS + t] = before[k];
  for (uint i = first; i < end; i++) {
    uvec2 pair = from[i];
    uint d = digit_of(pair);
    uint half_word = 16u * (d & 1u);
    uint at = found[found_at(d)] >> half_word & 0xffffu;
    found[found_at(d)] += 1u << half_word;
    to[digits[d * push.tiles + tile] + at] = pair;
  }
#endif
}
