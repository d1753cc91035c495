// SPDX-License-Identifier: Apache-2.0
// SQLite for one interpreter that is alone with its files.
//
// No other process can hold a lock on a file of this interpreter, so advisory locks always succeed. What
// remains is SQLite's own bookkeeping between connections of one process (its "unix-excl" VFS, which also
// keeps the WAL index on the heap instead of in shared memory): a second connection still gets SQLITE_BUSY.
#define _WASI_EMULATED_MMAN  // for the header's constants; nothing is mapped

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

static int SingleProcessFcntl(int fd, int command, ...);

// SQLite leaves the write-ahead log out on WASI, for want of shared memory, which "unix-excl" does not need.
#undef __wasi__
#define SQLITE_WASI 1
#define SQLITE_OS_UNIX 1
#define SQLITE_DEFAULT_UNIX_VFS "unix-excl"
#define fcntl SingleProcessFcntl
#include "sqlite3.c"
#undef fcntl

static int SingleProcessFcntl(int fd, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  int result;
  if (command == F_GETLK) {
    va_arg(arguments, struct flock*)->l_type = F_UNLCK;
    result = 0;
  } else if (command == F_SETLK || command == F_SETLKW) {
    result = 0;
  } else if (command == F_GETFD || command == F_GETFL) {
    result = fcntl(fd, command);
  } else {
    result = fcntl(fd, command, va_arg(arguments, int));
  }
  va_end(arguments);
  return result;
}
