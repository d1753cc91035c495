// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <unistd.h>

#include "store/store.h"
#include "store/testing.h"

namespace dormouse::store {
namespace {

using testing::Await;

class ArtifactStoreTest : public ::testing::Test {
 protected:
  void SetUp() override { Open(); }
  void Open() {
    store_.reset();
    StoreOptions options;
    options.directory = directory_.path();
    auto store = OpenSqliteStore(std::move(options));
    ASSERT_TRUE(store.ok()) << store.error().message;
    store_ = std::move(*store);
  }

  ArtifactRow Row(const std::string& id, const std::string& bytes, std::int64_t created_ms = 1) {
    ArtifactRow row;
    row.id = id;
    row.org_id = "org";
    row.project_id = "prj";
    row.sandbox_id = "sbx_1";
    row.run_id = "run_1";
    row.name = id + ".txt";
    row.content_type = "text/plain";
    row.digest = Sha256(bytes);
    row.size_bytes = bytes.size();
    row.created_ms = created_ms;
    return row;
  }
  Result<void> Add(ArtifactRow row, const std::string& bytes) {
    Transaction transaction;
    transaction.contents.push_back({Sha256(bytes), bytes.size(), bytes, ""});
    transaction.artifacts.push_back(std::move(row));
    return Await(store_->Commit(std::move(transaction)));
  }
  Result<void> Delete(const std::string& id, std::int64_t at_ms) {
    Transaction transaction;
    transaction.deleted_artifacts.push_back({id, at_ms});
    return Await(store_->Commit(std::move(transaction)));
  }
  std::vector<std::string> Ids(ArtifactQuery query) {
    query.sandbox_id = "sbx_1";
    std::vector<std::string> ids;
    const auto rows = store_->ReadArtifacts(query);
    EXPECT_TRUE(rows.ok());
    for (const ArtifactRow& row : *rows) ids.push_back(row.id);
    return ids;
  }
  std::size_t Swept() { return *Await(store_->SweepContents(100)); }

  testing::TemporaryDirectory directory_;
  std::unique_ptr<Store> store_;
};

TEST_F(ArtifactStoreTest, RowsSurviveAReopenWithAllTheyHave) {
  ArtifactRow row = Row("art_1", "bytes");
  row.active_content = true;
  row.source_path = "/workspace/a";
  row.expires_ms = 77;
  ASSERT_TRUE(Add(row, "bytes").ok());
  Open();
  const auto found = store_->ReadArtifact("art_1");
  ASSERT_TRUE(found.ok() && *found);
  EXPECT_EQ((*found)->name, "art_1.txt");
  EXPECT_EQ((*found)->run_id, "run_1");
  EXPECT_EQ((*found)->content_type, "text/plain");
  EXPECT_TRUE((*found)->active_content);
  EXPECT_EQ((*found)->digest, Sha256("bytes"));
  EXPECT_EQ((*found)->size_bytes, 5u);
  EXPECT_EQ((*found)->source_path, "/workspace/a");
  EXPECT_EQ((*found)->expires_ms, 77);
  EXPECT_FALSE((*found)->deleted_ms);
  EXPECT_FALSE(*store_->ReadArtifact("art_2"));
}

TEST_F(ArtifactStoreTest, AContentLivesAsLongAsOneArtifactNamesIt) {
  ASSERT_TRUE(Add(Row("art_1", "same"), "same").ok());
  ASSERT_TRUE(Add(Row("art_2", "same"), "same").ok());
  EXPECT_EQ(store_->ReadTotals()->contents, 1u);
  EXPECT_EQ(store_->ReadTotals()->artifacts, 2u);
  EXPECT_EQ(store_->ReadTotals()->artifact_bytes, 8u);
  ASSERT_TRUE(Delete("art_1", 5).ok());
  EXPECT_EQ(Swept(), 0u);
  ASSERT_TRUE(Delete("art_1", 6).ok()) << "again";
  EXPECT_EQ((*store_->ReadArtifact("art_1"))->deleted_ms, 5);
  EXPECT_TRUE(store_->OpenContent(Sha256("same")).ok());
  ASSERT_TRUE(Delete("art_2", 7).ok());
  EXPECT_EQ(Swept(), 1u);
  EXPECT_FALSE(store_->OpenContent(Sha256("same")).ok());
}

TEST_F(ArtifactStoreTest, OutlivesItsSandboxsData) {
  Transaction transaction;
  transaction.contents.push_back({Sha256("x"), 1, "x", ""});
  transaction.trees.push_back({"sbx_1", {}, {TreeEntry{.path = "f", .digest = Sha256("x"), .size_bytes = 1}}});
  transaction.artifacts.push_back(Row("art_1", "x"));
  ASSERT_TRUE(Await(store_->Commit(std::move(transaction))).ok());
  Transaction drop;
  drop.dropped_sandbox_data.push_back("sbx_1");
  ASSERT_TRUE(Await(store_->Commit(std::move(drop))).ok());
  EXPECT_EQ(Swept(), 0u);
  EXPECT_EQ(Ids({}), std::vector<std::string>{"art_1"});
}

TEST_F(ArtifactStoreTest, AMissingContentFailsTheWholeTransaction) {
  Transaction transaction;
  transaction.artifacts.push_back(Row("art_1", "nowhere"));
  EXPECT_EQ(Await(store_->Commit(std::move(transaction))).error().code, ErrorCode::kConflict);
  EXPECT_FALSE(*store_->ReadArtifact("art_1"));
}

TEST_F(ArtifactStoreTest, ListsPagesAndTombstones) {
  for (int i = 1; i <= 5; ++i) {
    ASSERT_TRUE(Add(Row("art_" + std::to_string(i), "x", i), "x").ok());
  }
  using Ids_ = std::vector<std::string>;
  EXPECT_EQ(Ids({.limit = 2}), (Ids_{"art_5", "art_4"}));
  EXPECT_EQ(Ids({.limit = 2, .after = {{4, "art_4"}}}), (Ids_{"art_3", "art_2"}));
  ASSERT_TRUE(Delete("art_3", 9).ok());
  EXPECT_EQ(Ids({}), (Ids_{"art_5", "art_4", "art_2", "art_1"}));
  EXPECT_EQ(Ids({.deleted = true}).size(), 5u);
  EXPECT_EQ(*store_->ReadArtifactCharge("sbx_1"), 4 * kSmallestArtifactCharge);
}

TEST_F(ArtifactStoreTest, FindsWhatIsOver) {
  ArtifactRow early = Row("art_1", "x"), late = Row("art_2", "x");
  early.expires_ms = 10;
  late.expires_ms = 20;
  ASSERT_TRUE(Add(early, "x").ok());
  ASSERT_TRUE(Add(late, "x").ok());
  ASSERT_EQ(store_->ReadExpiredArtifacts(15, 10)->size(), 1u);
  EXPECT_EQ(Ids({.now_ms = 15}), std::vector<std::string>{"art_2"});
  ASSERT_TRUE(Delete("art_1", 10).ok());
  EXPECT_TRUE(store_->ReadExpiredArtifacts(15, 10)->empty());
  EXPECT_TRUE(store_->ReadOldTombstones(10, 10)->empty());
  EXPECT_EQ(*store_->ReadOldTombstones(11, 10), std::vector<std::string>{"art_1"});
  Transaction drop;
  drop.dropped_artifacts = {"art_1", "art_2"};
  ASSERT_TRUE(Await(store_->Commit(std::move(drop))).ok());
  EXPECT_FALSE(*store_->ReadArtifact("art_1"));
  EXPECT_TRUE(*store_->ReadArtifact("art_2")) << "it is no tombstone";
}

}  // namespace
}  // namespace dormouse::store
