// SPDX-License-Identifier: Apache-2.0
// OutputMapper: turns what a guest displays (docs/engine-abi.md §3, kind 1) into the outputs of a run.
//
// A bundle of several types becomes one output per type, text first. Inline: text, markdown, latex, json, data, chart, as
// far as the limits go; text loses its middle, the others are rejected when they are too large. Images and HTML need an artifact.
// With a promoter these become artifacts, if their bytes are what their type says, and so does JSON that is too large.
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

// An output on its way to become an artifact.
struct PromotedOutput {
  std::size_t number = 0;  // its place among the outputs of the run, from 1
  std::string_view content_type;
  std::string_view extension;
  std::string_view bytes;
  bool is_active = false;
};

// Keeps promoted outputs; what becomes of them when the run is rolled back is its business.
class OutputPromoter {
 public:
  virtual ~OutputPromoter() = default;
  struct Kept {
    std::string artifact_id;
    std::string reason;  // why not; empty if it was kept
  };
  virtual Kept Keep(const PromotedOutput& output) = 0;
  // Whether texts that are too long to be inline are to be kept as a whole.
  virtual bool WantsFullText() const { return false; }
};

enum class Promotion {
  kOff,
  kForbidden,  // asked for by a caller who must not make artifacts
  kOn,
};

class OutputMapper {
 public:
  explicit OutputMapper(OutputLimits limits) : limits_(limits) {}
  // Borrows `promoter`, which is used with kOn only.
  OutputMapper(OutputLimits limits, Promotion promotion, OutputPromoter* promoter)
      : limits_(limits), promotion_(promotion), promoter_(promoter) {}

  // The outputs of one display call, in their fixed order.
  std::vector<CodeOutput> Map(std::string_view json);

 private:
  // `written`: the value as the guest wrote it, as far as that is known.
  CodeOutput MapOne(std::string_view mime, const void* value, std::string_view written, bool is_result);
  // `bytes` is what the artifact holds.
  CodeOutput Promote(std::string_view format, std::string_view mime, std::string_view bytes,
                     bool is_active, bool is_result);
  // A text, or its beginning and its end.
  CodeOutput MapText(std::string_view format, std::string_view mime, std::string_view text);
  // A picture or a page: checks that it is one.
  CodeOutput PromoteMedia(std::string_view format, std::string_view mime, const void* value,
                          bool is_result);
  // The types of a display that the worker left out because they were too large (engine-abi.md §3).
  void AddLeftOut(const void* types, bool is_result, std::vector<CodeOutput>& outputs);
  // What an inline value may take.
  std::uint64_t AllowedBytes() const;
  // Adds `output` if the run may have one more.
  void Add(CodeOutput output, std::vector<CodeOutput>& outputs);

  const OutputLimits limits_;
  const Promotion promotion_ = Promotion::kOff;
  OutputPromoter* const promoter_ = nullptr;
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
