// SPDX-License-Identifier: Apache-2.0
// Files: permission bits, duplicates of descriptors and the size of file systems, which the host has beyond WASI
// (module "dormouse"), and a current directory without `..` in its name.
#include "wasi_compat.h"

#undef chmod
#undef fchmod
#undef fchmodat
#undef chdir
#undef statvfs
#undef fstatvfs
#undef open
#undef openat
#undef mkdir
#undef mkdirat

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
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

typedef struct {
  uint64_t device;
  uint64_t bytes;
  uint64_t free_bytes;
  uint64_t files;
  uint64_t free_files;
  uint32_t read_only;
  uint32_t max_name_bytes;
} MountStat;

HOST(fd_statvfs) extern int32_t HostFdStatvfs(int32_t file, MountStat* stat);
HOST(path_statvfs) extern int32_t HostPathStatvfs(int32_t directory, int32_t flags, const char* path,
                                                  size_t size, MountStat* stat);

enum { kRoot = 3, kFollow = 1, kFirstFree = 3, kModeBits = 07777, kBlockBytes = 4096 };

// What the host gives to whatever is new.
enum { kNewFileMode = 0644, kNewDirectoryMode = 0755 };

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
    int error = HostDup(file, wanted, &new_file);
    if (error == EINVAL) error = EBADF;  // a number that no descriptor can have
    if (Return(error) < 0) return -1;
    if (new_file == wanted) return wanted;
  } else if (Return(HostDup(file, kFirstFree, &new_file)) < 0) {
    return -1;
  }
  return Return(__wasi_fd_renumber(new_file, wanted)) == 0 ? wanted : -1;
}

// There is nothing that a descriptor could be closed for: the flag O_CLOEXEC is 0 here.
int dup3(int file, int wanted, int flags) {
  if (file == wanted || flags != 0) return Return(EINVAL);
  return dup2(file, wanted);
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

static unsigned mask = 022;

unsigned umask(unsigned new_mask) {
  unsigned previous = mask;
  mask = new_mask & 0777;
  return previous;
}

static int IsMissing(int directory, const char* path) {
  struct stat status;
  int before = errno;
  int missing = fstatat(directory, path, &status, 0) < 0 && errno == ENOENT;
  errno = before;
  return missing;
}

// Opens a file, and gives it its mode if it is new. Costs more than opening only where the mode is an unusual one.
static int OpenAt(int directory, const char* path, int flags, mode_t mode) {
  mode &= kModeBits & ~mask;
  int set_mode = (flags & O_CREAT) != 0 && mode != kNewFileMode &&
                 ((flags & O_EXCL) != 0 || IsMissing(directory, path));
  int file = directory == AT_FDCWD ? open(path, flags) : openat(directory, path, flags);
  if (file >= 0 && set_mode) (void)HostFdChmod(file, mode);
  return file;
}

static mode_t ModeArgument(int flags, va_list arguments) {
  return (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
}

int dormouse_open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  mode_t mode = ModeArgument(flags, arguments);
  va_end(arguments);
  return OpenAt(AT_FDCWD, path, flags, mode);
}

int dormouse_openat(int directory, const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  mode_t mode = ModeArgument(flags, arguments);
  va_end(arguments);
  return OpenAt(directory, path, flags, mode);
}

int dormouse_mkdirat(int directory, const char* path, mode_t mode) {
  int made = directory == AT_FDCWD ? mkdir(path, mode) : mkdirat(directory, path, mode);
  mode &= 01777 & ~mask;
  if (made == 0 && mode != kNewDirectoryMode) (void)dormouse_fchmodat(directory, path, mode, 0);
  return made;
}

int dormouse_mkdir(const char* path, mode_t mode) { return dormouse_mkdirat(AT_FDCWD, path, mode); }

static int ToStatvfs(int32_t error, const MountStat* from, struct statvfs* to) {
  if (Return(error) < 0) return -1;
  *to = (struct statvfs){
      .f_bsize = kBlockBytes,
      .f_frsize = kBlockBytes,
      .f_blocks = from->bytes / kBlockBytes,
      .f_bfree = from->free_bytes / kBlockBytes,
      .f_bavail = from->free_bytes / kBlockBytes,
      .f_files = from->files,
      .f_ffree = from->free_files,
      .f_favail = from->free_files,
      .f_fsid = (unsigned long)from->device,
      .f_flag = from->read_only ? ST_RDONLY : 0,
      .f_namemax = from->max_name_bytes,
  };
  return 0;
}

int dormouse_statvfs(const char* path, struct statvfs* stat) {
  Place place;
  MountStat mount;
  if (path[0] == '\0') return Return(ENOENT);
  if (Find(AT_FDCWD, path, &place) < 0) return -1;
  int32_t error = HostPathStatvfs(place.directory, kFollow, place.path, strlen(place.path), &mount);
  return ToStatvfs(error, &mount, stat);
}

int dormouse_fstatvfs(int file, struct statvfs* stat) {
  MountStat mount;
  return ToStatvfs(HostFdStatvfs(file, &mount), &mount, stat);
}

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
