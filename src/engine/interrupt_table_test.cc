// SPDX-License-Identifier: Apache-2.0
#include "engine/interrupt_table.h"

#include <gtest/gtest.h>

#include <optional>

namespace dormouse::engine {
namespace {

class InterruptTableTest : public testing::Test {
 protected:
  void SetUp() override {
    auto memory = LinearMemory::Reserve(0x40000000, nullptr);
    ASSERT_TRUE(memory.ok()) << memory.error().message;
    memory_.emplace(std::move(memory).value());
    ASSERT_TRUE(memory_->MapImage(-1, 0, 1).ok());
  }
  void Put(std::uint32_t address, std::initializer_list<std::uint32_t> words) {
    for (const std::uint32_t word : words) {
      ASSERT_TRUE(memory_->Write(address, word));
      address += 4;
    }
  }
  std::uint64_t Get(std::uint32_t address) {
    std::uint64_t value = 0;
    EXPECT_TRUE(memory_->Read(address, value));
    return value;
  }
  std::optional<LinearMemory> memory_;
};

TEST_F(InterruptTableTest, EntriesAreReadInOrder) {
  Put(100, {2, 500, 4, 0, 1, 600, 1, 1, 0x80});
  const auto table = ReadInterruptTable(*memory_, 100);
  ASSERT_TRUE(table.ok()) << table.error().message;
  const std::vector<InterruptEntry> expected = {{500, 4, InterruptOperation::kStore, 1},
                                                {600, 1, InterruptOperation::kOr, 0x80}};
  EXPECT_EQ(table.value(), expected);
}

TEST_F(InterruptTableTest, BadTablesAreRefused) {
  const auto refused = [&] { return !ReadInterruptTable(*memory_, 100).ok(); };
  Put(100, {kMaxInterruptEntries + 1});
  EXPECT_TRUE(refused());
  Put(100, {1, 500, 2, 0, 1});
  EXPECT_TRUE(refused()) << "size";
  Put(100, {1, 500, 4, 3, 1});
  EXPECT_TRUE(refused()) << "operation";
  Put(100, {1, 65533, 4, 0, 1});
  EXPECT_TRUE(refused()) << "target";
  EXPECT_FALSE(ReadInterruptTable(*memory_, 65534).ok()) << "count outside";
  EXPECT_FALSE(ReadInterruptTable(*memory_, UINT32_MAX).ok());
  Put(65528, {1, 0});
  EXPECT_FALSE(ReadInterruptTable(*memory_, 65528).ok()) << "entry outside";
}

TEST_F(InterruptTableTest, OperationsChangeExactlyTheirBytes) {
  Put(500, {0x11111111, 0x11111111, 0x11111111, 0x11111111});
  const InterruptEntry entries[] = {{501, 1, InterruptOperation::kStore, 0xff},
                                    {504, 4, InterruptOperation::kOr, 0x22},
                                    {508, 8, InterruptOperation::kStore, 5}};
  ApplyInterrupts(entries, *memory_);
  EXPECT_EQ(Get(500), 0x111111331111ff11u);
  EXPECT_EQ(Get(508), 5u);
}

TEST_F(InterruptTableTest, AnEntryMayPointToItsTarget) {
  constexpr auto kThere = static_cast<InterruptOperation>(2 | 16 << 8);
  Put(100, {1, 500, 4, 2 | 16 << 8, 8});
  const auto table = ReadInterruptTable(*memory_, 100);
  ASSERT_TRUE(table.ok()) << table.error().message;
  EXPECT_EQ(table.value(), (std::vector<InterruptEntry>{{500, 4, kThere, 8}}));
  Put(500, {600});
  Put(616, {1});
  ApplyInterrupts(*table, *memory_);
  EXPECT_EQ(Get(616), 9u);
  for (const std::uint32_t outside : {65536u, 65517u, UINT32_MAX}) {
    Put(500, {outside});
    ApplyInterrupts(*table, *memory_);
  }
  EXPECT_EQ(Get(500), UINT32_MAX);
}

TEST_F(InterruptTableTest, EntriesOutsideTheMemoryAreSkipped) {
  const InterruptEntry entries[] = {{65536, 1, InterruptOperation::kStore, 1},
                                    {UINT32_MAX, 8, InterruptOperation::kOr, 1},
                                    {0, 3, InterruptOperation::kStore, 1},
                                    {8, 4, InterruptOperation::kStore, 1}};
  ApplyInterrupts(entries, *memory_);
  EXPECT_EQ(Get(0), 0u);
  EXPECT_EQ(Get(8), 1u);
}

}  // namespace
}  // namespace dormouse::engine
