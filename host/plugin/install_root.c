#define _GNU_SOURCE
#include "install_root.h"

#include <string.h>
#include <unistd.h>

bool sb_install_root(char root[PATH_MAX])
{
  ssize_t n = readlink("/proc/self/exe", root, PATH_MAX - 1);
  root[n > 0 ? n : 0] = 0;
  for (int up = 0; up < 2; up++) {
    char *slash = strrchr(root, '/');
    if (slash) *slash = 0;
  }
  return n > 0;
}
