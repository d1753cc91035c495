// SPDX-License-Identifier: Apache-2.0
#include "worker/instance.h"

#include <algorithm>
#include <cstring>

#include "engine/host_call.h"
#include "wasi/wasi_imports.h"

namespace dormouse::worker {

// What every import gets as its host pointer. Wasi is the base, so that the WASI functions take it as it is.
class Instance::Host : public wasi::Wasi {
 public:
  Host(wasi::WasiOptions options, Instance& instance) : Wasi(std::move(options)), instance_(instance) {}
  Instance& instance() { return instance_; }

 private:
  Instance& instance_;
};

namespace {

void LeaveForExit(void*, std::uint32_t) { engine::EscapeAfterHostCall(DORMOUSE_TRAP_EXIT); }

}  // namespace

Instance::Instance(engine::EngineModule& module, engine::LinearMemory memory, InstanceOptions& options)
    : module_(module),
      memory_(std::move(memory)),
      emits_(*options.emits),
      memory_limit_(options.memory_bytes) {}

Instance::~Instance() = default;

wasi::Wasi& Instance::wasi() { return *wasi_; }

std::uint32_t Instance::GrowMemory(std::uint32_t delta_pages) {
  const std::uint64_t limit = std::min<std::uint64_t>(memory_limit_ / engine::kWasmPageBytes,
                                                      module_.abi().max_pages);
  const auto old_pages = memory_.Grow(delta_pages, static_cast<std::uint32_t>(limit));
  if (!old_pages) memory_refused_ = true;
  return old_pages.value_or(UINT32_MAX);
}

void Instance::Emit(std::uint32_t kind, std::uint32_t address, std::uint32_t length) {
  const std::byte* bytes = memory_.At(address, length);
  if (bytes == nullptr) return;
  emits_.Emit(kind, {reinterpret_cast<const char*>(bytes), length});
}

namespace {

template <typename Host>
struct Imports {
  static std::uint32_t Grow(wasi::Wasi& wasi, std::uint32_t delta_pages) {
    return static_cast<Host&>(wasi).instance().GrowMemory(delta_pages);
  }
  static void Emit(wasi::Wasi& wasi, std::uint32_t kind, std::uint32_t address, std::uint32_t length) {
    static_cast<Host&>(wasi).instance().Emit(kind, address, length);
  }
};

}  // namespace

Result<std::unique_ptr<Instance>> Instance::Create(engine::EngineModule& module, int image_fd,
                                                   std::uint64_t image_bytes, std::uint32_t pages,
                                                   InstanceOptions options) {
  DORMOUSE_ASSIGN(engine::LinearMemory memory, engine::LinearMemory::Reserve(module.abi().memory_base,
                                                                             module.abi().memory_pages));
  DORMOUSE_TRY(memory.MapImage(image_fd, image_bytes, pages));
  std::unique_ptr<Instance> instance(new Instance(module, std::move(memory), options));
  DORMOUSE_TRY(instance->Bind(std::move(options)));
  return instance;
}

Result<void> Instance::Bind(InstanceOptions options) {
  wasi::WasiOptions wasi_options{.memory = wasi::GuestMemory(memory_.base(), module_.abi().memory_pages)};
  wasi_options.output = options.output;
  wasi_options.contents = options.contents;
  wasi_options.rootfs = std::move(options.rootfs);
  wasi_options.limits = options.limits;
  if (options.monotonic_start_ns) wasi_options.monotonic_start_ns = *options.monotonic_start_ns;
  wasi_options.on_exit = &LeaveForExit;
  wasi_ = std::make_unique<Host>(std::move(wasi_options), *this);

  std::vector<engine::HostFunction> functions;
  wasi::VisitImports([&functions]<auto function>(std::string_view module, std::string_view name) {
    functions.push_back(engine::MakeHostFunction<function>(module, name));
  });
  functions.push_back(engine::MakeHostFunction<&Imports<Host>::Emit>("dormouse", "emit"));
  DORMOUSE_TRY(module_.BindImports(functions, static_cast<wasi::Wasi*>(wasi_.get())));
  module_.BindMemoryGrow(&engine::HostCall<&Imports<Host>::Grow>::Entry);
  DORMOUSE_ASSIGN(thread_, engine::GuestThread::Create(module_, memory_));

  DORMOUSE_ASSIGN(initialize_, module_.FindExport<void()>("_initialize"));
  DORMOUSE_ASSIGN(boot_, module_.FindExport<std::uint32_t()>("dormouse_boot"));
  DORMOUSE_ASSIGN(alloc_, module_.FindExport<std::uint32_t(std::uint32_t)>("dormouse_alloc"));
  DORMOUSE_ASSIGN(run_, module_.FindExport<std::uint32_t(std::uint32_t, std::uint32_t)>("dormouse_run"));
  DORMOUSE_ASSIGN(reseed_, module_.FindExport<void()>("dormouse_reseed"));
  DORMOUSE_ASSIGN(interrupt_table_, module_.FindExport<std::uint32_t()>("dormouse_interrupt_table"));
  return {};
}

Instance::Ended Instance::Initialize() {
  Ended ended;
  ended.trap = thread_->Call(initialize_);
  return ended;
}

Instance::Ended Instance::Boot() {
  Ended ended;
  ended.trap = thread_->Call(boot_, &ended.result);
  return ended;
}

Instance::Ended Instance::Reseed() {
  Ended ended;
  ended.trap = thread_->Call(reseed_);
  return ended;
}

Instance::Ended Instance::Run(std::string_view request) {
  Ended ended;
  std::uint32_t address = 0;
  const auto length = static_cast<std::uint32_t>(request.size());
  ended.trap = thread_->Call(alloc_, &address, length);
  if (ended.trap) return ended;
  std::byte* buffer = address == 0 ? nullptr : memory_.At(address, length);
  if (buffer == nullptr) {
    // No room even for the request: as much out of memory as it gets.
    memory_refused_ = true;
    ended.trap.kind = DORMOUSE_TRAP_UNREACHABLE;
    return ended;
  }
  std::memcpy(buffer, request.data(), length);
  ended.trap = thread_->Call(run_, &ended.result, address, length);
  return ended;
}

Result<std::vector<engine::InterruptEntry>> Instance::FindInterrupts() {
  std::uint32_t address = 0;
  const engine::Trap trap = thread_->Call(interrupt_table_, &address);
  if (trap) return Error(ErrorCode::kCorrupt, "dormouse_interrupt_table trapped");
  return engine::ReadInterruptTable(memory_, address);
}

}  // namespace dormouse::worker
