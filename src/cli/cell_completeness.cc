// SPDX-License-Identifier: Apache-2.0
#include "cli/cell_completeness.h"

#include <cstddef>
#include <string>

#include "cli/lua_blocks.h"
#include "cli/ruby_blocks.h"

namespace dormouse::cli {
namespace {

struct Scan {
  int depth = 0;             // open brackets
  bool open_string = false;  // a string that may span lines is open
  bool colon = false;        // the last code character of the last line is a colon
  bool backslash = false;    // the text ends in a backslash
  bool indented = false;     // the last line is indented
};

class Scanner {
 public:
  Scanner(std::string_view language, std::string_view text)
      : python_(language == "python"),
        hash_comments_(python_ || language == "ruby" || language == "perl"),
        backquotes_(language == "javascript" || language == "typescript"),
        text_(text) {}

  Scan Run() {
    while (at_ < text_.size()) Step();
    const std::size_t line = text_.rfind('\n') + 1;  // npos + 1 is 0
    scan_.indented = line < text_.size() && (text_[line] == ' ' || text_[line] == '\t');
    scan_.backslash = text_.ends_with('\\');
    return scan_;
  }

 private:
  bool At(std::string_view what) const { return text_.substr(at_).starts_with(what); }

  void Step() {
    const char c = text_[at_];
    if (hash_comments_ && c == '#') return SkipTo("\n");
    if (!hash_comments_ && At("//")) return SkipTo("\n");
    if (!hash_comments_ && At("/*")) return SkipLong("*/", 2);
    if (python_ && (At("'''") || At("\"\"\""))) return SkipLong(text_.substr(at_, 3), 3);
    if (backquotes_ && c == '`') return SkipLong("`", 1);
    if (c == '"' || c == '\'') return SkipString(c);
    if (c == '(' || c == '[' || c == '{') ++scan_.depth;
    if (c == ')' || c == ']' || c == '}') --scan_.depth;
    if (c == '\n') {
      scan_.colon = false;
    } else if (c != ' ' && c != '\t' && c != '\r') {
      scan_.colon = c == ':';
    }
    ++at_;
  }

  void SkipTo(std::string_view end) {
    const std::size_t found = text_.find(end, at_);
    at_ = found == std::string_view::npos ? text_.size() : found;
  }

  void SkipLong(std::string_view end, std::size_t opening) {
    at_ += opening;
    while (at_ < text_.size() && !At(end)) at_ += text_[at_] == '\\' ? 2 : 1;
    scan_.open_string = at_ >= text_.size();
    scan_.colon = false;
    at_ += end.size();
  }

  // Ends at the quote or at the end of the line: other strings do not span lines.
  void SkipString(char quote) {
    for (++at_; at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n';) {
      at_ += text_[at_] == '\\' ? 2 : 1;
    }
    if (at_ < text_.size() && text_[at_] == quote) ++at_;
    scan_.colon = false;
  }

  const bool python_;
  const bool hash_comments_;
  const bool backquotes_;
  const std::string_view text_;
  std::size_t at_ = 0;
  Scan scan_;
};

}  // namespace

bool NeedsMoreLines(std::string_view language, std::string_view text) {
  if (text.ends_with("\n\n")) return false;  // the way out when this rule is wrong
  if (language == "lua") return LuaGoesOn(text);
  const Scan scan = Scanner(language, text).Run();
  if (scan.open_string || scan.depth > 0) return true;
  if (language == "ruby" && OpenRubyBlocks(text) > 0) return true;
  if (text.ends_with("\n")) return false;
  if (scan.backslash) return true;
  // A block goes on as long as its lines are indented.
  return language == "python" && (scan.colon || scan.indented);
}

}  // namespace dormouse::cli
