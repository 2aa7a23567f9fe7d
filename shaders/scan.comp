/* Exclusive prefix sums of unsigned integers, in blocks of 1024. PASS: 0 sum of each block, 1 sums of the blocks before each, on one workgroup,
 * 2 the sums within each block on top of those, 3 all of it where there is one block. In place where both bindings are one buffer. */
#version 450
#extension GL_GOOGLE_include_directive : require

#define THREADS 256u
#define EACH 4u
#define BLOCK 1024u

layout(local_size_x = 256) in;
layout(std430, binding = 0) readonly buffer Values { uint values[]; };
layout(std430, binding = 1) buffer Before { uint before[]; };
layout(std430, binding = 2) buffer Blocks { uint blocks[]; };
layout(std430, binding = 3) buffer Counts { uint counts[]; };
layout(push_constant) uniform Push {
  uint count;  /* values; where count_at is not NONE, counts[count_at] of them, and no more than this */
  uint count_at;
  uint total_at; /* where the sum of all goes in counts; NONE for nowhere */
} push;
#define NONE 0xffffffffu

shared uint sums[THREADS];

uint value_count() { return push.count_at == NONE ? push.count : min(push.count, counts[push.count_at]); }

/* Sum of what the threads before this one bring; *all of it in total. Hillis and Steele, 1986. */
uint scan_threads(uint own, out uint total)
{
  uint t = gl_LocalInvocationIndex;
  sums[t] = own;
  barrier();
  for (uint step = 1u; step < THREADS; step *= 2u) {
    uint left = t >= step ? sums[t - step] : 0u;
    barrier();
    sums[t] += left;
    barrier();
  }
  total = sums[THREADS - 1u];
  uint found = sums[t] - own;
  barrier();
  return found;
}

/* Four values of this thread from `first` on become the sums before them, `carry` on top; returns the sum of the workgroup's. */
uint scan_block(uint first, uint end, uint carry, bool of_blocks)
{
  uint v[EACH];
  uint own = 0u;
  for (uint k = 0u; k < EACH; k++) {
    uint i = first + k;
    v[k] = i < end ? (of_blocks ? blocks[i] : values[i]) : 0u;
    own += v[k];
  }
  uint total;
  uint sum = carry + scan_threads(own, total);
  for (uint k = 0u; k < EACH; k++) {
    uint i = first + k;
    if (i < end && of_blocks) blocks[i] = sum;
    if (i < end && !of_blocks) before[i] = sum;
    sum += v[k];
  }
  return total;
}

void main()
{
  uint n = value_count();
  uint first = gl_WorkGroupID.x * BLOCK + gl_LocalInvocationIndex * EACH;
#if PASS == 0 || PASS == 2
  if (gl_WorkGroupID.x * BLOCK >= n) return;
#endif
#if PASS == 0
  uint own = 0u;
  for (uint k = 0u; k < EACH; k++) own += first + k < n ? values[first + k] : 0u;
  uint total;
  scan_threads(own, total);
  if (gl_LocalInvocationIndex == 0u) blocks[gl_WorkGroupID.x] = total;
#elif PASS == 1
  uint block_count = (n + BLOCK - 1u) / BLOCK;
  uint carry = 0u;
  for (uint begin = 0u; begin < block_count; begin += BLOCK)
    carry += scan_block(begin + gl_LocalInvocationIndex * EACH, block_count, carry, true);
  if (gl_LocalInvocationIndex == 0u && push.total_at != NONE) counts[push.total_at] = carry;
#elif PASS == 2
  scan_block(first, n, blocks[gl_WorkGroupID.x], false);
#else
  uint sum = scan_block(first, n, 0u, false);
  if (gl_LocalInvocationIndex == 0u && push.total_at != NONE) counts[push.total_at] = sum;
#endif
}
