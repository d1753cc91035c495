// SPDX-License-Identifier: Apache-2.0
// Worker: the server's end of one confined process that holds one resident context.
//
// A worker is made by WorkerHost::Start, runs cells one after the other, and dies; it is never given another context.
// Every byte that arrives from it is hostile: it is bounded and decoded before anything here acts on it, and a
// violation of the protocol kills the worker and ends the run as `crashed`.
//
// Threads: calls on one Worker must not overlap, except Interrupt() and Kill(), which any thread may call at any time.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/file_descriptor.h"
#include "common/result.h"
#include "common/sha256.h"

namespace dormouse::scheduler {

// How a run ended. Every run ends in exactly one of these.
enum class RunStatus : std::uint8_t {
  kOk = 0,
  kError = 1,           // user code raised; the state is kept
  kTimeout = 2,         // stopped at its deadline
  kFuelExhausted = 3,   // stopped at its CPU budget
  kInterrupted = 4,     // stopped on request
  kOutOfMemory = 5,     // the engine could not go on within its memory limit
  kCrashed = 6,         // a trap, or the worker died
  kExited = 7,          // user code asked to end the run
};

// What became of the context's memory and files.
enum class StateOutcome : std::uint8_t {
  kKept = 0,        // everything up to the end of the run
  kRolledBack = 1,  // as before this run
};

enum class StopReason : std::uint8_t { kInterrupt = 1, kTimeout = 2, kFuel = 3 };

// A piece of a snapshot. `bytes` holds small segments; larger ones are in `file`.
struct Segment {
  std::string bytes;
  FileDescriptor file;
  std::uint64_t size_bytes = 0;
  std::uint64_t checksum = 0;  // XXH3-64 of the stored bytes
};

enum class FileKind : std::uint8_t { kFile = 0, kDirectory = 1, kSymlink = 2 };

// One path of the workspace tree, relative to /workspace, no leading slash.
struct TreeEntry {
  std::string path;
  FileKind kind = FileKind::kFile;
  Sha256Digest digest;          // files
  std::uint64_t size_bytes = 0; // files
  std::uint32_t mode = 0644;    // permission bits
  std::int64_t mtime_ns = 0;
  std::string target;           // symlinks
};

// What the worker's mirror must become. A delta is relative to the manifest that this worker got last.
struct Manifest {
  bool full = true;
  std::vector<TreeEntry> upserts;
  std::vector<std::string> deletions;  // children before parents
};

// A change the guest made. `entry.digest` is only meaningful when `content` is kUnchanged or kFile names none.
struct FileChange {
  enum class Content : std::uint8_t {
    kNone = 0,       // directories, symlinks
    kUnchanged = 1,  // content of `entry.digest`, which the tree already had (renames, mode, mtime)
    kBytes = 2,      // in `bytes`
    kFile = 3,       // in `file`, made by RunHost::CreateFile
  };
  TreeEntry entry;
  Content content = Content::kNone;
  std::string bytes;
  FileDescriptor file;
};

struct Usage {
  std::uint64_t fuel_consumed = 0;  // microseconds of guest CPU time
  std::uint64_t fuel_limit = 0;
  double cpu_ms = 0;
  double wall_ms = 0;
  std::uint64_t memory_bytes = 0;       // linear memory now
  std::uint64_t peak_memory_bytes = 0;  // resident memory of the worker at its highest
};

// The snapshot taken at the end of a run. Absent when the state was rolled back or the snapshot failed.
struct SnapshotDelta {
  Segment segment;
  bool base = false;            // replaces all earlier segments (compaction); else it goes on top of them
  std::uint64_t pages = 0;      // in this segment
  std::uint64_t live_pages = 0; // of the whole context over its boot image
};

struct RunOutcome {
  RunStatus status = RunStatus::kCrashed;
  StateOutcome state = StateOutcome::kRolledBack;
  std::optional<std::int32_t> exit_code;
  std::string message;  // for people: which limit, which trap; empty when ok
  Usage usage;
  std::optional<SnapshotDelta> snapshot;
  std::string snapshot_error;  // why there is none although the state was kept
  std::uint32_t snapshot_us = 0;
  std::vector<FileChange> changes;
  std::vector<std::string> deletions;
};

// What is wanted of a run besides its output.
enum class Keep : std::uint8_t {
  kAll = 0,      // changed files and a snapshot
  kFiles = 1,    // changed files
  kNothing = 2,
};

struct RunSpec {
  std::string request_json;  // docs/engine-abi.md §2
  std::string stdin_bytes;
  std::chrono::milliseconds timeout{60000};
  std::uint64_t fuel_us = 0;       // 0: no limit
  std::uint64_t memory_bytes = 0;  // linear memory limit for this run
  Manifest manifest;
  bool compact = false;  // write a base segment
  // Whether the file changes of this worker's previous run were committed. If not, they are reported again.
  bool previous_committed = true;
  Keep keep = Keep::kAll;
};

// What a run needs from the server while it goes on, and where its events go. Called on the worker's executor, one
// call at a time, in the order in which the guest made the events. Must not block for long.
class RunHost {
 public:
  virtual ~RunHost() = default;
  virtual void OnStdout(std::string_view bytes) = 0;  // any bytes, cut anywhere
  virtual void OnStderr(std::string_view bytes) = 0;
  virtual void OnOutput(std::string_view json) = 0;  // docs/engine-abi.md §3, kinds 1 to 3, not yet validated
  virtual void OnError(std::string_view json) = 0;
  virtual void OnExit(std::string_view json) = 0;
  // A readable descriptor of a content that this run's manifest (or an earlier one of this worker) names.
  virtual Result<FileDescriptor> OpenContent(const Sha256Digest& digest) = 0;
  // A new empty file, readable and writable, for a segment or a content that is too large for a message.
  virtual Result<FileDescriptor> CreateFile() = 0;
};

class Worker {
 public:
  virtual ~Worker() = default;  // kills the process if it still runs

  // Runs one cell. An Error means that the run did not start (the worker is dead or the request is malformed); what
  // happens after the start is always an outcome. After kRolledBack, or when alive() is false, destroy the worker.
  virtual boost::asio::awaitable<Result<RunOutcome>> Run(RunSpec spec, RunHost& host) = 0;

  // Asks the guest to stop; soft first, hard after the grace time. No effect when nothing runs.
  virtual void Interrupt(StopReason reason) = 0;
  // SIGKILL. A run in progress ends as crashed, rolled back.
  virtual void Kill() = 0;
  virtual bool alive() const = 0;
  virtual int pid() const = 0;
  // Resident memory that is this worker's own, as of the last run.
  virtual std::uint64_t resident_bytes() const = 0;
  virtual std::uint32_t resume_us() const = 0;
};

}  // namespace dormouse::scheduler
