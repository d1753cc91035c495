// SPDX-License-Identifier: Apache-2.0
#include "http/json_writer.h"

#include <charconv>
#include <cmath>
#include <cstdio>

#include "http/text.h"

namespace dormouse::http {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

void AppendUnicodeEscape(std::string& out, std::uint32_t unit) {
  char escape[8];
  std::snprintf(escape, sizeof(escape), "\\u%04x", unit);
  out.append(escape, 6);
}

// `sequence` is one well-formed UTF-8 sequence.
std::uint32_t CodePointOf(std::string_view sequence) {
  const auto first = static_cast<unsigned char>(sequence[0]);
  if (sequence.size() == 1) return first;
  std::uint32_t value = first & (0x7Fu >> sequence.size());
  for (const char c : sequence.substr(1))
    value = value << 6 | (static_cast<unsigned char>(c) & 0x3Fu);
  return value;
}

}  // namespace

JsonWriter& JsonWriter::Key(std::string_view name) {
  Separate();
  AppendString(name);
  text_.push_back(':');
  needs_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::Value(std::string_view text) {
  Separate();
  AppendString(text);
  needs_comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::Value(double number) {
  if (!std::isfinite(number)) return Null();
  char text[32];
  const auto end = std::to_chars(text, text + sizeof(text), number).ptr;
  return Token(std::string_view(text, static_cast<std::size_t>(end - text)));
}

JsonWriter& JsonWriter::Raw(std::string_view json) {
  Separate();
  while (!json.empty()) {
    const auto c = static_cast<unsigned char>(json.front());
    if (c >= 0x80) {
      const std::size_t length = Utf8SequenceLength(json);
      AppendCharacter(length == 0 ? kReplacement : json.substr(0, length));
      json.remove_prefix(length == 0 ? 1 : length);
      continue;
    }
    text_.push_back(c < 0x20 ? ' ' : static_cast<char>(c));
    json.remove_prefix(1);
  }
  needs_comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::Open(char bracket) {
  Separate();
  text_.push_back(bracket);
  needs_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::Close(char bracket) {
  text_.push_back(bracket);
  needs_comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::Token(std::string_view token) {
  Separate();
  text_.append(token);
  needs_comma_ = true;
  return *this;
}

void JsonWriter::Separate() {
  if (needs_comma_) text_.push_back(',');
}

void JsonWriter::AppendCharacter(std::string_view sequence) {
  if (charset_ == Charset::kUtf8) {
    text_.append(sequence);
    return;
  }
  const std::uint32_t code_point = CodePointOf(sequence);
  if (code_point < 0x10000) {
    AppendUnicodeEscape(text_, code_point);
  } else {
    AppendUnicodeEscape(text_, 0xD800 + ((code_point - 0x10000) >> 10));
    AppendUnicodeEscape(text_, 0xDC00 + ((code_point - 0x10000) & 0x3FF));
  }
}

void JsonWriter::AppendString(std::string_view text) {
  text_.push_back('"');
  std::size_t plain = 0;  // bytes at the front of `text` that need no change
  while (plain < text.size()) {
    const auto c = static_cast<unsigned char>(text[plain]);
    if (c >= 0x20 && c < 0x7F && c != '"' && c != '\\') {
      ++plain;
      continue;
    }
    text_.append(text.substr(0, plain));
    text.remove_prefix(plain);
    plain = 0;
    std::size_t length = 1;
    switch (c) {
      case '"':
        text_.append("\\\"");
        break;
      case '\\':
        text_.append("\\\\");
        break;
      case '\n':
        text_.append("\\n");
        break;
      case '\r':
        text_.append("\\r");
        break;
      case '\t':
        text_.append("\\t");
        break;
      default:
        if (c < 0x80) {
          AppendUnicodeEscape(text_, c);
          break;
        }
        length = Utf8SequenceLength(text);
        AppendCharacter(length == 0 ? kReplacement : text.substr(0, length));
        length = length == 0 ? 1 : length;
    }
    text.remove_prefix(length);
  }
  text_.append(text);
  text_.push_back('"');
}

}  // namespace dormouse::http
