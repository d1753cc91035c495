// SPDX-License-Identifier: Apache-2.0
// Files for runtime/: thin calls that answer with a value, or with a negative WASI error number.
// Paths are absolute; text/JS above decides what an error looks like.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wasi/api.h>

#include "native.h"

// Permission bits, which the host has beyond WASI (docs/engine-abi.md). The answer is a WASI errno.
#define HOST(name) __attribute__((import_module("dormouse"), import_name(#name)))
HOST(fd_chmod) extern int32_t HostFdChmod(int32_t fd, uint32_t mode);
HOST(path_chmod) extern int32_t HostPathChmod(int32_t directory, int32_t flags, const char* path,
                                              size_t length, uint32_t mode);
HOST(fd_mode_get) extern int32_t HostFdMode(int32_t fd, uint32_t* mode);
HOST(path_mode_get) extern int32_t HostPathMode(int32_t directory, int32_t flags, const char* path,
                                                size_t length, uint32_t* mode);
enum { kRootFd = 3, kFollow = 1, kModeBits = 07777, kUmask = 022 };

// A path argument; "" when it holds a NUL, which no file name can.
typedef struct Path {
  const char* text;
  bool valid;
} Path;

static Path GetPath(JSContext* context, JSValueConst value) {
  size_t length = 0;
  Path path = {.text = JS_ToCStringLen(context, &length, value), .valid = false};
  path.valid = path.text != NULL && strlen(path.text) == length;
  return path;
}

static void FreePath(JSContext* context, Path path) {
  JS_FreeCString(context, path.text);
}

// An absolute path as the host wants it: relative to `/`.
static const char* FromRoot(const char* path) {
  path += strspn(path, "/");
  return path[0] == '\0' ? "." : path;
}

static int ChangeMode(const char* path, bool follow, uint32_t mode) {
  const char* relative = FromRoot(path);
  return HostPathChmod(kRootFd, follow ? kFollow : 0, relative, strlen(relative), mode & kModeBits);
}

static JSValue Number(JSContext* context, int64_t value) {
  return JS_NewInt64(context, value);
}

static JSValue Status(JSContext* context, int result) {
  return JS_NewInt32(context, result == 0 ? 0 : -errno);
}

static int64_t GetInt64(JSContext* context, JSValueConst value) {
  int64_t number = 0;
  JS_ToInt64(context, &number, value);
  return number;
}

static int GetInt(JSContext* context, JSValueConst value) {
  int32_t number = 0;
  JS_ToInt32(context, &number, value);
  return number;
}

// Opens a file; one that this call makes gets the permissions of `mode`.
static int OpenFile(const char* path, int flags, uint32_t mode) {
  mode &= kModeBits & ~kUmask;
  if (!(flags & O_CREAT) || mode == (0666 & ~kUmask)) return open(path, flags, 0666);
  int fd = open(path, flags | O_EXCL, 0666);
  if (fd < 0) return errno == EEXIST && !(flags & O_EXCL) ? open(path, flags, 0666) : fd;
  int error = HostFdChmod(fd, mode);
  if (error == 0) return fd;
  close(fd);
  errno = error;
  return -1;
}

// open(path, flags, mode): flags are those of fs.constants, as on Linux.
static JSValue Open(JSContext* context, JSValueConst self, int argc, JSValueConst* argv) {
  (void)self;
  (void)argc;
  Path path = GetPath(context, argv[0]);
  if (!path.valid) {
    FreePath(context, path);
    return Number(context, -EINVAL);
  }
  int wanted = GetInt(context, argv[1]);
  int flags = 0;
  switch (wanted & 3) {
    case 0: flags = O_RDONLY; break;
    case 1: flags = O_WRONLY; break;
    default: flags = O_RDWR; break;
  }
  if (wanted & 0100) flags |= O_CREAT;
  if (wanted & 0200) flags |= O_EXCL;
  if (wanted & 01000) flags |= O_TRUNC;
  if (wanted & 02000) flags |= O_APPEND;
  if (wanted & 0200000) flags |= O_DIRECTORY;
  if (wanted & 0400000) flags |= O_NOFOLLOW;
  int fd = OpenFile(path.text, flags, (uint32_t)GetInt(context, argv[2]));
  int error = errno;
  FreePath(context, path);
  return Number(context, fd >= 0 ? fd : -error);
}

static JSValue Close(JSContext* context, JSValueConst self, int argc, JSValueConst* argv) {
  (void)self;
  (void)argc;
  return Status(context, close(GetInt(context, argv[0])));
}

// The bytes [offset, offset + length) of a typed array; NULL when they are not all there.
static uint8_t* GetBytes(JSContext* context, JSValueConst array, JSValueConst offset,
                         JSValueConst length, size_t* count) {
  size_t size = 0;
  uint8_t* bytes = JS_GetUint8Array(context, &size, array);
  if (bytes == NULL) {
    JS_FreeValue(context, JS_GetException(context));
    return NULL;
  }
  int64_t start = GetInt64(context, offset);
  int64_t wanted = GetInt64(context, length);
  if (start < 0 || wanted < 0 || start > (int64_t)size || wanted > (int64_t)size - start) return NULL;
  *count = (size_t)wanted;
  return bytes + start;
}

// read(fd, bytes, offset, length, position): position -1 is the file's own.
static JSValue Read(JSContext* context, JSValueConst self, int argc, JSValueConst* argv) {
  (void)self;
  (void)argc;
  size_t count = 0;
  uint8_t* bytes = GetBytes(context, argv[1], argv[2], argv[3], &count);
  if (bytes == NULL) return Number(context, -EINVAL);
  int64_t position = GetInt64(context, argv[4]);
  int fd = GetInt(context, argv[0]);
  ssize_t done = position < 0 ? read(fd, bytes, count) : pread(fd, bytes, count, position);
  return Number(context, done >= 0 ? done : -errno);
}

static JSValue Write(JSContext* context, JSValueConst self, int argc, JSValueConst* argv) {
  (void)self;
  (void)argc;
  size_t count = 0;
  const uint8_t* bytes = GetBytes(context, argv[1], argv[2], argv[3], &count);
  if (bytes == NULL) return Number(context, -EINVAL);
  int64_t position = GetInt64(context, argv[4]);
  int fd = GetInt(context, argv[0]);
  ssize_t done = position < 0 ? write(fd, bytes, count) : pwrite(fd, bytes, count, position);
  return Number(context, done >= 0 ? done : -errno);
}

static double Nanoseconds(struct timespec time) {
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

// [device, inode, type, links, size, atime, mtime, ctime, permissions], times in ns; type as in S_IFMT;
// permissions are -1 where the host has none.
static JSValue NewStat(JSContext* context, const struct stat* st, double permissions) {
  double type = S_ISDIR(st->st_mode)   ? 0040000
                : S_ISLNK(st->st_mode) ? 0120000
                : S_ISCHR(st->st_mode) ? 0020000
                                       : 0100000;
  double fields[] = {(double)st->st_dev,        (double)st->st_ino,
                     type,                      (double)st->st_nlink,
                     (double)st->st_size,       Nanoseconds(st->st_atim),
                     Nanoseconds(st->st_mtim),  Nanoseconds(st->st_ctim),
                     permissions};
  JSValue array = JS_NewArray(context);
  for (uint32_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
    JS_SetPropertyUint32(context, array, i, JS_NewFloat64(context, fields[i]));
  }
  return array;
}

// stat(path, follow) or stat(fd)
static JSValue Stat(JSContext* context, JSValueConst self, int argc, JSValueConst* argv) {
  (void)self;
  struct stat st;
  int result;
  uint32_t mode = 0;
  int32_t mode_error = 0;
  if (JS_IsNumber(argv[0])) {
    int fd = GetInt(context, argv[0]);
    result = fstat(fd, &st);
    if (result == 0) mode_error = HostFdMode(fd, &mode);
  } else {
    Path path = GetPath(context, argv[0]);
    bool follow = argc > 1 && JS_ToBool(context, argv[1]) == 1;
    if (!path.valid) {
      errno = EINVAL;
      result = -1;
    } else {
      result = follow ? stat(path.text, &st) : lstat(path.text, &st);
    }
    int error = errno;
    if (result == 0) {
      const char* relative = FromRoot(path.text);
      mode_error = HostPathMode(kRootFd, follow ? kFollow : 0, relative, strlen(relative), &mode);
    }
    FreePath(context, path);
    errno = error;
  }
  if (result != 0) return Number(context, -errno);
  return NewStat(context, &st, mode_error == 0 ? (double)(mode & kModeBits) : -1);
}

// chmod(path or fd, mode, follow)
static JSValue ChangeModeOf(JSContext* context, JSValueConst self, int argc, JSValueConst* argv) {
  (void)self;
  uint32_t mode = (uint32_t)GetInt(context, argv[1]);
  if (JS_IsNumber(argv[0])) {
    return Number(context, -HostFdChmod(GetInt(context, argv[0]), mode & kModeBits));
  }
  Path path = GetPath(context, argv[0]);
  bool follow = argc < 3 || JS_ToBool(context, argv[2]) == 1;
  int error = path.valid ? ChangeMode(path.text, follow, mode) : EINVAL;
  FreePath(context, path);
  return Number(context, -error);
}

static int EntryType(const struct dirent* entry) {
  switch (entry->d_type) {
    case DT_DIR: return 0040000;
    case DT_LNK: return 0120000;
    case DT_CHR: return 0020000;
    case DT_REG: return 0100000;
    default: return 0;
  }
}

// readdir(path): [name, type, name, type, ...] without . and ..
static JSValue ReadDirectory(JSContext* context, JSValueConst self, int argc,
                             JSValueConst* argv) {
  (void)self;
  (void)argc;
  Path path = GetPath(context, argv[0]);
  DIR* directory = path.valid ? opendir(path.text) : NULL;
  int error = path.valid ? errno : EINVAL;
  FreePath(context, path);
  if (directory == NULL) return Number(context, -error);
  JSValue array = JS_NewArray(context);
  uint32_t count = 0;
  errno = 0;
  for (struct dirent* entry; (entry = readdir(directory)) != NULL; errno = 0) {
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    JS_SetPropertyUint32(context, array, count++, JS_NewString(context, entry->d_name));
    JS_SetPropertyUint32(context, array, count++, JS_NewInt32(context, EntryType(entry)));
  }
  error = errno;
  closedir(directory);
  if (error == 0) return array;
  JS_FreeValue(context, array);
  return Number(context, -error);
}

// mkdir(path, mode)
static JSValue MakeDirectory(JSContext* context, JSValueConst self, int argc, JSValueConst* argv) {
  (void)self;
  (void)argc;
  Path path = GetPath(context, argv[0]);
  uint32_t mode = (uint32_t)GetInt(context, argv[1]) & kModeBits & ~kUmask;
  int error = EINVAL;
  if (path.valid) {
    error = mkdir(path.text, 0777) == 0 ? 0 : errno;
    if (error == 0 && mode != (0777 & ~kUmask)) error = ChangeMode(path.text, true, mode);
  }
  FreePath(context, path);
  return Number(context, -error);
}

typedef enum PathCall { kRmdir, kUnlink, kRename, kSymlink, kLink } PathCall;

static int DoPathCall(int call, const char* first, const char* second) {
  switch (call) {
    case kRmdir: return rmdir(first);
    case kUnlink: return unlink(first);
    case kRename: return rename(first, second);
    case kSymlink: return symlink(first, second);
    default: return link(first, second);
  }
}

static JSValue PathFunction(JSContext* context, JSValueConst self, int argc, JSValueConst* argv,
                            int magic) {
  (void)self;
  bool two = magic >= kRename;
  if (argc < (two ? 2 : 1)) return Number(context, -EINVAL);
  Path first = GetPath(context, argv[0]);
  Path second = two ? GetPath(context, argv[1]) : (Path){.text = NULL, .valid = true};
  int result = -EINVAL;
  if (first.valid && second.valid) {
    result = DoPathCall(magic, first.text, second.text) == 0 ? 0 : -errno;
  }
  FreePath(context, first);
  if (two) FreePath(context, second);
  return JS_NewInt32(context, result);
}

static JSValue ReadLink(JSContext* context, JSValueConst self, int argc, JSValueConst* argv) {
  (void)self;
  (void)argc;
  Path path = GetPath(context, argv[0]);
  char target[4097];
  ssize_t length = path.valid ? readlink(path.text, target, sizeof target - 1) : -1;
  int error = path.valid ? errno : EINVAL;
  FreePath(context, path);
  return length >= 0 ? JS_NewStringLen(context, target, (size_t)length) : Number(context, -error);
}

static struct timespec TimeFromNanoseconds(double nanoseconds) {
  int64_t seconds = (int64_t)(nanoseconds / 1e9);
  double rest = nanoseconds - (double)seconds * 1e9;
  if (rest < 0) {
    seconds -= 1;
    rest += 1e9;
  }
  return (struct timespec){.tv_sec = seconds, .tv_nsec = (long)rest};
}

// utimes(path or fd, atime, mtime, follow), times in ns
static JSValue SetTimes(JSContext* context, JSValueConst self, int argc, JSValueConst* argv) {
  (void)self;
  double accessed = 0;
  double modified = 0;
  JS_ToFloat64(context, &accessed, argv[1]);
  JS_ToFloat64(context, &modified, argv[2]);
  struct timespec times[2] = {TimeFromNanoseconds(accessed), TimeFromNanoseconds(modified)};
  if (JS_IsNumber(argv[0])) return Status(context, futimens(GetInt(context, argv[0]), times));
  Path path = GetPath(context, argv[0]);
  bool follow = argc < 4 || JS_ToBool(context, argv[3]) == 1;
  int result = -EINVAL;
  if (path.valid) {
    int flags = follow ? 0 : AT_SYMLINK_NOFOLLOW;
    result = utimensat(AT_FDCWD, path.text, times, flags) == 0 ? 0 : -errno;
  }
  FreePath(context, path);
  return JS_NewInt32(context, result);
}

static JSValue Truncate(JSContext* context, JSValueConst self, int argc, JSValueConst* argv) {
  (void)self;
  (void)argc;
  return Status(context, ftruncate(GetInt(context, argv[0]), GetInt64(context, argv[1])));
}

static JSValue Sync(JSContext* context, JSValueConst self, int argc, JSValueConst* argv) {
  (void)self;
  (void)argc;
  return Status(context, fsync(GetInt(context, argv[0])));
}

const JSCFunctionListEntry native_fs_functions[] = {
    JS_CFUNC_DEF("open", 3, Open),
    JS_CFUNC_DEF("close", 1, Close),
    JS_CFUNC_DEF("read", 5, Read),
    JS_CFUNC_DEF("write", 5, Write),
    JS_CFUNC_DEF("stat", 2, Stat),
    JS_CFUNC_DEF("readdir", 1, ReadDirectory),
    JS_CFUNC_DEF("chmod", 3, ChangeModeOf),
    JS_CFUNC_DEF("mkdir", 2, MakeDirectory),
    JS_CFUNC_MAGIC_DEF("rmdir", 1, PathFunction, kRmdir),
    JS_CFUNC_MAGIC_DEF("unlink", 1, PathFunction, kUnlink),
    JS_CFUNC_MAGIC_DEF("rename", 2, PathFunction, kRename),
    JS_CFUNC_MAGIC_DEF("symlink", 2, PathFunction, kSymlink),
    JS_CFUNC_MAGIC_DEF("link", 2, PathFunction, kLink),
    JS_CFUNC_DEF("readlink", 1, ReadLink),
    JS_CFUNC_DEF("utimes", 4, SetTimes),
    JS_CFUNC_DEF("ftruncate", 2, Truncate),
    JS_CFUNC_DEF("fsync", 1, Sync),
};
const int native_fs_function_count = sizeof native_fs_functions / sizeof native_fs_functions[0];
