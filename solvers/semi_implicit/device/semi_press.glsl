/* What attachments and then contacts of particles do to bodies: force and torque, 6 floats each. */
layout(std430, binding = PRESS_BINDING) buffer Presses { float press[]; };

void put_press(uint i, SiWrench w)
{
  press[6u * i] = w.f.x;
  press[6u * i + 1u] = w.f.y;
  press[6u * i + 2u] = w.f.z;
  press[6u * i + 3u] = w.t.x;
  press[6u * i + 4u] = w.t.y;
  press[6u * i + 5u] = w.t.z;
}
