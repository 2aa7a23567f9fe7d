/* Records of bodies as xp_body of xpbd_bodies.h lays them out, in a buffer `bodies` of floats; WRITE_BODIES where a shader may change it. */
#define BODY_WORDS 54u

V3 body_v3(uint at) { return v3(bodies[at], bodies[at + 1u], bodies[at + 2u]); }
Q4 body_q4(uint at) { return q4(bodies[at], bodies[at + 1u], bodies[at + 2u], bodies[at + 3u]); }
S33 body_s33(uint at) { return s33(bodies[at], bodies[at + 1u], bodies[at + 2u], bodies[at + 3u], bodies[at + 4u], bodies[at + 5u]); }

XpRecord record_of(uint body)
{
  XpRecord r;
  uint at = body * BODY_WORDS;
  r.base = body_v3(at);
  r.turn = body_q4(at + 3u);
  r.b.x = body_v3(at + 7u);
  r.b.q = body_q4(at + 10u);
  r.b.v = body_v3(at + 14u);
  r.b.w = body_v3(at + 17u);
  r.b.m = body_s33(at + 20u);
  r.b.i = body_s33(at + 26u);
  r.x0 = body_v3(at + 32u);
  r.q0 = body_q4(at + 35u);
  r.v0 = body_v3(at + 39u);
  r.w0 = body_v3(at + 42u);
  r.vp = body_v3(at + 45u);
  r.wp = body_v3(at + 48u);
  r.com = body_v3(at + 51u);
  return r;
}

#ifdef WRITE_BODIES
/* As xp_put_body of xpbd_records.h. */
void put_body(uint r, XpBody b)
{
  uint at = BODY_WORDS * r + 7u;
  bodies[at] = b.x.x;
  bodies[at + 1u] = b.x.y;
  bodies[at + 2u] = b.x.z;
  bodies[at + 3u] = b.q.x;
  bodies[at + 4u] = b.q.y;
  bodies[at + 5u] = b.q.z;
  bodies[at + 6u] = b.q.w;
  bodies[at + 7u] = b.v.x;
  bodies[at + 8u] = b.v.y;
  bodies[at + 9u] = b.v.z;
  bodies[at + 10u] = b.w.x;
  bodies[at + 11u] = b.w.y;
  bodies[at + 12u] = b.w.z;
}
#endif
