// SPDX-License-Identifier: Apache-2.0
// What Lua asks the system for, where the C library has no answer or another one than elsewhere.
#include <errno.h>
#include <locale.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

int driver_system(const char* command) {
  if (command == NULL) return 0;
  errno = ENOTSUP;
  return -1;
}

// The library takes any name and changes nothing.
char* driver_setlocale(int category, const char* name) {
  const int known = name == NULL || *name == 0 || strcmp(name, "C") == 0 || strcmp(name, "POSIX") == 0;
  return known ? setlocale(category, name == NULL ? NULL : "C") : NULL;
}

// The library takes no name at all for the working directory.
FILE* driver_open(const char* name, const char* mode) {
  if (*name != 0) return fopen(name, mode);
  errno = ENOENT;
  return NULL;
}

int driver_temporary_name(char* buffer) {
  for (int attempt = 0; attempt < 100; attempt++) {
    uint32_t random[2];
    if (getentropy(random, sizeof random) != 0) return -1;
    sprintf(buffer, "/tmp/lua_%08x%08x", (unsigned)random[0], (unsigned)random[1]);
    FILE* file = fopen(buffer, "wx");
    if (file != NULL) return fclose(file);
  }
  return -1;
}

FILE* tmpfile(void) {
  char name[32];
  if (driver_temporary_name(name) != 0) return NULL;
  FILE* file = fopen(name, "w+");
  unlink(name);
  return file;
}
