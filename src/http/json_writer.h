// SPDX-License-Identifier: Apache-2.0
// JsonWriter: appends strict JSON to one string, without building a tree.
//
// Strings that are not UTF-8 have each bad byte replaced by U+FFFD, and numbers that JSON cannot
// hold become null, so that the result always parses. The caller balances Begin and End and names
// each member of an object once.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dormouse::http {

class JsonWriter {
 public:
  // kAscii writes every other character as \uXXXX: what server-sent events need, whose readers cut
  // lines at characters such as U+2028.
  enum class Charset { kUtf8, kAscii };
  explicit JsonWriter(Charset charset = Charset::kUtf8) : charset_(charset) {}

  JsonWriter& BeginObject() { return Open('{'); }
  JsonWriter& EndObject() { return Close('}'); }
  JsonWriter& BeginArray() { return Open('['); }
  JsonWriter& EndArray() { return Close(']'); }
  JsonWriter& Key(std::string_view name);

  JsonWriter& Value(std::string_view text);
  JsonWriter& Value(const char* text) { return Value(std::string_view(text)); }
  JsonWriter& Value(const std::string& text) { return Value(std::string_view(text)); }
  JsonWriter& Value(double number);
  template <std::same_as<bool> T>
  JsonWriter& Value(T truth) {
    return Token(truth ? "true" : "false");
  }
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  JsonWriter& Value(T number) {
    return Token(std::to_string(number));
  }
  JsonWriter& Null() { return Token("null"); }
  // A value that already is JSON text. Line breaks between its tokens become spaces.
  JsonWriter& Raw(std::string_view json);

  template <typename T>
  JsonWriter& Field(std::string_view name, const T& value) {
    Key(name);
    return Value(value);
  }
  // Leaves the member out when there is no value.
  template <typename T>
  JsonWriter& Field(std::string_view name, const std::optional<T>& value) {
    return value.has_value() ? Field(name, *value) : *this;
  }

  JsonWriter& Strings(std::string_view name, const std::vector<std::string>& items) {
    Key(name).BeginArray();
    for (const std::string& item : items) Value(item);
    return EndArray();
  }

  const std::string& text() const { return text_; }
  std::string Take() { return std::move(text_); }

 private:
  JsonWriter& Open(char bracket);
  JsonWriter& Close(char bracket);
  JsonWriter& Token(std::string_view token);
  void Separate();
  void AppendString(std::string_view text);
  void AppendCharacter(std::string_view sequence);

  Charset charset_;
  std::string text_;
  bool needs_comma_ = false;
};

}  // namespace dormouse::http
