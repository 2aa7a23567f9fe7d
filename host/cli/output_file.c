/* Writing to a temporary name beside the file, and renaming at the end. */
#define _POSIX_C_SOURCE 200809L
#include "output_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static sb_status failed(const char *path, int error, sb_diagnostics *diag)
{
  return sb_report(diag, SB_ERROR, SB_CODE_FILE_WRITE, path, "cannot write: %s", strerror(error));
}

/* What the umask leaves of read and write for all; mkstemp gives less. */
static mode_t usual_mode(void)
{
  mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

sb_status output_file_open(output_file *out, const char *path, sb_diagnostics *diag)
{
  struct stat info;
  *out = (output_file){.path = path};
  bool exists = stat(path, &info) == 0;
  if (exists && !S_ISREG(info.st_mode)) {
    out->file = fopen(path, "wb");
    return out->file ? SB_OK : failed(path, errno, diag);
  }
  static const char ending[] = ".XXXXXX";
  size_t n = strlen(path);
  out->temporary = malloc(n + sizeof ending);
  if (!out->temporary) return sb_report(diag, SB_ERROR, SB_CODE_MEMORY, path, "no memory");
  memcpy(out->temporary, path, n);
  memcpy(out->temporary + n, ending, sizeof ending);
  int fd = mkstemp(out->temporary), error = errno;
  if (fd >= 0 && fchmod(fd, exists ? info.st_mode & 07777 : usual_mode())) error = errno;
  out->file = fd >= 0 ? fdopen(fd, "wb") : NULL;
  if (out->file) return SB_OK;
  if (fd >= 0) {
    error = errno;
    close(fd);
    unlink(out->temporary);
  }
  free(out->temporary);
  out->temporary = NULL;
  return failed(path, error, diag);
}

sb_status output_file_finish(output_file *out, sb_diagnostics *diag)
{
  if (!out->file) return SB_OK;
  bool bad = ferror(out->file) != 0;
  int error = errno;
  if (fclose(out->file)) bad = true, error = errno;
  out->file = NULL;
  if (!bad && out->temporary && rename(out->temporary, out->path)) bad = true, error = errno;
  if (bad && out->temporary) unlink(out->temporary);
  free(out->temporary);
  out->temporary = NULL;
  return bad ? failed(out->path, error, diag) : SB_OK;
}

void output_file_drop(output_file *out)
{
  if (out->file) fclose(out->file);
  if (out->temporary) unlink(out->temporary);
  free(out->temporary);
  *out = (output_file){0};
}
