// SPDX-License-Identifier: Apache-2.0
#include "worker/engine_image.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <boost/json.hpp>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "common/sha256.h"
#include "common/write_all.h"

namespace dormouse::worker {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

// Kinds of docs/engine-abi.md §3.
constexpr std::uint32_t kErrorKind = 2;
constexpr std::uint32_t kExitKind = 3;

Result<Sha256Digest> DigestOf(const fs::path& file) {
  const FileDescriptor fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return SystemError("opening " + file.string(), errno);
  return Sha256OfFile(fd.get());
}

std::string TextOf(const json::object& object, std::string_view name) {
  const json::value* const value = object.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->as_string()) : std::string();
}

// As the interpreter itself would print it.
std::string ErrorText(std::string_view text) {
  boost::system::error_code failure;
  const json::value value = json::parse(text, failure);
  if (failure || !value.is_object()) return std::string(text) + "\n";
  const json::object& error = value.get_object();
  std::string lines;
  const json::value* const traceback = error.if_contains("traceback");
  if (traceback != nullptr && traceback->is_array()) {
    for (const json::value& line : traceback->get_array()) {
      if (line.is_string()) lines += std::string(line.as_string()) + "\n";
    }
  }
  if (lines.empty()) lines = TextOf(error, "name") + ": " + TextOf(error, "message") + "\n";
  return lines;
}

}  // namespace

wasi::Errno BootOutput::Write(wasi::OutputStream, std::span<const std::byte> bytes) {
  std::fwrite(bytes.data(), 1, bytes.size(), stderr);
  return wasi::Errno::kSuccess;
}

void BootOutput::Emit(std::uint32_t kind, std::string_view text) {
  if (kind == kExitKind) has_exit_ = true;
  if (kind != kErrorKind) return;
  has_error_ = true;
  std::fputs(ErrorText(text).c_str(), stderr);
}

Result<std::unique_ptr<Instance>> NewBootInstance(engine::EngineModule& module,
                                                  const fs::path& image,
                                                  BootInstanceOptions options, BootOutput& output) {
  const FileDescriptor fd(::open(image.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return SystemError("opening " + image.string(), errno);
  struct stat status;
  if (::fstat(fd.get(), &status) != 0) return SystemError("fstat", errno);
  InstanceOptions made;
  made.emits = &output;
  made.output = &output;
  made.rootfs = std::move(options.rootfs);
  made.memory_bytes = options.memory_bytes;
  made.monotonic_start_ns = options.monotonic_start_ns;
  return Instance::Create(module, fd.get(), static_cast<std::uint64_t>(status.st_size),
                          options.pages, std::move(made));
}

Result<void> SaveImage(Instance& instance, const fs::path& directory, EngineManifest& manifest) {
  manifest.memory_pages = instance.memory().pages();
  manifest.max_memory_pages = instance.module().abi().max_pages;
  manifest.globals = instance.module().SaveGlobals();
  const auto bytes = instance.memory().bytes();
  return WriteWholeFile(directory / "boot.img",
                        {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

Result<std::string> BuildIdOf(const fs::path& directory, bool has_rootfs) {
  std::string digests;
  for (const char* name : {"engine.so", "boot.img", "rootfs.img"}) {
    if (std::string_view(name) == "rootfs.img" && !has_rootfs) continue;
    DORMOUSE_ASSIGN(const Sha256Digest digest, DigestOf(directory / name));
    digests += digest.View();
  }
  return Sha256(digests).Hex();
}

Result<void> WriteWholeFile(const fs::path& file, std::string_view bytes) {
  FileDescriptor fd(::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!fd.valid()) return SystemError("creating " + file.string(), errno);
  return WriteAll(fd.get(), bytes, "write");
}

Result<std::string> ReadWholeFile(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return Error(ErrorCode::kNotFound, file.string() + " cannot be read");
  std::ostringstream text;
  text << stream.rdbuf();
  return std::move(text).str();
}

}  // namespace dormouse::worker
