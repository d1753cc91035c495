// SPDX-License-Identifier: Apache-2.0
// dormouse-aot: a wasm module in, the C sources of an engine out. See DESIGN.md.
#include <getopt.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aot/engine_writer.h"
#include "aot/module_reader.h"

namespace {

using dormouse::Error;
using dormouse::ErrorCode;
using dormouse::Result;
using dormouse::aot::Metering;

struct Arguments {
  std::string module;
  std::string output;
  std::string adapter;
  dormouse::aot::Options options;
};

Result<std::string> ReadFile(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return Error(ErrorCode::kNotFound, "cannot read " + path);
  return std::string(std::istreambuf_iterator<char>(stream), {});
}

// Leaves a file alone that has this content already, so that compilers with a cache profit.
Result<void> WriteFile(const std::filesystem::path& path, const std::string& content) {
  if (std::filesystem::exists(path)) {
    const auto old = ReadFile(path);
    if (old.ok() && *old == content) return {};
  }
  std::ofstream stream(path, std::ios::binary | std::ios::trunc);
  stream.write(content.data(), static_cast<std::streamsize>(content.size()));
  stream.close();
  if (!stream) return Error(ErrorCode::kInternal, "cannot write " + path.string());
  return {};
}

// Function files of an earlier run with more of them would be compiled along.
void RemoveStaleSources(const std::filesystem::path& directory,
                        const std::vector<dormouse::aot::OutputFile>& files) {
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    const std::string name = entry.path().filename().string();
    const bool ours = name.starts_with("engine_") && name.ends_with(".c");
    const auto same = [&](const auto& file) { return file.name == name; };
    if (ours && std::none_of(files.begin(), files.end(), same)) {
      std::filesystem::remove(entry.path());
    }
  }
}

Result<void> Run(const Arguments& arguments) {
  const auto start = std::chrono::steady_clock::now();
  DORMOUSE_ASSIGN(const std::string bytes, ReadFile(arguments.module));
  DORMOUSE_ASSIGN(const auto module, dormouse::aot::ReadModule(arguments.module, bytes));
  dormouse::aot::Options options = arguments.options;
  if (!arguments.adapter.empty()) {
    DORMOUSE_ASSIGN(options.adapter, ReadFile(arguments.adapter));
  }
  DORMOUSE_ASSIGN(const auto files, dormouse::aot::WriteEngine(*module, options));
  const std::filesystem::path directory(arguments.output);
  std::filesystem::create_directories(directory);
  RemoveStaleSources(directory, files);
  std::size_t total = 0;
  for (const auto& file : files) {
    DORMOUSE_TRY(WriteFile(directory / file.name, file.content));
    if (file.name.ends_with(".c")) total += file.content.size();
  }
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  std::fprintf(stderr, "dormouse-aot: %zu functions, %.1f MB of C, %.1f s\n", module->funcs.size(),
               static_cast<double>(total) / 1e6, elapsed.count());
  return {};
}

constexpr const char* kUsage =
    "usage: dormouse-aot MODULE.wasm --output DIRECTORY [OPTION…]\n"
    "\n"
    "Translates a WebAssembly module to the C sources of a Dormouse engine.\n"
    "\n"
    "  --output DIRECTORY     where to write to\n"
    "  --files N              how many C files to spread functions over, 1 to 999 (default 32)\n"
    "  --base ADDRESS         the address of linear memory, a multiple of 65536 (default 0x40000000)\n"
    "  --metering none|exact  exact: count fuel down in the code (default none)\n"
    "  --adapter FILE.c       C between the module's exports and the host's, see src/aot/adapter.h\n"
    "  --own-libc             keep the module's memcpy and the like\n";

// All of `text` as a number, or nothing.
std::optional<std::uint64_t> ParseNumber(const char* text) {
  char* end = nullptr;
  errno = 0;
  const std::uint64_t number = std::strtoull(text, &end, 0);
  if (errno != 0 || end == text || *end != '\0' || *text == '-') return std::nullopt;
  return number;
}

Result<void> SetOption(char option, const char* value, Arguments& arguments) {
  const auto invalid = [](const char* what) { return Error(ErrorCode::kInvalidRequest, what); };
  const std::optional<std::uint64_t> number = value ? ParseNumber(value) : std::nullopt;
  switch (option) {
    case 'o':
      arguments.output = value;
      return {};
    case 'f':
      if (!number || *number < 1 || *number > 999) return invalid("--files must be from 1 to 999");
      arguments.options.files = static_cast<decltype(arguments.options.files)>(*number);
      return {};
    case 'b':
      if (!number || *number == 0 || *number % 65536 != 0) return invalid("--base must be a multiple of 65536");
      arguments.options.memory_base = *number;
      return {};
    case 'm':
      if (std::string_view(value) != "none" && std::string_view(value) != "exact") {
        return invalid("--metering must be none or exact");
      }
      arguments.options.metering =
          std::string_view(value) == "exact" ? Metering::kExact : Metering::kNone;
      return {};
    case 'a':
      arguments.adapter = value;
      return {};
    case 'l':
      arguments.options.native_libc = false;
      return {};
  }
  return invalid("unknown option");
}

// getopt reports unknown options and missing values by itself.
Result<Arguments> Parse(int argc, char** argv) {
  constexpr option kOptions[] = {{"output", required_argument, nullptr, 'o'},
                                 {"files", required_argument, nullptr, 'f'},
                                 {"base", required_argument, nullptr, 'b'},
                                 {"metering", required_argument, nullptr, 'm'},
                                 {"adapter", required_argument, nullptr, 'a'},
                                 {"own-libc", no_argument, nullptr, 'l'},
                                 {nullptr, 0, nullptr, 0}};
  Arguments arguments;
  for (int found; (found = ::getopt_long(argc, argv, "", kOptions, nullptr)) != -1;) {
    DORMOUSE_TRY(SetOption(static_cast<char>(found), optarg, arguments));
  }
  if (optind + 1 != argc) return Error(ErrorCode::kInvalidRequest, "name one module");
  if (arguments.output.empty()) return Error(ErrorCode::kInvalidRequest, "--output is missing");
  arguments.module = argv[optind];
  return arguments;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--help") {
    std::fputs(kUsage, stdout);
    return 0;
  }
  const auto arguments = Parse(argc, argv);
  if (!arguments.ok()) {
    std::fprintf(stderr, "dormouse-aot: %s\n%s", arguments.error().message.c_str(), kUsage);
    return 2;
  }
  const auto result = Run(*arguments);
  if (!result.ok()) {
    std::fprintf(stderr, "dormouse-aot: %s\n", result.error().message.c_str());
    return 1;
  }
  return 0;
}
