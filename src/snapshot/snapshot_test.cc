// SPDX-License-Identifier: Apache-2.0
// Dirty pages and segments together, on a small memory of the test's own.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xxhash.h>

#include <cstring>

#include "snapshot/boot_image.h"
#include "snapshot/dirty_pages.h"
#include "snapshot/segment.h"

namespace dormouse::snapshot {
namespace {

constexpr std::uint32_t kPages = 64;  // of 64 KiB
constexpr std::size_t kBytes = kPages * 65536;

class SnapshotTest : public testing::TestWithParam<DirtyPages::Method> {
 protected:
  void SetUp() override {
    fd_ = FileDescriptor(::memfd_create("boot", MFD_CLOEXEC));
    std::string image(kBytes / 2, '\0');
    for (std::size_t i = 0; i < image.size(); ++i) image[i] = static_cast<char>(i * 31 >> 3);
    ASSERT_EQ(::write(fd_.get(), image.data(), image.size()), static_cast<ssize_t>(image.size()));
    boot_ = std::make_unique<BootImage>(std::move(BootImage::Map(fd_.get())).value());
  }

  std::byte* NewMemory() {
    auto* memory = static_cast<std::byte*>(::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                                                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ::mmap(memory, kBytes / 2, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, fd_.get(), 0);
    mapped_.push_back(memory);
    return memory;
  }
  void TearDown() override {
    for (std::byte* memory : mapped_) ::munmap(memory, kBytes);
  }

  struct Stored {
    std::string bytes;
    std::uint64_t checksum = 0;
  };
  Stored Write(const std::byte* memory, const std::vector<PageIndex>& pages, bool base = false) {
    Stored stored;
    SegmentContent content{.base = base, .memory_pages = kPages, .globals = {1, 2}, .records = {}};
    content.records[RecordTag::kDescriptors] = "record";
    auto written = WriteSegment(content, pages, memory, *boot_, [&stored](std::string_view bytes) {
      stored.bytes += bytes;
      return Result<void>();
    });
    EXPECT_TRUE(written.ok());
    stored.checksum = written->checksum;
    return stored;
  }

  FileDescriptor fd_;
  std::unique_ptr<BootImage> boot_;
  std::vector<std::byte*> mapped_;
};

TEST_P(SnapshotTest, OnlyWrittenPagesAreDirtyAndOnlyOnce) {
  std::byte* memory = NewMemory();
  auto dirty = std::move(DirtyPages::Watch(memory, GetParam())).value();
  volatile std::byte read_only = memory[7 * kPageBytes];
  (void)read_only;
  memory[3 * kPageBytes + 5] = std::byte{1};
  memory[kBytes - 1] = std::byte{2};
  EXPECT_EQ(*dirty->Collect(kBytes), (std::vector<PageIndex>{3, kBytes / kPageBytes - 1}));
  EXPECT_TRUE(dirty->Collect(kBytes)->empty());
  memory[3 * kPageBytes + 6] = std::byte{9};
  EXPECT_EQ(*dirty->Collect(kBytes), (std::vector<PageIndex>{3}));
  EXPECT_EQ(dirty->CollectPrivate(kBytes)->size(), 2u);
}

TEST_P(SnapshotTest, MemoryMappedLaterIsWatchedToo) {
  std::byte* memory = NewMemory();
  auto dirty = std::move(DirtyPages::Watch(memory, GetParam())).value();
  ASSERT_TRUE(dirty->Collect(kBytes / 2)->empty());
  ::mmap(memory + kBytes / 2, kBytes / 2, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  memory[kBytes / 2] = std::byte{1};
  const PageIndex first = kBytes / 2 / kPageBytes;
  EXPECT_EQ(*dirty->Collect(kBytes), (std::vector<PageIndex>{first}));
  memory[kBytes / 2 + kPageBytes] = std::byte{1};
  EXPECT_EQ(*dirty->Collect(kBytes), (std::vector<PageIndex>{first + 1}));
}

TEST_P(SnapshotTest, AChainOfSegmentsBringsTheLastStateBack) {
  std::byte* memory = NewMemory();
  auto dirty = std::move(DirtyPages::Watch(memory, GetParam())).value();
  std::vector<Stored> chain;
  for (int step = 1; step <= 5; ++step) {
    for (int i = 0; i < 40; ++i) {
      memory[(step * 7919u + i * 4099u * 13) % kBytes] = static_cast<std::byte>(step * 3 + i);
    }
    chain.push_back(Write(memory, *dirty->Collect(kBytes)));
  }
  std::byte* other = NewMemory();
  SegmentReader reader(other, [](std::uint32_t pages) {
    EXPECT_EQ(pages, kPages);
    return Result<void>();
  });
  for (auto stored = chain.rbegin(); stored != chain.rend(); ++stored) {
    ASSERT_TRUE(reader.Add(stored->bytes, stored->checksum).ok());
  }
  EXPECT_EQ(std::memcmp(memory, other, kBytes), 0);
  EXPECT_EQ(reader.content().globals, (std::vector<std::uint64_t>{1, 2}));
  EXPECT_EQ(reader.content().records.at(RecordTag::kDescriptors), "record");
}

TEST_P(SnapshotTest, APageThatBecameAsAtBootAgainIsRestoredSo) {
  std::byte* memory = NewMemory();
  const std::byte before = memory[100];
  memory[100] = ~before;
  const Stored first = Write(memory, {0});
  memory[100] = before;
  const Stored second = Write(memory, {0});
  std::byte* other = NewMemory();
  SegmentReader reader(other, [](std::uint32_t) { return Result<void>(); });
  ASSERT_TRUE(reader.Add(second.bytes, second.checksum).ok());
  ASSERT_TRUE(reader.Add(first.bytes, first.checksum).ok());
  EXPECT_EQ(std::memcmp(memory, other, kBytes), 0);
}

INSTANTIATE_TEST_SUITE_P(Methods, SnapshotTest,
                         testing::Values(DirtyPages::Method::kBest, DirtyPages::Method::kHash));

using SegmentTest = SnapshotTest;

TEST_P(SegmentTest, ASegmentCutOrChangedAnywhereIsCorruptAndNeverCrashes) {
  std::byte* memory = NewMemory();
  memory[5] = std::byte{1};
  const Stored stored = Write(memory, {0, 1});
  for (std::size_t length = 0; length < stored.bytes.size(); ++length) {
    const std::string cut = stored.bytes.substr(0, length);
    std::byte* other = memory;
    SegmentReader reader(other, [](std::uint32_t) { return Result<void>(); });
    const Result<void> result = reader.Add(cut, XXH3_64bits(cut.data(), cut.size()));
    ASSERT_FALSE(result.ok()) << length;
    EXPECT_EQ(result.error().code, ErrorCode::kCorrupt);
  }
  std::string changed = stored.bytes;
  changed[changed.size() / 2] ^= 1;
  SegmentReader reader(memory, [](std::uint32_t) { return Result<void>(); });
  EXPECT_FALSE(reader.Add(changed, stored.checksum).ok());
}

INSTANTIATE_TEST_SUITE_P(Once, SegmentTest, testing::Values(DirtyPages::Method::kHash));

}  // namespace
}  // namespace dormouse::snapshot
