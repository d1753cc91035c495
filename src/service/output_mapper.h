// SPDX-License-Identifier: Apache-2.0
// OutputMapper: turns what a guest displays (docs/engine-abi.md §3, kind 1) into the outputs of a run.
//
// A bundle of several types becomes one output per type, text first. Inline: text, markdown, latex, json, data, chart, as
// far as the limits go; text is cut, the others are rejected when they are too large. Images and HTML need an artifact.
// Everything is hostile: what does not decode becomes a rejected output, never an error of the run.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "service/types.h"

namespace dormouse::service {

struct OutputLimits {
  std::uint64_t output_bytes = 0;  // one inline value, as JSON text
  std::uint64_t run_bytes = 0;     // all inline values of a run
  std::uint32_t outputs = 0;       // of a run; one more tells that there were more
};

class OutputMapper {
 public:
  explicit OutputMapper(OutputLimits limits) : limits_(limits) {}

  // The outputs of one display call, in their fixed order.
  std::vector<CodeOutput> Map(std::string_view json);

 private:
  // `written`: the value as the guest wrote it, as far as that is known.
  CodeOutput MapOne(std::string_view mime, const void* value, std::string_view written, bool is_result);
  // Adds `output` if the run may have one more.
  void Add(CodeOutput output, std::vector<CodeOutput>& outputs);

  const OutputLimits limits_;
  std::uint64_t used_bytes_ = 0;
  std::uint32_t count_ = 0;
};

// Parses the objects of kinds 2 and 3. What does not decode gives an error or exit without details.
CodeError ParseGuestError(std::string_view json);
struct GuestExit {
  std::int32_t code = 0;
  std::string message;
};
GuestExit ParseGuestExit(std::string_view json);

}  // namespace dormouse::service
