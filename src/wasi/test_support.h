// SPDX-License-Identifier: Apache-2.0
// Fakes and a guest memory for the tests of this folder.
#pragma once

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/sha256.h"
#include "wasi/wasi.h"
#include "wasi/wasi_imports.h"
#include "wasi/wasi_support.h"

namespace dormouse::wasi {

class FakeTime final : public TimeSource {
 public:
  std::int64_t RealtimeNs() override { return realtime_ns += step_ns; }
  std::int64_t MonotonicNs() override { return monotonic_ns; }
  std::int64_t ThreadCpuNs() override { return cpu_ns; }
  std::int64_t realtime_ns = 1'700'000'000'000'000'000;
  std::int64_t monotonic_ns = 5'000'000'000;
  std::int64_t cpu_ns = 1'000'000;
  std::int64_t step_ns = 1000;  // each look at the wall clock moves it
};

class FakeContents final : public ContentSource {
 public:
  Sha256Digest Add(std::string bytes) {
    const Sha256Digest digest = Sha256(bytes);
    contents[digest] = std::move(bytes);
    return digest;
  }
  Result<SharedBytes> Load(const Sha256Digest& digest, std::uint64_t) override {
    ++loads;
    const auto found = contents.find(digest);
    if (found == contents.end()) return Error(ErrorCode::kNotFound, "no such content");
    return SharedBytes::FromString(found->second);
  }
  std::map<Sha256Digest, std::string> contents;
  int loads = 0;
};

class FakeOutput final : public OutputSink {
 public:
  Errno Write(OutputStream stream, std::span<const std::byte> bytes) override {
    if (error != Errno::kSuccess) return error;
    writes.emplace_back(stream,
                        std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
    return Errno::kSuccess;
  }
  std::string All(OutputStream stream) const {
    std::string all;
    for (const auto& [from, text] : writes) {
      if (from == stream) all += text;
    }
    return all;
  }
  std::vector<std::pair<OutputStream, std::string>> writes;
  Errno error = Errno::kSuccess;
};

inline std::span<const std::byte> Bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

// A file system alone, with shorthands that start at `/`.
struct TestTree {
  explicit TestTree(Limits limits = {}, std::optional<RootfsImage> rootfs = std::nullopt)
      : files(limits, &contents, time, SystemEntropy(), std::move(rootfs)) {}

  Inode& root() { return files.root(); }
  Errno Write(std::string_view path, std::string_view text) {
    InodePtr inode;
    const Errno error =
        files.Open(root(), path, {.write = true, .create = true, .truncate = true}, inode);
    if (error != Errno::kSuccess) return error;
    std::uint64_t put = 0;
    return files.Write(*inode, 0, Bytes(text), put);
  }
  std::string Read(std::string_view path) {
    InodePtr inode;
    if (files.Open(root(), path, {}, inode) != Errno::kSuccess) return "<cannot open>";
    return ReadAll(*inode);
  }
  std::string ReadAll(Inode& inode) {
    std::string text(inode.size(), '\0');
    std::uint64_t got = 0;
    const Errno error =
        files.Read(inode, 0, std::as_writable_bytes(std::span(text.data(), text.size())), got);
    if (error != Errno::kSuccess || got != text.size()) return "<cannot read>";
    return text;
  }
  FileStat Stat(std::string_view path) {
    FileStat stat;
    (void)files.Stat(root(), path, Follow::kNo, stat);
    return stat;
  }
  Errno Exists(std::string_view path) {
    FileStat stat;
    return files.Stat(root(), path, Follow::kNo, stat);
  }
  std::vector<std::string> List(std::string_view path) {
    InodePtr inode;
    std::vector<std::string> names;
    if (files.Lookup(root(), path, Follow::kYes, inode) != Errno::kSuccess) return names;
    for (const auto& [cookie, entry] : files.Children(*inode).entries()) {
      names.push_back(entry.name);
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  FakeTime time;
  FakeContents contents;
  FileSystem files;
};

// A whole host with one page or more of guest memory, called like a guest calls it.
class TestGuest {
 public:
  explicit TestGuest(Limits limits = {}, std::optional<RootfsImage> rootfs = std::nullopt,
                     std::uint32_t pages = 4)
      : pages_(pages), memory_(std::size_t{pages} << 16) {
    WasiOptions options{.memory = GuestMemory(memory_.data(), &pages_)};
    options.output = &output;
    options.contents = &contents;
    options.time = &time;
    options.limits = limits;
    options.rootfs = std::move(rootfs);
    options.on_exit = [](void* context, std::uint32_t code) {
      static_cast<TestGuest*>(context)->exits.push_back(code);
    };
    options.on_exit_context = this;
    wasi = std::make_unique<Wasi>(std::move(options));
  }

  // Arguments are laid out from here on; results at kResult.
  static constexpr u32 kResult = 64;
  static constexpr u32 kPath = 256;
  static constexpr u32 kPath2 = 8192;
  static constexpr u32 kVectors = 16384;
  static constexpr u32 kData = 20000;

  u32 Put(u32 address, std::string_view text) {
    std::memcpy(memory_.data() + address, text.data(), text.size());
    return static_cast<u32>(text.size());
  }
  template <typename T>
  T Get(u32 address = kResult) const {
    T value;
    std::memcpy(&value, memory_.data() + address, sizeof value);
    return value;
  }
  std::string Text(u32 address, u32 length) const {
    return {reinterpret_cast<const char*>(memory_.data()) + address, length};
  }
  u32 Vector(u32 address, u32 length) {
    const RawVector vector{address, length};
    std::memcpy(memory_.data() + kVectors, &vector, sizeof vector);
    return kVectors;
  }

  // As wasi-libc's open: rights by access, relative to `/`.
  Errno Open(std::string_view path, u32 open_flags, std::string_view access, u32 fd_flags,
             u32& fd) {
    u64 wanted = rights::kAll & ~(rights::kRead | rights::kWrite);
    if (access.find('r') != std::string_view::npos) wanted |= rights::kRead;
    if (access.find('w') != std::string_view::npos) wanted |= rights::kWrite;
    const u32 length = Put(kPath, path);
    const u32 error =
        PathOpen(*wasi, 3, 1, kPath, length, open_flags, wanted, rights::kAll, fd_flags, kResult);
    if (error == 0) fd = Get<u32>();
    return static_cast<Errno>(error);
  }
  u32 MustOpen(std::string_view path, u32 open_flags = 0, std::string_view access = "r",
               u32 fd_flags = 0) {
    u32 fd = ~0u;
    return Open(path, open_flags, access, fd_flags, fd) == Errno::kSuccess ? fd : ~0u;
  }
  Errno Write(u32 fd, std::string_view text) {
    const u32 length = Put(kData, text);
    return static_cast<Errno>(FdWrite(*wasi, fd, Vector(kData, length), 1, kResult));
  }
  std::string Read(u32 fd, u32 length) {
    if (FdRead(*wasi, fd, Vector(kData, length), 1, kResult) != 0) return "<error>";
    return Text(kData, Get<u32>());
  }
  Errno Seek(u32 fd, std::int64_t delta, u32 whence = 0) {
    return static_cast<Errno>(FdSeek(*wasi, fd, static_cast<u64>(delta), whence, kResult));
  }
  u64 Tell(u32 fd) { return FdTell(*wasi, fd, kResult) == 0 ? Get<u64>() : ~u64{0}; }
  Errno WriteFile(std::string_view path, std::string_view text) {
    u32 fd;
    Errno error = Open(path, 1 | 8, "w", 0, fd);
    if (error != Errno::kSuccess) return error;
    error = Write(fd, text);
    (void)FdClose(*wasi, fd);
    return error;
  }
  std::string ReadFile(std::string_view path) {
    u32 fd;
    if (Open(path, 0, "r", 0, fd) != Errno::kSuccess) return "<cannot open>";
    std::string all;
    for (std::string piece = Read(fd, 10000); !piece.empty(); piece = Read(fd, 10000)) {
      if (piece == "<error>") break;
      all += piece;
    }
    (void)FdClose(*wasi, fd);
    return all;
  }
  Errno Unlink(std::string_view path) {
    return static_cast<Errno>(PathUnlinkFile(*wasi, 3, kPath, Put(kPath, path)));
  }
  Errno Mkdir(std::string_view path) {
    return static_cast<Errno>(PathCreateDirectory(*wasi, 3, kPath, Put(kPath, path)));
  }
  Errno Rename(std::string_view from, std::string_view to) {
    return static_cast<Errno>(
        PathRename(*wasi, 3, kPath, Put(kPath, from), 3, kPath2, Put(kPath2, to)));
  }
  FileStat Stat(std::string_view path) {
    FileStat stat;
    (void)wasi->files().Stat(wasi->files().root(), path, Follow::kNo, stat);
    return stat;
  }

  FakeTime time;
  FakeContents contents;
  FakeOutput output;
  std::vector<u32> exits;
  std::unique_ptr<Wasi> wasi;

 private:
  std::uint32_t pages_;
  std::vector<std::byte> memory_;
};

}  // namespace dormouse::wasi
