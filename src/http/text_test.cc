// SPDX-License-Identifier: Apache-2.0
#include "http/text.h"

#include <gtest/gtest.h>

namespace dormouse::http {
namespace {

using std::chrono::milliseconds;
using std::chrono::system_clock;

TEST(PercentDecode, DecodesEscapesAndPlusOnlyWhereAsked) {
  EXPECT_EQ(PercentDecode("a%20b+c", PlusSign::kSpace), "a b c");
  EXPECT_EQ(PercentDecode("a%20b+c", PlusSign::kLiteral), "a b+c");
  EXPECT_EQ(PercentDecode("%C3%A4%2F%2e", PlusSign::kLiteral), "\xC3\xA4/.");
}

TEST(PercentDecode, RefusesMalformedEscapesNulAndInvalidUtf8) {
  for (const char* text : {"%", "%4", "%zz", "%00", "%ff", "%C3", "\xFF"}) {
    EXPECT_FALSE(PercentDecode(text, PlusSign::kLiteral)) << text;
  }
}

TEST(PercentEncode, ComesBackFromDecoding) {
  std::string text = "/a b+c%&?#\"\\\n\xE2\x80\xAF\xF0\x9F\x98\x80";
  EXPECT_EQ(PercentDecode(PercentEncode(text, Slash::kEncode), PlusSign::kSpace), text);
  EXPECT_EQ(PercentEncode("/a/b", Slash::kKeep), "/a/b");
}

TEST(Base64, RoundTripsEveryByteAndLength) {
  std::string bytes;
  for (int i = 0; i < 300; ++i) {
    EXPECT_EQ(Base64Decode(Base64Encode(bytes)), bytes);
    bytes.push_back(static_cast<char>(i * 7));
  }
}

TEST(Base64, RefusesWhatIsNotCanonical) {
  for (const char* text :
       {"A", "AA", "AAA", "AA==A", "A===", "====", "AB==", "AAB=", "AA\nA", "A-_A", "AA=A"}) {
    EXPECT_FALSE(Base64Decode(text)) << text;
  }
}

TEST(FormatTimestamp, HasMillisecondsAndZ) {
  EXPECT_EQ(FormatTimestamp(system_clock::time_point(milliseconds(1'782'898'200'125))),
            "2026-07-01T09:30:00.125Z");
  EXPECT_EQ(FormatTimestamp(system_clock::time_point(milliseconds(-5))),
            "1970-01-01T00:00:00.000Z");
}

TEST(FormatHttpDate, NamesDayAndMonthInEnglish) {
  EXPECT_EQ(FormatHttpDate(system_clock::time_point(milliseconds(1'782'898'200'125))),
            "Wed, 01 Jul 2026 09:30:00 GMT");
}

TEST(ContentDisposition, KeepsPlainNames) {
  EXPECT_EQ(ContentDisposition(Disposition::kAttachment, "a b.txt"), "attachment; filename=\"a b.txt\"");
}

TEST(ContentDisposition, GivesOddNamesExactlyBesideAnAsciiFallback) {
  EXPECT_EQ(ContentDisposition(Disposition::kAttachment, "\xC3\xA4\"\r\n.txt"),
            "attachment; filename=\"____.txt\"; filename*=UTF-8''%C3%A4%22%0D%0A.txt");
}

}  // namespace
}  // namespace dormouse::http
