// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>

#include <fstream>

#include "service/service_fixture.h"

namespace dormouse::service {
namespace {

using scheduler::RunStatus;
using ContextsTest = testing::ServiceTest;
using SandboxesTest = testing::ServiceTest;

TEST_F(ContextsTest, NinthContextIsRefusedWithTheLimit) {
  const std::string sandbox = NewSandbox();
  for (int i = 0; i < 8; ++i) NewContext(sandbox);
  CreateContext request;
  request.sandbox_id = sandbox;
  request.language = "python";
  const auto ninth = Await(service().Create(request));
  ASSERT_FALSE(ninth.ok());
  EXPECT_EQ(ninth.error().code, ErrorCode::kQuotaExceeded);
  EXPECT_NE(ninth.error().message.find("limit 8"), std::string::npos);
  // Also by way of a default context.
  EXPECT_EQ(Try(sandbox, "", "print x").error().code, ErrorCode::kQuotaExceeded);
  const auto all = Await(service().ListContexts(sandbox, Page{}));
  ASSERT_TRUE(Await(service().DeleteContext(sandbox, all->items.front().id)).ok());
  EXPECT_TRUE(Try(sandbox, "", "print x").ok());
}

TEST_F(ContextsTest, NamesAreUniqueInTheirSandbox) {
  const std::string sandbox = NewSandbox();
  const std::string main = NewContext(sandbox, "main");
  CreateContext request;
  request.sandbox_id = sandbox;
  request.language = "javascript";
  request.name = "main";
  EXPECT_EQ(Await(service().Create(request)).error().code, ErrorCode::kConflict);
  request.sandbox_id = NewSandbox();
  EXPECT_TRUE(Await(service().Create(request)).ok());
  RunRequest by_name = Request(sandbox, "", "print x");
  by_name.context_name = "main";
  EXPECT_EQ(Await(service().Run(by_name, nullptr))->context_id, main);
  by_name.context_name = "other";
  EXPECT_EQ(Await(service().Run(by_name, nullptr)).error().code, ErrorCode::kNotFound);
}

TEST_F(ContextsTest, DefaultContextIsMadeOncePerBinding) {
  const std::string sandbox = NewSandbox();
  std::vector<std::future<Result<RunResult>>> runs;
  for (int i = 0; i < 10; ++i) {
    runs.push_back(Begin(service().Run(Request(sandbox, "", "print x"), nullptr)));
  }
  std::set<std::string> contexts;
  for (auto& run : runs) contexts.insert(run.get()->context_id);
  EXPECT_EQ(contexts.size(), 1u);
  EXPECT_TRUE(GetContext(sandbox, *contexts.begin()).is_default);
  RunRequest other = Request(sandbox, "", "print x");
  other.language = "javascript";
  const auto result = Await(service().Run(other, nullptr));
  EXPECT_FALSE(contexts.contains(result->context_id));
  EXPECT_EQ(result->binding, "JAVASCRIPT");
  Close();
  EXPECT_EQ(Run(sandbox, "", "print x").context_id, *contexts.begin());
}

TEST_F(ContextsTest, LanguageIsNeverGuessed) {
  const std::string sandbox = NewSandbox();
  const std::string context = NewContext(sandbox);
  RunRequest request = Request(sandbox, "", "print x");
  for (const std::string language : {"Python", "js", "cobol"}) {
    request.language = language;
    EXPECT_EQ(Await(service().Run(request, nullptr)).error().code,
              ErrorCode::kUnsupportedCodeLanguage)
        << language;
  }
  request.language.clear();
  EXPECT_EQ(Await(service().Run(request, nullptr)).error().code, ErrorCode::kInvalidRequest);
  request.context_id = context;
  EXPECT_TRUE(Await(service().Run(request, nullptr)).ok());
  request.language = "javascript";
  EXPECT_EQ(Await(service().Run(request, nullptr)).error().code, ErrorCode::kInvalidRequest);
  request.language.clear();
  request.binding = "JAVASCRIPT";
  EXPECT_EQ(Await(service().Run(request, nullptr)).error().code, ErrorCode::kInvalidRequest);
}

TEST_F(ContextsTest, ContextOfAnotherSandboxIsNotFound) {
  const std::string context = NewContext(NewSandbox());
  const std::string other = NewSandbox();
  EXPECT_EQ(Await(service().GetContext(other, context)).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(Try(other, context, "print x").error().code, ErrorCode::kNotFound);
}

TEST_F(ContextsTest, ForkSharesMemoryAndDrawsOtherNumbers) {
  const std::string sandbox = NewSandbox();
  const std::string source = NewContext(sandbox);
  Run(sandbox, source, "set x 1");
  Run(sandbox, source, "set x 2");
  Run(sandbox, source, "set x 3");
  const auto newest = Await(service().ForkContext(sandbox, source, "newest", {}, nullptr));
  const auto oldest = Await(service().ForkContext(sandbox, source, "oldest", 1, nullptr));
  ASSERT_TRUE(newest.ok() && oldest.ok());
  EXPECT_EQ(Run(sandbox, newest->id, "get x").out.text, "3");
  EXPECT_TRUE(world->last_reseed);
  const RunResult old = Run(sandbox, oldest->id, "get x");
  EXPECT_EQ(old.out.text, "1");
  EXPECT_EQ(old.execution_count, 2u);
  std::set<std::string> numbers;
  for (const std::string& id : {source, newest->id, oldest->id}) {
    numbers.insert(Run(sandbox, id, "random").out.text);
  }
  EXPECT_EQ(numbers.size(), 3u);
  // The fork stands on its own.
  ASSERT_TRUE(Await(service().DeleteContext(sandbox, source)).ok());
  Evict(sandbox, oldest->id);
  EXPECT_EQ(Run(sandbox, oldest->id, "get x").out.text, "1");
  EXPECT_FALSE(world->last_reseed) << "an ordinary resume takes no fresh randomness";
  EXPECT_EQ(Await(service().ForkContext(sandbox, newest->id, "", 99, nullptr)).error().code, ErrorCode::kNotFound);
}

TEST_F(ContextsTest, RollbackGoesBackAndCanBeTakenBack) {
  const std::string sandbox = NewSandbox();
  const std::string context = NewContext(sandbox);
  for (int i = 1; i <= 3; ++i) Run(sandbox, context, "set x " + std::to_string(i));
  const auto rolled = Await(service().RollbackContext(sandbox, context, 1));
  ASSERT_TRUE(rolled.ok()) << rolled.error().message;
  EXPECT_EQ(rolled->snapshot->generation, 4u);
  EXPECT_FALSE(rolled->resident);
  const RunResult old = Run(sandbox, context, "get x");
  EXPECT_EQ(old.out.text, "1");
  EXPECT_EQ(old.execution_count, 4u) << "cells keep their own names";
  EXPECT_TRUE(world->last_reseed);
  ASSERT_TRUE(Await(service().RollbackContext(sandbox, context, 3)).ok());
  EXPECT_EQ(Run(sandbox, context, "get x").out.text, "3");
  const auto generations = Await(service().ListGenerations(sandbox, context));
  ASSERT_EQ(generations->size(), 7u);
  EXPECT_EQ(generations->front().generation, 7u);
  EXPECT_EQ(Await(service().RollbackContext(sandbox, context, 99)).error().code, ErrorCode::kNotFound);
}

TEST_F(ContextsTest, OldGenerationsGo) {
  config.generations_kept = 3;
  const std::string sandbox = NewSandbox();
  const std::string context = NewContext(sandbox);
  for (int i = 1; i <= 10; ++i) Run(sandbox, context, "set x " + std::to_string(i));
  for (int round = 0; round < 2; ++round) {
    const auto generations = Await(service().ListGenerations(sandbox, context));
    ASSERT_EQ(generations->size(), 3u);
    EXPECT_EQ(generations->back().generation, 8u);
    Close();
  }
  EXPECT_EQ(Run(sandbox, context, "get x").out.text, "10");
}

TEST_F(ContextsTest, StatelessBindingRunsWithoutStateButWithFiles) {
  BindingConfig binding;
  binding.engine = "fake-python";
  binding.contexts = false;
  config.bindings["PY"] = binding;
  const std::string sandbox = NewSandbox();
  CreateContext request;
  request.sandbox_id = sandbox;
  request.language = "python";
  EXPECT_EQ(Await(service().Create(request)).error().code, ErrorCode::kFeatureNotEnabled);
  Run(sandbox, "", "set x 1\nwrite f text");
  const RunResult second = Run(sandbox, "", "get x\ncat f");
  EXPECT_EQ(second.out.text, "undefinedtext");
  EXPECT_EQ(second.execution_count, 2u);
  EXPECT_TRUE(world->living.empty());
}

TEST_F(ContextsTest, StateIsLostWithItsEngineAndSaysSo) {
  const std::string sandbox = NewSandbox();
  const std::string context = NewContext(sandbox);
  Run(sandbox, context, "set x 1");
  Close();
  const std::vector<scheduler::EngineBuild> old_engines = world->engines;
  world->engines[0].build_id = std::string(64, 'c');
  EXPECT_FALSE(GetContext(sandbox, context).snapshot);
  // Back in time, nothing is lost.
  Close();
  world->engines = old_engines;
  EXPECT_EQ(Run(sandbox, context, "get x").out.text, "1");
  Close();
  world->engines[0].build_id = std::string(64, 'c');
  const RunResult result = Run(sandbox, context, "get x\nset x 2");
  EXPECT_TRUE(result.state_lost);
  EXPECT_EQ(result.out.text, "undefined");
  EXPECT_EQ(GetContext(sandbox, context).snapshot->engine_build, std::string(64, 'c'));
  const RunResult next = Run(sandbox, context, "get x");
  EXPECT_EQ(next.out.text, "2");
  EXPECT_FALSE(next.state_lost);
}

TEST_F(ContextsTest, ContextStaysOnItsBuildWhileThatIsInstalled) {
  const std::string sandbox = NewSandbox();
  const std::string context = NewContext(sandbox);
  Run(sandbox, context, "set x 1");
  Close();
  scheduler::EngineBuild newer = world->engines[0];
  newer.build_id = std::string(64, 'c');
  world->engines[0].current = false;
  world->engines.push_back(newer);
  EXPECT_EQ(Run(sandbox, context, "get x").out.text, "1");
  EXPECT_EQ(GetContext(sandbox, context).snapshot->engine_build, std::string(64, 'a'));
  const std::string fresh = NewContext(sandbox);
  Run(sandbox, fresh, "set x 1");
  EXPECT_EQ(GetContext(sandbox, fresh).snapshot->engine_build, std::string(64, 'c'));
}

TEST_F(ContextsTest, MemoryBudgetEvictsTheLeastRecentlyUsed) {
  config.resident_memory_bytes = 25u << 20;  // two of the fake workers
  const std::string sandbox = NewSandbox();
  std::vector<std::string> contexts;
  for (int i = 0; i < 4; ++i) {
    contexts.push_back(NewContext(sandbox));
    Run(sandbox, contexts.back(), "set x " + std::to_string(i));
    Run(sandbox, contexts.front(), "get x");
  }
  EXPECT_TRUE(GetContext(sandbox, contexts[0]).resident);
  EXPECT_FALSE(GetContext(sandbox, contexts[1]).resident);
  EXPECT_FALSE(GetContext(sandbox, contexts[2]).resident);
  EXPECT_TRUE(GetContext(sandbox, contexts[3]).resident);
  EXPECT_EQ(Run(sandbox, contexts[1], "get x").out.text, "1");
}

TEST_F(ContextsTest, IdleContextsBecomeDormant) {
  config.idle_eviction = std::chrono::milliseconds(1);
  const std::string sandbox = NewSandbox();
  const std::string context = NewContext(sandbox);
  Run(sandbox, context, "set x 1");
  EXPECT_TRUE(Eventually([&] { return !GetContext(sandbox, context).resident; }));
  EXPECT_EQ(Run(sandbox, context, "get x").out.text, "1");
}

TEST_F(SandboxesTest, DestroyedSandboxStaysReadableAndRefusesWork) {
  const std::string sandbox = NewSandbox();
  const std::string context = NewContext(sandbox);
  auto run = Begin(service().Run(Request(sandbox, context, "sleep"), nullptr));
  ASSERT_TRUE(WaitForRunning(1));
  const auto destroyed = Await(service().DestroySandbox(sandbox));
  ASSERT_TRUE(destroyed.ok());
  EXPECT_EQ(destroyed->status, SandboxStatus::kDestroyed);
  EXPECT_EQ(destroyed->destroyed_reason, "user_killed");
  EXPECT_EQ(run.get()->status, RunStatus::kInterrupted);
  for (int round = 0; round < 2; ++round) {
    const auto again = Await(service().DestroySandbox(sandbox));
    EXPECT_EQ(again->destroyed_at, destroyed->destroyed_at);
    EXPECT_EQ(Await(service().GetSandbox(sandbox))->status, SandboxStatus::kDestroyed);
    EXPECT_EQ(Try(sandbox, "", "print x").error().code, ErrorCode::kSandboxDestroyed);
    EXPECT_EQ(Await(service().ListFiles(sandbox, ".")).error().code, ErrorCode::kSandboxDestroyed);
    EXPECT_EQ(Await(service().SetTtl(sandbox, 1000)).error().code, ErrorCode::kSandboxDestroyed);
    Close();
  }
  ListSandboxes list;
  EXPECT_EQ(Await(service().List(list))->items.size(), 0u);
  list.historical = true;
  EXPECT_EQ(Await(service().List(list))->items.size(), 1u);
  EXPECT_TRUE(world->living.empty());
}

TEST_F(SandboxesTest, TimeToLiveDestroys) {
  CreateSandbox request;
  request.ttl_ms = 50;
  const std::string sandbox = NewSandbox(request);
  EXPECT_TRUE(Eventually([&] {
    const auto run = Try(sandbox, "", "print x");
    return !run.ok() && run.error().code == ErrorCode::kSandboxDestroyed;
  }));
  EXPECT_TRUE(Eventually([&] {
    return Await(service().GetSandbox(sandbox))->destroyed_reason == "ttl_expired";
  }));
  request.ttl_ms = 0;
  EXPECT_EQ(Await(service().Create(request)).error().code, ErrorCode::kInvalidRequest);
}

TEST_F(SandboxesTest, TimeToLiveHasACeiling) {
  config.default_ttl_ms = 1000;
  config.max_ttl_ms = 2000;
  CreateSandbox request;
  request.ttl_ms = 2001;
  EXPECT_EQ(Await(service().Create(request)).error().code, ErrorCode::kSandboxTtlExceeded);
  const std::string sandbox = NewSandbox();
  EXPECT_EQ(Await(service().GetSandbox(sandbox))->ttl_ms, 1000);
  EXPECT_EQ(Await(service().SetTtl(sandbox, 3000)).error().code, ErrorCode::kSandboxTtlExceeded);
  EXPECT_EQ(Await(service().SetTtl(sandbox, 2000))->ttl_ms, 2000);
}

TEST_F(SandboxesTest, PagesHoldEverySandboxOnce) {
  std::set<std::string> made;
  for (int i = 0; i < 7; ++i) made.insert(NewSandbox());
  std::set<std::string> seen;
  ListSandboxes list;
  list.page.limit = 3;
  int pages = 0;
  do {
    const auto page = Await(service().List(list));
    ASSERT_TRUE(page.ok());
    for (const Sandbox& sandbox : page->items) EXPECT_TRUE(seen.insert(sandbox.id).second);
    list.page.cursor = page->next_cursor;
    ++pages;
  } while (!list.page.cursor.empty());
  EXPECT_EQ(pages, 3);
  EXPECT_EQ(seen, made);
  list.page.cursor = "nonsense";
  EXPECT_EQ(Await(service().List(list)).error().code, ErrorCode::kInvalidRequest);
}

TEST_F(SandboxesTest, KeyIsMadeOnceAndChecked) {
  service();
  const auto path = config.data_directory / "admin.key";
  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  std::string key;
  std::ifstream(path) >> key;
  EXPECT_TRUE(key.starts_with("dm_live_"));
  EXPECT_TRUE(service().Authenticate(key).ok());
  std::string wrong = key;
  wrong.back() = wrong.back() == '0' ? '1' : '0';
  for (const std::string& bad : {wrong, std::string(), std::string("dm_live_x"), key + "x"}) {
    EXPECT_EQ(service().Authenticate(bad).error().code, ErrorCode::kUnauthorized);
  }
  Close();
  EXPECT_TRUE(service().Authenticate(key).ok());
}

TEST_F(SandboxesTest, SecondServiceOnTheDataIsRefused) {
  service();
  boost::asio::io_context io;
  const auto second = Service::OpenWith(io.get_executor(), config,
                                        testing::MakeFakeWorkerHost(io.get_executor(), world));
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, ErrorCode::kConflict);
}

TEST_F(SandboxesTest, MetricsCountRuns) {
  const std::string sandbox = NewSandbox();
  Run(sandbox, "", "print x");
  Run(sandbox, "", "crash");
  const std::string text = service().Metrics();
  EXPECT_NE(text.find("dormouse_runs_total{status=\"ok\"} 1"), std::string::npos) << text;
  EXPECT_NE(text.find("dormouse_runs_total{status=\"crashed\"} 1"), std::string::npos);
  EXPECT_NE(text.find("dormouse_sandboxes 1"), std::string::npos);
  EXPECT_NE(text.find("dormouse_contexts 1"), std::string::npos);
}

}  // namespace
}  // namespace dormouse::service
