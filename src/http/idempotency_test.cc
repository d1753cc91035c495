// SPDX-License-Identifier: Apache-2.0
#include "http/idempotency.h"

#include <gtest/gtest.h>

namespace dormouse::http {
namespace {

const Sha256Digest kScope = Sha256("scope");
const Sha256Digest kOne = Sha256("one");
const Sha256Digest kTwo = Sha256("two");

TEST(RequestsInProgress, RefusesWhileTheFirstGoesOn) {
  const auto requests = std::make_shared<RequestsInProgress>();
  auto ticket = requests->Begin(kScope, kOne);
  ASSERT_TRUE(ticket.ok());
  EXPECT_EQ(requests->Begin(kScope, kOne).error().code, ErrorCode::kIdempotencyRequestInProgress);
  EXPECT_EQ(requests->Begin(kScope, kTwo).error().code, ErrorCode::kIdempotencyKeyReused);
  EXPECT_TRUE(requests->Begin(Sha256("other"), kOne).ok());
}

TEST(RequestsInProgress, AReleasedTicketMakesRoomOnce) {
  const auto requests = std::make_shared<RequestsInProgress>();
  auto first = requests->Begin(kScope, kOne);
  ASSERT_TRUE(first.ok());
  (*first)->Release();
  const auto second = requests->Begin(kScope, kTwo);
  ASSERT_TRUE(second.ok());
  // The end of the first ticket must not release the second.
  (*first)->Release();
  first = Error();
  EXPECT_FALSE(requests->Begin(kScope, kTwo).ok());
}

TEST(RequestsInProgress, ADroppedTicketIsReleased) {
  const auto requests = std::make_shared<RequestsInProgress>();
  ASSERT_TRUE(requests->Begin(kScope, kOne).ok());
  EXPECT_TRUE(requests->Begin(kScope, kTwo).ok());
}

TEST(Replay, GivesTheSameAnswerToTheSameRequestOnly) {
  const auto requests = std::make_shared<RequestsInProgress>();
  const auto ticket = requests->Begin(kScope, kOne);
  Response response = JsonResponse(201, "{}");
  const service::StoredAnswer stored = (*ticket)->AnswerOf(response);
  const auto again = Replay(stored, kOne);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->status, 201);
  EXPECT_EQ(std::get<std::string>(again->body), "{}");
  EXPECT_EQ(again->headers.back().first, "idempotency-replayed");
  EXPECT_EQ(Replay(stored, kTwo).error().code, ErrorCode::kIdempotencyKeyReused);
}

TEST(Replay, SaysWhichRunItWasWhenTheAnswerWasTooLarge) {
  service::StoredAnswer stored;
  stored.fingerprint = kOne;
  stored.body_kept = false;
  stored.headers = {{"x-dormouse-run-id", "run_1"}};
  const auto again = Replay(stored, kOne);
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().code, ErrorCode::kConflict);
  EXPECT_EQ(again.error().details.front().second, "run_1");
}

TEST(ScopeOf, EveryPartCounts) {
  const Sha256Digest scope = ScopeOf("key", "POST", "/v1/a/{id}", {"1"}, "k");
  EXPECT_EQ(scope, ScopeOf("key", "POST", "/v1/a/{id}", {"1"}, "k"));
  EXPECT_NE(scope, ScopeOf("kex", "POST", "/v1/a/{id}", {"1"}, "k"));
  EXPECT_NE(scope, ScopeOf("key", "PUT", "/v1/a/{id}", {"1"}, "k"));
  EXPECT_NE(scope, ScopeOf("key", "POST", "/v1/b/{id}", {"1"}, "k"));
  EXPECT_NE(scope, ScopeOf("key", "POST", "/v1/a/{id}", {"2"}, "k"));
  EXPECT_NE(scope, ScopeOf("key", "POST", "/v1/a/{id}", {"1"}, "l"));
}

}  // namespace
}  // namespace dormouse::http
