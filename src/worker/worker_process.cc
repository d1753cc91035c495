// SPDX-License-Identifier: Apache-2.0
#include "worker/worker_process.h"

#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <memory>

#include "snapshot/dirty_pages.h"
#include "worker/confinement.h"
#include "worker/instance.h"
#include "worker/output_buffer.h"
#include "worker/remote_files.h"
#include "worker/run_control.h"
#include "worker/server_link.h"
#include "worker/snapshotter.h"
#include "worker/workspace_sync.h"

namespace dormouse::worker {
namespace {

using protocol::MessageType;
using std::chrono::duration_cast;
using std::chrono::microseconds;
using Clock = std::chrono::steady_clock;

// Wire values; see scheduler/worker.h.
enum Status : std::uint8_t {
  kOk = 0,
  kError = 1,
  kTimeout = 2,
  kFuelExhausted = 3,
  kInterrupted = 4,
  kOutOfMemory = 5,
  kCrashed = 6,
  kExited = 7,
};
enum State : std::uint8_t { kKept = 0, kRolledBack = 1 };
enum Keep : std::uint8_t { kKeepAll = 0, kKeepFiles = 1, kKeepNothing = 2 };

// The largest segment or content: more than any linear memory.
constexpr std::uint64_t kMaxFileBytes = std::uint64_t{16} << 30;
// Stack pages above this are given back after a run.
constexpr std::size_t kKeptStackBytes = 256u << 10;
// What a process costs besides its guest's pages: threads, tables, file system.
constexpr std::uint64_t kProcessBytes = 2u << 20;

std::uint32_t MicrosecondsSince(Clock::time_point start) {
  return static_cast<std::uint32_t>(duration_cast<microseconds>(Clock::now() - start).count());
}

std::uint8_t StatusOf(StopReason reason) {
  switch (reason) {
    case StopReason::kTimeout:
      return kTimeout;
    case StopReason::kFuel:
      return kFuelExhausted;
    default:
      return kInterrupted;
  }
}

class WorkerProcess {
 public:
  WorkerProcess(LoadedEngine& engine, FileDescriptor channel)
      : engine_(engine), link_(std::move(channel)), output_(link_), control_(link_, output_), files_(link_) {}

  Result<void> Prepare(const wasi::Limits& limits) {
    InstanceOptions options;
    options.emits = &output_;
    options.output = &output_;
    options.contents = &files_;
    options.rootfs = engine_.rootfs;
    options.limits = limits;
    options.memory_bytes = std::uint64_t{engine_.manifest.max_memory_pages} << 16;
    DORMOUSE_ASSIGN(instance_, Instance::Create(engine_.module, engine_.boot_file.get(),
                                                engine_.boot.size_bytes(), engine_.manifest.memory_pages,
                                                std::move(options)));
    DORMOUSE_TRY(engine_.module.RestoreGlobals(engine_.manifest.globals));
    std::vector<engine::InterruptEntry> interrupts;
    for (const EngineManifest::Interrupt& entry : engine_.manifest.interrupts) {
      interrupts.push_back({entry.address, entry.size_bytes,
                            static_cast<engine::InterruptOperation>(entry.operation), entry.value});
    }
    instance_->thread().SetInterruptTable(std::move(interrupts));
    DORMOUSE_ASSIGN(auto dirty, snapshot::DirtyPages::Watch(instance_->memory().base()));
    snapshotter_ = std::make_unique<Snapshotter>(*instance_, engine_.boot, std::move(dirty));
    workspace_ = std::make_unique<WorkspaceSync>(instance_->wasi().workspace(), files_, link_);
    snapshotter_->MakeResident(engine_.manifest.hot_pages);
    DORMOUSE_TRY(DropPrivileges(kMaxFileBytes));
    DORMOUSE_TRY(control_.Start());
    return InstallSyscallFilter();
  }

  // Tells the server why there is no worker, as the answer to a Start that may not have been sent yet.
  [[noreturn]] void Refuse(const Error& error) {
    protocol::Started started;
    started.error_code = static_cast<std::uint16_t>(error.code);
    started.message = error.message;
    link_.Send(MessageType::kStarted, started.Encode());
    ::_exit(1);
  }

  [[noreturn]] void Serve() {
    while (true) {
      protocol::Frame frame = link_.NextCommand();
      switch (static_cast<MessageType>(frame.type)) {
        case MessageType::kStart:
          OnStart(std::move(frame));
          break;
        case MessageType::kManifest:
          OnManifest(frame.payload);
          break;
        case MessageType::kRun:
          OnRun(frame.payload);
          break;
        default:
          ::_exit(1);
      }
    }
  }

 private:
  void OnStart(protocol::Frame frame) {
    const Clock::time_point begin = Clock::now();
    protocol::Started started;
    const Result<void> result = Start(std::move(frame));
    if (result.ok()) {
      started.ok = 1;
    } else {
      started.error_code = static_cast<std::uint16_t>(result.error().code);
      started.message = result.error().message;
    }
    started.resume_us = MicrosecondsSince(begin);
    started.resident_bytes = ResidentBytes();
    link_.Send(MessageType::kStarted, started.Encode());
  }

  Result<void> Start(protocol::Frame frame) {
    DORMOUSE_ASSIGN(const protocol::Start start, protocol::Start::Decode(frame.payload));
    grace_ = std::chrono::milliseconds(start.stop_grace_ms);
    instance_->set_memory_limit(start.memory_bytes);
    DORMOUSE_TRY(snapshotter_->Restore(start.segments, std::move(frame.descriptors)));
    reseed_ = start.reseed != 0;
    return {};
  }

  void OnManifest(std::string_view payload) {
    Result<protocol::Manifest> part = protocol::Manifest::Decode(payload);
    if (!part.ok()) ::_exit(1);
    workspace_->Gather(std::move(*part));
  }

  void OnRun(std::string_view payload) {
    const Result<protocol::Run> run = protocol::Run::Decode(payload);
    if (!run.ok()) ::_exit(1);
    protocol::Done done;
    const Clock::time_point begin = Clock::now();
    const Result<void> ready = MakeReady(*run);
    if (ready.ok()) {
      RunGuest(*run, done);
    } else {
      done.status = kCrashed;
      done.state = kRolledBack;
      done.message = ready.error().message;
    }
    done.wall_us = MicrosecondsSince(begin);
    if (done.state == kKept && run->keep != kKeepNothing) KeepState(*run, done);
    output_.Flush();
    done.memory_bytes = instance_->memory().size_bytes();
    done.peak_memory_bytes = PeakBytes();
    done.resident_bytes = ResidentBytes();
    link_.Send(MessageType::kDone, done.Encode());
    // What the guest left behind is of no use to anyone.
    if (done.state == kRolledBack) ::_exit(0);
  }

  // Brings everything around the guest to where the run expects it.
  Result<void> MakeReady(const protocol::Run& run) {
    if (ran_before_) {
      if (run.previous_committed != 0) {
        DORMOUSE_TRY(workspace_->MarkCommitted());
        snapshotter_->MarkCommitted();
      } else {
        snapshotter_->MarkLost();
      }
    }
    DORMOUSE_TRY(workspace_->Apply());
    if (!ran_before_) DORMOUSE_TRY(snapshotter_->RestoreHostState());
    ran_before_ = true;
    if (run.memory_bytes != 0) instance_->set_memory_limit(run.memory_bytes);
    instance_->ForgetRefusals();
    output_.Forget();
    files_.BeginRun();
    instance_->wasi().BeginRun(run.stdin_bytes);
    if (reseed_) {
      reseed_ = false;
      if (instance_->Reseed().trap) return Error(ErrorCode::kInternal, "the engine cannot be reseeded");
    }
    return {};
  }

  void RunGuest(const protocol::Run& run, protocol::Done& done) {
    engine::GuestThread& thread = instance_->thread();
    const std::uint64_t token = thread.Arm();
    control_.Begin(thread, instance_->wasi(), token,
                   {.timeout = microseconds(run.timeout_us), .fuel = microseconds(run.fuel_us), .grace = grace_});
    const Instance::Ended ended = instance_->Run(run.request_json);
    const auto cpu = control_.CpuSinceBegin();
    const StopReason reason = control_.End();
    thread.Disarm();
    thread.TrimStack(kKeptStackBytes);
    done.cpu_us = static_cast<std::uint64_t>(cpu.count());
    done.fuel_consumed = done.cpu_us;
    Judge(ended, reason, done);
  }

  // Which of the statuses it was, and whether the state can be kept.
  void Judge(const Instance::Ended& ended, StopReason reason, protocol::Done& done) {
    const OutputBuffer::Emitted emitted = output_.emitted();
    if (!ended.trap && ended.result == 0) {
      done.state = kKept;
      // Also when user code swallowed the stop: the run went on to its limit, and says so.
      if (reason != StopReason::kNone) {
        done.status = StatusOf(reason);
      } else if (emitted.exit) {
        done.status = kExited;
      } else {
        done.status = emitted.error ? kError : kOk;
      }
      return;
    }
    done.state = kRolledBack;
    if (ended.trap.kind == DORMOUSE_TRAP_EXIT) {
      done.status = kExited;
      done.has_exit_code = 1;
      done.exit_code = static_cast<std::int32_t>(instance_->wasi().exit_code().value_or(0));
    } else if (ended.trap.kind == DORMOUSE_TRAP_STOPPED && reason != StopReason::kNone) {
      done.status = StatusOf(reason);
      done.message = "the interpreter did not stop by itself and was stopped where it stood";
    } else if (instance_->memory_refused()) {
      done.status = kOutOfMemory;
      done.message = "memory is limited to " + std::to_string(MemoryLimit()) + " bytes";
    } else {
      done.status = kCrashed;
      done.message = ended.trap ? std::string("the interpreter ended with a trap: ") +
                                      engine::TrapName(ended.trap.kind)
                                : "the interpreter reported that its state is lost";
    }
  }

  void KeepState(const protocol::Run& run, protocol::Done& done) {
    const Result<void> reported = workspace_->Report();
    if (!reported.ok()) {
      // Files and memory are saved together or not at all: the next run brings both.
      done.snapshot_error = "the run's files cannot be stored: " + reported.error().message;
      return;
    }
    if (run.keep == kKeepAll) snapshotter_->Take(run.compact != 0, files_, done);
  }

  std::uint64_t MemoryLimit() const { return instance_->memory_limit(); }
  std::uint64_t ResidentBytes() const {
    return kProcessBytes + snapshotter_->live_pages() * snapshot::kPageBytes;
  }
  static std::uint64_t PeakBytes() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
  }

  LoadedEngine& engine_;
  ServerLink link_;
  OutputBuffer output_;
  RunControl control_;
  RemoteFiles files_;
  std::unique_ptr<Instance> instance_;
  std::unique_ptr<Snapshotter> snapshotter_;
  std::unique_ptr<WorkspaceSync> workspace_;
  std::chrono::milliseconds grace_{};
  bool reseed_ = false;
  bool ran_before_ = false;
};

}  // namespace

void RunWorker(LoadedEngine& engine, const wasi::Limits& limits, FileDescriptor channel) {
  // Never destroyed: the process ends by _exit, with its control thread still running.
  auto* process = new WorkerProcess(engine, std::move(channel));
  const Result<void> prepared = process->Prepare(limits);
  if (!prepared.ok()) process->Refuse(prepared.error());
  process->Serve();
}

}  // namespace dormouse::worker
