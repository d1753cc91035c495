// SPDX-License-Identifier: Apache-2.0
// The functions that a guest may import: all of WASI preview 1, and a few of `dormouse`.
//
// Each but FloatFlags is `errno function(Wasi&, …)`, with wasm's i32 as uint32 and i64 as uint64, so that
// engine::MakeHostFunction<&FdRead>(module, name) takes them as they are. Pointers are addresses in
// the guest's memory: EFAULT when any byte of what they point at is outside.
//
// No function leaves by a jump but ProcExit and ProcRaise, whose last statement calls
// WasiOptions::on_exit.
#pragma once

#include <cstdint>
#include <string_view>

namespace dormouse::wasi {

class Wasi;

inline constexpr std::string_view kWasiModule = "wasi_snapshot_preview1";
inline constexpr std::string_view kExtensionModule = "dormouse";

// X(name of the import, function)
#define DORMOUSE_WASI_IMPORTS(X)                     \
  X("args_get", ArgsGet)                             \
  X("args_sizes_get", ArgsSizesGet)                  \
  X("environ_get", EnvironGet)                       \
  X("environ_sizes_get", EnvironSizesGet)            \
  X("clock_res_get", ClockResGet)                    \
  X("clock_time_get", ClockTimeGet)                  \
  X("fd_advise", FdAdvise)                           \
  X("fd_allocate", FdAllocate)                       \
  X("fd_close", FdClose)                             \
  X("fd_datasync", FdDatasync)                       \
  X("fd_fdstat_get", FdFdstatGet)                    \
  X("fd_fdstat_set_flags", FdFdstatSetFlags)         \
  X("fd_fdstat_set_rights", FdFdstatSetRights)       \
  X("fd_filestat_get", FdFilestatGet)                \
  X("fd_filestat_set_size", FdFilestatSetSize)       \
  X("fd_filestat_set_times", FdFilestatSetTimes)     \
  X("fd_pread", FdPread)                             \
  X("fd_prestat_get", FdPrestatGet)                  \
  X("fd_prestat_dir_name", FdPrestatDirName)         \
  X("fd_pwrite", FdPwrite)                           \
  X("fd_read", FdRead)                               \
  X("fd_readdir", FdReaddir)                         \
  X("fd_renumber", FdRenumber)                       \
  X("fd_seek", FdSeek)                               \
  X("fd_sync", FdSync)                               \
  X("fd_tell", FdTell)                               \
  X("fd_write", FdWrite)                             \
  X("path_create_directory", PathCreateDirectory)    \
  X("path_filestat_get", PathFilestatGet)            \
  X("path_filestat_set_times", PathFilestatSetTimes) \
  X("path_link", PathLink)                           \
  X("path_open", PathOpen)                           \
  X("path_readlink", PathReadlink)                   \
  X("path_remove_directory", PathRemoveDirectory)    \
  X("path_rename", PathRename)                       \
  X("path_symlink", PathSymlink)                     \
  X("path_unlink_file", PathUnlinkFile)              \
  X("poll_oneoff", PollOneoff)                       \
  X("proc_exit", ProcExit)                           \
  X("proc_raise", ProcRaise)                         \
  X("random_get", RandomGet)                         \
  X("sched_yield", SchedYield)                       \
  X("sock_accept", SockAccept)                       \
  X("sock_recv", SockRecv)                           \
  X("sock_send", SockSend)                           \
  X("sock_shutdown", SockShutdown)

// Module "dormouse": what WASI lacks. Errors are WASI's.
//   fd_dup(fd, lowest, &new_fd)                      like fcntl(F_DUPFD): shares offset and flags
//   fd_chmod(fd, mode)                               permission bits
//   path_chmod(fd, lookup flags, path, length, mode)
//   fd_mode_get(fd, &mode)                           permission bits, as u32
//   path_mode_get(fd, lookup flags, path, length, &mode)
//   fd_statvfs(fd, &stat)                            of the mount: a RawMountStat, wasi_support.h
//   path_statvfs(fd, lookup flags, path, length, &stat)
//   float_flags(clear, raise) -> flags               of floating-point exceptions
#define DORMOUSE_EXTENSION_IMPORTS(X) \
  X("fd_dup", FdDup)                  \
  X("fd_chmod", FdChmod)              \
  X("path_chmod", PathChmod)          \
  X("fd_mode_get", FdModeGet)         \
  X("path_mode_get", PathModeGet)     \
  X("fd_statvfs", FdStatvfs)          \
  X("path_statvfs", PathStatvfs)      \
  X("float_flags", FloatFlags)

using u32 = std::uint32_t;
using u64 = std::uint64_t;

u32 ArgsGet(Wasi& wasi, u32 argv, u32 argv_buffer);
u32 ArgsSizesGet(Wasi& wasi, u32 count, u32 bytes);
u32 EnvironGet(Wasi& wasi, u32 environ, u32 environ_buffer);
u32 EnvironSizesGet(Wasi& wasi, u32 count, u32 bytes);
u32 ClockResGet(Wasi& wasi, u32 clock, u32 resolution);
u32 ClockTimeGet(Wasi& wasi, u32 clock, u64 precision, u32 time);

u32 FdAdvise(Wasi& wasi, u32 fd, u64 offset, u64 length, u32 advice);
u32 FdAllocate(Wasi& wasi, u32 fd, u64 offset, u64 length);
u32 FdClose(Wasi& wasi, u32 fd);
u32 FdDatasync(Wasi& wasi, u32 fd);
u32 FdFdstatGet(Wasi& wasi, u32 fd, u32 stat);
u32 FdFdstatSetFlags(Wasi& wasi, u32 fd, u32 flags);
u32 FdFdstatSetRights(Wasi& wasi, u32 fd, u64 base, u64 inheriting);
u32 FdFilestatGet(Wasi& wasi, u32 fd, u32 stat);
u32 FdFilestatSetSize(Wasi& wasi, u32 fd, u64 size);
u32 FdFilestatSetTimes(Wasi& wasi, u32 fd, u64 atime, u64 mtime, u32 flags);
u32 FdPread(Wasi& wasi, u32 fd, u32 vectors, u32 vector_count, u64 offset, u32 got);
u32 FdPrestatGet(Wasi& wasi, u32 fd, u32 prestat);
u32 FdPrestatDirName(Wasi& wasi, u32 fd, u32 path, u32 length);
u32 FdPwrite(Wasi& wasi, u32 fd, u32 vectors, u32 vector_count, u64 offset, u32 put);
u32 FdRead(Wasi& wasi, u32 fd, u32 vectors, u32 vector_count, u32 got);
u32 FdReaddir(Wasi& wasi, u32 fd, u32 buffer, u32 length, u64 cookie, u32 used);
u32 FdRenumber(Wasi& wasi, u32 from, u32 to);
u32 FdSeek(Wasi& wasi, u32 fd, u64 delta, u32 whence, u32 offset);
u32 FdSync(Wasi& wasi, u32 fd);
u32 FdTell(Wasi& wasi, u32 fd, u32 offset);
u32 FdWrite(Wasi& wasi, u32 fd, u32 vectors, u32 vector_count, u32 put);

u32 PathCreateDirectory(Wasi& wasi, u32 fd, u32 path, u32 length);
u32 PathFilestatGet(Wasi& wasi, u32 fd, u32 flags, u32 path, u32 length, u32 stat);
u32 PathFilestatSetTimes(Wasi& wasi, u32 fd, u32 flags, u32 path, u32 length, u64 atime, u64 mtime,
                         u32 time_flags);
u32 PathLink(Wasi& wasi, u32 old_fd, u32 old_flags, u32 old_path, u32 old_length, u32 new_fd,
             u32 new_path, u32 new_length);
u32 PathOpen(Wasi& wasi, u32 fd, u32 lookup_flags, u32 path, u32 length, u32 open_flags, u64 rights,
             u64 inheriting_rights, u32 fd_flags, u32 opened);
u32 PathReadlink(Wasi& wasi, u32 fd, u32 path, u32 length, u32 buffer, u32 buffer_length, u32 used);
u32 PathRemoveDirectory(Wasi& wasi, u32 fd, u32 path, u32 length);
u32 PathRename(Wasi& wasi, u32 old_fd, u32 old_path, u32 old_length, u32 new_fd, u32 new_path,
               u32 new_length);
u32 PathSymlink(Wasi& wasi, u32 target, u32 target_length, u32 fd, u32 path, u32 length);
u32 PathUnlinkFile(Wasi& wasi, u32 fd, u32 path, u32 length);

u32 PollOneoff(Wasi& wasi, u32 subscriptions, u32 events, u32 count, u32 event_count);
void ProcExit(Wasi& wasi, u32 code);
u32 ProcRaise(Wasi& wasi, u32 signal);
u32 RandomGet(Wasi& wasi, u32 buffer, u32 length);
u32 SchedYield(Wasi& wasi);
u32 SockAccept(Wasi& wasi, u32 fd, u32 flags, u32 accepted);
u32 SockRecv(Wasi& wasi, u32 fd, u32 vectors, u32 vector_count, u32 flags, u32 got, u32 out_flags);
u32 SockSend(Wasi& wasi, u32 fd, u32 vectors, u32 vector_count, u32 flags, u32 put);
u32 SockShutdown(Wasi& wasi, u32 fd, u32 how);

u32 FdDup(Wasi& wasi, u32 fd, u32 lowest, u32 new_fd);
u32 FdChmod(Wasi& wasi, u32 fd, u32 mode);
u32 PathChmod(Wasi& wasi, u32 fd, u32 flags, u32 path, u32 length, u32 mode);
u32 FdModeGet(Wasi& wasi, u32 fd, u32 mode);
u32 PathModeGet(Wasi& wasi, u32 fd, u32 flags, u32 path, u32 length, u32 mode);
u32 FdStatvfs(Wasi& wasi, u32 fd, u32 stat);
u32 PathStatvfs(Wasi& wasi, u32 fd, u32 flags, u32 path, u32 length, u32 stat);
u32 FloatFlags(Wasi& wasi, u32 clear, u32 raise);

// Calls `visit.operator()<function>(module, name)` for each import:
//   VisitImports([&]<auto function>(std::string_view module, std::string_view name) {
//     functions.push_back(engine::MakeHostFunction<function>(module, name));
//   });
template <typename Visitor>
void VisitImports(Visitor&& visit) {
#define DORMOUSE_VISIT(name, function) visit.template operator()<&function>(kWasiModule, name);
  DORMOUSE_WASI_IMPORTS(DORMOUSE_VISIT)
#undef DORMOUSE_VISIT
#define DORMOUSE_VISIT(name, function) visit.template operator()<&function>(kExtensionModule, name);
  DORMOUSE_EXTENSION_IMPORTS(DORMOUSE_VISIT)
#undef DORMOUSE_VISIT
}

}  // namespace dormouse::wasi
