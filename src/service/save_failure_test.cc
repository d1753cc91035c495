// SPDX-License-Identifier: Apache-2.0
// Runs whose commit the store refuses.
#include <sqlite3.h>

#include "service/service_fixture.h"
#include "store/store.h"

namespace dormouse::service {
namespace {

using scheduler::RunStatus;
using scheduler::StateOutcome;

class SaveFailureTest : public testing::ServiceTest {
 protected:
  // Runs `sql` on a connection of its own, as a stranger to the server.
  void Execute(const char* sql) {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open((config.data_directory / "dormouse.db").c_str(), &database), SQLITE_OK);
    sqlite3_busy_timeout(database, 10'000);
    char* message = nullptr;
    EXPECT_EQ(sqlite3_exec(database, sql, nullptr, nullptr, &message), SQLITE_OK) << message;
    sqlite3_close(database);
  }
  void BreakStore() {
    Execute("CREATE TRIGGER broken BEFORE INSERT ON generations BEGIN SELECT RAISE(ABORT, 'disk on fire'); END");
  }
  void RepairStore() { Execute("DROP TRIGGER broken"); }
};

TEST_F(SaveFailureTest, ResultIsDeliveredAndTheNextCommitBringsAll) {
  const std::string sandbox = NewSandbox();
  const std::string context = NewContext(sandbox);
  Run(sandbox, context, "set x 1");
  BreakStore();
  for (int i = 0; i < 3; ++i) {
    const RunResult result = Run(sandbox, context, "set x 2\nprint out\nwrite f" + std::to_string(i) + " text");
    EXPECT_EQ(result.status, RunStatus::kOk);
    EXPECT_EQ(result.state, StateOutcome::kKept);
    EXPECT_EQ(result.out.text, "out");
    EXPECT_TRUE(result.stale);
    EXPECT_NE(result.stale_reason.find("disk on fire"), std::string::npos);
    EXPECT_EQ(result.generation, 1u);
    EXPECT_TRUE(result.files_written.empty());
  }
  EXPECT_EQ(Await(service().ListFiles(sandbox, "."))->size(), 0u);
  RepairStore();
  const RunResult saved = Run(sandbox, context, "get x");
  EXPECT_EQ(saved.out.text, "2");
  EXPECT_FALSE(saved.stale);
  EXPECT_EQ(saved.execution_count, 5u);
  EXPECT_EQ(saved.files_written.size(), 3u);
  Close();
  EXPECT_EQ(Run(sandbox, context, "get x\ncat f2").out.text, "2text");
}

TEST_F(SaveFailureTest, RestartGoesBackToTheSavedStateFilesAndAll) {
  const std::string sandbox = NewSandbox();
  const std::string context = NewContext(sandbox);
  Run(sandbox, context, "set x 1\nwrite f old");
  BreakStore();
  Run(sandbox, context, "set x 2\nwrite f new");
  Close();
  RepairStore();
  EXPECT_TRUE(GetContext(sandbox, context).snapshot->stale);
  const RunResult after = Run(sandbox, context, "get x\ncat f");
  EXPECT_EQ(after.out.text, "1old");
  EXPECT_EQ(after.execution_count, 3u);
  EXPECT_TRUE(after.state_lost);
  EXPECT_FALSE(Run(sandbox, context, "get x").state_lost);
  EXPECT_FALSE(GetContext(sandbox, context).snapshot->stale);
}

TEST_F(SaveFailureTest, CrashSaysThatUnsavedRunsAreGoneToo) {
  const std::string sandbox = NewSandbox();
  const std::string context = NewContext(sandbox);
  Run(sandbox, context, "set x 1");
  EXPECT_FALSE(Run(sandbox, context, "set x 5\ncrash").state_lost);
  BreakStore();
  EXPECT_FALSE(Run(sandbox, context, "set x 2").state_lost);
  const RunResult crashed = Run(sandbox, context, "set x 3\ncrash");
  EXPECT_EQ(crashed.state, StateOutcome::kRolledBack);
  EXPECT_TRUE(crashed.state_lost);
  RepairStore();
  const RunResult after = Run(sandbox, context, "get x");
  EXPECT_EQ(after.out.text, "1");
  EXPECT_FALSE(after.state_lost);
}

TEST_F(SaveFailureTest, FailedForkRollbackAndDeletionChangeNothing) {
  const std::string sandbox = NewSandbox();
  const std::string context = NewContext(sandbox);
  Run(sandbox, context, "set x 1");
  Run(sandbox, context, "set x 2");
  BreakStore();
  EXPECT_FALSE(Await(service().ForkContext(sandbox, context, "", 1, nullptr)).ok());
  EXPECT_FALSE(Await(service().RollbackContext(sandbox, context, 1)).ok());
  Execute("CREATE TRIGGER broken2 BEFORE DELETE ON contexts BEGIN SELECT RAISE(ABORT, 'x'); END");
  EXPECT_FALSE(Await(service().DeleteContext(sandbox, context)).ok());
  EXPECT_FALSE(Await(service().DestroySandbox(sandbox)).ok());
  RepairStore();
  Execute("DROP TRIGGER broken2");
  EXPECT_EQ(Await(service().ListContexts(sandbox, Page{}))->items.size(), 1u);
  EXPECT_EQ(Run(sandbox, context, "get x").out.text, "2");
  EXPECT_TRUE(Await(service().DestroySandbox(sandbox)).ok());
}

TEST_F(SaveFailureTest, DamagedSegmentIsReportedAndAnEarlierOneServes) {
  const std::string sandbox = NewSandbox();
  const std::string context = NewContext(sandbox);
  Run(sandbox, context, "set x 1");
  Run(sandbox, context, "set x 2");
  Evict(sandbox, context);
  Execute("UPDATE segment_bytes SET bytes = zeroblob(length(bytes)) WHERE id = (SELECT max(id) FROM segment_bytes)");
  const auto damaged = Try(sandbox, context, "get x");
  ASSERT_FALSE(damaged.ok());
  EXPECT_EQ(damaged.error().code, ErrorCode::kCorrupt);
  ASSERT_TRUE(Await(service().RollbackContext(sandbox, context, 1)).ok());
  EXPECT_EQ(Run(sandbox, context, "get x").out.text, "1");
}

TEST_F(SaveFailureTest, MissingSegmentFileIsReportedWithoutPathsOfTheHost) {
  const std::string sandbox = NewSandbox();
  const std::string context = NewContext(sandbox);
  Run(sandbox, context, "set x " + std::string(store::kInlineSegmentBytes + 1, 'a'));
  Evict(sandbox, context);
  std::filesystem::remove_all(config.data_directory / "segments");
  const auto missing = Try(sandbox, context, "get x");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, ErrorCode::kCorrupt);
  EXPECT_NE(missing.error().message.find("roll back to an earlier generation"), std::string::npos);
  EXPECT_EQ(missing.error().message.find(config.data_directory.string()), std::string::npos);
}

}  // namespace
}  // namespace dormouse::service
