/*
 * Preloaded into a process (LD_PRELOAD), this library freezes its file operations below one folder and copies the folder
 * at planned operations: each copy is a state that a process killed at this moment leaves behind. It works on the calls of
 * libc, so that it sees Node, SQLite and Python alike.
 *
 * FREEZE_ROOT   the folder, absolute
 * FREEZE_TRACE  file to which one line per operation is appended: `<tag> <operation> <path>`
 * FREEZE_TAG    name of the process in these lines
 * FREEZE_PLAN   file of lines `<occurrence> <phase> <tag> <operation> <path>`; phase is `before` or `half` (of a write)
 * FREEZE_OUT    folder for the copies: `<pid>-<n>/` and `<pid>-<n>.txt` with the time in milliseconds since 1970, and the line
 *               of the plan
 *
 * Paths are relative to the root; numbers in them are replaced by N and hexadecimal tokens by H.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST 8192

struct counted {
  char *line;
  int seen;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static __thread int inside;
static char root[PATH_MAX];
static size_t root_length;
static const char *tag = "-", *out;
static int trace = -1, lock = -1;
static struct counted counted[MOST];
static int counted_length;
static char *plan[MOST];
static int plan_length;
static int copies;

#define REAL(name) \
  static __typeof__(&name) real; \
  if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

static int is_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }
static int is_digit(char c) { return c >= '0' && c <= '9'; }

__attribute__((constructor)) static void start(void) {
  const char *name = getenv("FREEZE_ROOT");
  if (!name) return;
  inside = 1;
  snprintf(root, sizeof root, "%s", name);
  root_length = strlen(root);
  if (getenv("FREEZE_TAG")) tag = getenv("FREEZE_TAG");
  out = getenv("FREEZE_OUT");
  const char *to = getenv("FREEZE_TRACE");
  if (to) {
    trace = open(to, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    lock = open(to, O_RDONLY | O_CLOEXEC);
  }
  FILE *file = getenv("FREEZE_PLAN") ? fopen(getenv("FREEZE_PLAN"), "re") : NULL;
  char *line = NULL;
  size_t size = 0;
  while (file && plan_length < MOST && getline(&line, &size, file) > 0) {
    line[strcspn(line, "\n")] = 0;
    plan[plan_length++] = strdup(line);
  }
  free(line);
  if (file) fclose(file);
  inside = 0;
}

/* Returns the part of a path below the root, or NULL. */
static const char *below(const char *path) {
  if (!root_length || inside || !path) return NULL;
  if (strncmp(path, root, root_length) != 0) return NULL;
  return path[root_length] == '/' ? path + root_length + 1 : path[root_length] ? NULL : ".";
}

/* Writes the path with its numbers replaced. */
static void normalize(const char *path, char *to, size_t size) {
  size_t at = 0;
  while (*path && at + 2 < size) {
    size_t hex = 0, digits = 0, has_digit = 0;
    while (is_hex(path[hex])) has_digit |= is_digit(path[hex++]);
    while (is_digit(path[digits])) digits++;
    if (hex >= 8 && has_digit) to[at++] = 'H', path += hex;
    else if (digits > 0) to[at++] = 'N', path += digits;
    else to[at++] = *path++;
  }
  to[at] = 0;
}

static void copy(const char *line) {
  char to[PATH_MAX], note[PATH_MAX + 8];
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  snprintf(to, sizeof to, "%s/%d-%d", out, getpid(), ++copies);
  char *argv[] = {"cp", "-a", root, to, NULL};
  char *envp[] = {"PATH=/usr/bin:/bin", NULL};
  pid_t pid;
  int status = 1;
  if (posix_spawn(&pid, "/bin/cp", NULL, NULL, argv, envp) == 0) waitpid(pid, &status, 0);
  if (status != 0) return;
  snprintf(note, sizeof note, "%s.txt", to);
  FILE *file = fopen(note, "we");
  if (!file) return;
  fprintf(file, "%lld %s\n", now.tv_sec * 1000LL + now.tv_nsec / 1000000, line);
  fclose(file);
}

static int count(const char *line) {
  for (int i = 0; i < counted_length; i++)
    if (strcmp(counted[i].line, line) == 0) return ++counted[i].seen;
  if (counted_length == MOST) return 0;
  counted[counted_length].line = strdup(line);
  return counted[counted_length++].seen = 1;
}

static int planned(const char *line) {
  for (int i = 0; i < plan_length; i++)
    if (strcmp(plan[i], line) == 0) return 1;
  return 0;
}

/*
 * Begins an operation: no other one of the job's processes runs until `leave`. Copies the folder if that is planned.
 * Returns the number of times the operation was seen; `line` receives its name.
 */
static int enter(const char *operation, const char *path, char *line, size_t size) {
  int before = errno;
  pthread_mutex_lock(&mutex);
  inside = 1;
  if (lock >= 0) flock(lock, LOCK_EX);
  char name[PATH_MAX], whole[PATH_MAX + 64];
  normalize(path, name, sizeof name);
  snprintf(line, size, "%s %s %s", tag, operation, name);
  int nth = count(line);
  if (trace >= 0) dprintf(trace, "%s\n", line);
  snprintf(whole, sizeof whole, "%d before %s", nth, line);
  if (out && planned(whole)) copy(whole);
  errno = before;
  return nth;
}

static void leave(void) {
  int before = errno;
  if (lock >= 0) flock(lock, LOCK_UN);
  inside = 0;
  pthread_mutex_unlock(&mutex);
  errno = before;
}

/* True if the folder is to be copied after half of this write; then `whole` is the line of the plan. */
static int is_halved(int nth, const char *line, char *whole, size_t size) {
  snprintf(whole, size, "%d half %s", nth, line);
  return out && planned(whole);
}

/* Returns the part below the root of an open file, or NULL. */
static const char *open_below(int fd, char *path) {
  if (!root_length || inside) return NULL;
  char link[64];
  int before = errno;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, PATH_MAX - 1);
  errno = before;
  if (length <= 0 || path[0] != '/') return NULL;
  path[length] = 0;
  return below(path);
}

#define LINE PATH_MAX + 64

#define AROUND(operation, path, call) \
  do { \
    const char *name = (path); \
    if (!name) return call; \
    char line[LINE]; \
    enter(operation, name, line, sizeof line); \
    __typeof__(call) result = call; \
    leave(); \
    return result; \
  } while (0)

#define OPEN(name) \
  int name(const char *path, int flags, ...) { \
    REAL(name); \
    va_list list; \
    va_start(list, flags); \
    mode_t mode = va_arg(list, mode_t); \
    va_end(list); \
    AROUND("open", flags & (O_CREAT | O_TRUNC) ? below(path) : NULL, real(path, flags, mode)); \
  }
OPEN(open)
OPEN(open64)

ssize_t write(int fd, const void *bytes, size_t length) {
  REAL(write);
  char path[PATH_MAX], line[LINE], whole[LINE + 32];
  const char *name = open_below(fd, path);
  if (!name) return real(fd, bytes, length);
  int nth = enter("write", name, line, sizeof line);
  ssize_t first = 0, rest;
  if (length > 1 && is_halved(nth, line, whole, sizeof whole)) {
    first = real(fd, bytes, length / 2);
    if (first > 0) copy(whole);
    else first = 0;
  }
  rest = real(fd, (const char *)bytes + first, length - first);
  leave();
  return rest < 0 ? (first > 0 ? first : rest) : first + rest;
}

#define PWRITE(name, offset_t) \
  ssize_t name(int fd, const void *bytes, size_t length, offset_t offset) { \
    REAL(name); \
    char path[PATH_MAX], line[LINE], whole[LINE + 32]; \
    const char *below_root = open_below(fd, path); \
    if (!below_root) return real(fd, bytes, length, offset); \
    int nth = enter("write", below_root, line, sizeof line); \
    ssize_t first = 0, rest; \
    if (length > 1 && is_halved(nth, line, whole, sizeof whole)) { \
      first = real(fd, bytes, length / 2, offset); \
      if (first > 0) copy(whole); \
      else first = 0; \
    } \
    rest = real(fd, (const char *)bytes + first, length - first, offset + first); \
    leave(); \
    return rest < 0 ? (first > 0 ? first : rest) : first + rest; \
  }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

ssize_t writev(int fd, const struct iovec *parts, int length) {
  REAL(writev);
  char path[PATH_MAX];
  AROUND("write", open_below(fd, path), real(fd, parts, length));
}
ssize_t pwritev(int fd, const struct iovec *parts, int length, off_t offset) {
  REAL(pwritev);
  char path[PATH_MAX];
  AROUND("write", open_below(fd, path), real(fd, parts, length, offset));
}
ssize_t pwritev64(int fd, const struct iovec *parts, int length, off64_t offset) {
  REAL(pwritev64);
  char path[PATH_MAX];
  AROUND("write", open_below(fd, path), real(fd, parts, length, offset));
}
int ftruncate(int fd, off_t length) {
  REAL(ftruncate);
  char path[PATH_MAX];
  AROUND("truncate", open_below(fd, path), real(fd, length));
}
int ftruncate64(int fd, off64_t length) {
  REAL(ftruncate64);
  char path[PATH_MAX];
  AROUND("truncate", open_below(fd, path), real(fd, length));
}
int truncate(const char *path, off_t length) {
  REAL(truncate);
  AROUND("truncate", below(path), real(path, length));
}
int rename(const char *from, const char *to) {
  REAL(rename);
  AROUND("rename", below(to) ? below(to) : below(from), real(from, to));
}
int link(const char *from, const char *to) {
  REAL(link);
  AROUND("link", below(to), real(from, to));
}
int symlink(const char *from, const char *to) {
  REAL(symlink);
  AROUND("symlink", below(to), real(from, to));
}
int unlink(const char *path) {
  REAL(unlink);
  AROUND("unlink", below(path), real(path));
}
int unlinkat(int fd, const char *path, int flags) {
  REAL(unlinkat);
  char dir[PATH_MAX];
  AROUND("unlink", path[0] == '/' ? below(path) : open_below(fd, dir), real(fd, path, flags));
}
int rmdir(const char *path) {
  REAL(rmdir);
  AROUND("rmdir", below(path), real(path));
}
int mkdir(const char *path, mode_t mode) {
  REAL(mkdir);
  AROUND("mkdir", below(path), real(path, mode));
}
