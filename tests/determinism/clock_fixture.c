/* Reads the clock, for the test that looks for such code. */
#include <time.h>

long clock_fixture(void);
long clock_fixture(void)
{
  struct timespec now;
  timespec_get(&now, TIME_UTC);
  return now.tv_nsec;
}
