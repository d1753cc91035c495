// SPDX-License-Identifier: Apache-2.0
// dormouse-aot: a wasm module in, the C sources of an engine out. See DESIGN.md.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
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
  DORMOUSE_ASSIGN(const auto files, dormouse::aot::WriteEngine(*module, arguments.options));
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

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Translates a WebAssembly module to the C sources of a Dormouse engine.");
  Arguments arguments;
  app.add_option("module", arguments.module, "the module, a .wasm file")->required();
  app.add_option("--output", arguments.output, "the directory to write to")->required();
  app.add_option("--files", arguments.options.files, "how many C files to spread functions over")
      ->check(CLI::Range(1, 999))
      ->capture_default_str();
  std::string base = "0x40000000";
  app.add_option("--base", base, "the address of linear memory")->capture_default_str();
  app.add_option("--metering", arguments.options.metering, "exact: count fuel down in the code")
      ->transform(CLI::CheckedTransformer(
          std::map<std::string, Metering>{{"none", Metering::kNone}, {"exact", Metering::kExact}}));
  bool own_libc = false;
  app.add_flag("--own-libc", own_libc, "keep the module's memcpy and the like");
  CLI11_PARSE(app, argc, argv);
  arguments.options.native_libc = !own_libc;
  char* end = nullptr;
  arguments.options.memory_base = std::strtoull(base.c_str(), &end, 0);
  if (*end != '\0' || arguments.options.memory_base % 65536 != 0 ||
      arguments.options.memory_base == 0) {
    std::fprintf(stderr, "dormouse-aot: --base must be a multiple of 65536, not %s\n",
                 base.c_str());
    return 2;
  }
  const auto result = Run(arguments);
  if (!result.ok()) {
    std::fprintf(stderr, "dormouse-aot: %s\n", result.error().message.c_str());
    return 1;
  }
  return 0;
}
