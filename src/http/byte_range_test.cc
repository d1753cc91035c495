// SPDX-License-Identifier: Apache-2.0
#include "http/byte_range.h"

#include <gtest/gtest.h>

namespace dormouse::http {
namespace {

using Kind = ByteRange::Kind;

void ExpectPart(std::string_view header, std::uint64_t offset, std::uint64_t length) {
  const ByteRange range = ParseRange(header, 10);
  EXPECT_EQ(range.kind, Kind::kPart) << header;
  EXPECT_EQ(range.offset, offset) << header;
  EXPECT_EQ(range.length, length) << header;
}

TEST(ParseRange, TakesTheThreeForms) {
  ExpectPart("bytes=2-4", 2, 3);
  ExpectPart("bytes=2-", 2, 8);
  ExpectPart("bytes=-3", 7, 3);
  ExpectPart("Bytes=0-0", 0, 1);
}

TEST(ParseRange, CutsAtTheEndOfTheFile) {
  ExpectPart("bytes=8-99", 8, 2);
  ExpectPart("bytes=-99", 0, 10);
}

TEST(ParseRange, OutsideTheFileIsUnsatisfiable) {
  EXPECT_EQ(ParseRange("bytes=10-", 10).kind, Kind::kUnsatisfiable);
  EXPECT_EQ(ParseRange("bytes=-0", 10).kind, Kind::kUnsatisfiable);
  EXPECT_EQ(ParseRange("bytes=0-", 0).kind, Kind::kUnsatisfiable);
  EXPECT_EQ(ParseRange("bytes=-5", 0).kind, Kind::kUnsatisfiable);
}

TEST(ParseRange, WhatItDoesNotUnderstandIsIgnored) {
  for (const char* header :
       {"", "bytes", "bytes=", "bytes=-", "bytes=a-b", "bytes=4-2", "bytes=0-1,3-4", "lines=1-2",
        "bytes=99999999999999999999-", "bytes=+1-2"}) {
    EXPECT_EQ(ParseRange(header, 10).kind, Kind::kWhole) << header;
  }
}

}  // namespace
}  // namespace dormouse::http
