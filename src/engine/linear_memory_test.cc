// SPDX-License-Identifier: Apache-2.0
#include "engine/linear_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "common/file_descriptor.h"

namespace dormouse::engine {
namespace {

constexpr std::uint64_t kBase = 0x40000000;

FileDescriptor ImageOf(const std::string& content) {
  FileDescriptor file(memfd_create("image", MFD_CLOEXEC));
  EXPECT_EQ(write(file.get(), content.data(), content.size()),
            static_cast<ssize_t>(content.size()));
  return file;
}

class LinearMemoryTest : public testing::Test {
 protected:
  void SetUp() override {
    auto memory = LinearMemory::Reserve(kBase, &counter_);
    ASSERT_TRUE(memory.ok()) << memory.error().message;
    memory_.emplace(std::move(memory).value());
  }
  std::uint32_t counter_ = 99;
  std::optional<LinearMemory> memory_;
};

TEST_F(LinearMemoryTest, IsEmptyAtItsAddress) {
  EXPECT_EQ(memory_->base(), reinterpret_cast<std::byte*>(kBase));
  EXPECT_EQ(memory_->size_bytes(), 0u);
  EXPECT_EQ(counter_, 0u);
  EXPECT_EQ(memory_->At(0, 1), nullptr);
  EXPECT_TRUE(memory_->Covers(kBase));
  EXPECT_TRUE(memory_->Covers(kBase + (8ull << 30)));
  EXPECT_FALSE(memory_->Covers(kBase - 1));
  EXPECT_FALSE(memory_->Covers(kBase + kReservationBytes));
}

TEST_F(LinearMemoryTest, OccupiedAddressesAreNotTakenOver) {
  EXPECT_FALSE(LinearMemory::Reserve(kBase, nullptr).ok());
  EXPECT_FALSE(LinearMemory::Reserve(kBase + (4ull << 30), nullptr).ok());
}

TEST_F(LinearMemoryTest, AnImageIsMappedCopyOnWriteAndTheRestIsZero) {
  const FileDescriptor image = ImageOf(std::string(kWasmPageBytes, 'x'));
  ASSERT_TRUE(memory_->MapImage(image.get(), kWasmPageBytes, 3).ok());
  EXPECT_EQ(counter_, 3u);
  EXPECT_EQ(memory_->bytes()[kWasmPageBytes - 1], std::byte{'x'});
  EXPECT_EQ(memory_->bytes()[kWasmPageBytes], std::byte{0});
  memory_->bytes()[0] = std::byte{'y'};
  char first = 0;
  ASSERT_EQ(pread(image.get(), &first, 1, 0), 1);
  EXPECT_EQ(first, 'x');
}

TEST_F(LinearMemoryTest, MappingAgainForgetsEverything) {
  ASSERT_TRUE(memory_->MapImage(-1, 0, 4).ok());
  memory_->bytes()[3 * kWasmPageBytes] = std::byte{1};
  memory_->bytes()[0] = std::byte{1};
  ASSERT_TRUE(memory_->MapImage(-1, 0, 1).ok());
  EXPECT_EQ(memory_->bytes()[0], std::byte{0});
  ASSERT_EQ(memory_->Grow(3, 100), 1u);
  EXPECT_EQ(memory_->bytes()[3 * kWasmPageBytes], std::byte{0});
}

TEST_F(LinearMemoryTest, ImagesThatDoNotFitAreRefused) {
  EXPECT_FALSE(memory_->MapImage(-1, kWasmPageBytes, 0).ok());
  EXPECT_FALSE(memory_->MapImage(-1, 100, 1).ok());
  EXPECT_FALSE(memory_->MapImage(-1, 0, kMaxWasmPages + 1).ok());
}

TEST_F(LinearMemoryTest, ABadDescriptorLeavesTheMemoryEmpty) {
  ASSERT_TRUE(memory_->MapImage(-1, 0, 2).ok());
  EXPECT_FALSE(memory_->MapImage(-1, kWasmPageBytes, 1).ok());
  EXPECT_EQ(memory_->pages(), 0u);
  EXPECT_EQ(counter_, 0u);
}

TEST_F(LinearMemoryTest, GrowsByZeroedPagesUpToTheLimit) {
  ASSERT_TRUE(memory_->MapImage(-1, 0, 1).ok());
  EXPECT_EQ(memory_->Grow(2, 3), 1u);
  EXPECT_EQ(counter_, 3u);
  EXPECT_EQ(memory_->bytes()[3 * kWasmPageBytes - 1], std::byte{0});
  EXPECT_EQ(memory_->Grow(0, 3), 3u);
  EXPECT_EQ(memory_->Grow(1, 3), std::nullopt);
  EXPECT_EQ(memory_->Grow(UINT32_MAX, UINT32_MAX), std::nullopt);
  EXPECT_EQ(memory_->Grow(1, 2), std::nullopt);
  EXPECT_EQ(counter_, 3u);
}

TEST_F(LinearMemoryTest, GrowsToAllOfFourGibibytes) {
  ASSERT_TRUE(memory_->MapImage(-1, 0, 1).ok());
  ASSERT_EQ(memory_->Grow(kMaxWasmPages - 1, UINT32_MAX), 1u);
  EXPECT_NE(memory_->At(UINT32_MAX, 1), nullptr);
  EXPECT_EQ(memory_->At(UINT32_MAX, 2), nullptr);
}

TEST_F(LinearMemoryTest, RangesAreChecked) {
  ASSERT_TRUE(memory_->MapImage(-1, 0, 1).ok());
  EXPECT_EQ(memory_->At(65535, 1), memory_->base() + 65535);
  EXPECT_EQ(memory_->At(65535, 2), nullptr);
  EXPECT_EQ(memory_->At(65536, 0), memory_->base() + 65536);
  EXPECT_EQ(memory_->At(65537, 0), nullptr);
  EXPECT_EQ(memory_->At(UINT32_MAX, UINT64_MAX), nullptr);
  EXPECT_EQ(memory_->Range(10, 20)->size(), 20u);
  EXPECT_FALSE(memory_->Range(65530, 7).has_value());
}

TEST_F(LinearMemoryTest, ValuesAreReadAndWrittenAtAnyAlignment) {
  ASSERT_TRUE(memory_->MapImage(-1, 0, 1).ok());
  EXPECT_TRUE(memory_->Write<std::uint64_t>(65528, 0x0102030405060708));
  std::uint32_t value = 0;
  EXPECT_TRUE(memory_->Read(65529, value));
  EXPECT_EQ(value, 0x04050607u);
  EXPECT_FALSE(memory_->Read(65533, value));
  EXPECT_EQ(value, 0x04050607u);
  EXPECT_FALSE(memory_->Write(65533, value));
}

}  // namespace
}  // namespace dormouse::engine
