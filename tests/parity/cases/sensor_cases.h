/* Parity of the sensors' frames. */
#include "host/core/sensor.kernel.h"

#define PARITY_CASES(X)         \
  X(case_sensor_frame, 23, 13)  \
  X(case_sensor_seen, 26, 13)   \
  X(case_sensor_acceleration, 10, 3)

PARITY_KERNEL(case_sensor_frame)
{
  SensorFrame f = sensor_frame(IN_X7(0), IN_V3(7), IN_V3(10), IN_V3(13), IN_X7(16));
  OUT_V3(0, f.pose.p) OUT_Q4(3, f.pose.q) OUT_V3(7, f.v) OUT_V3(10, f.w)
}
PARITY_KERNEL(case_sensor_seen)
{
  SensorFrame a;
  SensorFrame r;
  a.pose = IN_X7(0);
  a.v = IN_V3(7);
  a.w = IN_V3(10);
  r.pose = IN_X7(13);
  r.v = IN_V3(20);
  r.w = IN_V3(23);
  SensorFrame f = sensor_seen_from(a, r);
  OUT_V3(0, f.pose.p) OUT_Q4(3, f.pose.q) OUT_V3(7, f.v) OUT_V3(10, f.w)
}
PARITY_KERNEL(case_sensor_acceleration)
{
  V3 a = sensor_acceleration(IN_V3(0), IN_V3(3), IN(6), IN_V3(7));
  OUT_V3(0, a)
}
