// SPDX-License-Identifier: Apache-2.0
// What the WASI host needs from outside: file contents, a place for output, clocks, entropy.
//
// Threads: all are called on the guest's thread only. Owner: the caller of Wasi; they outlive it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "common/file_descriptor.h"
#include "common/result.h"
#include "common/sha256.h"
#include "wasi/errno.h"

namespace dormouse::wasi {

// Immutable bytes and what keeps them alive: a mapping, a string, a slice of either.
class SharedBytes {
 public:
  SharedBytes() = default;
  SharedBytes(std::shared_ptr<const void> owner, std::span<const std::byte> bytes)
      : owner_(std::move(owner)), bytes_(bytes) {}
  static SharedBytes FromString(std::string text);
  // Maps `size` bytes of `file` read-only; small contents are copied and the mapping given back.
  // Fails unless the file has at least that many bytes. The file must never shrink afterwards.
  static Result<SharedBytes> FromFile(const FileDescriptor& file, std::uint64_t size);

  std::span<const std::byte> bytes() const { return bytes_; }
  std::string_view view() const {
    return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()};
  }
  std::uint64_t size() const { return bytes_.size(); }
  // Requires: offset + length <= size().
  SharedBytes Slice(std::uint64_t offset, std::uint64_t length) const {
    return SharedBytes(owner_, bytes_.subspan(offset, length));
  }

 private:
  std::shared_ptr<const void> owner_;
  std::span<const std::byte> bytes_;
};

// Where contents named in a manifest come from.
class ContentSource {
 public:
  virtual ~ContentSource() = default;
  // Called on the first read of a file. The result must have exactly `size` bytes. An error makes
  // that read fail with EIO; the next read asks again.
  virtual Result<SharedBytes> Load(const Sha256Digest& digest, std::uint64_t size) = 0;
};

enum class OutputStream : std::uint8_t { kStdout = 1, kStderr = 2 };

// Takes what the guest writes, in write order over both streams. May block (back pressure).
class OutputSink {
 public:
  virtual ~OutputSink() = default;
  // kSuccess: all bytes were taken. Anything else is what the guest's write answers.
  virtual Errno Write(OutputStream stream, std::span<const std::byte> bytes) = 0;
};

// Nanoseconds. `thread_cpu_ns` is asked on the guest's thread.
class TimeSource {
 public:
  virtual ~TimeSource() = default;
  virtual std::int64_t RealtimeNs() = 0;  // since 1970
  virtual std::int64_t MonotonicNs() = 0;
  virtual std::int64_t ThreadCpuNs() = 0;
};
// clock_gettime. Stateless.
TimeSource& SystemTime();

class EntropySource {
 public:
  virtual ~EntropySource() = default;
  // False only when there is no entropy to be had.
  virtual bool Fill(std::span<std::byte> bytes) = 0;
};
// getrandom. Stateless.
EntropySource& SystemEntropy();

}  // namespace dormouse::wasi
