// SPDX-License-Identifier: Apache-2.0
// EventParser: the data of server-sent events, from bytes cut anywhere.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace dormouse::cli {

class EventParser {
 public:
  void Append(std::string_view bytes) { pending_.append(bytes); }
  // The joined data lines of the next complete event; events without data (comments) are skipped.
  std::optional<std::string> Next();

 private:
  std::string pending_;
  std::size_t searched_ = 0;  // no event ends before this position
};

}  // namespace dormouse::cli
