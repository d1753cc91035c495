// SPDX-License-Identifier: Apache-2.0
#include "common/utf8.h"

#include <gtest/gtest.h>

namespace dormouse {
namespace {

std::string Decode(std::string_view bytes, std::size_t cut) {
  Utf8Decoder decoder;
  std::string text;
  decoder.Append(bytes.substr(0, cut), text);
  EXPECT_TRUE(IsValidUtf8(text));
  decoder.Append(bytes.substr(cut), text);
  EXPECT_TRUE(IsValidUtf8(text));
  decoder.Finish(text);
  return text;
}

TEST(Utf8, ValidTextIsUnchangedHoweverItIsCut) {
  const std::string text = "a\u00e9\u20ac\U0001f600z\r\n\u0085\u2028";
  for (std::size_t cut = 0; cut <= text.size(); ++cut) EXPECT_EQ(Decode(text, cut), text);
}

TEST(Utf8, EachIllFormedPartBecomesOneReplacement) {
  const struct {
    std::string bytes;
    std::string text;
  } cases[] = {
      {"\xff\xfe", "\ufffd\ufffd"},
      {"a\xc3", "a\ufffd"},
      {"\xc3(", "\ufffd("},
      {"\xe2\x82", "\ufffd"},
      {"\xe2\x82z", "\ufffdz"},
      {"\xed\xa0\xbdz", "\ufffd\ufffd\ufffdz"},  // a surrogate
      {"\xf0\x9f\x98", "\ufffd"},
      {"\xf0\x80\x80\x80", "\ufffd\ufffd\ufffd\ufffd"},  // overlong
      {"\xf4\x90\x80\x80", "\ufffd\ufffd\ufffd\ufffd"},  // beyond the last character
      {"\xc0\x80", "\ufffd\ufffd"},
      {"\xe2\xe2\x82\xac", "\ufffd\u20ac"},
      {std::string("\0", 1), std::string("\0", 1)},
  };
  for (const auto& item : cases) {
    EXPECT_FALSE(item.bytes.size() > 1 && IsValidUtf8(item.bytes));
    for (std::size_t cut = 0; cut <= item.bytes.size(); ++cut) {
      EXPECT_EQ(Decode(item.bytes, cut), item.text);
    }
  }
}

TEST(Utf8, CutsFallBetweenCharacters) {
  const std::string text = "\U0001f600\U0001f601";
  for (std::size_t bytes = 0; bytes <= 9; ++bytes) {
    const std::size_t whole = std::min<std::size_t>(bytes, 8) / 4 * 4;
    EXPECT_EQ(Utf8Prefix(text, bytes), text.substr(0, whole));
    EXPECT_EQ(Utf8Suffix(text, bytes), text.substr(8 - whole));
  }
}

}  // namespace
}  // namespace dormouse
