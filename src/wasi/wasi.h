// SPDX-License-Identifier: Apache-2.0
// Wasi: the host of one guest: its files, descriptors, clocks and streams, for WASI preview 1.
//
// The imports themselves are the free functions of wasi_imports.h. A Wasi makes no system calls but
// clock_gettime, getrandom, futex, and what its interfaces make (mmap and lseek in SharedBytes).
//
// Threads: everything belongs to the guest's thread, except Interrupt().
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/result.h"
#include "wasi/descriptor_table.h"
#include "wasi/file_system.h"
#include "wasi/guest_clock.h"
#include "wasi/guest_memory.h"
#include "wasi/host_interfaces.h"
#include "wasi/host_state.h"
#include "wasi/limits.h"
#include "wasi/rootfs_image.h"
#include "wasi/workspace_mirror.h"

namespace dormouse::wasi {

struct WasiOptions {
  GuestMemory memory;
  OutputSink* output = nullptr;       // required
  ContentSource* contents = nullptr;  // null: contents of a manifest cannot be read (EIO)
  TimeSource* time = &SystemTime();
  EntropySource* entropy = &SystemEntropy();
  // The engine's files. None: `/` holds only the mounts.
  std::optional<RootfsImage> rootfs;
  Limits limits;
  // What CLOCK_MONOTONIC shows at first. Contexts start later than any boot did, so that times left
  // in a boot image are in the past.
  std::int64_t monotonic_start_ns = 1'000'000'000'000;
  // Called by proc_exit as its last statement, when all its locals are gone: may return (the engine
  // leaves the guest afterwards) or jump.
  void (*on_exit)(void* context, std::uint32_t code) = nullptr;  // required
  void* on_exit_context = nullptr;
};

class Wasi {
 public:
  // Descriptors 0, 1, 2 are the streams and 3 is `/`. /workspace and /tmp are empty.
  explicit Wasi(WasiOptions options);
  ~Wasi();
  Wasi(const Wasi&) = delete;
  Wasi& operator=(const Wasi&) = delete;

  // Before each run: standard input is `stdin_bytes` and then ends; forgets an earlier exit code
  // and an earlier interrupt.
  void BeginRun(std::string stdin_bytes);

  // Makes a waiting poll_oneoff, or else the next one that would wait, return EINTR, once.
  // Async-signal-safe; any thread.
  void Interrupt() noexcept;

  // What the guest gave to proc_exit (or 128 + the signal of proc_raise) since BeginRun.
  std::optional<std::uint32_t> exit_code() const { return exit_code_; }

  FileSystem& files() { return files_; }
  DescriptorTable& descriptors() { return descriptors_; }
  WorkspaceMirror& workspace() { return workspace_; }
  HostState& state() { return state_; }
  GuestClock& clock() { return clock_; }
  const GuestMemory& memory() const { return memory_; }
  Streams& streams() { return streams_; }
  EntropySource& entropy() { return *entropy_; }
  std::atomic<std::uint32_t>& interrupt_word() { return interrupt_word_; }

  // For the imports.
  void RecordExit(std::uint32_t code) { exit_code_ = code; }
  void LeaveGuest() { on_exit_(on_exit_context_, exit_code_.value_or(0)); }

 private:
  GuestMemory memory_;
  EntropySource* entropy_;
  void (*on_exit_)(void*, std::uint32_t);
  void* on_exit_context_;
  GuestClock clock_;
  Streams streams_;
  FileSystem files_;
  DescriptorTable descriptors_;
  WorkspaceMirror workspace_;
  HostState state_;
  std::optional<std::uint32_t> exit_code_;
  std::atomic<std::uint32_t> interrupt_word_{0};
};

}  // namespace dormouse::wasi
