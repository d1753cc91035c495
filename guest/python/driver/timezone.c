// SPDX-License-Identifier: Apache-2.0
// Local time by TZ and the zone files under /usr/share/zoneinfo.
//
// wasi-libc's time functions are musl's, with the zone lookup replaced by one that knows UTC alone. This puts
// musl's own lookup back in its place; its zone files are read into the heap instead of being mapped.
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TZNAME_MAX 6
#define LOCK(lock) ((void)(lock))
#define UNLOCK(lock) ((void)(lock))
#define weak_alias(old, new) extern __typeof(old) new __attribute__((__weak__, __alias__(#old)))
#define hidden
#define __libc_malloc malloc
#define index zone_index  // also an old name of strchr()

// The largest zone file of the database has 4 KiB.
enum { kMaxZoneFileBytes = 1 << 20 };

static const unsigned char* __map_file(const char* path, size_t* size) {
  int file = open(path, O_RDONLY);
  if (file < 0) return NULL;
  struct stat status;
  unsigned char* data = NULL;
  if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0 &&
      status.st_size <= kMaxZoneFileBytes) {
    data = (malloc)((size_t)status.st_size);
  }
  if (data != NULL && read(file, data, (size_t)status.st_size) == (ssize_t)status.st_size) {
    *size = (size_t)status.st_size;
  } else {
    (free)(data);
    data = NULL;
  }
  close(file);
  return data;
}

static void __munmap(void* data, size_t size) {
  (void)size;
  (free)(data);
}

static const struct {
  int secure;
} libc = {0};

#define __tm_to_tzname MuslTmToTzname
#include "__tz.c"
#undef __tm_to_tzname

// For strftime's %Z. Musl's trusts no zone name but a pointer into its own tables; CPython hands over the name
// that a struct_time carries, so that strftime(..., localtime(t)) names the zone in force at t.
const char* __tm_to_tzname(const struct tm* time) {
  (void)MuslTmToTzname;
  if (time->__tm_zone != NULL) return time->__tm_zone;
  do_tzset();
  return __tzname[time->tm_isdst > 0];
}
