/* What shaders of near pairs ask of pieces and, where they have the plan, of groups and deformables; included after the buffers `pieces` and `plan`. */
NearBox piece_box(uint piece, uint part)
{
  uint w = PIECE_WORDS * piece + part;
  NearBox b;
  b.lo = v3(pieces[w], pieces[w + 1u], pieces[w + 2u]);
  b.hi = v3(pieces[w + 3u], pieces[w + 4u], pieces[w + 5u]);
  return b;
}
float piece_radius(uint piece) { return pieces[PIECE_WORDS * piece + PIECE_RADIUS]; }

float pieces_reach(uint a, uint b)
{
  float room = piece_radius(a) + piece_radius(b);
  float speed = near_speed(piece_box(a, 0u), piece_box(b, 0u), piece_box(a, PIECE_SPEED), piece_box(b, PIECE_SPEED), near_certain(room));
  return near_reach(room, speed, push.dt);
}
bool pieces_meet(uint a, uint b) { return near_boxes_meet(piece_box(a, 0u), piece_box(b, 0u), pieces_reach(a, b)); }

#ifdef HAS_PLAN
uint group_word(uint g, uint at) { return plan[push.groups + GROUP_WORDS * g + at]; }
uint deformable_word(uint d, uint at) { return plan[push.deformables + DEFORMABLE_WORDS * d + at]; }

/* collision_deformables_meet() of near_build.c. */
bool deformables_meet(uint d, uint e)
{
  if (d == e) return deformable_word(d, D_SELF) != 0u;
  return (deformable_word(d, D_CONTYPE) & deformable_word(e, D_CONAFFINITY)) != 0u || (deformable_word(e, D_CONTYPE) & deformable_word(d, D_CONAFFINITY)) != 0u;
}
#endif
