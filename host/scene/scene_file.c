/* Reading scene files with POSIX calls. */
#define _POSIX_C_SOURCE 200809L
#include "scene_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Reads from an open file up to `limit` bytes and one more, to notice a file that grows. */
static sb_status read_all(int fd, const char *path, const char *where, uint64_t limit, char **bytes, size_t *size,
                          sb_diagnostics *diag)
{
  size_t capacity = 1 << 16, used = 0;
  char *data = malloc(capacity + 1);
  while (data) {
    ssize_t n = read(fd, data + used, capacity - used);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      free(data);
      return sb_report(diag, SB_ERROR, SB_CODE_SCENE_FILE, where, "cannot read %s: %s", path, strerror(errno));
    }
    used += (size_t)n;
    if (used > limit) {
      free(data);
      return sb_report(diag, SB_ERROR, SB_CODE_SCENE_SIZE, where, "%s is larger than the %llu bytes allowed", path,
                       (unsigned long long)limit);
    }
    if (n == 0) break;
    if (used < capacity) continue;
    char *more = capacity > SIZE_MAX / 4 ? NULL : realloc(data, capacity * 2 + 1);
    if (!more) free(data);
    data = more;
    capacity *= 2;
  }
  if (!data) return sb_report(diag, SB_ERROR, SB_CODE_MEMORY, where, "no memory to read %s", path);
  data[used] = 0;
  *bytes = data;
  *size = used;
  return SB_OK;
}

sb_status scene_file_read(const char *path, const char *where, uint64_t *remaining, char **bytes, size_t *size,
                          sb_diagnostics *diag)
{
  *bytes = NULL;
  *size = 0;
  /* Not blocking, so that a named pipe cannot stop the program. */
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return sb_report(diag, SB_ERROR, SB_CODE_SCENE_FILE, where, "cannot open %s: %s", path, strerror(errno));
  struct stat info;
  sb_status status;
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))
    status = sb_report(diag, SB_ERROR, SB_CODE_SCENE_FILE, where, "%s is %s, not a regular file", path,
                       S_ISDIR(info.st_mode) ? "a directory" : "something special");
  else
    status = read_all(fd, path, where, *remaining, bytes, size, diag);
  close(fd);
  if (status != SB_OK) return status;
  *remaining -= *size;
  if (*size > 0) return SB_OK;
  free(*bytes);
  *bytes = NULL;
  return sb_report(diag, SB_ERROR, SB_CODE_SCENE_FORMAT, where, "%s is empty", path);
}
