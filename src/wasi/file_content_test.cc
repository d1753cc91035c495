// SPDX-License-Identifier: Apache-2.0
#include "wasi/file_content.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "wasi/test_support.h"

namespace dormouse::wasi {
namespace {

constexpr std::uint64_t kChunk = FileContent::kChunkBytes;

std::string ReadAt(FileContent& content, std::uint64_t offset, std::size_t length,
                   ContentSource* source = nullptr) {
  std::string text(length, '?');
  std::uint64_t got = 0;
  if (content.Read(source, offset, std::as_writable_bytes(std::span(text.data(), length)), got) !=
      Errno::kSuccess) {
    return "<error>";
  }
  text.resize(got);
  return text;
}

Errno WriteAt(FileContent& content, std::uint64_t offset, std::string_view text,
              ContentSource* source = nullptr) {
  std::uint64_t put = 0;
  return content.Write(source, offset, Bytes(text), put);
}

TEST(FileContent, HolesReadAsZerosAndCostNothing) {
  Quota quota(1 << 20);
  FileContent content(quota);
  const std::uint64_t far = std::uint64_t{5} << 30;
  ASSERT_EQ(WriteAt(content, far, "end"), Errno::kSuccess);
  EXPECT_EQ(content.size(), far + 3);
  EXPECT_LE(quota.used(), 128u);
  EXPECT_EQ(ReadAt(content, far - 4, 10), std::string(4, '\0') + "end");
  EXPECT_EQ(ReadAt(content, 1 << 30, 3), std::string(3, '\0'));
}

TEST(FileContent, GrowingAgainAfterACutShowsZerosNotOldBytes) {
  Quota quota(1 << 20);
  FileContent content(quota);
  ASSERT_EQ(WriteAt(content, 0, "secret data"), Errno::kSuccess);
  content.Resize(3);
  content.Resize(11);
  EXPECT_EQ(ReadAt(content, 0, 20), "sec" + std::string(8, '\0'));
}

TEST(FileContent, StoredContentIsLoadedOnFirstReadOnly) {
  Quota quota(1 << 20);
  FakeContents source;
  FileContent content(quota);
  content.SetStored(source.Add("hello"), 5);
  EXPECT_EQ(content.size(), 5u);
  EXPECT_EQ(source.loads, 0);
  EXPECT_EQ(ReadAt(content, 1, 3, &source), "ell");
  EXPECT_EQ(ReadAt(content, 0, 9, &source), "hello");
  EXPECT_EQ(source.loads, 1);
}

TEST(FileContent, ALoadThatFailsOrHasTheWrongSizeIsEio) {
  Quota quota(1 << 20);
  FakeContents source;
  FileContent content(quota);
  content.SetStored(Sha256("gone"), 4);
  EXPECT_EQ(ReadAt(content, 0, 4, &source), "<error>");
  content.SetStored(source.Add("short"), 6);
  EXPECT_EQ(ReadAt(content, 0, 6, &source), "<error>");
}

TEST(FileContent, OverwritingAWholeChunkNeedsNoLoad) {
  Quota quota(1 << 20);
  FakeContents source;
  FileContent content(quota);
  content.SetStored(source.Add("hello"), 5);
  ASSERT_EQ(WriteAt(content, 0, "HELLO", &source), Errno::kSuccess);
  EXPECT_EQ(source.loads, 0);
  ASSERT_EQ(WriteAt(content, 1, "_", &source), Errno::kSuccess);
  EXPECT_EQ(ReadAt(content, 0, 9, &source), "H_LLO");
}

TEST(FileContent, WritingKeepsTheRestOfTheBase) {
  Quota quota(1 << 20);
  FakeContents source;
  std::string big(3 * kChunk, 'b');
  FileContent content(quota);
  content.SetStored(source.Add(big), big.size());
  ASSERT_EQ(WriteAt(content, kChunk + 5, "xyz", &source), Errno::kSuccess);
  big.replace(kChunk + 5, 3, "xyz");
  EXPECT_EQ(ReadAt(content, 0, 4 * kChunk, &source), big);
  EXPECT_FALSE(content.digest().has_value());
  EXPECT_TRUE(content.base_digest().has_value());
}

TEST(FileContent, TheQuotaAllowsAPartAndThenRefuses) {
  Quota quota(256);
  FileContent content(quota);
  std::uint64_t put = 0;
  ASSERT_EQ(content.Write(nullptr, 0, Bytes(std::string(1000, 'x')), put), Errno::kSuccess);
  EXPECT_EQ(put, 256u);
  EXPECT_EQ(content.Write(nullptr, 256, Bytes("y"), put), Errno::kNoSpace);
  EXPECT_EQ(put, 0u);
  EXPECT_EQ(WriteAt(content, 0, "overwriting is free"), Errno::kSuccess);
}

TEST(FileContent, OneByteInEveryChunkIsNotFree) {
  Quota quota(128 * 10);
  FileContent content(quota);
  int written = 0;
  while (WriteAt(content, static_cast<std::uint64_t>(written) * kChunk, "x") == Errno::kSuccess) {
    ++written;
  }
  EXPECT_EQ(written, 10);
}

TEST(FileContent, EverythingChargedIsGivenBack) {
  Quota quota(1 << 20);
  FakeContents source;
  {
    FileContent content(quota);
    content.SetStored(source.Add(std::string(100'000, 'a')), 100'000);
    ASSERT_EQ(WriteAt(content, 99'990, std::string(50'000, 'b'), &source), Errno::kSuccess);
    content.Resize(70'000);
    ASSERT_EQ(WriteAt(content, 65'000, std::string(9000, 'c'), &source), Errno::kSuccess);
    EXPECT_GT(quota.used(), 70'000u);
    content.Resize(0);
    EXPECT_EQ(quota.used(), 0u);
    ASSERT_EQ(WriteAt(content, 5, "d"), Errno::kSuccess);
  }
  EXPECT_EQ(quota.used(), 0u);
}

TEST(FileContent, ExtentsTellBytesHolesAndBaseApart) {
  Quota quota(1 << 24);
  FakeContents source;
  FileContent content(quota);
  content.SetStored(source.Add(std::string(2 * kChunk, 'a')), 2 * kChunk);
  ASSERT_EQ(WriteAt(content, 0, std::string(kChunk, 'x'), &source), Errno::kSuccess);
  ASSERT_EQ(WriteAt(content, 5 * kChunk, "end", &source), Errno::kSuccess);
  content.Resize(6 * kChunk);
  using Kind = FileContent::Extent::Kind;
  auto extents = content.Extents();
  ASSERT_EQ(extents.size(), 5u);
  EXPECT_EQ(extents[0].kind, Kind::kBytes);
  EXPECT_EQ(extents[0].length, kChunk);
  EXPECT_EQ(extents[1].kind, Kind::kBase);
  EXPECT_EQ(extents[1].length, kChunk);
  EXPECT_EQ(extents[2].kind, Kind::kHole);
  EXPECT_EQ(extents[2].length, 3 * kChunk);
  EXPECT_EQ(extents[3].kind, Kind::kBytes);
  EXPECT_EQ(extents[3].length, 3u);
  EXPECT_EQ(extents[4].kind, Kind::kHole);
  EXPECT_EQ(extents[4].offset + extents[4].length, content.size());
  // Once the base is loaded, its bytes are told like those that were written.
  ASSERT_EQ(content.EnsureLoaded(&source), Errno::kSuccess);
  extents = content.Extents();
  ASSERT_EQ(extents.size(), 5u);
  EXPECT_EQ(extents[1].kind, Kind::kBytes);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(extents[1].data), 3), "aaa");
}

TEST(FileContent, DroppingStoredBytesLoadsThemAgain) {
  Quota quota(1 << 20);
  FakeContents source;
  FileContent content(quota);
  ASSERT_EQ(WriteAt(content, 0, "written here"), Errno::kSuccess);
  content.MarkStored(source.Add("written here"), FileContent::Memory::kDrop);
  EXPECT_EQ(ReadAt(content, 0, 100, &source), "written here");
  EXPECT_EQ(source.loads, 1);
  EXPECT_TRUE(content.digest().has_value());
}

// Reads, writes and cuts at random places, compared with a string.
TEST(FileContent, BehavesLikeAStringUnderRandomOperations) {
  std::mt19937 random(1234);
  const auto pick = [&](std::size_t limit) { return random() % limit; };
  for (int round = 0; round < 20; ++round) {
    Quota quota(std::uint64_t{1} << 30);
    FakeContents source;
    FileContent content(quota);
    std::string model;
    if (round % 2 == 1) {
      model.resize(pick(4 * kChunk));
      for (char& c : model) c = static_cast<char>(random());
      content.SetStored(source.Add(model), model.size());
    }
    for (int step = 0; step < 200; ++step) {
      const std::size_t offset = pick(6) == 0 ? pick(6 * kChunk) : pick(model.size() + 1);
      switch (pick(3)) {
        case 0: {
          std::string text(pick(pick(2) == 0 ? 200 : kChunk + 500) + 1, '\0');
          for (char& c : text) c = static_cast<char>(random());
          ASSERT_EQ(WriteAt(content, offset, text, &source), Errno::kSuccess);
          if (model.size() < offset + text.size()) model.resize(offset + text.size(), '\0');
          model.replace(offset, text.size(), text);
          break;
        }
        case 1: {
          const std::size_t length = pick(2 * kChunk);
          const std::string expected =
              offset < model.size() ? model.substr(offset, length) : std::string();
          ASSERT_EQ(ReadAt(content, offset, length, &source), expected);
          break;
        }
        case 2:
          if (pick(4) != 0) break;
          content.Resize(offset);
          model.resize(offset, '\0');
          break;
      }
      ASSERT_EQ(content.size(), model.size());
    }
    ASSERT_EQ(content.EnsureLoaded(&source), Errno::kSuccess);
    std::string assembled;
    for (const auto& extent : content.Extents()) {
      ASSERT_EQ(extent.offset, assembled.size());
      if (extent.kind == FileContent::Extent::Kind::kBytes) {
        assembled.append(reinterpret_cast<const char*>(extent.data), extent.length);
      } else {
        assembled.append(extent.length, '\0');
      }
    }
    ASSERT_EQ(assembled, model);
    content.Resize(0);
    ASSERT_EQ(quota.used(), 0u);
  }
}

}  // namespace
}  // namespace dormouse::wasi
