// SPDX-License-Identifier: Apache-2.0
#include "protocol/messages.h"

#include <gtest/gtest.h>

namespace dormouse::protocol {
namespace {

Start SampleStart() {
  Start start;
  start.memory_bytes = 1ull << 40;
  start.reseed = 1;
  start.segments.push_back({.bytes = "abc", .size_bytes = 3, .checksum = 7});
  start.segments.push_back({.bytes = "", .size_bytes = 1ull << 33, .checksum = 9});
  return start;
}

TEST(Messages, StartComesBackAsItWent) {
  const Result<Start> back = Start::Decode(SampleStart().Encode());
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->memory_bytes, 1ull << 40);
  EXPECT_EQ(back->reseed, 1);
  ASSERT_EQ(back->segments.size(), 2u);
  EXPECT_EQ(back->segments[0].bytes, "abc");
  EXPECT_EQ(back->segments[1].size_bytes, 1ull << 33);
}

TEST(Messages, AMessageCutAtAnyByteIsRefused) {
  const std::string whole = SampleStart().Encode();
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_FALSE(Start::Decode(std::string_view(whole).substr(0, length)).ok()) << length;
  }
  EXPECT_FALSE(Start::Decode(whole + "x").ok());
}

TEST(Messages, AListLongerThanItsMessageIsRefusedBeforeItIsAllocated) {
  std::string manifest = Manifest().Encode();
  manifest[2] = manifest[3] = manifest[4] = manifest[5] = '\xff';
  EXPECT_FALSE(Manifest::Decode(manifest).ok());
}

TEST(Messages, OutputKeepsTheOrderOfItsPieces) {
  Output output;
  output.pieces = {{1, "a"}, {2, "b"}, {1, std::string_view("\0c", 2)}};
  const std::string payload = output.Encode();
  const Result<Output> back = Output::Decode(payload);
  ASSERT_TRUE(back.ok());
  ASSERT_EQ(back->pieces.size(), 3u);
  EXPECT_EQ(back->pieces[1].stream, 2);
  EXPECT_EQ(back->pieces[2].bytes, std::string_view("\0c", 2));
}

}  // namespace
}  // namespace dormouse::protocol
