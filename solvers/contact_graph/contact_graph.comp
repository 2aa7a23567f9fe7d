/* Manifolds and colours of a tick, as solvers find them on the CPU (steel_graph.c, xpbd_colors.c). PASS: 0 which contacts begin a manifold, 1 the manifolds, 2 which
 * manifold comes next at each body, 3 which have none before them, 4 the colours, on one workgroup, 5 where each colour begins, 6 manifolds by colour.
 *
 * The CPU goes through the manifolds in the order of their keys, and each takes the lowest colour that none before it has at its moving bodies. So a
 * manifold has to wait for one before it at each of the two, and no more. Here each is coloured when those are: a front that goes through the same
 * graph, in whatever order it likes. */
#version 450
#extension GL_GOOGLE_include_directive : require
#include "samebit/device_contacts.h"

#ifndef THREADS
#define THREADS 64
#endif
layout(local_size_x = THREADS) in;

#define NONE 0xffffffffu
#define MOVES_A 0x01000000u /* contact_graph.h */
#define MOVES_B 0x02000000u
#define FEATURE_SWEPT 0xffffu

/* counts */
#define N_CONTACTS 0u
#define N_MANIFOLDS 1u
#define N_FRONT 2u

layout(std430, binding = 0) buffer Counts { uint counts[]; };
#if PASS <= 1
layout(std430, binding = 1) readonly buffer Contacts { uint contacts[]; };
layout(std430, binding = 2) readonly buffer WorldStart { uint world_start[]; };
layout(std430, binding = 3) readonly buffer Records { uint record_of[]; }; /* of a body, twice that, and 1 where it moves */
layout(std430, binding = 4) buffer Begins { uint begins[]; };              /* 1 or 0; then the manifolds before */
#endif
#if PASS == 1
layout(std430, binding = 5) readonly buffer Flags { uint flags[]; };
layout(std430, binding = 6) buffer Found { uvec4 found[]; };
layout(std430, binding = 7) buffer Sides { uvec2 sides[]; }; /* record and side, 2 for each manifold */
#elif PASS == 2
layout(std430, binding = 1) readonly buffer Sides { uvec2 sides[]; }; /* by record */
layout(std430, binding = 2) buffer Links { uint links[]; };           /* four words for each manifold: the sides that come after its own; colours taken there */
layout(std430, binding = 3) buffer Before { uint before[]; };         /* 1 where there is one */
#elif PASS == 3
layout(std430, binding = 1) readonly buffer Before { uint before[]; };
layout(std430, binding = 2) buffer Pending { uint pending[]; };
layout(std430, binding = 3) buffer Front { uint front[]; };
#elif PASS == 4
layout(std430, binding = 1) coherent buffer Links { uvec4 links[]; };
layout(std430, binding = 2) coherent buffer Pending { uint pending[]; };
layout(std430, binding = 3) coherent buffer Front { uint front[]; }; /* two, each for `capacity` manifolds */
layout(std430, binding = 4) buffer Colors { uvec2 colors[]; };       /* colour and manifold */
#elif PASS >= 5
layout(std430, binding = 1) readonly buffer Colors { uvec2 colors[]; }; /* by colour */
#endif
#if PASS == 5
layout(std430, binding = 2) buffer Starts { uint start[]; };
layout(std430, binding = 3) buffer Groups { uint groups[]; };
#elif PASS == 6
layout(std430, binding = 2) readonly buffer Found { uvec4 found[]; };
layout(std430, binding = 3) buffer Manifolds { uvec4 manifolds[]; };
#endif
layout(push_constant) uniform Push {
  uint capacity; /* contacts, and so manifolds */
  uint worlds;
  uint nobody;
  uint max_colors; /* 32 at most; a manifold beyond them goes to the serial group */
  uint max_points; /* of a manifold with one normal; 0: all contacts of a pair of shapes are one */
  uint words;      /* of a contact */
  uint rounds;     /* of threads through the front, before the next dispatch goes on */
} push;

#if PASS <= 1
uint contact(uint array, uint i) { return contacts[push.capacity * array + i]; }

bool same_pair(uint i, uint k)
{
  return contact(SB_AT_SHAPE_A, i) == contact(SB_AT_SHAPE_A, k) && contact(SB_AT_SHAPE_B, i) == contact(SB_AT_SHAPE_B, k);
}

/* Where points have one normal, as st_continues() of steel_data.h. */
bool continues(uint first, uint next)
{
  if (!same_pair(first, next)) return false;
  if (push.max_points == 0u) return true;
  if ((contact(SB_AT_KEY, 2u * next) & 0xffffu) == FEATURE_SWEPT || next - first >= push.max_points) return false;
  for (uint c = 0u; c < 3u; c++)
    if (contact(SB_AT_NORMAL, 3u * first + c) != contact(SB_AT_NORMAL, 3u * next + c)) return false;
  return true;
}

uint end_of(uint first, uint count)
{
  uint end = first + 1u;
  while (end < count && continues(first, end)) end++;
  return end;
}

uint side_of(uint array, uint i)
{
  int body = int(contact(array, i));
  return body < 0 ? 2u * push.nobody : record_of[body];
}
#endif

#if PASS == 0
/* Manifolds are counted from where their pair begins. */
bool begins_manifold(uint i, uint count)
{
  uint first = i;
  while (first > 0u && same_pair(first - 1u, i)) first--;
  while (first < i) first = end_of(first, count);
  return first == i && ((side_of(SB_AT_BODY_A, i) | side_of(SB_AT_BODY_B, i)) & 1u) != 0u;
}
#endif

#if PASS == 4
#define ROOM 2048u /* manifolds of a front that lie in shared memory; more lie in `front` */
shared uint near_front[2u * ROOM];
shared uint sizes[3]; /* of fronts: of this round, the next one, and one that is made ready */

uint front_at(uint from, uint room, uint k) { return k < room ? near_front[(from == 0u ? 0u : ROOM) + k] : front[from + k]; }

/* The side that comes next at a body gets the colours that are taken there, and its manifold has one less to wait for: whether it was the last. */
bool release(uint side, uint taken)
{
  if (side == NONE) return false;
  uint m = side >> 1u;
  if ((side & 1u) == 0u) links[m].z = taken;
  else links[m].w = taken;
#ifdef SAMEBIT_MUTANT_EARLY_COLOURS
  /* The planted fault: it comes after the first manifold before it, and looks at what the second has as it finds it. */
  return atomicExchange(pending[m], 0u) != 0u;
#else
  return atomicAdd(pending[m], 0xffffffffu) == 1u;
#endif
}

void join_front(uint m, uint to, uint size)
{
  uint k = atomicAdd(sizes[size], 1u);
  if (k < ROOM) near_front[(to == 0u ? 0u : ROOM) + k] = m;
  else front[to + k] = m;
}

void visit(uint m, uint to, uint size)
{
  uvec4 own = links[m];
  uint taken = own.z | own.w;
  uint color = taken == 0xffffffffu ? push.max_colors : min(uint(findLSB(~taken)), push.max_colors);
  uint bit = color < push.max_colors ? 1u << color : 0u;
  bool first = release(own.x, own.z | bit);
  bool second = release(own.y, own.w | bit);
  colors[m] = uvec2(color, m);
  if (first) join_front(own.x >> 1u, to, size);
  if (second) join_front(own.y >> 1u, to, size);
}
#endif

#if PASS == 5
/* The first manifold of a colour not below c. */
uint find_start(uint c)
{
  uint low = 0u;
  uint high = counts[N_MANIFOLDS];
  while (low < high) {
    uint middle = low + (high - low) / 2u;
    if (colors[middle].x < c) low = middle + 1u;
    else high = middle;
  }
  return low;
}

void put_groups(uint which, uint n)
{
  groups[3u * which] = n;
  groups[3u * which + 1u] = 1u;
  groups[3u * which + 2u] = 1u;
}
#endif

void main()
{
  uint i = gl_GlobalInvocationID.x;
#if PASS == 0
  uint count = world_start[push.worlds];
  if (i == 0u) counts[N_CONTACTS] = count;
  if (i == 0u) counts[N_FRONT] = 0u;
  if (i < count) begins[i] = begins_manifold(i, count) ? 1u : 0u;
#elif PASS == 1
  uint count = counts[N_CONTACTS];
  if (i >= count || flags[i] == 0u) return;
  uint m = begins[i];
  uint a = side_of(SB_AT_BODY_A, i);
  uint b = side_of(SB_AT_BODY_B, i);
  uint moves = ((a & 1u) != 0u ? MOVES_A : 0u) | ((b & 1u) != 0u ? MOVES_B : 0u);
  found[m] = uvec4(a >> 1u, b >> 1u, i, (end_of(i, count) - i) | moves);
  /* what does not move waits for nobody */
  sides[2u * m] = uvec2((a & 1u) != 0u ? a >> 1u : push.nobody, 2u * m);
  sides[2u * m + 1u] = uvec2((b & 1u) != 0u ? b >> 1u : push.nobody, 2u * m + 1u);
#elif PASS == 2
  uint n = 2u * counts[N_MANIFOLDS];
  if (i >= n) return;
  uvec2 own = sides[i];
  bool moves = own.x != push.nobody;
  uint at = 4u * (own.y >> 1u) + (own.y & 1u);
  links[at] = moves && i + 1u < n && sides[i + 1u].x == own.x ? sides[i + 1u].y : NONE;
  links[at + 2u] = 0u;
  before[own.y] = moves && i > 0u && sides[i - 1u].x == own.x ? 1u : 0u;
#elif PASS == 3
  if (i >= counts[N_MANIFOLDS]) return;
  pending[i] = before[2u * i] + before[2u * i + 1u];
  if (pending[i] == 0u) front[atomicAdd(counts[N_FRONT], 1u)] = i;
#elif PASS == 4
  if (i < 3u) sizes[i] = i == 0u ? counts[N_FRONT] : 0u;
  memoryBarrierShared();
  barrier();
  uint from = 0u;
  uint room = 0u; /* the first front lies in `front` as a whole */
  uint at = 0u;
  uint size = sizes[0];
  for (uint rounds = 0u; size != 0u && rounds < push.rounds;) {
    uint to = from ^ push.capacity;
    uint next = at == 2u ? 0u : at + 1u;
    if (i == 0u) sizes[next == 2u ? 0u : next + 1u] = 0u;
    /* All threads make the same rounds: lavapipe (Mesa 22.3) loses track of those that leave an inner loop before others when a barrier follows in
     * the outer one. */
    for (uint base = 0u; base < size; base += THREADS, rounds++) {
      uint k = base + gl_LocalInvocationIndex;
      if (k < size) visit(front_at(from, room, k), to, next);
    }
    memoryBarrierBuffer();
    memoryBarrierShared();
    barrier();
    from = to;
    room = ROOM;
    at = next;
    size = sizes[at];
  }
  /* where the next dispatch finds what is left */
  for (uint base = 0u; base < size; base += THREADS) {
    uint k = base + gl_LocalInvocationIndex;
    if (k < size) front[k] = front_at(from, room, k);
  }
  if (i == 0u) counts[N_FRONT] = size;
#elif PASS == 5
  /* the colours and the serial group, all manifolds, words of all contacts, in workgroups of 64 */
  uint all = push.max_colors + 1u;
  if (i > all + 1u) return;
  start[i] = i > all ? counts[N_CONTACTS] : find_start(i);
  uint n = i > all ? counts[N_CONTACTS] * push.words : (i == all ? counts[N_MANIFOLDS] : find_start(i + 1u) - find_start(i));
  put_groups(i, i == push.max_colors ? min(n, 1u) : (n + 63u) / 64u);
#else
  if (i < counts[N_MANIFOLDS]) manifolds[i] = found[colors[i].y];
#endif
}
