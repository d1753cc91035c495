// SPDX-License-Identifier: Apache-2.0
#include "scheduler/process_worker.h"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace dormouse::scheduler {

namespace asio = boost::asio;
using protocol::MessageType;

namespace {

constexpr std::chrono::seconds kStartTimeout{60};
// What a worker may take after a run's deadline to stop, snapshot and report, before it is killed.
constexpr std::chrono::seconds kReportTimeout{60};
// A worker that ends so soon, and without a word, most likely was killed before the run reached it: nothing of the run has
// been seen, so it may begin again in another worker.
constexpr std::chrono::milliseconds kDeadOnArrival{20};
// Of one run; a worker that sends more is broken.
constexpr std::size_t kMaxChanges = 1'000'000;
constexpr std::size_t kMaxFiles = 100'000;

protocol::Entry ToWire(TreeEntry entry) {
  return {.path = std::move(entry.path),
          .kind = static_cast<std::uint8_t>(entry.kind),
          .digest = entry.digest,
          .size_bytes = entry.size_bytes,
          .mode = entry.mode,
          .mtime_ns = entry.mtime_ns,
          .target = std::move(entry.target)};
}

Result<TreeEntry> FromWire(protocol::Entry entry) {
  if (entry.kind > static_cast<std::uint8_t>(FileKind::kSymlink)) {
    return Error(ErrorCode::kInternal, "a change of an unknown kind");
  }
  return TreeEntry{.path = std::move(entry.path),
                   .kind = static_cast<FileKind>(entry.kind),
                   .digest = entry.digest,
                   .size_bytes = entry.size_bytes,
                   .mode = entry.mode & 07777,
                   .mtime_ns = entry.mtime_ns,
                   .target = std::move(entry.target)};
}

// Collects what one run sends until Done.
class RunCollector {
 public:
  RunCollector(Channel& channel, RunHost& host) : channel_(channel), host_(host) {}

  // Nothing until Done was seen.
  Result<std::optional<RunOutcome>> Take(protocol::Frame frame) {
    switch (static_cast<MessageType>(frame.type)) {
      case MessageType::kOutput:
        return None(TakeOutput(frame.payload));
      case MessageType::kEmit:
        return None(TakeEmit(frame.payload));
      case MessageType::kNeedContent:
        return None(TakeNeedContent(frame.payload));
      case MessageType::kNeedFile:
        return None(TakeNeedFile());
      case MessageType::kChanges:
        return None(TakeChanges(frame.payload));
      case MessageType::kDone:
        return TakeDone(frame.payload);
      default:
        return Error(ErrorCode::kInternal, "an unexpected message " + std::to_string(frame.type));
    }
  }
  std::uint64_t resident_bytes() const { return resident_bytes_; }

 private:
  static Result<std::optional<RunOutcome>> None(Result<void> result) {
    DORMOUSE_TRY(std::move(result));
    return std::optional<RunOutcome>();
  }

  Result<void> TakeOutput(std::string_view payload) {
    DORMOUSE_ASSIGN(const protocol::Output output, protocol::Output::Decode(payload));
    for (const protocol::Output::Piece& piece : output.pieces) {
      if (piece.stream == 2) {
        host_.OnStderr(piece.bytes);
      } else {
        host_.OnStdout(piece.bytes);
      }
    }
    return {};
  }

  Result<void> TakeEmit(std::string_view payload) {
    DORMOUSE_ASSIGN(const protocol::Emit emit, protocol::Emit::Decode(payload));
    if (emit.kind == 1) {
      host_.OnOutput(emit.json);
    } else if (emit.kind == 2) {
      host_.OnError(emit.json);
    } else if (emit.kind == 3) {
      host_.OnExit(emit.json);
    } else {
      return Error(ErrorCode::kInternal, "an emit of an unknown kind");
    }
    return {};
  }

  Result<void> TakeNeedContent(std::string_view payload) {
    DORMOUSE_ASSIGN(const protocol::NeedContent need, protocol::NeedContent::Decode(payload));
    Reply(MessageType::kContent, host_.OpenContent(need.digest));
    return {};
  }

  Result<void> TakeNeedFile() {
    if (files_.size() >= kMaxFiles) return Error(ErrorCode::kInternal, "too many files asked for");
    Result<FileDescriptor> file = host_.CreateFile();
    if (file.ok()) {
      FileDescriptor copy(::dup(file->get()));
      if (copy.valid()) {
        files_.push_back(std::move(*file));
        file = std::move(copy);
      } else {
        file = SystemError("dup", errno);
      }
    }
    Reply(MessageType::kFile, std::move(file));
    return {};
  }

  void Reply(MessageType type, Result<FileDescriptor> file) {
    protocol::DescriptorReply reply;
    std::vector<FileDescriptor> descriptors;
    if (file.ok()) {
      reply.ok = 1;
      descriptors.push_back(std::move(*file));
    }
    channel_.Send(type, reply.Encode(), std::move(descriptors));
  }

  Result<FileDescriptor> ClaimFile(std::uint32_t index) {
    if (index >= files_.size() || !files_[index].valid()) {
      return Error(ErrorCode::kInternal, "a file that was not given or is claimed twice");
    }
    return std::move(files_[index]);
  }

  Result<void> TakeChanges(std::string_view payload) {
    DORMOUSE_ASSIGN(protocol::Changes changes, protocol::Changes::Decode(payload));
    if (outcome_.changes.size() + changes.changes.size() > kMaxChanges ||
        outcome_.deletions.size() + changes.deletions.size() > kMaxChanges) {
      return Error(ErrorCode::kInternal, "too many file changes in one run");
    }
    for (protocol::Change& wire : changes.changes) {
      if (wire.content > static_cast<std::uint8_t>(FileChange::Content::kFile)) {
        return Error(ErrorCode::kInternal, "a change with an unknown content");
      }
      FileChange change;
      DORMOUSE_ASSIGN(change.entry, FromWire(std::move(wire.entry)));
      change.content = static_cast<FileChange::Content>(wire.content);
      if (change.content == FileChange::Content::kFile) {
        DORMOUSE_ASSIGN(change.file, ClaimFile(wire.file));
      }
      change.bytes = std::move(wire.bytes);
      outcome_.changes.push_back(std::move(change));
    }
    for (std::string& path : changes.deletions) outcome_.deletions.push_back(std::move(path));
    return {};
  }

  Result<std::optional<RunOutcome>> TakeDone(std::string_view payload) {
    DORMOUSE_ASSIGN(protocol::Done done, protocol::Done::Decode(payload));
    if (done.status > static_cast<std::uint8_t>(RunStatus::kExited) ||
        done.state > static_cast<std::uint8_t>(StateOutcome::kRolledBack)) {
      return Error(ErrorCode::kInternal, "a run that ended in an unknown status");
    }
    outcome_.status = static_cast<RunStatus>(done.status);
    outcome_.state = static_cast<StateOutcome>(done.state);
    if (done.has_exit_code != 0) outcome_.exit_code = static_cast<std::int32_t>(done.exit_code);
    outcome_.message = std::move(done.message);
    outcome_.usage = {.fuel_consumed = done.fuel_consumed,
                      .fuel_limit = 0,
                      .cpu_ms = static_cast<double>(done.cpu_us) / 1000,
                      .wall_ms = static_cast<double>(done.wall_us) / 1000,
                      .memory_bytes = done.memory_bytes,
                      .peak_memory_bytes = done.peak_memory_bytes};
    outcome_.snapshot_error = std::move(done.snapshot_error);
    outcome_.snapshot_us = done.snapshot_us;
    resident_bytes_ = done.resident_bytes;
    if (done.has_snapshot != 0) DORMOUSE_TRY(TakeSnapshot(done));
    if (outcome_.state == StateOutcome::kRolledBack) {
      outcome_.changes.clear();
      outcome_.deletions.clear();
      outcome_.snapshot.reset();
    }
    return std::optional<RunOutcome>(std::move(outcome_));
  }

  Result<void> TakeSnapshot(protocol::Done& done) {
    SnapshotDelta delta;
    delta.base = done.snapshot_base != 0;
    delta.pages = done.snapshot_pages;
    delta.live_pages = done.live_pages;
    delta.segment.size_bytes = done.snapshot_size;
    delta.segment.checksum = done.snapshot_checksum;
    if (done.snapshot_in_file != 0) {
      DORMOUSE_ASSIGN(delta.segment.file, ClaimFile(done.snapshot_file));
      const off_t size = ::lseek(delta.segment.file.get(), 0, SEEK_END);
      if (size < 0 || static_cast<std::uint64_t>(size) != done.snapshot_size) {
        return Error(ErrorCode::kInternal, "a segment file is not as long as reported");
      }
    } else {
      if (done.snapshot_bytes.size() != done.snapshot_size) {
        return Error(ErrorCode::kInternal, "a segment is not as long as reported");
      }
      delta.segment.bytes = std::move(done.snapshot_bytes);
    }
    outcome_.snapshot = std::move(delta);
    return {};
  }

  Channel& channel_;
  RunHost& host_;
  RunOutcome outcome_;
  std::vector<FileDescriptor> files_;
  std::uint64_t resident_bytes_ = 0;
};

// The manifest in parts of about kPartBytes.
std::vector<std::string> EncodeManifest(Manifest manifest) {
  std::vector<std::string> parts;
  protocol::Manifest part{.first = 1, .full = manifest.full ? std::uint8_t{1} : std::uint8_t{0}, .upserts = {}, .deletions = {}};
  std::size_t bytes = 0;
  const auto flush_if_full = [&](std::size_t added) {
    bytes += added;
    if (bytes < protocol::kPartBytes) return;
    parts.push_back(part.Encode());
    part = {.first = 0, .full = part.full, .upserts = {}, .deletions = {}};
    bytes = 0;
  };
  for (TreeEntry& entry : manifest.upserts) {
    const std::size_t added = entry.path.size() + entry.target.size() + 80;
    part.upserts.push_back(ToWire(std::move(entry)));
    flush_if_full(added);
  }
  for (std::string& path : manifest.deletions) {
    const std::size_t added = path.size() + 8;
    part.deletions.push_back(std::move(path));
    flush_if_full(added);
  }
  parts.push_back(part.Encode());
  return parts;
}

}  // namespace

struct ProcessWorker::State : std::enable_shared_from_this<ProcessWorker::State> {
  asio::any_io_executor strand;
  std::shared_ptr<Channel> channel;
  FileDescriptor process;
  int pid = 0;
  std::chrono::milliseconds stop_grace{};
  std::atomic<bool> alive{true};
  std::atomic<std::uint64_t> resident_bytes{0};
  std::atomic<std::uint32_t> resume_us{0};

  // SIGKILL by pidfd: never hits a process that took over the number.
  void Kill() {
    alive = false;
    ::syscall(SYS_pidfd_send_signal, process.get(), SIGKILL, nullptr, 0);
  }

  // A pidfd becomes readable when its process ends, whoever ended it.
  bool Alive() {
    pollfd ended{process.get(), POLLIN, 0};
    if (alive && ::poll(&ended, 1, 0) != 0) alive = false;
    return alive;
  }

  // Kills the worker unless it is cancelled within `limit`.
  std::shared_ptr<asio::steady_timer> KillAfter(std::chrono::nanoseconds limit) {
    auto timer = std::make_shared<asio::steady_timer>(strand, limit);
    timer->async_wait([self = shared_from_this(), timer](const boost::system::error_code& error) {
      if (!error) self->Kill();
    });
    return timer;
  }

  asio::awaitable<Result<void>> Begin(protocol::Start start, std::vector<FileDescriptor> files) {
    const auto self = shared_from_this();
    auto limit = KillAfter(kStartTimeout);
    channel->Send(MessageType::kStart, start.Encode(), std::move(files));
    Result<protocol::Frame> frame = co_await channel->Receive();
    limit->cancel();
    if (!frame.ok()) {
      Kill();
      co_return Error(ErrorCode::kUnavailable, "the worker ended before it started");
    }
    Result<protocol::Started> started = Error(ErrorCode::kInternal, "the worker did not answer Start");
    if (frame->type == static_cast<std::uint16_t>(MessageType::kStarted)) {
      started = protocol::Started::Decode(frame->payload);
    }
    if (!started.ok() || started->ok == 0) {
      Kill();
      if (!started.ok()) co_return started.error();
      co_return Error(static_cast<ErrorCode>(started->error_code), started->message);
    }
    resident_bytes = started->resident_bytes;
    resume_us = started->resume_us;
    co_return Result<void>();
  }

  asio::awaitable<Result<RunOutcome>> Run(RunSpec spec, RunHost& host) {
    const auto self = shared_from_this();
    if (!Alive()) co_return Error(ErrorCode::kUnavailable, "the worker is gone");
    for (std::string& part : EncodeManifest(std::move(spec.manifest))) {
      channel->Send(MessageType::kManifest, std::move(part));
    }
    protocol::Run run;
    run.request_json = std::move(spec.request_json);
    run.stdin_bytes = std::move(spec.stdin_bytes);
    run.timeout_us = static_cast<std::uint64_t>(std::chrono::microseconds(spec.timeout).count());
    run.fuel_us = spec.fuel_us;
    run.memory_bytes = spec.memory_bytes;
    run.compact = spec.compact ? 1 : 0;
    run.previous_committed = spec.previous_committed ? 1 : 0;
    run.keep = static_cast<std::uint8_t>(spec.keep);
    const auto start = std::chrono::steady_clock::now();
    channel->Send(MessageType::kRun, run.Encode());
    auto limit = KillAfter(spec.timeout + stop_grace + kReportTimeout);

    RunCollector collector(*channel, host);
    std::string problem;
    bool silent = true;
    while (true) {
      Result<protocol::Frame> frame = co_await channel->Receive();
      if (!frame.ok()) {
        problem = "the worker ended: " + frame.error().message;
        if (silent && std::chrono::steady_clock::now() - start < kDeadOnArrival) {
          limit->cancel();
          Kill();
          co_return Error(ErrorCode::kUnavailable, std::move(problem));
        }
        break;
      }
      silent = false;
      Result<std::optional<RunOutcome>> taken = collector.Take(std::move(*frame));
      if (!taken.ok()) {
        problem = "the worker broke the protocol: " + taken.error().message;
        break;
      }
      if (!taken->has_value()) continue;
      limit->cancel();
      RunOutcome outcome = std::move(**taken);
      outcome.usage.fuel_limit = spec.fuel_us;
      resident_bytes = collector.resident_bytes();
      if (outcome.state == StateOutcome::kRolledBack) Kill();
      co_return outcome;
    }
    limit->cancel();
    Kill();
    RunOutcome outcome;
    outcome.message = std::move(problem);
    outcome.usage.fuel_limit = spec.fuel_us;
    outcome.usage.wall_ms =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    co_return outcome;
  }
};

ProcessWorker::ProcessWorker(asio::any_io_executor strand, FileDescriptor channel, FileDescriptor process,
                             int pid, std::chrono::milliseconds stop_grace)
    : state_(std::make_shared<State>()) {
  state_->strand = strand;
  state_->channel =
      std::make_shared<Channel>(strand, std::move(channel), protocol::kMaxWorkerFrameBytes);
  state_->process = std::move(process);
  state_->pid = pid;
  state_->stop_grace = stop_grace;
}

ProcessWorker::~ProcessWorker() {
  state_->Kill();
  asio::post(state_->strand, [state = state_] { state->channel->Close(); });
}

asio::awaitable<Result<void>> ProcessWorker::Begin(protocol::Start start,
                                                   std::vector<FileDescriptor> files) {
  return asio::co_spawn(state_->strand, state_->Begin(std::move(start), std::move(files)),
                        asio::use_awaitable);
}

asio::awaitable<Result<RunOutcome>> ProcessWorker::Run(RunSpec spec, RunHost& host) {
  return asio::co_spawn(state_->strand, state_->Run(std::move(spec), host), asio::use_awaitable);
}

void ProcessWorker::Interrupt(StopReason reason) {
  asio::post(state_->strand, [state = state_, reason] {
    protocol::Interrupt interrupt{.reason = static_cast<std::uint8_t>(reason)};
    state->channel->Send(MessageType::kInterrupt, interrupt.Encode());
  });
}

void ProcessWorker::Kill() { state_->Kill(); }
bool ProcessWorker::alive() const { return state_->Alive(); }
int ProcessWorker::pid() const { return state_->pid; }
std::uint64_t ProcessWorker::resident_bytes() const { return state_->resident_bytes; }
std::uint32_t ProcessWorker::resume_us() const { return state_->resume_us; }

}  // namespace dormouse::scheduler
