// SPDX-License-Identifier: Apache-2.0
// Files: permission bits and duplicates of descriptors, which the host has beyond WASI (module "dormouse"), and
// a current directory without `..` in its name.
#include "wasi_compat.h"

#undef chmod
#undef fchmod
#undef fchmodat
#undef chdir

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wasi/api.h>

#define HOST(name) __attribute__((import_module("dormouse"), import_name(#name)))

HOST(fd_dup) extern int32_t HostDup(int32_t file, int32_t lowest, int32_t* new_file);
HOST(fd_chmod) extern int32_t HostFdChmod(int32_t file, uint32_t mode);
HOST(path_chmod) extern int32_t HostPathChmod(int32_t directory, int32_t flags, const char* path, size_t size,
                                              uint32_t mode);
HOST(fd_mode_get) extern int32_t HostFdMode(int32_t file, uint32_t* mode);
HOST(path_mode_get) extern int32_t HostPathMode(int32_t directory, int32_t flags, const char* path, size_t size,
                                                uint32_t* mode);

enum { kRoot = 3, kFollow = 1, kFirstFree = 3, kModeBits = 07777 };

static int Return(int error) {
  if (error == 0) return 0;
  errno = error;
  return -1;
}

int dup(int file) {
  int32_t new_file = -1;
  return Return(HostDup(file, 0, &new_file)) == 0 ? new_file : -1;
}

int dup2(int file, int wanted) {
  if (file == wanted) return fcntl(file, F_GETFL) < 0 ? -1 : wanted;
  int32_t new_file = -1;
  // WASI renumbers onto open descriptors only.
  if (fcntl(wanted, F_GETFL) < 0) {
    if (Return(HostDup(file, wanted, &new_file)) < 0) return -1;
    if (new_file == wanted) return wanted;
  } else if (Return(HostDup(file, kFirstFree, &new_file)) < 0) {
    return -1;
  }
  return Return(__wasi_fd_renumber(new_file, wanted)) == 0 ? wanted : -1;
}

typedef struct {
  int directory;
  const char* path;  // relative to `directory`
  char buffer[PATH_MAX];
} Place;

// The host knows paths relative to descriptors: those of the working directory become relative to `/`.
static int Find(int directory, const char* path, Place* place) {
  if (path[0] != '/' && directory != AT_FDCWD) {
    place->directory = directory;
    place->path = path;
    return 0;
  }
  char current[PATH_MAX] = "";
  if (path[0] != '/' && getcwd(current, sizeof(current)) == NULL) return -1;
  int size = snprintf(place->buffer, sizeof(place->buffer), "%s/%s", current, path);
  if (size < 0 || (size_t)size >= sizeof(place->buffer)) return Return(ENAMETOOLONG);
  place->directory = kRoot;
  place->path = place->buffer + strspn(place->buffer, "/");
  if (place->path[0] == '\0') place->path = ".";
  return 0;
}

int dormouse_fchmodat(int directory, const char* path, mode_t mode, int flags) {
  Place place;
  if (path[0] == '\0') return Return(ENOENT);
  if (Find(directory, path, &place) < 0) return -1;
  int follow = flags & AT_SYMLINK_NOFOLLOW ? 0 : kFollow;
  return Return(HostPathChmod(place.directory, follow, place.path, strlen(place.path), mode & kModeBits));
}

int dormouse_chmod(const char* path, mode_t mode) { return dormouse_fchmodat(AT_FDCWD, path, mode, 0); }

int dormouse_fchmod(int file, mode_t mode) { return Return(HostFdChmod(file, mode & kModeBits)); }

// Adds what the host's answer says, or the usual bits where it has none.
static int Complete(struct stat* status, int32_t error, uint32_t mode) {
  if (error != 0) mode = S_ISDIR(status->st_mode) ? 0755 : S_ISLNK(status->st_mode) ? 0777 : 0644;
  status->st_mode = (status->st_mode & S_IFMT) | (mode & kModeBits);
  status->st_uid = getuid();
  status->st_gid = getgid();
  return 0;
}

int dormouse_fstatat(int directory, const char* path, struct stat* status, int flags) {
  Place place;
  if (fstatat(directory, path, status, flags) < 0) return -1;
  if (Find(directory, path, &place) < 0) return -1;
  uint32_t mode = 0;
  int follow = flags & AT_SYMLINK_NOFOLLOW ? 0 : kFollow;
  int32_t error = HostPathMode(place.directory, follow, place.path, strlen(place.path), &mode);
  return Complete(status, error, mode);
}

int dormouse_stat(const char* path, struct stat* status) {
  return dormouse_fstatat(AT_FDCWD, path, status, 0);
}

int dormouse_lstat(const char* path, struct stat* status) {
  return dormouse_fstatat(AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW);
}

int dormouse_fstat(int file, struct stat* status) {
  if (fstat(file, status) < 0) return -1;
  uint32_t mode = 0;
  int32_t error = HostFdMode(file, &mode);
  return Complete(status, error, mode);
}

int dormouse_chdir(const char* path) {
  char resolved[PATH_MAX];
  return realpath(path, resolved) == NULL ? -1 : chdir(resolved);
}
