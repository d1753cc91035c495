// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "store/store.h"
#include "store/testing.h"

namespace dormouse::store {
namespace {

using testing::Await;
using testing::TemporaryDirectory;

class WorkspaceRunRows : public ::testing::Test {
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
  void Commit(Transaction transaction) {
    const auto done = Await(store_->Commit(std::move(transaction)));
    ASSERT_TRUE(done.ok()) << done.error().message;
  }
  static WorkspaceRunRow Row(const std::string& id, std::int64_t created_ms = 1) {
    WorkspaceRunRow row;
    row.id = id;
    row.project_id = "prj";
    row.status = "awaiting_archive";
    row.command = "python a.py";
    row.created_ms = created_ms;
    return row;
  }
  static ContentRow Content(const std::string& bytes) {
    return ContentRow{Sha256(bytes), bytes.size(), bytes, ""};
  }
  std::size_t Sweep() {
    const auto swept = Await(store_->SweepContents(100));
    EXPECT_TRUE(swept.ok());
    return swept.ok() ? *swept : 0;
  }

  TemporaryDirectory directory_;
  std::unique_ptr<Store> store_;
};

TEST_F(WorkspaceRunRows, ComeBackAsTheyWere) {
  WorkspaceRunRow row = Row("wsr_1");
  row.metadata = {{"a", "b"}};
  row.source_metadata = "{\"x\":1}";
  row.artifacts = {{"out", "name"}, {"b", ""}};
  row.timeout_ms = 5;
  row.started_ms = 6;
  row.exit_code = 3;
  row.failure_reason = "command_exit";
  row.artifact_ids = {"art_1", "art_2"};
  row.artifact_errors = {{"p", "c", "m \"quoted\" \u00e4"}};
  row.last_seq = 9;
  row.keep_sandbox = true;
  Transaction transaction;
  transaction.workspace_runs.push_back(row);
  Commit(std::move(transaction));
  Open();
  const auto read = store_->ReadWorkspaceRun("wsr_1");
  ASSERT_TRUE(read.ok() && *read);
  const WorkspaceRunRow& found = **read;
  EXPECT_EQ(found.metadata, row.metadata);
  EXPECT_EQ(found.source_metadata, row.source_metadata);
  ASSERT_EQ(found.artifacts.size(), 2u);
  EXPECT_EQ(found.artifacts[0].name, "name");
  EXPECT_EQ(found.timeout_ms, 5);
  EXPECT_EQ(found.started_ms, 6);
  EXPECT_FALSE(found.finished_ms);
  EXPECT_EQ(found.exit_code, 3);
  EXPECT_EQ(found.artifact_ids, row.artifact_ids);
  EXPECT_EQ(found.artifact_errors[0].message, row.artifact_errors[0].message);
  EXPECT_EQ(found.last_seq, 9);
  EXPECT_TRUE(found.keep_sandbox);
  EXPECT_FALSE(found.archive);
  const auto active = store_->ReadActiveWorkspaceRuns();
  ASSERT_TRUE(active.ok());
  EXPECT_EQ(active->size(), 1u);
}

TEST_F(WorkspaceRunRows, KeepTheirArchiveAndNoLonger) {
  WorkspaceRunRow row = Row("wsr_1");
  row.archive = ArchiveInfo{Sha256("archive"), 7, 1};
  row.archive_stored = true;
  Transaction transaction;
  transaction.contents.push_back(Content("archive"));
  transaction.workspace_runs.push_back(row);
  Commit(std::move(transaction));
  EXPECT_EQ(Sweep(), 0u);
  // The same again counts once.
  transaction = Transaction();
  transaction.workspace_runs.push_back(row);
  Commit(std::move(transaction));
  row.archive_stored = false;
  transaction = Transaction();
  transaction.workspace_runs.push_back(row);
  Commit(std::move(transaction));
  EXPECT_EQ(Sweep(), 1u);
  const auto read = store_->ReadWorkspaceRun("wsr_1");
  ASSERT_TRUE(read.ok() && *read && (*read)->archive);
  EXPECT_EQ((*read)->archive->digest, Sha256("archive"));
}

TEST_F(WorkspaceRunRows, AnArchiveThatIsNotStoredFailsTheTransaction) {
  WorkspaceRunRow row = Row("wsr_1");
  row.archive = ArchiveInfo{Sha256("none"), 4, 1};
  row.archive_stored = true;
  Transaction transaction;
  transaction.workspace_runs.push_back(row);
  const auto done = Await(store_->Commit(std::move(transaction)));
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().code, ErrorCode::kConflict);
  EXPECT_FALSE(store_->ReadWorkspaceRun("wsr_1")->has_value());
}

TEST_F(WorkspaceRunRows, UploadsKeepTheirContentWhileTheyAreUploaded) {
  WorkspaceUploadRow upload{"upl_1", "wsr_1", "pending", Sha256("bytes"), 5, 1, 100};
  Transaction transaction;
  transaction.workspace_uploads.push_back(upload);
  Commit(std::move(transaction));
  upload.status = "uploaded";
  transaction = Transaction();
  transaction.contents.push_back(Content("bytes"));
  transaction.workspace_uploads.push_back(upload);
  Commit(std::move(transaction));
  EXPECT_EQ(Sweep(), 0u);
  EXPECT_EQ(store_->ReadExpiredWorkspaceUploads(99, 10)->size(), 0u);
  EXPECT_EQ(store_->ReadExpiredWorkspaceUploads(100, 10)->size(), 1u);
  upload.status = "expired";
  transaction = Transaction();
  transaction.workspace_uploads.push_back(upload);
  Commit(std::move(transaction));
  EXPECT_EQ(Sweep(), 1u);
  EXPECT_EQ(store_->ReadExpiredWorkspaceUploads(100, 10)->size(), 0u);
  EXPECT_EQ(store_->ReadWorkspaceUploads("wsr_1")->size(), 1u);
}

TEST_F(WorkspaceRunRows, ADroppedRunTakesEverythingAlong) {
  WorkspaceRunRow row = Row("wsr_1");
  row.archive = ArchiveInfo{Sha256("archive"), 7, 1};
  row.archive_stored = true;
  row.finished_ms = 50;
  Transaction transaction;
  transaction.contents = {Content("archive"), Content("bytes")};
  transaction.workspace_runs.push_back(row);
  transaction.workspace_run_events.push_back({"wsr_1", 1, "status", 1, "x", "", "", 0});
  transaction.workspace_uploads.push_back({"upl_1", "wsr_1", "uploaded", Sha256("bytes"), 5, 1, 100});
  Commit(std::move(transaction));
  EXPECT_TRUE(store_->ReadOldWorkspaceRuns(50, 10)->empty());
  ASSERT_EQ(*store_->ReadOldWorkspaceRuns(51, 10), std::vector<std::string>{"wsr_1"});
  transaction = Transaction();
  transaction.dropped_workspace_runs.push_back("wsr_1");
  Commit(std::move(transaction));
  EXPECT_FALSE(store_->ReadWorkspaceRun("wsr_1")->has_value());
  EXPECT_TRUE(store_->ReadWorkspaceRunEvents("wsr_1", 0, 10)->empty());
  EXPECT_FALSE(store_->ReadWorkspaceUpload("upl_1")->has_value());
  EXPECT_EQ(Sweep(), 2u);
}

TEST_F(WorkspaceRunRows, ListsAreFilteredAndPaged) {
  Transaction transaction;
  for (int i = 1; i <= 4; ++i) {
    WorkspaceRunRow row = Row("wsr_" + std::to_string(i), i / 2);
    row.status = i == 3 ? "failed" : "running";
    row.metadata = {{"n", std::to_string(i % 2)}};
    transaction.workspace_runs.push_back(row);
  }
  Commit(std::move(transaction));
  WorkspaceRunQuery query;
  query.limit = 3;
  auto page = store_->ReadWorkspaceRuns(query);
  ASSERT_TRUE(page.ok());
  ASSERT_EQ(page->size(), 3u);
  EXPECT_EQ((*page)[0].id, "wsr_4");
  query.after = {{(*page)[2].created_ms, (*page)[2].id}};
  EXPECT_EQ(store_->ReadWorkspaceRuns(query)->size(), 1u);
  query = {};
  query.status = "failed";
  EXPECT_EQ(store_->ReadWorkspaceRuns(query)->size(), 1u);
  query.status.clear();
  query.metadata = {{"n", "1"}};
  EXPECT_EQ(store_->ReadWorkspaceRuns(query)->size(), 2u);
  query.project_id = "other";
  EXPECT_TRUE(store_->ReadWorkspaceRuns(query)->empty());
  EXPECT_EQ(store_->ReadForgottenWorkspaceRuns(2, 10)->size(), 3u);
}

}  // namespace
}  // namespace dormouse::store
