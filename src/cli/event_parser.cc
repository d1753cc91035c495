// SPDX-License-Identifier: Apache-2.0
#include "cli/event_parser.h"

#include <algorithm>

namespace dormouse::cli {
namespace {

std::string DataOf(std::string_view event) {
  std::string data;
  while (!event.empty()) {
    const std::size_t end = std::min(event.find('\n'), event.size());
    std::string_view line = event.substr(0, end);
    event.remove_prefix(std::min(end + 1, event.size()));
    if (!line.starts_with("data:")) continue;
    line.remove_prefix(5);
    if (line.starts_with(' ')) line.remove_prefix(1);
    if (!data.empty()) data.push_back('\n');
    data.append(line);
  }
  return data;
}

}  // namespace

std::optional<std::string> EventParser::Next() {
  while (true) {
    const std::size_t end = pending_.find("\n\n", searched_);
    if (end == std::string::npos) {
      searched_ = pending_.empty() ? 0 : pending_.size() - 1;
      return std::nullopt;
    }
    std::string data = DataOf(std::string_view(pending_).substr(0, end));
    pending_.erase(0, end + 2);
    searched_ = 0;
    if (!data.empty()) return data;
  }
}

}  // namespace dormouse::cli
