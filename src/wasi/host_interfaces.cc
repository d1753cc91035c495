// SPDX-License-Identifier: Apache-2.0
#include "wasi/host_interfaces.h"

#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

namespace dormouse::wasi {
namespace {

// Below this, a copy is cheaper than a mapping, of which a process may only have so many.
constexpr std::uint64_t kCopyBytes = 32768;

class Mapping {
 public:
  Mapping(void* address, std::size_t size) : address_(address), size_(size) {}
  ~Mapping() { ::munmap(address_, size_); }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  std::span<const std::byte> bytes() const {
    return {static_cast<const std::byte*>(address_), size_};
  }

 private:
  void* address_;
  std::size_t size_;
};

class SystemTimeSource final : public TimeSource {
 public:
  std::int64_t RealtimeNs() override { return Get(CLOCK_REALTIME); }
  std::int64_t MonotonicNs() override { return Get(CLOCK_MONOTONIC); }
  std::int64_t ThreadCpuNs() override { return Get(CLOCK_THREAD_CPUTIME_ID); }

 private:
  static std::int64_t Get(clockid_t clock) {
    timespec time{};
    ::clock_gettime(clock, &time);
    return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
  }
};

class SystemEntropySource final : public EntropySource {
 public:
  bool Fill(std::span<std::byte> bytes) override {
    while (!bytes.empty()) {
      // Up to 256 bytes are never cut short by a signal.
      const std::size_t want = std::min<std::size_t>(bytes.size(), std::size_t{1} << 20);
      const ssize_t got = ::getrandom(bytes.data(), want, 0);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return false;
      bytes = bytes.subspan(static_cast<std::size_t>(got));
    }
    return true;
  }
};

}  // namespace

SharedBytes SharedBytes::FromString(std::string text) {
  auto owner = std::make_shared<const std::string>(std::move(text));
  const std::span<const std::byte> bytes = std::as_bytes(std::span(owner->data(), owner->size()));
  return SharedBytes(std::move(owner), bytes);
}

Result<SharedBytes> SharedBytes::FromFile(const FileDescriptor& file, std::uint64_t size) {
  if (size == 0) return SharedBytes();
  // Not fstat: glibc makes it newfstatat, which takes paths and so is not for a confined process.
  const off_t length = ::lseek(file.get(), 0, SEEK_END);
  if (length < 0) return SystemError("lseek", errno);
  // A mapping past the end of the file would fault when read.
  if (static_cast<std::uint64_t>(length) < size) {
    return Error(ErrorCode::kCorrupt, "a content is shorter than its size says");
  }
  void* const address =
      ::mmap(nullptr, static_cast<std::size_t>(size), PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (address == MAP_FAILED) return SystemError("mmap of a content", errno);
  auto mapping = std::make_shared<const Mapping>(address, static_cast<std::size_t>(size));
  const std::span<const std::byte> bytes = mapping->bytes();
  if (size <= kCopyBytes) {
    return FromString(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  }
  return SharedBytes(std::move(mapping), bytes);
}

TimeSource& SystemTime() {
  static SystemTimeSource source;
  return source;
}

EntropySource& SystemEntropy() {
  static SystemEntropySource source;
  return source;
}

}  // namespace dormouse::wasi
