/* A particle of seven words, for cases of xpbd. Knows xpbd_element.kernel.h. */
#ifndef SAMEBIT_TESTS_XPBD_POINT_H
#define SAMEBIT_TESTS_XPBD_POINT_H

FN XpPoint parity_point(V3 x, V3 d, F w)
{
  XpPoint p;
  p.x = x;
  p.d = d;
  p.w = w;
  return p;
}
#define IN_POINT(k) parity_point(IN_V3(k), IN_V3(k + 3), IN(k + 6))

#endif
