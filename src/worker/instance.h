// SPDX-License-Identifier: Apache-2.0
// Instance: the one guest of this process: engine code, its memory, its host functions, and calls into it.
//
// Threads: the guest thread (the one that called Create), except RequestStop.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "engine/engine_module.h"
#include "engine/guest_thread.h"
#include "engine/linear_memory.h"
#include "wasi/wasi.h"

namespace dormouse::worker {

// Takes what the guest emits (docs/engine-abi.md §3). Called on the guest thread.
class EmitSink {
 public:
  virtual ~EmitSink() = default;
  // `json` is hostile and only valid during the call.
  virtual void Emit(std::uint32_t kind, std::string_view json) = 0;
};

struct InstanceOptions {
  EmitSink* emits = nullptr;            // required; must outlive the instance
  wasi::OutputSink* output = nullptr;   // likewise
  wasi::ContentSource* contents = nullptr;
  std::optional<wasi::RootfsImage> rootfs;
  wasi::Limits limits;
  std::uint64_t memory_bytes = 0;  // limit of linear memory
  // What CLOCK_MONOTONIC shows at first; none: as contexts have it.
  std::optional<std::int64_t> monotonic_start_ns;
};

class Instance {
 public:
  // Reserves the memory, maps `image_bytes` of `image_fd` at its start with `pages` in all, binds all imports.
  // `module` must outlive the instance, and there may be one instance per process.
  static Result<std::unique_ptr<Instance>> Create(engine::EngineModule& module, int image_fd,
                                                  std::uint64_t image_bytes, std::uint32_t pages,
                                                  InstanceOptions options);
  ~Instance();

  // The outcome of a call into the guest.
  struct Ended {
    engine::Trap trap;
    std::uint32_t result = 0;  // when there was no trap
  };
  Ended Initialize();  // `_initialize`
  Ended Boot();        // `dormouse_boot`
  Ended Run(std::string_view request);
  Ended Reseed();
  // Asks the guest where its interrupt flags are.
  Result<std::vector<engine::InterruptEntry>> FindInterrupts();

  engine::GuestThread& thread() { return *thread_; }
  engine::LinearMemory& memory() { return memory_; }
  engine::EngineModule& module() { return module_; }
  wasi::Wasi& wasi();
  // Whether memory.grow was refused since the last ForgetRefusals.
  bool memory_refused() const { return memory_refused_; }
  void ForgetRefusals() { memory_refused_ = false; }
  std::uint64_t memory_limit() const { return memory_limit_; }
  void set_memory_limit(std::uint64_t bytes) { memory_limit_ = bytes; }

  // For the imports.
  std::uint32_t GrowMemory(std::uint32_t delta_pages);
  void Emit(std::uint32_t kind, std::uint32_t address, std::uint32_t length);

 private:
  class Host;
  Instance(engine::EngineModule& module, engine::LinearMemory memory, InstanceOptions& options);
  Result<void> Bind(InstanceOptions options);

  engine::EngineModule& module_;
  engine::LinearMemory memory_;
  EmitSink& emits_;
  std::uint64_t memory_limit_;
  bool memory_refused_ = false;
  std::unique_ptr<Host> wasi_;
  std::unique_ptr<engine::GuestThread> thread_;
  void (*initialize_)() = nullptr;
  std::uint32_t (*boot_)() = nullptr;
  std::uint32_t (*alloc_)(std::uint32_t) = nullptr;
  std::uint32_t (*run_)(std::uint32_t, std::uint32_t) = nullptr;
  void (*reseed_)() = nullptr;
  std::uint32_t (*interrupt_table_)() = nullptr;
};

}  // namespace dormouse::worker
