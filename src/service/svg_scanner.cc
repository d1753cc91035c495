// SPDX-License-Identifier: Apache-2.0
#include "service/svg_scanner.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "common/ascii.h"
#include "common/utf8.h"

namespace dormouse::service {
namespace {

constexpr std::size_t kMaxOpenElements = 1'024;

constexpr std::string_view kActiveElements[] = {"script", "foreignobject", "iframe",  "object",
                                                "embed",  "handler",       "listener"};
constexpr std::string_view kAnimations[] = {"animate", "set", "animatetransform", "animatemotion",
                                            "animatecolor"};
// Attributes whose value may be a link, at once or by an animation.
constexpr std::string_view kLinks[] = {"href", "src", "to", "from", "by", "values", "action"};
constexpr std::string_view kHarmlessData[] = {"data:image/png", "data:image/jpeg", "data:image/jpg",
                                              "data:image/gif", "data:image/webp", "data:font/"};

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

bool StartsName(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == ':' ||
         static_cast<unsigned char>(c) >= 0x80;
}

std::string_view WithoutPrefix(std::string_view name) {
  const std::size_t colon = name.rfind(':');
  return colon == std::string_view::npos ? name : name.substr(colon + 1);
}

template <std::size_t N>
bool IsOneOf(std::string_view name, const std::string_view (&names)[N]) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

bool LinkRuns(std::string_view value) {
  // Character references could spell anything.
  if (value.find("&#") != std::string_view::npos) return true;
  std::string plain;
  for (const char c : value) {
    if (static_cast<unsigned char>(c) > ' ' && c != 0x7f) plain.push_back(c);
  }
  plain = AsciiLower(plain);
  if (plain.find("script:") != std::string::npos) return true;
  for (std::size_t at = plain.find("data:"); at != std::string::npos; at = plain.find("data:", at + 1)) {
    const std::string_view rest = std::string_view(plain).substr(at);
    const auto begins = [rest](std::string_view harmless) { return rest.starts_with(harmless); };
    if (std::none_of(std::begin(kHarmlessData), std::end(kHarmlessData), begins)) return true;
  }
  return false;
}

class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  SvgScan Run() {
    constexpr std::string_view kMark = "\xEF\xBB\xBF";
    if (rest_.starts_with(kMark)) rest_.remove_prefix(kMark.size());
    scan_.is_svg = Document() && root_seen_ && open_.empty();
    return scan_;
  }

 private:
  bool Document() {
    while (!rest_.empty()) {
      const std::size_t length = std::min(rest_.find('<'), rest_.size());
      const std::string_view text = rest_.substr(0, length);
      if (open_.empty() && !std::all_of(text.begin(), text.end(), IsSpace)) return false;
      rest_.remove_prefix(length);
      if (!rest_.empty() && !Markup()) return false;
    }
    return true;
  }

  bool Markup() {
    if (rest_.starts_with("<!--")) return SkipPast("-->", 4);
    if (rest_.starts_with("<![CDATA[")) return !open_.empty() && SkipPast("]]>", 9);
    if (rest_.starts_with("<?")) {
      if (rest_.starts_with("<?xml-")) scan_.is_active = true;
      return SkipPast("?>", 2);
    }
    if (rest_.starts_with("<!")) return DocumentType();
    if (rest_.starts_with("</")) return EndTag();
    return StartTag();
  }

  bool SkipPast(std::string_view end, std::size_t from) {
    const std::size_t at = rest_.find(end, from);
    if (at == std::string_view::npos) return false;
    rest_.remove_prefix(at + end.size());
    return true;
  }

  bool DocumentType() {
    if (root_seen_ || !rest_.starts_with("<!DOCTYPE")) return false;
    char quote = 0;
    for (std::size_t i = 0; i < rest_.size(); ++i) {
      const char c = rest_[i];
      if (quote != 0) {
        if (c == quote) quote = 0;
      } else if (c == '"' || c == '\'') {
        quote = c;
      } else if (c == '[') {
        scan_.declares_entities = true;
        return false;
      } else if (c == '>') {
        rest_.remove_prefix(i + 1);
        return true;
      }
    }
    return false;
  }

  std::string_view Name() {
    std::size_t length = 0;
    while (length < rest_.size() && !IsSpace(rest_[length]) && rest_[length] != '/' &&
           rest_[length] != '>' && rest_[length] != '=' && rest_[length] != '<') {
      ++length;
    }
    const std::string_view name = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return !name.empty() && StartsName(name.front()) ? name : std::string_view();
  }

  void SkipSpaces() {
    while (!rest_.empty() && IsSpace(rest_.front())) rest_.remove_prefix(1);
  }

  bool Take(std::string_view wanted) {
    if (!rest_.starts_with(wanted)) return false;
    rest_.remove_prefix(wanted.size());
    return true;
  }

  bool EndTag() {
    rest_.remove_prefix(2);
    const std::string_view name = Name();
    SkipSpaces();
    if (open_.empty() || name != open_.back() || !Take(">")) return false;
    open_.pop_back();
    return true;
  }

  bool StartTag() {
    rest_.remove_prefix(1);
    const std::string_view name = Name();
    if (name.empty() || open_.size() == kMaxOpenElements) return false;
    if (open_.empty()) {
      if (root_seen_ || WithoutPrefix(name) != "svg") return false;
      root_seen_ = true;
    }
    const std::string element = AsciiLower(WithoutPrefix(name));
    if (IsOneOf(element, kActiveElements)) scan_.is_active = true;
    while (true) {
      SkipSpaces();
      if (Take("/>")) return true;
      if (Take(">")) {
        open_.push_back(name);
        return true;
      }
      if (!Attribute(element)) return false;
    }
  }

  bool Attribute(std::string_view element) {
    const std::string_view name = Name();
    SkipSpaces();
    if (name.empty() || !Take("=")) return false;
    SkipSpaces();
    if (rest_.empty() || (rest_.front() != '"' && rest_.front() != '\'')) return false;
    const std::size_t end = rest_.find(rest_.front(), 1);
    if (end == std::string_view::npos) return false;
    const std::string_view value = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    if (value.find('<') != std::string_view::npos) return false;
    Judge(element, AsciiLower(WithoutPrefix(name)), value);
    return true;
  }

  void Judge(std::string_view element, std::string_view name, std::string_view value) {
    if (name.starts_with("on")) scan_.is_active = true;
    if (IsOneOf(name, kLinks) && LinkRuns(value)) scan_.is_active = true;
    if (name != "attributename" || !IsOneOf(element, kAnimations)) return;
    const std::string target = AsciiLower(WithoutPrefix(value));
    if (target.starts_with("on") || target == "href" || target.find('&') != std::string::npos) {
      scan_.is_active = true;
    }
  }

  std::string_view rest_;
  std::vector<std::string_view> open_;
  bool root_seen_ = false;
  SvgScan scan_;
};

}  // namespace

SvgScan ScanSvg(std::string_view text) {
  if (!IsValidUtf8(text) || text.find('\0') != std::string_view::npos) return {};
  return Scanner(text).Run();
}

}  // namespace dormouse::service
