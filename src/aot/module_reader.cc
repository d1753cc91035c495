// SPDX-License-Identifier: Apache-2.0
#include "aot/module_reader.h"

#include <utility>
#include <vector>

#include "wabt/binary-reader-ir.h"
#include "wabt/binary-reader.h"
#include "wabt/binary-writer.h"
#include "wabt/error-formatter.h"
#include "wabt/feature.h"
#include "wabt/stream.h"
#include "wabt/validator.h"
#include "wabt/wast-lexer.h"
#include "wabt/wast-parser.h"

namespace dormouse::aot {
namespace {

// Everything that compilers emit, also what the emitter refuses, so that its message can name the
// feature in place of "unexpected opcode".
wabt::Features ReadableFeatures() {
  wabt::Features features;
  features.enable_exceptions();
  features.enable_threads();
  features.enable_tail_call();
  features.enable_memory64();
  features.enable_multi_memory();
  features.enable_extended_const();
  features.enable_relaxed_simd();
  return features;
}

Error ModuleError(const std::string& name, const wabt::Errors& errors,
                  wabt::Location::Type location = wabt::Location::Type::Binary) {
  std::string text = wabt::FormatErrorsToString(errors, location);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return Error(ErrorCode::kInvalidRequest, name + " is not a valid module: " + text);
}

// The parser's own module has names where the emitter wants indexes, hence the detour.
Result<std::vector<std::uint8_t>> BinaryOfText(const std::string& name, std::string_view text) {
  wabt::Errors errors;
  const auto lexer = wabt::WastLexer::CreateBufferLexer(name, text.data(), text.size(), &errors);
  wabt::WastParseOptions parse_options(ReadableFeatures());
  std::unique_ptr<wabt::Module> module;
  if (wabt::Failed(wabt::ParseWatModule(lexer.get(), &module, &errors, &parse_options))) {
    return ModuleError(name, errors, wabt::Location::Type::Text);
  }
  wabt::MemoryStream stream;
  const wabt::WriteBinaryOptions write_options(ReadableFeatures(), /*canonicalize_lebs=*/true,
                                               /*relocatable=*/false, /*write_debug_names=*/true);
  if (wabt::Failed(wabt::WriteBinaryModule(&stream, module.get(), write_options))) {
    return Error(ErrorCode::kInvalidRequest, name + " cannot be encoded");
  }
  return stream.ReleaseOutputBuffer()->data;
}

}  // namespace

Result<std::unique_ptr<wabt::Module>> ReadModule(const std::string& name, std::string_view bytes) {
  if (name.ends_with(".wat")) {
    DORMOUSE_ASSIGN(const auto binary, BinaryOfText(name, bytes));
    return ReadModule(name + ".wasm",
                      {reinterpret_cast<const char*>(binary.data()), binary.size()});
  }
  wabt::Errors errors;
  auto module = std::make_unique<wabt::Module>();
  // A damaged name section costs the names only.
  const wabt::ReadBinaryOptions options(ReadableFeatures(), nullptr, /*read_debug_names=*/true,
                                        /*stop_on_first_error=*/true,
                                        /*fail_on_custom_section_error=*/false);
  if (wabt::Failed(wabt::ReadBinaryIr(name.c_str(), bytes.data(), bytes.size(), options, &errors,
                                      module.get()))) {
    return ModuleError(name, errors);
  }
  if (wabt::Failed(
          wabt::ValidateModule(module.get(), &errors, wabt::ValidateOptions(ReadableFeatures())))) {
    return ModuleError(name, errors);
  }
  return module;
}

}  // namespace dormouse::aot
