// SPDX-License-Identifier: Apache-2.0
#include "http/json_writer.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <cmath>
#include <limits>

namespace dormouse::http {
namespace {

std::string Ascii(std::string_view text) {
  JsonWriter json(JsonWriter::Charset::kAscii);
  return json.Value(text).Take();
}

std::string Utf8(std::string_view text) {
  JsonWriter json;
  return json.Value(text).Take();
}

TEST(JsonWriter, NestsAndSeparates) {
  JsonWriter json;
  json.BeginObject().Field("a", 1).Key("b").BeginArray().Value(true).Null().Value("x").EndArray();
  json.Key("c")
      .BeginObject()
      .EndObject()
      .Field("d", std::optional<int>())
      .Field("e", 0.5)
      .EndObject();
  EXPECT_EQ(json.text(), R"({"a":1,"b":[true,null,"x"],"c":{},"e":0.5})");
}

TEST(JsonWriter, EscapesControlCharactersQuotesAndBackslashes) {
  EXPECT_EQ(Utf8(std::string_view("\"\\\n\r\t\0\x1F\x7F", 8)),
            "\"\\\"\\\\\\n\\r\\t\\u0000\\u001f\\u007f\"");
}

TEST(JsonWriter, ReplacesEachInvalidByte) {
  EXPECT_EQ(Utf8("a\xFF\xC3z"), "\"a\xEF\xBF\xBD\xEF\xBF\xBDz\"");
  EXPECT_EQ(Utf8("\xED\xA0\xBD"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"");  // a surrogate
}

TEST(JsonWriter, AsciiModeEscapesLineSeparatorsAndPairs) {
  EXPECT_EQ(Ascii("\xE2\x80\xA8\xC2\x85\xF0\x9F\x98\x80"), "\"\\u2028\\u0085\\ud83d\\ude00\"");
  EXPECT_EQ(Ascii("\xFF"), "\"\\ufffd\"");
}

TEST(JsonWriter, AsciiModeComesBackUnchangedFromAParser) {
  std::string text;
  for (unsigned c = 1; c < 0x800; ++c) {
    if (c < 0x80) {
      text.push_back(static_cast<char>(c));
    } else {
      text.push_back(static_cast<char>(0xC0 | c >> 6));
      text.push_back(static_cast<char>(0x80 | (c & 0x3F)));
    }
  }
  EXPECT_EQ(boost::json::parse(Ascii(text)).as_string(), text);
  EXPECT_EQ(boost::json::parse(Utf8(text)).as_string(), text);
}

TEST(JsonWriter, NumbersThatJsonCannotHoldBecomeNull) {
  JsonWriter json;
  json.BeginArray().Value(std::nan("")).Value(std::numeric_limits<double>::infinity());
  json.Value(std::numeric_limits<std::uint64_t>::max()).EndArray();
  EXPECT_EQ(json.text(), "[null,null,18446744073709551615]");
}

TEST(JsonWriter, RawKeepsBigNumbersAndDropsLineBreaks) {
  JsonWriter json(JsonWriter::Charset::kAscii);
  json.Raw("{\"a\":\n123456789012345678901234567890,\r\"\xC3\xA4\":-0}");
  EXPECT_EQ(json.text(), "{\"a\": 123456789012345678901234567890, \"\\u00e4\":-0}");
}

}  // namespace
}  // namespace dormouse::http
