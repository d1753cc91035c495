// SPDX-License-Identifier: Apache-2.0
#include "cli/lua_blocks.h"

#include <algorithm>
#include <cstddef>
#include <string>

namespace dormouse::cli {
namespace {

bool IsLuaWord(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

class LuaScanner {
 public:
  explicit LuaScanner(std::string_view text) : text_(text) {}

  bool Run() {
    while (at_ < text_.size()) Step();
    return unfinished_ || depth_ > 0;
  }

 private:
  void Step() {
    const char c = text_[at_];
    if (IsLuaWord(c)) return TakeWord();
    if (text_.substr(at_).starts_with("--")) {
      at_ += 2;
      if (!TakeLong()) at_ = std::min(text_.find('\n', at_), text_.size());
      return;
    }
    if (c == '[' && TakeLong()) return;
    if (c == '"' || c == '\'') return TakeString(c);
    if (c == '(' || c == '[' || c == '{') ++depth_;
    if (c == ')' || c == ']' || c == '}') --depth_;
    ++at_;
  }

  void TakeWord() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && IsLuaWord(text_[at_])) ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    // `for` and `while` have a `do`, `if` and `elseif` their one `end`.
    if (word == "function" || word == "do" || word == "if" || word == "repeat") ++depth_;
    if (word == "end" || word == "until") --depth_;
  }

  // Ends at the quote or at the end of the line, unless that is escaped.
  void TakeString(char quote) {
    for (++at_; at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n';) {
      at_ += text_[at_] == '\\' ? 2 : 1;
    }
    if (at_ > text_.size()) unfinished_ = true;
    at_ = std::min(at_ + 1, text_.size());
  }

  // `[[…]]`, `[=[…]=]`. False, and nothing taken, where none begins.
  bool TakeLong() {
    std::size_t end = at_ + 1;
    while (end < text_.size() && text_[end] == '=') ++end;
    if (at_ >= text_.size() || text_[at_] != '[' || end >= text_.size() || text_[end] != '[') return false;
    const std::string close = "]" + std::string(end - at_ - 1, '=') + "]";
    const std::size_t found = text_.find(close, end + 1);
    unfinished_ = found == std::string_view::npos;
    at_ = unfinished_ ? text_.size() : found + close.size();
    return true;
  }

  const std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
  bool unfinished_ = false;
};

}  // namespace

bool LuaGoesOn(std::string_view text) { return LuaScanner(text).Run(); }

}  // namespace dormouse::cli
