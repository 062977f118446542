// Loaded before the C library (LD_PRELOAD): at a chosen call that touches files below a folder, it sends the
// process a signal, or makes the call fail, as a full or broken disk would. Until it is armed, it only counts.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OPEN = 1, WRITE = 2, SYNC = 4, RENAME = 8, UNLINK = 16, LOCK = 32, TRUNCATE = 64, SYNC_FOLDER = 128 };

static char folder[4096];
static int kinds;      // the calls that count
static long at = -1;   // the number of the call that is struck, from 0
static int signal_;    // sent before that call, if not 0
static int error_;     // the error of that call, if not 0
static int remains;    // whether every later call of these kinds fails too
static int half;       // whether the call that is struck first writes half of its bytes
static long count;     // of the calls of these kinds
static long counts[8];  // of each kind

// Count the calls of these kinds in a folder from now on, and strike one of them.
void torture_arm(const char* below, int of_kinds, long number, int sent, int failure, int stays, int halves) {
  strncpy(folder, below, sizeof folder - 1);
  kinds = of_kinds, at = number, signal_ = sent, error_ = failure, remains = stays, half = halves;
  count = 0;
}

long torture_count(int bit) { return counts[bit]; }

static int is_below(const char* path) {
  size_t length = strlen(folder);
  return length && path && !strncmp(path, folder, length) && (path[length] == '/' || !path[length]);
}

static int is_file_below(int file) {
  char link[64], path[4096];
  if (!folder[0]) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length <= 0) return 0;
  path[length] = 0;
  return is_below(path);
}

// 0: go on. 1: fail with errno set. 2: this is the call that is struck, and half of it happens first.
static int struck(int kind, int is_ours) {
  if (!is_ours) return 0;
  __atomic_fetch_add(&counts[__builtin_ctz(kind)], 1, __ATOMIC_SEQ_CST);
  if (!(kinds & kind)) return 0;
  long number = __atomic_fetch_add(&count, 1, __ATOMIC_SEQ_CST);
  if (at < 0 || number < at || (number > at && !(remains && error_))) return 0;
  if (number == at && half && kind == WRITE) return 2;
  if (number == at && signal_) kill(getpid(), signal_);
  if (!error_) return 0;
  errno = error_;
  return 1;
}

#define REAL(name) ((typeof(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int file, const void* bytes, size_t size) {
  int what = struck(WRITE, is_file_below(file));
  if (what == 1) return -1;
  if (what == 2) {
    ssize_t written = REAL(write)(file, bytes, size - size / 2);
    if (signal_) kill(getpid(), signal_);
    return written;
  }
  return REAL(write)(file, bytes, size);
}

int fsync(int file) {
  struct stat found;
  int kind = !fstat(file, &found) && S_ISDIR(found.st_mode) ? SYNC_FOLDER : SYNC;
  return struck(kind, is_file_below(file)) ? -1 : REAL(fsync)(file);
}

int flock(int file, int operation) {
  return struck(LOCK, is_file_below(file)) ? -1 : REAL(flock)(file, operation);
}

int ftruncate64(int file, off64_t size) {
  return struck(TRUNCATE, is_file_below(file)) ? -1 : REAL(ftruncate64)(file, size);
}

int rename(const char* from, const char* to) {
  return struck(RENAME, is_below(to)) ? -1 : REAL(rename)(from, to);
}

int unlink(const char* path) { return struck(UNLINK, is_below(path)) ? -1 : REAL(unlink)(path); }

int open64(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
  va_end(more);
  return struck(OPEN, (flags & O_CREAT) && is_below(path)) ? -1 : REAL(open64)(path, flags, mode);
}
