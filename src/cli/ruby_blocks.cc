// SPDX-License-Identifier: Apache-2.0
#include "cli/ruby_blocks.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace dormouse::cli {
namespace {

bool IsWordByte(char c) {
  return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         static_cast<unsigned char>(c) >= 0x80;
}

template <std::size_t N>
bool IsOneOf(std::string_view word, const std::string_view (&words)[N]) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

constexpr std::string_view kOpeners[] = {"begin", "case", "class", "module"};
constexpr std::string_view kLoops[] = {"for", "until", "while"};
// Behind an expression these are modifiers, which have no end.
constexpr std::string_view kModifiers[] = {"if", "unless", "until", "while", "for"};
constexpr std::string_view kBeforeStatement[] = {"and", "do",     "else", "ensure", "not",
                                                 "or",  "return", "then", "begin"};

class BlockCounter {
 public:
  explicit BlockCounter(std::string_view text) : text_(text) {}

  int Count() {
    while (at_ < text_.size()) Step();
    return depth_;
  }

 private:
  void Step() {
    const char c = text_[at_];
    if (c == '#') return SkipComment();
    if (c == '"' || c == '\'' || c == '`') return SkipString(c);
    if (IsWordByte(c)) return TakeWord();
    if (c == '\n') loop_waits_ = false;
    // What an expression can begin behind.
    if (c != ' ' && c != '\t')
      starts_ = std::string_view("\n;=([{|&,<>!?:+-*/").find(c) != std::string_view::npos;
    ++at_;
  }

  void SkipComment() { at_ = std::min(text_.find('\n', at_), text_.size()); }

  void SkipString(char quote) {
    for (++at_; at_ < text_.size() && text_[at_] != quote; ++at_) {
      if (text_[at_] == '\\') ++at_;
    }
    ++at_;
    starts_ = false;
  }

  void TakeWord() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && IsWordByte(text_[at_])) ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    const char before = begin > 0 ? text_[begin - 1] : '\n';
    const char after = at_ < text_.size() ? text_[at_] : '\n';
    const bool starts = starts_;
    starts_ = IsOneOf(word, kBeforeStatement);
    // A method, a symbol, a variable, or a key.
    if (before == '.' || before == ':' || before == '@' || before == '$' || after == '?' ||
        after == '!' || (after == ':' && text_.substr(at_, 2) != "::")) {
      return;
    }
    if (word == "end") {
      --depth_;
    } else if (word == "def") {
      if (!IsEndless()) ++depth_;
    } else if (word == "do") {
      // The loop's own is not one more block.
      if (!loop_waits_) ++depth_;
      loop_waits_ = false;
    } else if (IsOneOf(word, kOpeners) || (starts && IsOneOf(word, kModifiers))) {
      ++depth_;
      loop_waits_ = IsOneOf(word, kLoops);
    }
  }

  // Behind `def`: a name, maybe parameters in brackets, and `=`.
  bool IsEndless() const {
    std::size_t at = at_;
    const auto skip_spaces = [&] {
      while (at < text_.size() && text_[at] == ' ') ++at;
    };
    skip_spaces();
    while (at < text_.size() &&
           (IsWordByte(text_[at]) || text_[at] == '.' || text_[at] == '?' || text_[at] == '!')) {
      ++at;
    }
    if (at < text_.size() && text_[at] == '(') {
      int open = 0;
      for (; at < text_.size(); ++at) {
        if (text_[at] == '(') ++open;
        if (text_[at] == ')' && --open == 0) break;
      }
      ++at;
    }
    skip_spaces();
    return at + 1 < text_.size() && text_[at] == '=' && text_[at + 1] != '=';
  }

  const std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
  bool starts_ = true;       // a statement or an expression begins here
  bool loop_waits_ = false;  // for its `do`, which may be missing
};

}  // namespace

int OpenRubyBlocks(std::string_view text) { return BlockCounter(text).Count(); }

}  // namespace dormouse::cli
