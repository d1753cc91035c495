// SPDX-License-Identifier: Apache-2.0
#include "http/idempotency.h"

#include <gtest/gtest.h>

namespace dormouse::http {
namespace {

using Store = IdempotencyStore;
using TicketPtr = std::shared_ptr<Store::Ticket>;

const Sha256Digest kOne = Sha256("one");
const Sha256Digest kTwo = Sha256("two");

TicketPtr TicketOf(const std::shared_ptr<Store>& store, const std::string& scope) {
  auto outcome = store->Begin(scope, kOne);
  return outcome.ok() && outcome->index() == 0 ? std::get<0>(*outcome) : nullptr;
}

TEST(IdempotencyStore, GivesTheFirstAnswerAgain) {
  const auto store = std::make_shared<Store>();
  TicketOf(store, "a")->Complete({201, "application/json", {}, "body"});
  auto again = store->Begin("a", kOne);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(std::get<Store::Answer>(*again).body, "body");
  EXPECT_NE(TicketOf(store, "b"), nullptr);
}

TEST(IdempotencyStore, RefusesWhileTheFirstIsInProgress) {
  const auto store = std::make_shared<Store>();
  const TicketPtr ticket = TicketOf(store, "a");
  const auto again = store->Begin("a", kOne);
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().code, ErrorCode::kIdempotencyRequestInProgress);
}

TEST(IdempotencyStore, RefusesAnotherRequestWithTheSameKey) {
  const auto store = std::make_shared<Store>();
  TicketOf(store, "a")->Complete({});
  const auto other = store->Begin("a", kTwo);
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().code, ErrorCode::kIdempotencyKeyReused);
}

TEST(IdempotencyStore, ForgetsWhatFailed) {
  const auto store = std::make_shared<Store>();
  TicketOf(store, "a").reset();
  EXPECT_TRUE(store->Begin("a", kTwo).ok());
}

TEST(IdempotencyStore, ForgetsAfterADay) {
  const auto store = std::make_shared<Store>();
  TicketOf(store, "a")->Complete({});
  const auto later = Store::Clock::now() + std::chrono::hours(24);
  const auto outcome = store->Begin("a", kTwo, later);
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->index(), 0u);
}

TEST(IdempotencyStore, DropsTheOldestWhenThereIsTooMuch) {
  const auto store = std::make_shared<Store>();
  for (int i = 0; i < 5; ++i) {
    TicketOf(store, std::to_string(i))->Complete({200, "", {}, std::string(20 << 20, 'x')});
  }
  EXPECT_NE(TicketOf(store, "0"), nullptr);
  EXPECT_EQ(TicketOf(store, "4"), nullptr);
}

}  // namespace
}  // namespace dormouse::http
