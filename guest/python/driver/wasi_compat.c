// SPDX-License-Identifier: Apache-2.0
// Small honest versions of what POSIX has and wasi-libc leaves out or answers unfit for this host.
#include "wasi_compat.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <wasi/api.h>

// Sleeping: wasi-libc turns every failure of poll_oneoff into ENOTSUP, so that a stop could not end a sleep.

static uint64_t ToNanoseconds(const struct timespec* time) {
  return (uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_nsec;
}

static int SleepFor(uint64_t nanoseconds) {
  __wasi_subscription_t subscription = {.userdata = 0};
  subscription.u.tag = __WASI_EVENTTYPE_CLOCK;
  subscription.u.u.clock.id = __WASI_CLOCKID_MONOTONIC;
  subscription.u.u.clock.timeout = nanoseconds;
  __wasi_event_t event;
  __wasi_size_t events = 0;
  return __wasi_poll_oneoff(&subscription, &event, 1, &events);
}

static uint64_t Now(clockid_t clock) {
  struct timespec now;
  return clock_gettime(clock, &now) == 0 ? ToNanoseconds(&now) : 0;
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec* request,
                    struct timespec* remain) {
  if (request->tv_sec < 0 || request->tv_nsec < 0 || request->tv_nsec >= 1000000000) return EINVAL;
  uint64_t duration = ToNanoseconds(request);
  if (flags & TIMER_ABSTIME) {
    uint64_t now = Now(clock);
    duration = duration > now ? duration - now : 0;
  }
  uint64_t start = Now(CLOCK_MONOTONIC);
  int error = SleepFor(duration);
  if (error != 0 && remain != NULL && !(flags & TIMER_ABSTIME)) {
    uint64_t slept = Now(CLOCK_MONOTONIC) - start;
    uint64_t left = slept < duration ? duration - slept : 0;
    remain->tv_sec = (time_t)(left / 1000000000u);
    remain->tv_nsec = (long)(left % 1000000000u);
  }
  return error;
}

int nanosleep(const struct timespec* request, struct timespec* remain) {
  int error = clock_nanosleep(CLOCK_REALTIME, 0, request, remain);
  if (error == 0) return 0;
  errno = error;
  return -1;
}

// Users and modes: there is one user, and every file is that user's.

enum { kUser = 1000 };

unsigned getuid(void) { return kUser; }
unsigned geteuid(void) { return kUser; }
unsigned getgid(void) { return kUser; }
unsigned getegid(void) { return kUser; }
int getppid(void) { return 1; }

unsigned umask(unsigned mask) {
  static unsigned current = 022;
  unsigned previous = current;
  current = mask & 0777;
  return previous;
}

// WASI has no permission bits to set. What cannot be set is ignored, as on a file system without modes, so
// that copying a file with its metadata succeeds; a missing file is still an error.

int fchmodat(int directory, const char* path, mode_t mode, int flags) {
  (void)mode;
  struct stat status;
  return fstatat(directory, path, &status, flags & AT_SYMLINK_NOFOLLOW);
}

int chmod(const char* path, mode_t mode) {
  (void)mode;
  struct stat status;
  return stat(path, &status);
}

int fchmod(int file, mode_t mode) {
  (void)mode;
  struct stat status;
  return fstat(file, &status);
}

#undef chdir
extern int chdir(const char* path);

int dormouse_chdir(const char* path) {
  char resolved[PATH_MAX];
  if (realpath(path, resolved) == NULL) return -1;
  return chdir(resolved);
}
