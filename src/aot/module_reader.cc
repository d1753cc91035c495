// SPDX-License-Identifier: Apache-2.0
#include "aot/module_reader.h"

#include "wabt/binary-reader-ir.h"
#include "wabt/binary-reader.h"
#include "wabt/error-formatter.h"
#include "wabt/feature.h"
#include "wabt/validator.h"

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

Error ModuleError(const std::string& name, const wabt::Errors& errors) {
  std::string text = wabt::FormatErrorsToString(errors, wabt::Location::Type::Binary);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return Error(ErrorCode::kInvalidRequest, name + " is not a valid module: " + text);
}

}  // namespace

Result<std::unique_ptr<wabt::Module>> ReadModule(const std::string& name, std::string_view bytes) {
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
