/* Bodies that particles meet, where this substep has them: pose, centre of mass, velocities, answers, share: 24 floats each. */
layout(std430, binding = 3) readonly buffer Bodies { float bodies[]; };

V3 body_v3(uint at) { return v3(bodies[at], bodies[at + 1u], bodies[at + 2u]); }

SiBody met_body(uint body)
{
  uint at = 24u * body;
  X7 pose;
  pose.p = body_v3(at);
  pose.q = q4(bodies[at + 3u], bodies[at + 4u], bodies[at + 5u], bodies[at + 6u]);
  S33 inertia = s33(bodies[at + 17u], bodies[at + 18u], bodies[at + 19u], bodies[at + 20u], bodies[at + 21u], bodies[at + 22u]);
  return si_body(pose, body_v3(at + 7u), body_v3(at + 10u), body_v3(at + 13u), bodies[at + 16u], inertia, bodies[at + 23u]);
}
