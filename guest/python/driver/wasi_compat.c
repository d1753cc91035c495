// SPDX-License-Identifier: Apache-2.0
// Time and identity: what wasi-libc leaves out, or answers in a way that does not fit this host.
#define _WASI_EMULATED_PROCESS_CLOCKS  // for the declarations; the definitions are here
#include "wasi_compat.h"

#include <errno.h>
#include <stdint.h>
#include <sys/times.h>
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

// CPU time: the host has that of the interpreter; wasi-libc's clock() is the time that passed since boot.

static uint64_t CpuNanoseconds(void) {
  __wasi_timestamp_t time = 0;
  return __wasi_clock_time_get(2, 1, &time) == 0 ? time : Now(CLOCK_MONOTONIC);  // 2: CPU time of the process
}

clock_t clock(void) { return (clock_t)CpuNanoseconds(); }

// In the units of sysconf(_SC_CLK_TCK), as POSIX wants it.
clock_t times(struct tms* buffer) {
  const uint64_t nanoseconds_per_tick = 1000000000u / (uint64_t)sysconf(_SC_CLK_TCK);
  *buffer = (struct tms){.tms_utime = (clock_t)(CpuNanoseconds() / nanoseconds_per_tick)};
  return (clock_t)(Now(CLOCK_MONOTONIC) / nanoseconds_per_tick);
}

// There is one user.

enum { kUser = 1000 };

unsigned getuid(void) { return kUser; }
unsigned geteuid(void) { return kUser; }
unsigned getgid(void) { return kUser; }
unsigned getegid(void) { return kUser; }
int getppid(void) { return 1; }
