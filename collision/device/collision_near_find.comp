/* Near pairs of two nodes, such a pair a workgroup in turn: near_lanes.c and near_pairs.c step by step. What is found goes to its list in any order. PASS: 0 of
 * triangles, 1 where one node holds loose particles.
 *
 * Every loop makes the same rounds on all threads, and what a stage finds is handed to the next one through the workgroup's memory, side by side: so no thread
 * waits for another's luck. No list can be too short: each is worked off before it could be. Loops end with their condition, since a device that runs all
 * threads under masks goes through what a condition at the top leaves out. */
#version 450
#extension GL_GOOGLE_include_directive : require
#include "collision_near.glsl"

#define THREADS 64u
layout(local_size_x = 64) in;
layout(std430, binding = 0) buffer Counts { uint counts[]; };
layout(std430, binding = 1) readonly buffer Plan { uint plan[]; };
layout(std430, binding = 2) readonly buffer Touch { uint touch[]; };
layout(std430, binding = 3) readonly buffer Strangers { uint strangers[]; };
layout(std430, binding = 4) readonly buffer Slots { uvec4 slots[]; }; /* corners, element */
layout(std430, binding = 5) readonly buffer Edges { uvec4 edges[]; }; /* ends, edge */
layout(std430, binding = 6) readonly buffer Particles { uint particles[]; };
layout(std430, binding = 7) readonly buffer ParticleQ { float particle_q[]; };
layout(std430, binding = 8) readonly buffer ParticleQd { float particle_qd[]; };
layout(std430, binding = 9) readonly buffer Pieces { float pieces[]; };
layout(std430, binding = 10) readonly buffer Elements { float elements[]; };
layout(std430, binding = 11) readonly buffer Normals { float normals[]; };
layout(std430, binding = 12) readonly buffer EdgeBoxes { float edge_boxes[]; };
layout(std430, binding = 13) buffer Hits { uint hits[]; };
layout(std430, binding = 14) readonly buffer Pairs { uvec4 pairs[]; }; /* nodes, where they are in touch or NONE, what of them is passed over */
layout(std430, binding = 15) readonly buffer Groups { uint groups[]; };

#define HAS_PLAN
#include "collision_near_pieces.glsl"

/* SB_NEAR_* */
#define POINTS 0u
#define FACE 1u
#define EDGES 2u
/* What a stage of two nodes looks for: vertices and triangles, edges, or elements of which one is a particle. */
#define SEEK_FACES 0u
#define SEEK_EDGES 1u
#define SEEK_LOOSE 2u

/* A thing looked for is written as a number: pair of leaves (6 bits), vertex, edge or 0 of it (6), what it may meet in the other leaf (6). */
#define WAITING 3072u
#define FIND_MOST 1536u /* between two looks at how much waits: 64 edges with the 24 of a leaf, or so many pairs of leaves with 64 pairs of particles: */
#define LEAVES_MOST 24u
shared uvec4 leaf_pairs[64];  /* two leaves, first row of strangers or NONE, whether edges may be near */
shared uvec4 taken[64];       /* vertex, leaf, reach; or edge, leaf, which edges of the leaf; or leaf, leaf, reach; and then its number */
shared uint waiting[WAITING]; /* numbers of what has to be judged */
shared uint pair_count;
shared uint taken_count;
shared uint waiting_count;
shared uint most_vertices;
shared uint most_edges;
shared uint most_others;

V3 position(uint p) { return v3(particle_q[3u * p], particle_q[3u * p + 1u], particle_q[3u * p + 2u]); }
V3 velocity(uint p) { return v3(particle_qd[3u * p], particle_qd[3u * p + 1u], particle_qd[3u * p + 2u]); }
float radius_of(uint p) { return uintBitsToFloat(particles[PARTICLE_WORDS * p]); }
uint deformable_of(uint p) { return particles[PARTICLE_WORDS * p + 1u]; }
V3 at_rest(uint p)
{
  uint w = PARTICLE_WORDS * p + 3u;
  return v3(uintBitsToFloat(particles[w]), uintBitsToFloat(particles[w + 1u]), uintBitsToFloat(particles[w + 2u]));
}
NearBox element_box(uint slot)
{
  NearBox b;
  b.lo = v3(elements[6u * slot], elements[6u * slot + 1u], elements[6u * slot + 2u]);
  b.hi = v3(elements[6u * slot + 3u], elements[6u * slot + 4u], elements[6u * slot + 5u]);
  return b;
}
NearBox edge_box(uint place)
{
  NearBox b;
  b.lo = v3(edge_boxes[6u * place], edge_boxes[6u * place + 1u], edge_boxes[6u * place + 2u]);
  b.hi = v3(edge_boxes[6u * place + 3u], edge_boxes[6u * place + 4u], edge_boxes[6u * place + 5u]);
  return b;
}
NearBox point_box(V3 x)
{
  NearBox b;
  b.lo = x;
  b.hi = x;
  return b;
}
V3 normal_of(uint slot) { return v3(normals[3u * slot], normals[3u * slot + 1u], normals[3u * slot + 2u]); }

/* --- pieces --- */

uint ones(uint x)
{
  x -= x >> 1u & 0x55u;
  x = (x & 0x33u) + (x >> 2u & 0x33u);
  return (x + (x >> 4u)) & 15u;
}

uvec4 owned(uint leaf)
{
  uint w = push.owned + 4u * leaf;
  return uvec4(plan[w], plan[w + 1u], plan[w + 2u], plan[w + 3u]);
}

/* Leaf k of node a and leaf l of node b. */
void take_leaves(uint a, uint b, uint k, uint l, uint share, uint passed)
{
  uint p = EIGHT * a + k;
  uint q = EIGHT * b + l;
  uint with = 0u;
  bool keep = a != b || l >= k;
  if (share != NONE) {
    uint row = touch[TOUCH_WORDS * share + T_WITH + k / 4u];
    uint half_row = row | row >> 8u | row >> 16u | row >> 24u;
    uint j = l / 4u;
    if ((half_row >> (4u * j) & 15u) != 0u && (passed >> (2u * (k / 4u) + j) & 1u) != 0u) keep = false;
    with = row >> (8u * (k & 3u)) & 0xffu;
  }
  keep = keep && pieces_meet(p, q);
  bool shares = keep && (with >> l & 1u) != 0u;
  NearBox all = near_box_join(piece_box(p, PIECE_NORMAL), piece_box(q, PIECE_NORMAL));
  V3 middle = near_middle(all);
  bool lean = true;
#if PASS == 0
  float least = near_least_lean(middle);
  uint i = 0u;
  do {
    lean = lean && near_leans_by(normal_of(EIGHT * p + i), middle, least) && near_leans_by(normal_of(EIGHT * q + i), middle, least);
    i++;
  } while (i < EIGHT);
#endif
  if (shares && (lean || near_is_flat(all))) keep = false;
  if (keep) {
    uvec4 of_p = owned(p);
    uvec4 of_q = owned(q);
    uint rows = shares ? touch[TOUCH_WORDS * share + T_STRANGERS + k] + ones(with & ((1u << l) - 1u)) * of_p.w : NONE;
    bool close = near_boxes_meet(piece_box(p, 0u), piece_box(q, 0u), near_edge_reach(piece_radius(p) + piece_radius(q)));
    leaf_pairs[atomicAdd(pair_count, 1u)] = uvec4(p, q, rows, close ? 1u : 0u);
    atomicMax(most_vertices, of_p.y + (p == q ? 0u : of_q.y));
    atomicMax(most_edges, of_p.w);
    atomicMax(most_others, of_q.w);
  }
}

/* --- features --- */

/* Vertex j of those that two leaves speak for: its particle or NONE, and the leaf that it may meet. */
uvec2 vertex_of(uvec4 pair, uint j)
{
  uvec4 of_p = owned(pair.x);
  uvec4 of_q = owned(pair.y);
  bool first = j < of_p.y;
  bool second = !first && pair.x != pair.y && j - of_p.y < of_q.y;
  if (!first && !second) return uvec2(NONE);
  return first ? uvec2(plan[push.vertices + of_p.x + j], pair.y) : uvec2(plan[push.vertices + of_q.x + j - of_p.y], pair.x);
}

float edges_reach(uvec4 pair) { return near_edge_reach(piece_radius(pair.x) + piece_radius(pair.y)); }

/* Number j of what is looked for in pair i of leaves: a vertex that comes within reach of the other leaf, or an edge. */
void take(uint seek, uint i, uint j)
{
  uvec4 pair = leaf_pairs[i];
  uint number = i << 6u | j;
  if (seek == SEEK_FACES) {
    uvec2 vertex = vertex_of(pair, j);
    if (vertex.x != NONE) {
      float room = piece_radius(pair.x) + piece_radius(pair.y);
      NearBox x = point_box(position(vertex.x));
      NearBox box = piece_box(vertex.y, 0u);
      float speed = near_speed(x, box, point_box(velocity(vertex.x)), piece_box(vertex.y, PIECE_SPEED), near_certain(room));
      float reach = near_reach(room, speed, push.dt);
      if (near_boxes_meet(x, box, reach)) taken[atomicAdd(taken_count, 1u)] = uvec4(vertex.x, vertex.y, f_bits(reach), number);
    }
  } else if (seek == SEEK_EDGES) {
    uvec4 own = owned(pair.x);
    if (pair.w != 0u && j < own.w && near_boxes_meet(piece_box(pair.y, 0u), edge_box(own.z + j), edges_reach(pair))) {
      uint others = pair.z == NONE ? NONE : strangers[pair.z + j];
      if (pair.x == pair.y) others &= 0xfffffffeu << j;
      taken[atomicAdd(taken_count, 1u)] = uvec4(own.z + j, pair.y, others, number);
    }
  } else {
    taken[atomicAdd(taken_count, 1u)] = uvec4(pair.x, pair.y, f_bits(pieces_reach(pair.x, pair.y)), number);
  }
}

bool has_corner(uvec4 slot, uint particle) { return slot.x == particle || slot.y == particle || slot.z == particle; }

/* Whether elements of two slots, one of which is a particle, may make a pair. */
bool elements_meet(uint s, uint u, bool s_loose, bool u_loose)
{
  uint particle = slots[s_loose ? s : u].w;
  uvec4 tri = slots[s_loose ? u : s];
  return deformables_meet(deformable_of(particle), deformable_of(tri.x)) && ((s_loose && u_loose) || !has_corner(tri, particle));
}

/* Number k of what the taken one may meet in its leaf. */
void try_one(uint seek, uvec4 w, uint k, bool s_loose, bool u_loose)
{
  bool near = false;
  if (seek == SEEK_FACES) {
    uint slot = EIGHT * w.y + k;
    near = near_boxes_meet(point_box(position(w.x)), element_box(slot), uintBitsToFloat(w.z)) && !has_corner(slots[slot], w.x);
  } else if (seek == SEEK_EDGES) {
    uvec4 own = owned(w.y);
    near = k < own.w && (w.z >> k & 1u) != 0u && near_boxes_meet(edge_box(w.x), edge_box(own.z + k), edges_reach(leaf_pairs[w.w >> 6u]));
  } else {
    uint s = EIGHT * w.x + k / EIGHT;
    uint u = EIGHT * w.y + k % EIGHT;
    near = (w.x != w.y || u > s) && near_boxes_meet(element_box(s), element_box(u), uintBitsToFloat(w.z)) && elements_meet(s, u, s_loose, u_loose);
  }
  if (near) waiting[atomicAdd(waiting_count, 1u)] = w.w << 6u | k;
}

/* Two features and their particles. */
struct Features {
  uint a;
  uint b;
  uvec4 p;
};

#if PASS == 0
Features features_of(uint kind, uint number, bool s_loose)
{
  uvec4 pair = leaf_pairs[number >> 12u];
  uint j = number >> 6u & 63u;
  uint k = number & 63u;
  Features f;
  if (kind == FACE) {
    uvec2 vertex = vertex_of(pair, j);
    uvec4 tri = slots[EIGHT * vertex.y + k];
    f.a = vertex.x;
    f.b = tri.w;
    f.p = uvec4(f.a, tri.x, tri.y, tri.z);
  } else {
    uvec4 s = edges[owned(pair.x).z + j];
    uvec4 u = edges[owned(pair.y).z + k];
    f.a = min(s.z, u.z);
    f.b = max(s.z, u.z);
    f.p = s.z < u.z ? uvec4(s.x, s.y, u.x, u.y) : uvec4(u.x, u.y, s.x, s.y);
  }
  return f;
}
#else
Features features_of(uint kind, uint number, bool s_loose)
{
  uvec4 pair = leaf_pairs[number >> 12u];
  uvec4 s = slots[EIGHT * pair.x + (number & 63u) / EIGHT];
  uvec4 u = slots[EIGHT * pair.y + number % EIGHT];
  uvec4 tri = s_loose ? u : s;
  Features f;
  f.a = kind == POINTS ? min(s.w, u.w) : s_loose ? s.w : u.w;
  f.b = kind == POINTS ? max(s.w, u.w) : tri.w;
  f.p = kind == POINTS ? uvec4(f.a, f.b, f.a, f.a) : uvec4(f.a, tri.x, tri.y, tri.z);
  return f;
}
#endif

NearMotion motion_of(uvec4 p)
{
  NearMotion v;
  v.a = velocity(p.x);
  v.b = velocity(p.y);
  v.c = velocity(p.z);
  v.d = velocity(p.w);
  return v;
}

NearRadii radii_of(uvec4 p)
{
  NearRadii r;
  r.a = radius_of(p.x);
  r.b = radius_of(p.y);
  r.c = radius_of(p.z);
  r.d = radius_of(p.w);
  return r;
}

uint is_moving(uint p) { return particles[PARTICLE_WORDS * p + 2u]; }

void put_hit(uint kind, uint world, Features f, NearMet m, float thickness, uint d, uint e)
{
  uint at = atomicAdd(counts[C_FOUND], 1u);
  if (at < push.capacity) {
    uint w = HIT_WORDS * at;
    uint origin = push.origins + 3u * world;
    float mu = uintBitsToFloat(deformable_word(d, D_FRICTION));
    float other = uintBitsToFloat(deformable_word(e, D_FRICTION));
    hits[w + H_KEY] = f.b - plan[origin + (kind == EDGES ? 1u : kind == FACE ? 2u : 0u)];
    hits[w + H_KEY + 1u] = f.a - plan[origin + (kind == EDGES ? 1u : 0u)];
    hits[w + H_KEY + 2u] = world << 2u | kind;
    hits[w + H_SIDE] = f_bits(m.hit.side);
    hits[w + H_SIDE + 1u] = f_bits(near_pushed(thickness, m.hit.distance));
    hits[w + H_SIDE + 2u] = f_bits(f_sel(mu > other, mu, other));
    hits[w + H_PARTICLES] = f.p.x;
    hits[w + H_PARTICLES + 1u] = f.p.y;
    hits[w + H_PARTICLES + 2u] = kind == POINTS ? NONE : f.p.z;
    hits[w + H_PARTICLES + 3u] = kind == POINTS ? NONE : f.p.w;
  }
}

/* keep_hit() of near_pairs.c. */
void judge(uint kind, uint world, uint number, bool s_loose)
{
  Features f = features_of(kind, number, s_loose);
  NearMotion v = motion_of(f.p);
  NearRadii r = radii_of(f.p);
  V3 x0 = position(f.p.x);
  V3 x1 = position(f.p.y);
  V3 x2 = position(f.p.z);
  V3 x3 = position(f.p.w);
  uint d = deformable_of(f.p.x);
  uint e = deformable_of(kind == EDGES ? f.p.z : f.p.y);
  bool keep = (is_moving(f.p.x) | is_moving(f.p.y) | is_moving(f.p.z) | is_moving(f.p.w)) != 0u;
  NearMet m;
  float thickness = 0.0;
  /* now, and then at rest, where the distance alone counts: one text of each kind, as drivers write every call out */
  uint turn = 0u;
  do {
    if (keep && (turn == 0u || d == e)) {
      NearMet met;
      if (kind == POINTS) met = near_meet_points(x0, x1, v.a, v.b, r.a + r.b, push.dt);
      else if (kind == FACE) met = near_meet_face(x0, x1, x2, x3, v, r, push.dt);
      else met = near_meet_edges(x0, x1, x2, x3, v, r, push.dt);
      if (turn == 0u) {
        m = met;
        thickness = m.thickness;
        keep = m.hit.distance < m.cut;
        x0 = at_rest(f.p.x);
        x1 = at_rest(f.p.y);
        x2 = at_rest(f.p.z);
        x3 = at_rest(f.p.w);
      } else {
        if (kind == EDGES && near_are_neighbours(met.hit.distance, v3_len(v3_sub(x1, x0)), v3_len(v3_sub(x3, x2)))) keep = false;
        thickness = near_thinner(m.thickness, met.hit.distance);
        keep = keep && m.hit.distance < near_thinner_cut(m, thickness);
      }
    }
    turn++;
  } while (turn < 2u);
  if (keep) put_hit(kind, world, f, m, thickness, d, e);
}

/* What `count` pairs of leaves have to be looked for, each with `each` vertices, edges or 1, which may meet `others` in their leaf. */
void seek_features(uint seek, uint count, uint each, uint others, uint kind, uint world, bool s_loose, bool u_loose)
{
  uint t = gl_LocalInvocationIndex;
  uint tasks = count * each;
  uint step = seek == SEEK_LOOSE ? LEAVES_MOST : THREADS;
  uint first = 0u;
  do {
    if (t == 0u) taken_count = 0u;
    barrier();
    if (t < step && first + t < tasks) take(seek, (first + t) / max(each, 1u), (first + t) % max(each, 1u));
    barrier();
    uint tests = taken_count * others;
    uint k = 0u;
    do {
      if (k + t < tests) try_one(seek, taken[(k + t) / max(others, 1u)], (k + t) % max(others, 1u), s_loose, u_loose);
      k += THREADS;
    } while (k < tests);
    barrier();
    uint due = first + step >= tasks || waiting_count > WAITING - FIND_MOST ? waiting_count : 0u;
    k = 0u;
    do {
      if (k + t < due) judge(kind, world, waiting[k + t], s_loose);
      k += THREADS;
    } while (k < due);
    barrier();
    if (t == 0u && due > 0u) waiting_count = 0u;
    barrier();
    first += step;
  } while (first < tasks);
}

void meet_nodes(uvec4 pair)
{
  uint t = gl_LocalInvocationIndex;
  uint g = plan[push.node_group + pair.x];
  uint h = plan[push.node_group + pair.y];
  if (t == 0u) {
    pair_count = 0u;
    most_vertices = 0u;
    most_edges = 0u;
    most_others = 0u;
  }
  barrier();
  take_leaves(pair.x, pair.y, t / EIGHT, t % EIGHT, pair.z, pair.w);
  barrier();
  uint count = pair_count;
  uint world = group_word(g, G_WORLD);
#if PASS == 0
  uint vertices = most_vertices;
  uint edge_count = most_edges;
  uint others = most_others;
  seek_features(SEEK_FACES, count, vertices, EIGHT, FACE, world, false, false);
  seek_features(SEEK_EDGES, count, edge_count, others, EDGES, world, false, false);
#else
  bool s_loose = group_word(g, G_DEFORMABLE) == NONE;
  bool u_loose = group_word(h, G_DEFORMABLE) == NONE;
  seek_features(SEEK_LOOSE, count, 1u, 64u, s_loose && u_loose ? POINTS : FACE, world, s_loose, u_loose);
#endif
}

void main()
{
  uint i = gl_WorkGroupID.x;
  if (gl_LocalInvocationIndex == 0u) waiting_count = 0u;
  do {
    meet_nodes(pairs[PASS == 0 ? i : push.room - 1u - i]);
    i += gl_NumWorkGroups.x;
  } while (i < groups[6u + PASS]);
}
