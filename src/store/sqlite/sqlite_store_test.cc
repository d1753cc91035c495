// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "store/sqlite/database.h"
#include "store/sqlite/schema.h"
#include "store/store.h"
#include "store/testing.h"

namespace dormouse::store {
namespace {

namespace fs = std::filesystem;
using testing::Await;
using testing::TemporaryDirectory;

StoreOptions Options(const TemporaryDirectory& directory,
                     StoreOptions::Sync sync = StoreOptions::Sync::kProcess) {
  StoreOptions options;
  options.directory = directory.path();
  options.sync = sync;
  return options;
}

std::unique_ptr<Store> Open(StoreOptions options) {
  auto store = OpenSqliteStore(std::move(options));
  if (!store.ok()) {
    ADD_FAILURE() << store.error().message;
    return nullptr;
  }
  return std::move(*store);
}

SandboxRow MakeSandbox(const std::string& id, std::int64_t created_ms = 1) {
  SandboxRow row;
  row.id = id;
  row.org_id = "org";
  row.project_id = "prj";
  row.template_slug = "base";
  row.created_ms = created_ms;
  return row;
}

ContextRow MakeContext(const std::string& id, const std::string& sandbox = "sbx_1") {
  ContextRow row;
  row.id = id;
  row.sandbox_id = sandbox;
  row.binding = "PYTHON";
  row.language = "python";
  row.cwd = "/workspace";
  return row;
}

// Writes `bytes` to a placed file.
PlacedFile Place(Store& store, DataFileKind kind, const std::string& bytes) {
  auto file = store.files().CreateTemporary();
  EXPECT_TRUE(file.ok());
  EXPECT_EQ(::write(file->get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  auto placed = store.files().Place(kind, std::move(*file));
  EXPECT_TRUE(placed.ok());
  return std::move(*placed);
}

SegmentRow InlineSegment(std::int64_t id, const std::string& bytes) {
  return SegmentRow{id, bytes.size(), 7, bytes, ""};
}

// A transaction that adds generation `number` over `earlier` and one new inline segment.
Transaction GenerationOver(Store& store, const std::string& context, std::uint64_t number,
                           std::vector<SegmentRef> earlier, const std::string& bytes,
                           std::vector<SegmentRef>* refs = nullptr) {
  Transaction transaction;
  ContextRow row = MakeContext(context);
  row.generation = number;
  row.executions = number;
  transaction.contexts.push_back(row);
  SegmentRow segment = InlineSegment(store.NextSegmentId(), bytes);
  GenerationRow generation;
  generation.number = number;
  generation.engine_build = "build";
  generation.segments = std::move(earlier);
  generation.segments.push_back({segment.id, segment.size_bytes});
  if (refs != nullptr) *refs = generation.segments;
  transaction.segments.push_back(std::move(segment));
  transaction.generations.emplace_back(context, std::move(generation));
  return transaction;
}

TreeEntry FileEntry(const std::string& path, const std::string& bytes) {
  TreeEntry entry;
  entry.path = path;
  entry.digest = Sha256(bytes);
  entry.size_bytes = bytes.size();
  return entry;
}

Transaction WriteFile(const std::string& sandbox, const std::string& path, const std::string& bytes) {
  Transaction transaction;
  transaction.contents.push_back({Sha256(bytes), bytes.size(), bytes, ""});
  transaction.trees.push_back({sandbox, {}, {FileEntry(path, bytes)}});
  return transaction;
}

std::size_t CountFiles(const fs::path& folder) {
  std::size_t count = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) count += entry.is_regular_file();
  return count;
}

TEST(SqliteStore, WhatWasCommittedIsThereAfterReopening) {
  TemporaryDirectory directory;
  {
    auto store = Open(Options(directory));
    Transaction transaction;
    SandboxRow sandbox = MakeSandbox("sbx_1");
    sandbox.metadata = {{"user", "a \"quoted\" name"}, {"ünïcode", "✓"}};
    sandbox.expires_ms = 99;
    transaction.sandboxes.push_back(sandbox);
    ContextRow context = MakeContext("cctx_1");
    context.env = {{"KEY", "value"}};
    context.name = "main";
    transaction.contexts.push_back(context);
    ASSERT_TRUE(Await(store->Commit(std::move(transaction))).ok());
  }
  auto store = Open(Options(directory));
  const auto sandbox = store->ReadSandbox("sbx_1");
  ASSERT_TRUE(sandbox.ok() && *sandbox);
  EXPECT_EQ((*sandbox)->metadata.at("ünïcode"), "✓");
  EXPECT_EQ((*sandbox)->expires_ms, 99);
  const auto contexts = store->ReadContexts("sbx_1");
  ASSERT_TRUE(contexts.ok());
  ASSERT_EQ(contexts->size(), 1u);
  EXPECT_EQ(contexts->front().env.at("KEY"), "value");
  EXPECT_FALSE(contexts->front().reseed);
}

TEST(SqliteStore, SecondServerOnOneDirectoryIsRefused) {
  TemporaryDirectory directory;
  auto store = Open(Options(directory));
  const auto second = OpenSqliteStore(Options(directory));
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, ErrorCode::kConflict);
  EXPECT_NE(second.error().message.find(std::to_string(::getpid())), std::string::npos);
}

TEST(SqliteStore, NewerSchemaIsRefused) {
  TemporaryDirectory directory;
  { auto store = Open(Options(directory)); }
  sqlite3* raw = nullptr;
  ASSERT_EQ(sqlite3_open((directory.path() / "dormouse.db").c_str(), &raw), SQLITE_OK);
  sqlite3_exec(raw, "PRAGMA user_version = 999", nullptr, nullptr, nullptr);
  sqlite3_close(raw);
  const auto store = OpenSqliteStore(Options(directory));
  ASSERT_FALSE(store.ok());
  EXPECT_EQ(store.error().code, ErrorCode::kConflict);
}

TEST(SqliteStore, FailedTransactionLeavesNothing) {
  TemporaryDirectory directory;
  auto store = Open(Options(directory));
  Transaction transaction;
  transaction.sandboxes.push_back(MakeSandbox("sbx_1"));
  GenerationRow generation;
  generation.number = 1;
  generation.segments = {{12345, 10}};  // not there
  transaction.generations.emplace_back("cctx_1", generation);
  transaction.files.push_back(Place(*store, DataFileKind::kSegment, "bytes"));
  const auto committed = Await(store->Commit(std::move(transaction)));
  ASSERT_FALSE(committed.ok());
  EXPECT_EQ(committed.error().code, ErrorCode::kConflict);
  EXPECT_FALSE(store->ReadSandbox("sbx_1")->has_value());
  EXPECT_EQ(CountFiles(directory.path() / "segments"), 0u);
}

TEST(SqliteStore, FailureInABatchDoesNotTouchItsNeighbours) {
  TemporaryDirectory directory;
  auto store = Open(Options(directory));
  std::atomic<int> good{0}, bad{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) {
        Transaction transaction;
        transaction.sandboxes.push_back(
            MakeSandbox("sbx_" + std::to_string(t) + "_" + std::to_string(i)));
        if (i % 2 == 1) {
          transaction.trees.push_back({"sbx_x", {}, {FileEntry("f", "never stored")}});
        }
        (Await(store->Commit(std::move(transaction))).ok() ? good : bad)++;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 80);
  EXPECT_EQ(bad, 80);
  SandboxQuery query;
  query.limit = 500;
  EXPECT_EQ(store->ReadSandboxes(query)->size(), 80u);
}

TEST(SqliteStore, SegmentsLiveAsLongAsAGenerationListsThem) {
  TemporaryDirectory directory;
  auto store = Open(Options(directory));
  std::vector<SegmentRef> refs;
  ASSERT_TRUE(Await(store->Commit(GenerationOver(*store, "cctx_1", 1, {}, "base", &refs))).ok());
  ASSERT_TRUE(Await(store->Commit(GenerationOver(*store, "cctx_1", 2, refs, "delta", &refs))).ok());
  // A fork shares both.
  Transaction fork;
  fork.contexts.push_back(MakeContext("cctx_2"));
  fork.generations.emplace_back("cctx_2", store->ReadGenerations("cctx_1")->back());
  ASSERT_TRUE(Await(store->Commit(std::move(fork))).ok());
  Transaction drop;
  drop.dropped_contexts.push_back("cctx_1");
  ASSERT_TRUE(Await(store->Commit(std::move(drop))).ok());
  const auto loaded = store->ReadSegments(refs);
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_EQ((*loaded)[0].bytes + (*loaded)[1].bytes, "basedelta");
  Transaction drop_fork;
  drop_fork.dropped_contexts.push_back("cctx_2");
  ASSERT_TRUE(Await(store->Commit(std::move(drop_fork))).ok());
  EXPECT_EQ(store->ReadSegments(refs).error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(store->ReadTotals()->segments, 0u);
}

TEST(SqliteStore, FileOfADroppedSegmentIsRemoved) {
  TemporaryDirectory directory;
  {
    auto store = Open(Options(directory));
    Transaction transaction;
    SegmentRow segment{store->NextSegmentId(), 5, 7, "", ""};
    transaction.files.push_back(Place(*store, DataFileKind::kSegment, "bytes"));
    segment.file = transaction.files.back().name();
    GenerationRow generation;
    generation.number = 1;
    generation.segments = {{segment.id, 5}};
    transaction.segments.push_back(segment);
    transaction.contexts.push_back(MakeContext("cctx_1"));
    transaction.generations.emplace_back("cctx_1", generation);
    ASSERT_TRUE(Await(store->Commit(std::move(transaction))).ok());
    EXPECT_EQ(CountFiles(directory.path() / "segments"), 1u);
    EXPECT_TRUE((*store->ReadSegments(generation.segments))[0].file.valid());
    Transaction drop;
    drop.dropped_generations.emplace_back("cctx_1", 1);
    ASSERT_TRUE(Await(store->Commit(std::move(drop))).ok());
  }
  EXPECT_EQ(CountFiles(directory.path() / "segments"), 0u);
}

TEST(SqliteStore, ContentIsSweptOnlyWithoutTreeAndPin) {
  TemporaryDirectory directory;
  auto store = Open(Options(directory));
  ASSERT_TRUE(Await(store->Commit(WriteFile("sbx_1", "a", "hello"))).ok());
  EXPECT_EQ(*Await(store->SweepContents(10)), 0u);
  Transaction remove;
  remove.trees.push_back({"sbx_1", {"a"}, {}});
  ContentPins::Acquired pin = store->pins().Acquire(Sha256("hello"));
  ASSERT_TRUE(Await(store->Commit(std::move(remove))).ok());
  EXPECT_EQ(*Await(store->SweepContents(10)), 0u);
  EXPECT_TRUE(store->OpenContent(Sha256("hello")).ok());
  pin.pin.reset();
  EXPECT_EQ(*Await(store->SweepContents(10)), 1u);
  EXPECT_EQ(store->OpenContent(Sha256("hello")).error().code, ErrorCode::kNotFound);
  // And can be stored again.
  ASSERT_TRUE(Await(store->Commit(WriteFile("sbx_1", "a", "hello"))).ok());
  EXPECT_TRUE(store->OpenContent(Sha256("hello")).ok());
}

TEST(SqliteStore, InlineContentCannotBeChangedByItsReader) {
  TemporaryDirectory directory;
  auto store = Open(Options(directory));
  ASSERT_TRUE(Await(store->Commit(WriteFile("sbx_1", "a", "hello"))).ok());
  const auto opened = store->OpenContent(Sha256("hello"));
  ASSERT_TRUE(opened.ok());
  EXPECT_LT(::pwrite(opened->get(), "x", 1, 0), 0);
  char text[6] = {};
  EXPECT_EQ(::pread(opened->get(), text, 5, 0), 5);
  EXPECT_STREQ(text, "hello");
}

TEST(SqliteStore, SandboxesAreListedNewestFirstInPages) {
  TemporaryDirectory directory;
  auto store = Open(Options(directory));
  for (int i = 0; i < 5; ++i) {
    Transaction transaction;
    // Two of each age, so that the id decides.
    SandboxRow row = MakeSandbox("sbx_" + std::to_string(i), i / 2);
    if (i == 3) row.destroyed_ms = 1;
    if (i % 2 == 0) row.metadata = {{"even", "yes"}, {"n", std::to_string(i)}};
    transaction.sandboxes.push_back(row);
    ASSERT_TRUE(Await(store->Commit(std::move(transaction))).ok());
  }
  SandboxQuery query;
  query.limit = 2;
  std::string seen;
  while (true) {
    const auto rows = store->ReadSandboxes(query);
    ASSERT_TRUE(rows.ok()) << rows.error().message;
    if (rows->empty()) break;
    for (const SandboxRow& row : *rows) seen += row.id.back();
    query.after = {{rows->back().created_ms, rows->back().id}};
  }
  EXPECT_EQ(seen, "4210");
  SandboxQuery filtered;
  filtered.destroyed = true;
  filtered.metadata = {{"even", "yes"}};
  EXPECT_EQ(store->ReadSandboxes(filtered)->size(), 3u);
  filtered.metadata["n"] = "2";
  EXPECT_EQ(store->ReadSandboxes(filtered)->size(), 1u);
  filtered.metadata["n"] = "3";
  EXPECT_EQ(store->ReadSandboxes(filtered)->size(), 0u);
}

TEST(SqliteStore, KeysAndSandboxesOfTheFirstVersionAreTakenOver) {
  TemporaryDirectory directory;
  {
    auto database =
        sqlite::Database::Open(directory.path() / "dormouse.db", sqlite::Database::Mode::kReadWrite);
    ASSERT_TRUE(database.ok());
    ASSERT_TRUE(sqlite::Migrate(**database, 1).ok());
    const std::string digest(64, '0');
    const std::string rows =
        "INSERT INTO api_keys VALUES('key_1', 'admin', 'lookup', x'" + digest + "', 'abcd', 5, NULL);"
        "INSERT INTO sandboxes VALUES('sbx_1', 'org_default', 'prj_default', 'base', 0, NULL, '{}', "
        "1, 1, NULL, '');";
    ASSERT_TRUE((*database)->Execute(rows.c_str()).ok());
  }
  const auto store = Open(Options(directory));
  const auto organization = store->ReadOrganization();
  ASSERT_TRUE(organization.ok());
  EXPECT_TRUE(organization->id.starts_with("org_"));
  const auto projects = store->ReadProjects();
  ASSERT_EQ(projects->size(), 1u);
  EXPECT_EQ((*projects)[0].id, organization->default_project_id);
  EXPECT_GT((*projects)[0].created_ms, 1'600'000'000'000);
  const auto keys = store->ReadApiKeys();
  ASSERT_EQ(keys->size(), 1u);
  EXPECT_TRUE((*keys)[0].all_scopes);
  EXPECT_TRUE((*keys)[0].project_ids.empty());
  EXPECT_FALSE((*keys)[0].last_used_ms.has_value());
  const auto sandbox = store->ReadSandbox("sbx_1");
  EXPECT_EQ((*sandbox)->org_id, organization->id);
  EXPECT_EQ((*sandbox)->project_id, organization->default_project_id);
}

TEST(SqliteStore, UsageAddsUp) {
  TemporaryDirectory directory;
  const auto store = Open(Options(directory));
  Transaction transaction;
  transaction.usage = {{10, "prj", "runs", 1}, {10, "prj", "runs", 2}, {9, "prj", "runs", 5}};
  ASSERT_TRUE(Await(store->Commit(std::move(transaction))).ok());
  const auto rows = store->ReadUsage(10);
  ASSERT_EQ(rows->size(), 1u);
  EXPECT_EQ((*rows)[0].amount, 3);
  EXPECT_EQ(store->ReadUsage(0)->size(), 2u);
}

TEST(SqliteStore, UsageOfOldDaysIsDropped) {
  TemporaryDirectory directory;
  const auto store = Open(Options(directory));
  Transaction transaction;
  transaction.usage = {{8, "prj", "runs", 1}, {9, "prj", "runs", 2}, {10, "prj", "runs", 3}};
  ASSERT_TRUE(Await(store->Commit(std::move(transaction))).ok());
  transaction = {};
  transaction.dropped_usage = 9;
  ASSERT_TRUE(Await(store->Commit(std::move(transaction))).ok());
  const auto rows = store->ReadUsage(0);
  ASSERT_EQ(rows->size(), 2u);
  EXPECT_EQ((*rows)[1].day, 9);
}

TEST(SqliteStore, AnswersAreReplacedAndDropped) {
  TemporaryDirectory directory;
  const auto store = Open(Options(directory));
  AnswerRow row;
  row.scope = Sha256("scope");
  row.fingerprint = Sha256("request");
  row.status = 201;
  row.headers = {{"name", "value"}};
  row.body = std::string("a\0b", 3);
  row.completed_ms = 7;
  for (const int completed_ms : {7, 8}) {
    row.completed_ms = completed_ms;
    Transaction transaction;
    transaction.answers = {row};
    ASSERT_TRUE(Await(store->Commit(std::move(transaction))).ok());
  }
  ASSERT_EQ(store->ReadAnswerInfos()->size(), 1u);
  EXPECT_EQ((*store->ReadAnswerInfos())[0].completed_ms, 8);
  const auto read = store->ReadAnswer(row.scope);
  ASSERT_TRUE(read.ok() && *read);
  EXPECT_EQ((*read)->body, row.body);
  EXPECT_EQ((*read)->headers, row.headers);
  EXPECT_EQ((*read)->fingerprint, row.fingerprint);
  Transaction drop;
  drop.dropped_answers = {row.scope};
  ASSERT_TRUE(Await(store->Commit(std::move(drop))).ok());
  EXPECT_FALSE(store->ReadAnswer(row.scope)->has_value());
}

TEST(SqliteStore, SandboxesAreFilteredByProjects) {
  TemporaryDirectory directory;
  const auto store = Open(Options(directory));
  Transaction transaction;
  for (const char* project : {"a", "b", "c"}) {
    transaction.sandboxes.push_back(MakeSandbox(std::string("sbx_") + project));
    transaction.sandboxes.back().project_id = project;
  }
  ASSERT_TRUE(Await(store->Commit(std::move(transaction))).ok());
  SandboxQuery query;
  query.project_ids = {"a", "c", "none"};
  EXPECT_EQ(store->ReadSandboxes(query)->size(), 2u);
  query.project_id = "b";
  EXPECT_TRUE(store->ReadSandboxes(query)->empty());
}

TEST(SqliteStore, UnplacedAndOrphanedFilesAreRemovedAtTheNextStart) {
  TemporaryDirectory directory;
  {
    auto store = Open(Options(directory));
    PlacedFile placed = Place(*store, DataFileKind::kContent, "lost");
    placed.Keep();  // as if the server died before the commit
    std::ofstream(directory.path() / "tmp" / "left over") << "x";
  }
  // File times are coarse: the sweep spares what may be of this start.
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  auto store = Open(Options(directory));
  EXPECT_EQ(CountFiles(directory.path() / "tmp"), 0u);
  PlacedFile fresh = Place(*store, DataFileKind::kContent, "fresh");
  EXPECT_EQ(*store->SweepOrphanFiles(), 1u);
  EXPECT_EQ(CountFiles(directory.path() / "contents"), 1u);
}

// Crash tests: a child commits run after run and dies at the n-th step of a commit; what it was told is committed must be
// there, and what is there must be whole.
struct CrashPoint {
  const char* step;
  StoreOptions::Sync sync;
};

class CrashTest : public ::testing::TestWithParam<CrashPoint> {};

TEST_P(CrashTest, AcknowledgedGenerationsSurviveAndNothingIsHalfDone) {
  TemporaryDirectory directory;
  int pipe_ends[2];
  ASSERT_EQ(::pipe(pipe_ends), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    StoreOptions options = Options(directory, GetParam().sync);
    auto countdown = std::make_shared<std::atomic<int>>(4);
    const std::string deadly = GetParam().step;
    options.step_hook = [countdown, deadly](std::string_view step) {
      if (step == deadly && --*countdown == 0) ::_exit(42);
    };
    auto store = OpenSqliteStore(std::move(options));
    if (!store.ok()) ::_exit(1);
    std::vector<SegmentRef> refs;
    for (std::uint64_t n = 1; n <= 10; ++n) {
      Transaction transaction = GenerationOver(**store, "cctx_1", n, refs, "s" + std::to_string(n), &refs);
      // A large content and a file of the tree belong to the same generation.
      const std::string bytes(100'000, static_cast<char>('a' + n));
      PlacedFile file = Place(**store, DataFileKind::kContent, bytes);
      transaction.contents.push_back({Sha256(bytes), bytes.size(), "", file.name()});
      transaction.files.push_back(std::move(file));
      transaction.trees.push_back({"sbx_1", {}, {FileEntry("state", bytes)}});
      if (!Await((*store)->Commit(std::move(transaction))).ok()) ::_exit(2);
      const char told = static_cast<char>(n);
      if (::write(pipe_ends[1], &told, 1) != 1) ::_exit(3);
    }
    ::_exit(4);
  }
  ::close(pipe_ends[1]);
  char told = 0;
  while (::read(pipe_ends[0], &told, 1) == 1) {
  }
  ::close(pipe_ends[0]);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(WEXITSTATUS(status), 42);

  auto store = Open(Options(directory));
  const auto contexts = store->ReadContexts("sbx_1");
  ASSERT_TRUE(contexts.ok());
  ASSERT_EQ(contexts->size(), 1u);
  const std::uint64_t newest = contexts->front().generation;
  EXPECT_GE(newest, static_cast<std::uint64_t>(told));
  EXPECT_LE(newest, static_cast<std::uint64_t>(told) + 1);
  EXPECT_TRUE(contexts->front().reseed) << "a crash must mark contexts for fresh randomness";
  const auto generations = store->ReadGenerations("cctx_1");
  ASSERT_EQ(generations->size(), newest);
  const auto segments = store->ReadSegments(generations->back().segments);
  ASSERT_TRUE(segments.ok()) << segments.error().message;
  EXPECT_EQ(segments->back().bytes, "s" + std::to_string(newest));
  const auto tree = store->ReadTree("sbx_1");
  ASSERT_EQ(tree->size(), 1u);
  EXPECT_EQ(tree->front().digest, Sha256(std::string(100'000, static_cast<char>('a' + newest))));
  const auto content = store->OpenContent(tree->front().digest);
  ASSERT_TRUE(content.ok()) << content.error().message;
  EXPECT_EQ(*Sha256OfFile(content->get()), tree->front().digest);
}

INSTANTIATE_TEST_SUITE_P(
    EachStep, CrashTest,
    ::testing::Values(CrashPoint{"begin", StoreOptions::Sync::kProcess},
                      CrashPoint{"synced", StoreOptions::Sync::kPower},
                      CrashPoint{"applied", StoreOptions::Sync::kProcess},
                      CrashPoint{"applied", StoreOptions::Sync::kPower},
                      CrashPoint{"committed", StoreOptions::Sync::kProcess},
                      CrashPoint{"committed", StoreOptions::Sync::kPower},
                      CrashPoint{"acknowledged", StoreOptions::Sync::kProcess}),
    [](const auto& info) {
      return std::string(info.param.step) +
             (info.param.sync == StoreOptions::Sync::kPower ? "Power" : "Process");
    });

}  // namespace
}  // namespace dormouse::store
