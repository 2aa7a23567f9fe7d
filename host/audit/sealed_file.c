/* Opening, judging and copying a plugin file. What is loaded later is the copy: sealed memory that nobody can write. */
#define _GNU_SOURCE
#include "sealed_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <xxhash.h>

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010u /* Linux 6.3: the memory may be mapped executable */
#endif
#define MOST_LINKS 40 /* as the kernel */
#define LARGEST_PLUGIN (1024ll * 1024 * 1024)

static sb_status refuse(const char *path, sb_diagnostics *diag, const char *what)
{
  return sb_report(diag, SB_ERROR, SB_CODE_PLUGIN_FILE, path, "%s: %s", what, strerror(errno));
}

static sb_status judge_dir_info(const char *dir, const struct stat *info, sb_diagnostics *diag)
{
  if (!S_ISDIR(info->st_mode)) return sb_report(diag, SB_ERROR, SB_CODE_PLUGIN_FILE, dir, "--plugins needs a directory");
  if (info->st_mode & S_IWOTH)
    return sb_report(diag, SB_ERROR, SB_CODE_PLUGIN_FILE, dir,
                     "everybody may write this plugin directory; take that right away (chmod o-w) or move the plugin");
  return SB_OK;
}

/* A link may be followed where not everybody may replace it: in a folder of its own, or in a sticky one by its owner's hand. */
static sb_status judge_link(const char *link, const struct stat *info, sb_diagnostics *diag)
{
  char dir[PATH_MAX];
  struct stat above;
  const char *slash = strrchr(link, '/');
  snprintf(dir, sizeof dir, "%.*s", slash == link ? 1 : (int)(slash - link), link);
  if (stat(dir, &above)) return refuse(link, diag, "cannot read the folder of a symbolic link that leads to the plugin");
  const uid_t owner = info->st_uid;
  if (!(above.st_mode & S_IWOTH) || (above.st_mode & S_ISVTX && (owner == above.st_uid || owner == geteuid() || owner == 0))) return SB_OK;
  return sb_report(diag, SB_ERROR, SB_CODE_PLUGIN_FILE, link,
                   "everybody may replace this symbolic link, which leads to the plugin; give the path without it, or take that right away (chmod o-w %s)", dir);
}

/* Follows a path as the system does, and judges every symbolic link on the way. */
static sb_status judge_links(const char *path, sb_diagnostics *diag)
{
  char done[PATH_MAX] = "", todo[PATH_MAX], next[2 * PATH_MAX];
  if (path[0] != '/' && !getcwd(done, sizeof done)) return refuse(path, diag, "cannot find the plugin");
  snprintf(todo, sizeof todo, "%s", path);
  bool fits = strlen(path) < sizeof todo;
  unsigned links = 0;
  for (char *rest = todo; fits && *rest;) {
    size_t n = strcspn(rest, "/"), length = strlen(done);
    const char *name = rest;
    rest += n + (rest[n] == '/');
    if (n == 0 || (n == 1 && name[0] == '.')) continue;
    if (n == 2 && !strncmp(name, "..", 2)) {
      char *slash = strrchr(done, '/');
      if (slash) *slash = 0;
      continue;
    }
    fits = snprintf(next, sizeof next, "%s/%.*s", length > 1 ? done : "", (int)n, name) < (int)sizeof done;
    if (!fits) break;
    struct stat info;
    if (lstat(next, &info)) return refuse(path, diag, "cannot find the plugin");
    if (!S_ISLNK(info.st_mode)) {
      memcpy(done, next, strlen(next) + 1);
      continue;
    }
    char target[PATH_MAX];
    ssize_t got = readlink(next, target, sizeof target - 1);
    sb_status status = judge_link(next, &info, diag);
    if (status) return status;
    if (got <= 0 || ++links > MOST_LINKS) return refuse(path, diag, "cannot find the plugin");
    target[got] = 0;
    fits = snprintf(next, sizeof next, "%s/%s", target, rest) < (int)sizeof todo;
    memcpy(todo, next, fits ? strlen(next) + 1 : 0);
    if (target[0] == '/') done[0] = 0;
    rest = todo;
  }
  errno = ENAMETOOLONG;
  return fits ? SB_OK : refuse(path, diag, "cannot find the plugin");
}

sb_status sb_judge_plugin_dir(const char *dir, sb_diagnostics *diag)
{
  struct stat info;
  sb_status status = judge_links(dir, diag);
  if (status) return status;
  if (stat(dir, &info)) return refuse(dir, diag, "cannot read the plugin directory");
  return judge_dir_info(dir, &info, diag);
}

/* Opens a directory by a path without symbolic links, step by step, so that none of its parts can be swapped for a link
 * on the way; -1, and errno, when it cannot be opened. */
static int open_dir(const char *dir)
{
  char copy[PATH_MAX], *rest = copy;
  int fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  snprintf(copy, sizeof copy, "%s", dir);
  for (char *name = strtok_r(copy, "/", &rest); fd >= 0 && name; name = strtok_r(NULL, "/", &rest)) {
    int next = openat(fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), error = errno;
    close(fd);
    errno = error;
    fd = next;
  }
  return fd;
}

/* Opens a path without symbolic links, by its directory. */
static sb_status open_judged(const char *path, int *fd, off_t *size, sb_diagnostics *diag)
{
  char dir[PATH_MAX];
  const char *slash = strrchr(path, '/');
  size_t length = slash == path ? 1 : (size_t)(slash - path);
  memcpy(dir, path, length);
  dir[length] = 0;
  *fd = -1;
  int dir_fd = open_dir(dir);
  if (dir_fd < 0)
    return refuse(dir, diag,
                  errno == ENOTDIR || errno == ELOOP
                      ? "a directory on the way to the plugin became a symbolic link while it was opened"
                      : "cannot open the plugin's directory");
  struct stat dir_info, info;
  sb_status status = SB_OK;
  int file = openat(dir_fd, slash + 1, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (file < 0)
    status = refuse(path, diag, errno == ELOOP ? "the plugin became a symbolic link while it was opened" : "cannot open the plugin");
  else if (fstat(file, &info) || fstat(dir_fd, &dir_info))
    status = refuse(path, diag, "cannot read the plugin");
  else if (!S_ISREG(info.st_mode))
    status = sb_report(diag, SB_ERROR, SB_CODE_PLUGIN_FILE, path, "a plugin must be a regular file");
  else if (info.st_mode & S_IWOTH)
    status = sb_report(diag, SB_ERROR, SB_CODE_PLUGIN_FILE, path, "everybody may write this plugin; take that right away (chmod o-w)");
  else if (info.st_size > LARGEST_PLUGIN)
    status = sb_report(diag, SB_ERROR, SB_CODE_PLUGIN_FILE, path, "a plugin has at most 1 GiB");
  else
    status = judge_dir_info(dir, &dir_info, diag);
  close(dir_fd);
  if (status) {
    if (file >= 0) close(file);
    return status;
  }
  *fd = file;
  *size = info.st_size;
  return SB_OK;
}

static int make_memory(const char *name)
{
  int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_EXEC);
  return fd >= 0 ? fd : memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
}

static bool copy_whole(int from, int to, off_t size)
{
  static const size_t block_size = 1 << 16;
  char *block = malloc(block_size);
  off_t done = 0;
  for (ssize_t n = 1; block && n > 0 && done <= size;) {
    n = read(from, block, block_size);
    if (n < 0) break;
    for (ssize_t put = 0, k; put < n; put += k)
      if ((k = write(to, block + put, (size_t)(n - put))) < 0) {
        free(block);
        return false;
      }
    done += n;
  }
  free(block);
  return block && done == size;
}

static sb_status seal_copy(int file, off_t size, sb_sealed_file *out, sb_diagnostics *diag)
{
  const char *slash = strrchr(out->path, '/');
  out->fd = make_memory(slash ? slash + 1 : out->path);
  if (out->fd < 0) return refuse(out->path, diag, "no memory for a sealed copy of the plugin");
  if (!copy_whole(file, out->fd, size)) return refuse(out->path, diag, "cannot read the whole plugin, or it changed while it was read");
  if (fcntl(out->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL))
    return refuse(out->path, diag, "cannot seal the plugin's copy");
  if (size == 0) return SB_OK;
  void *bytes = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, out->fd, 0);
  if (bytes == MAP_FAILED) return refuse(out->path, diag, "cannot map the plugin's copy");
  out->bytes = bytes;
  out->size = (size_t)size;
  out->hash = XXH3_64bits(bytes, out->size);
  return SB_OK;
}

sb_status sb_sealed_file_open(const char *path, sb_sealed_file *out, sb_diagnostics *diag)
{
  *out = (sb_sealed_file){.fd = -1};
  sb_status status = judge_links(path, diag);
  if (status) return status;
  out->path = realpath(path, NULL);
  if (!out->path) return refuse(path, diag, "cannot find the plugin");
  int file;
  off_t size;
  status = open_judged(out->path, &file, &size, diag);
  if (!status) {
    status = seal_copy(file, size, out, diag);
    close(file);
  }
  if (status) sb_sealed_file_close(out);
  return status;
}

void sb_sealed_file_close(sb_sealed_file *file)
{
  if (file->bytes) munmap(file->bytes, file->size);
  if (file->fd >= 0) close(file->fd);
  free(file->path);
  *file = (sb_sealed_file){.fd = -1};
}
