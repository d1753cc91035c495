// SPDX-License-Identifier: Apache-2.0
// The messages between server and worker, and server and zygote: plain structs with Encode and a bounded Decode.
//
// Life of a worker: the server sends Start, the worker answers Started. Then, for each run: Manifest (one or more
// parts), Run; while it goes on the worker sends Output, Emit, NeedContent and NeedFile, the server Interrupt, Content and
// File; at the end come Changes (as many as needed) and one Done.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "common/sha256.h"

namespace dormouse::protocol {

enum class MessageType : std::uint16_t {
  // server → worker
  kStart = 1,
  kManifest = 2,
  kRun = 3,
  kInterrupt = 4,
  kContent = 5,
  kFile = 6,
  // worker → server
  kStarted = 32,
  kOutput = 33,
  kEmit = 34,
  kNeedContent = 35,
  kNeedFile = 36,
  kChanges = 37,
  kDone = 38,
  // server → zygote and back
  kFork = 64,
  kForked = 65,
  kSetEngines = 66,
  kEnginesSet = 67,
};

// Segments larger than this are written to a file instead of riding in Done; likewise changed contents.
inline constexpr std::uint64_t kInlineSegmentBytes = 64u << 10;
inline constexpr std::uint64_t kInlineContentBytes = 64u << 10;
// Size of one Manifest or Changes part, about.
inline constexpr std::size_t kPartBytes = 1u << 20;
// A rich output or error of one emit call.
inline constexpr std::uint32_t kMaxEmitBytes = 16u << 20;

struct SegmentSource {
  std::string bytes;             // empty: the next descriptor of the frame
  std::uint64_t size_bytes = 0;
  std::uint64_t checksum = 0;
};

struct Start {
  std::uint64_t memory_bytes = 0;  // limit of linear memory
  std::uint32_t stop_grace_ms = 0;
  std::uint8_t reseed = 0;
  std::vector<SegmentSource> segments;  // oldest first

  std::string Encode() const;
  static Result<Start> Decode(std::string_view payload);
};

struct Started {
  std::uint8_t ok = 0;
  std::uint16_t error_code = 0;  // an ErrorCode
  std::string message;
  std::uint32_t resume_us = 0;
  std::uint64_t resident_bytes = 0;

  std::string Encode() const;
  static Result<Started> Decode(std::string_view payload);
};

struct Entry {
  std::string path;
  std::uint8_t kind = 0;  // scheduler::FileKind
  Sha256Digest digest;
  std::uint64_t size_bytes = 0;
  std::uint32_t mode = 0;
  std::int64_t mtime_ns = 0;
  std::string target;
};

struct Manifest {
  std::uint8_t first = 0;  // first part of a full manifest: forget the mirror
  std::uint8_t full = 0;
  std::vector<Entry> upserts;
  std::vector<std::string> deletions;

  std::string Encode() const;
  static Result<Manifest> Decode(std::string_view payload);
};

struct Run {
  std::string request_json;
  std::string stdin_bytes;
  std::uint64_t timeout_us = 0;
  std::uint64_t fuel_us = 0;
  std::uint64_t memory_bytes = 0;
  std::uint8_t compact = 0;
  std::uint8_t previous_committed = 1;  // the file changes of the worker's previous run are in the tree
  std::uint8_t keep = 0;                // scheduler::Keep

  std::string Encode() const;
  static Result<Run> Decode(std::string_view payload);
};

struct Interrupt {
  std::uint8_t reason = 0;  // scheduler::StopReason

  std::string Encode() const;
  static Result<Interrupt> Decode(std::string_view payload);
};

// Answers NeedContent and NeedFile; on success the frame carries one descriptor.
struct DescriptorReply {
  std::uint8_t ok = 0;

  std::string Encode() const;
  static Result<DescriptorReply> Decode(std::string_view payload);
};

struct Output {
  struct Piece {
    std::uint8_t stream = 1;  // 1 or 2
    std::string_view bytes;   // into the payload
  };
  std::vector<Piece> pieces;

  std::string Encode() const;
  static Result<Output> Decode(std::string_view payload);
};

struct Emit {
  std::uint8_t kind = 0;  // docs/engine-abi.md §3
  std::string json;

  std::string Encode() const;
  static Result<Emit> Decode(std::string_view payload);
};

struct NeedContent {
  Sha256Digest digest;

  std::string Encode() const;
  static Result<NeedContent> Decode(std::string_view payload);
};

struct Change {
  Entry entry;
  std::uint8_t content = 0;  // scheduler::FileChange::Content
  std::string bytes;
  std::uint32_t file = 0;  // which of the run's NeedFile answers, from 0
};

struct Changes {
  std::vector<Change> changes;
  std::vector<std::string> deletions;

  std::string Encode() const;
  static Result<Changes> Decode(std::string_view payload);
};

struct Done {
  std::uint8_t status = 0;  // scheduler::RunStatus
  std::uint8_t state = 0;   // scheduler::StateOutcome
  std::uint8_t has_exit_code = 0;
  std::int64_t exit_code = 0;
  std::string message;
  std::uint64_t fuel_consumed = 0;
  std::uint64_t cpu_us = 0;
  std::uint64_t wall_us = 0;
  std::uint64_t memory_bytes = 0;
  std::uint64_t peak_memory_bytes = 0;
  std::uint64_t resident_bytes = 0;

  std::uint8_t has_snapshot = 0;
  std::uint8_t snapshot_base = 0;
  std::uint8_t snapshot_in_file = 0;
  std::uint32_t snapshot_file = 0;
  std::string snapshot_bytes;
  std::uint64_t snapshot_size = 0;
  std::uint64_t snapshot_checksum = 0;
  std::uint64_t snapshot_pages = 0;
  std::uint64_t live_pages = 0;
  std::string snapshot_error;
  std::uint32_t snapshot_us = 0;

  std::string Encode() const;
  static Result<Done> Decode(std::string_view payload);
};

struct Fork {
  std::string build_id;

  std::string Encode() const;
  static Result<Fork> Decode(std::string_view payload);
};

// All engines that the zygote shall have: it loads those it lacks and forgets the others.
struct SetEngines {
  struct Engine {
    std::string build_id;
    std::string directory;
    std::uint32_t spares = 0;
  };
  std::vector<Engine> engines;

  std::string Encode() const;
  static Result<SetEngines> Decode(std::string_view payload);
};

// Without `ok` nothing was changed.
struct EnginesSet {
  std::uint8_t ok = 0;
  std::string message;

  std::string Encode() const;
  static Result<EnginesSet> Decode(std::string_view payload);
};

// On success the frame carries the worker's channel and a pidfd of it.
struct Forked {
  std::uint8_t ok = 0;
  std::int64_t pid = 0;
  std::string message;

  std::string Encode() const;
  static Result<Forked> Decode(std::string_view payload);
};

}  // namespace dormouse::protocol
