// SPDX-License-Identifier: Apache-2.0
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include "common/sha256.h"
#include "service/service_fixture.h"

namespace dormouse::service {
namespace {

using scheduler::RunStatus;
using scheduler::StateOutcome;
using testing::Recorder;
using RunsTest = testing::ServiceTest;

TEST_F(RunsTest, StateSurvivesRunsEvictionsAndRestarts) {
  const std::string sandbox = NewSandbox();
  const std::string context = NewContext(sandbox);
  for (int i = 1; i <= 20; ++i) {
    const std::string n = std::to_string(i);
    const RunResult set = Run(sandbox, context, "set v" + n + " value" + n);
    EXPECT_EQ(set.status, RunStatus::kOk);
    EXPECT_EQ(set.generation, static_cast<std::uint64_t>(i));
    EXPECT_GT(set.snapshot_bytes, 0u);
    EXPECT_EQ(set.resumed, i > 1);
    if (i % 5 == 0) {
      Close();
    } else {
      Evict(sandbox, context);
    }
  }
  for (int i = 1; i <= 20; ++i) {
    const std::string n = std::to_string(i);
    EXPECT_EQ(Run(sandbox, context, "get v" + n).out.text, "value" + n);
  }
}

TEST_F(RunsTest, ExecutionsCountEveryStartedRun) {
  const std::string sandbox = NewSandbox();
  const std::string context = NewContext(sandbox);
  EXPECT_EQ(Run(sandbox, context, "print a").execution_count, 1u);
  EXPECT_EQ(Run(sandbox, context, "fail ValueError bad").execution_count, 2u);
  EXPECT_EQ(Run(sandbox, context, "crash").execution_count, 3u);
  const RunResult fourth = Run(sandbox, context, "request");
  EXPECT_EQ(fourth.execution_count, 4u);
  EXPECT_NE(fourth.out.text.find("\"filename\":\"cell-4\""), std::string::npos);
  Close();
  EXPECT_EQ(Run(sandbox, context, "print a").execution_count, 5u);
}

TEST_F(RunsTest, CrashGoesBackToTheStateBeforeTheRun) {
  const std::string sandbox = NewSandbox();
  const std::string context = NewContext(sandbox);
  Run(sandbox, context, "set keep 1");
  const RunResult crashed = Run(sandbox, context, "set keep 2\nprint before\ncrash");
  EXPECT_EQ(crashed.status, RunStatus::kCrashed);
  EXPECT_EQ(crashed.state, StateOutcome::kRolledBack);
  EXPECT_EQ(crashed.generation, 1u);
  EXPECT_EQ(crashed.out.text, "before");
  ASSERT_TRUE(crashed.error);
  EXPECT_EQ(crashed.error->name, "EngineCrash");
  EXPECT_NE(crashed.error->message.find("unreachable"), std::string::npos);
  const RunResult after = Run(sandbox, context, "get keep");
  EXPECT_EQ(after.out.text, "1");
  EXPECT_TRUE(after.resumed);
  EXPECT_TRUE(world->last_reseed) << "a re-run from an older state must not draw the same numbers";
}

TEST_F(RunsTest, ErrorKeepsTheState) {
  const std::string sandbox = NewSandbox();
  const RunResult failed = Run(sandbox, "", "set x 1\nfail ValueError some text");
  EXPECT_EQ(failed.status, RunStatus::kError);
  EXPECT_EQ(failed.state, StateOutcome::kKept);
  ASSERT_TRUE(failed.error);
  EXPECT_EQ(failed.error->name, "ValueError");
  EXPECT_EQ(failed.error->message, "some text");
  EXPECT_EQ(Run(sandbox, "", "get x").out.text, "1");
}

TEST_F(RunsTest, TimeoutIsNamedAndKeepsTheTraceback) {
  const std::string sandbox = NewSandbox();
  RunRequest request = Request(sandbox, "", "set x 1\nsleep");
  request.timeout_ms = 30;
  const auto result = Await(service().Run(request, nullptr));
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->status, RunStatus::kTimeout);
  ASSERT_TRUE(result->error);
  EXPECT_EQ(result->error->name, "TimeoutError");
  EXPECT_EQ(result->error->message, "Code execution exceeded 30 ms.");
  EXPECT_EQ(result->error->traceback, std::vector<std::string>{"line 1"});
  EXPECT_EQ(Run(sandbox, "", "get x").out.text, "1");
}

TEST_F(RunsTest, ExitIsAnErrorOnlyWithACodeOrAMessage) {
  const std::string sandbox = NewSandbox();
  const RunResult zero = Run(sandbox, "", "set v 1\nexit 0");
  EXPECT_EQ(zero.status, RunStatus::kExited);
  EXPECT_EQ(zero.exit_code, 0);
  EXPECT_FALSE(zero.error);
  const RunResult three = Run(sandbox, "", "exit 3 bye");
  EXPECT_EQ(three.exit_code, 3);
  ASSERT_TRUE(three.error);
  EXPECT_EQ(three.error->message, "bye");
  EXPECT_EQ(Run(sandbox, "", "get v").out.text, "1");
}

TEST_F(RunsTest, EventsArriveInOrderAndTheErrorLast) {
  const std::string sandbox = NewSandbox();
  auto recorder = std::make_shared<Recorder>();
  // The emoji's bytes come one by one.
  const auto result = Await(service().Run(
      Request(sandbox, "",
              "print a\nhex f0\nhex 9f\nhex 98\nhex 80\nerr b\n"
              "display {\"data\":{\"text/plain\":\"t\",\"image/png\":\"iVBO\"},\"isResult\":true}\n"
              "fail Boom x"),
      recorder));
  ASSERT_TRUE(result.ok());
  const std::vector<std::pair<std::string, std::string>> wanted = {
      {"start", result->run_id}, {"stdout", "a"},    {"stdout", "\xf0\x9f\x98\x80"}, {"stderr", "b"},
      {"output", "text"},        {"output", "png"},  {"error", "Boom"}};
  EXPECT_EQ(recorder->events(), wanted);
  EXPECT_EQ(result->out.text, "a\xf0\x9f\x98\x80");
  ASSERT_EQ(result->outputs.size(), 2u);
  EXPECT_EQ(result->outputs[0].value_json, "\"t\"");
  EXPECT_TRUE(result->outputs[0].is_result);
  EXPECT_EQ(result->outputs[1].reason, "requires_artifact_promotion");
}

TEST_F(RunsTest, BirthCarriesEnvironmentAndDirectoryOnce) {
  const std::string sandbox = NewSandbox();
  CreateContext request;
  request.sandbox_id = sandbox;
  request.language = "python";
  request.env = {{"KEY", "value"}};
  request.cwd = "sub/../dir";
  const auto context = Await(service().Create(request));
  ASSERT_TRUE(context.ok()) << context.error().message;
  EXPECT_EQ(context->cwd, "/workspace/dir");
  const std::string first = Run(sandbox, context->id, "request").out.text;
  EXPECT_NE(first.find(R"("contextEnv":{"KEY":"value"})"), std::string::npos) << first;
  EXPECT_NE(first.find(R"("contextCwd":"/workspace/dir")"), std::string::npos) << first;
  EXPECT_EQ(Run(sandbox, context->id, "request").out.text.find("contextEnv"), std::string::npos);
  Evict(sandbox, context->id);
  EXPECT_EQ(Run(sandbox, context->id, "request").out.text.find("contextEnv"), std::string::npos);
}

TEST_F(RunsTest, RunsOfOneContextQueueAndFailuresDropNobody) {
  const std::string sandbox = NewSandbox();
  const std::string context = NewContext(sandbox);
  Run(sandbox, context, "print warm");
  std::vector<std::future<Result<RunResult>>> runs;
  runs.push_back(Begin(service().Run(Request(sandbox, context, "fail ZeroDivisionError x"), nullptr)));
  for (int i = 0; i < 20; ++i) {
    const std::string n = std::to_string(i);
    runs.push_back(Begin(service().Run(Request(sandbox, context, "get x\nset x " + n), nullptr)));
  }
  std::set<std::uint64_t> counts;
  for (auto& run : runs) {
    const auto result = run.get();
    ASSERT_TRUE(result.ok()) << result.error().message;
    counts.insert(result->execution_count);
  }
  EXPECT_EQ(counts.size(), 21u);
  EXPECT_EQ(*counts.begin(), 2u);
  EXPECT_EQ(*counts.rbegin(), 22u);
  EXPECT_EQ(world->most_running, 1);
}

TEST_F(RunsTest, TenRunsOnADormantContextRestoreItOnce) {
  const std::string sandbox = NewSandbox();
  const std::string context = NewContext(sandbox);
  Run(sandbox, context, "set x 1");
  Evict(sandbox, context);
  const int before = world->started;
  std::vector<std::future<Result<RunResult>>> runs;
  for (int i = 0; i < 10; ++i) {
    runs.push_back(Begin(service().Run(Request(sandbox, context, "get x"), nullptr)));
  }
  for (auto& run : runs) EXPECT_EQ(run.get()->out.text, "1");
  EXPECT_EQ(world->started, before + 1);
}

TEST_F(RunsTest, ContextsRunSideBySide) {
  const std::string sandbox = NewSandbox();
  const std::string a = NewContext(sandbox), b = NewContext(sandbox);
  auto first = Begin(service().Run(Request(sandbox, a, "sleep"), nullptr));
  auto second = Begin(service().Run(Request(sandbox, b, "sleep"), nullptr));
  EXPECT_TRUE(WaitForRunning(2));
  EXPECT_EQ(Await(service().GetSandbox(sandbox))->status, SandboxStatus::kRunning);
  for (const std::string& context : {a, b}) {
    ASSERT_TRUE(Await(service().InterruptContext(sandbox, context)).ok());
  }
  EXPECT_EQ(first.get()->status, RunStatus::kInterrupted);
  EXPECT_EQ(second.get()->status, RunStatus::kInterrupted);
}

TEST_F(RunsTest, InterruptStopsTheRunAndKeepsTheState) {
  const std::string sandbox = NewSandbox();
  const std::string context = NewContext(sandbox);
  auto run = Begin(service().Run(Request(sandbox, context, "set x 1\nsleep"), nullptr));
  ASSERT_TRUE(WaitForRunning(1));
  ASSERT_TRUE(Await(service().InterruptContext(sandbox, context)).ok());
  const auto result = run.get();
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->status, RunStatus::kInterrupted);
  EXPECT_EQ(result->error->name, "Interrupted");
  EXPECT_LE(result->execution_count, 1u);
  Run(sandbox, context, "print next");
}

TEST_F(RunsTest, DeletedContextEndsItsRunsWithOneStatusEach) {
  const std::string sandbox = NewSandbox();
  const std::string context = NewContext(sandbox);
  Run(sandbox, context, "print warm");
  auto running = Begin(service().Run(Request(sandbox, context, "hang"), nullptr));
  ASSERT_TRUE(WaitForRunning(1));
  auto queued = Begin(service().Run(Request(sandbox, context, "print never"), nullptr));
  const auto deleted = Await(service().DeleteContext(sandbox, context));
  ASSERT_TRUE(deleted.ok()) << deleted.error().message;
  const auto result = running.get();
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->status, RunStatus::kCrashed);
  EXPECT_EQ(result->state, StateOutcome::kRolledBack);
  EXPECT_TRUE(result->state_lost);
  EXPECT_EQ(queued.get().error().code, ErrorCode::kNotFound);
  EXPECT_EQ(Try(sandbox, context, "print x").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(Await(service().DeleteContext(sandbox, context)).error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(world->living.empty());
}

TEST_F(RunsTest, DestroyedSandboxEndsItsRunsAndTheySaySo) {
  const std::string sandbox = NewSandbox();
  const std::string context = NewContext(sandbox);
  auto running = Begin(service().Run(Request(sandbox, context, "set x 1\nsleep"), nullptr));
  ASSERT_TRUE(WaitForRunning(1));
  ASSERT_TRUE(Await(service().DestroySandbox(sandbox)).ok());
  const auto result = running.get();
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->status, RunStatus::kInterrupted);
  EXPECT_EQ(result->error->message, "The sandbox was deleted during the run.");
  EXPECT_TRUE(result->state_lost);
}

TEST_F(RunsTest, WorkerThatDiedWhileIdleIsReplaced) {
  const std::string sandbox = NewSandbox();
  const std::string context = NewContext(sandbox);
  Run(sandbox, context, "set x 1");
  world->kill_before_run = 1;
  const RunResult result = Run(sandbox, context, "get x");
  EXPECT_EQ(result.out.text, "1");
  EXPECT_EQ(result.execution_count, 2u);
  // A worker that took its snapshot and then died has lost nothing.
  Run(sandbox, context, "set y 2\ndie");
  EXPECT_FALSE(GetContext(sandbox, context).resident);
  EXPECT_EQ(Run(sandbox, context, "get y").out.text, "2");
}

TEST_F(RunsTest, WorkerThatDiesWhileItStartsIsReplaced) {
  const std::string sandbox = NewSandbox();
  const std::string context = NewContext(sandbox);
  Run(sandbox, context, "set x 1");
  ASSERT_TRUE(Await(service().EvictContext(sandbox, context)).ok());
  {
    const std::lock_guard lock(world->mutex);
    world->fail_starts = 2;
  }
  EXPECT_EQ(Run(sandbox, context, "get x").out.text, "1");
  ASSERT_TRUE(Await(service().EvictContext(sandbox, context)).ok());
  {
    const std::lock_guard lock(world->mutex);
    world->fail_starts = 100;
  }
  const auto refused = Await(service().Run(Request(sandbox, context, "get x"), nullptr));
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
}

TEST_F(RunsTest, FailedSnapshotLeavesTheContextStaleUntilTheNextOne) {
  const std::string sandbox = NewSandbox();
  const std::string context = NewContext(sandbox);
  Run(sandbox, context, "set x 1");
  const RunResult stale = Run(sandbox, context, "set x 2\nwrite f new\nnosnapshot");
  EXPECT_EQ(stale.status, RunStatus::kOk);
  EXPECT_EQ(stale.state, StateOutcome::kKept);
  EXPECT_TRUE(stale.stale);
  EXPECT_EQ(stale.stale_reason, "asked to fail");
  EXPECT_EQ(stale.generation, 1u);
  EXPECT_TRUE(GetContext(sandbox, context).snapshot->stale);
  // Files go with the memory: not yet.
  EXPECT_EQ(Await(service().StatFile(sandbox, "f")).error().code, ErrorCode::kFileNotFound);
  EXPECT_EQ(Await(service().EvictContext(sandbox, context)).error().code, ErrorCode::kConflict);
  EXPECT_EQ(Await(service().ForkContext(sandbox, context, "", {}, nullptr)).error().code, ErrorCode::kConflict);

  const RunResult clean = Run(sandbox, context, "get x");
  EXPECT_EQ(clean.out.text, "2");
  EXPECT_FALSE(clean.stale);
  EXPECT_EQ(clean.generation, 2u);
  EXPECT_FALSE(world->last_previous_committed);
  EXPECT_TRUE(world->last_compact);
  EXPECT_FALSE(GetContext(sandbox, context).snapshot->stale);
  EXPECT_TRUE(Await(service().StatFile(sandbox, "f")).ok());
  Evict(sandbox, context);
  EXPECT_EQ(Run(sandbox, context, "get x\ncat f").out.text, "2new");
}

TEST_F(RunsTest, StaleContextThatDiesIsBackAtItsSnapshot) {
  const std::string sandbox = NewSandbox();
  const std::string context = NewContext(sandbox);
  Run(sandbox, context, "set x 1");
  Run(sandbox, context, "set x 2\nwrite f new\nnosnapshot");
  world->kill_before_run = 1;
  const RunResult after = Run(sandbox, context, "get x\nls");
  EXPECT_EQ(after.out.text, "1");
  EXPECT_TRUE(world->last_reseed);
  EXPECT_FALSE(after.stale);
}

TEST_F(RunsTest, MalformedReportEndsTheWorkerAndRollsBack) {
  const std::string sandbox = NewSandbox();
  const std::string other = NewSandbox();
  Service::WriteFile secret;
  secret.sandbox_id = other;
  secret.path = "secret";
  secret.content = "of another tenant";
  ASSERT_TRUE(Await(service().Write(secret)).ok());
  Run(sandbox, "", "set x 1");
  for (const std::string& attack :
       {std::string("badpath"), "steal " + Sha256("of another tenant").Hex()}) {
    const RunResult result = Run(sandbox, "", "set x 2\n" + attack);
    EXPECT_EQ(result.state, StateOutcome::kRolledBack) << attack;
    EXPECT_EQ(result.status, RunStatus::kError);
    EXPECT_EQ(result.error->name, "StorageError");
    EXPECT_EQ(Run(sandbox, "", "get x").out.text, "1");
  }
  EXPECT_EQ(Await(service().ListFiles(sandbox, "/workspace"))->size(), 0u);
}

TEST_F(RunsTest, LargeSnapshotsGoToFilesAndAreCompacted) {
  world->segment_padding = 200'000;
  const std::string sandbox = NewSandbox();
  const std::string context = NewContext(sandbox);
  std::vector<bool> compacted;
  for (int i = 0; i < 6; ++i) {
    Run(sandbox, context, "set x " + std::to_string(i));
    compacted.push_back(world->last_compact);
    Evict(sandbox, context);
  }
  // The third delta would lie on deltas that outweigh the base.
  const std::vector<bool> wanted = {false, false, false, true, false, false};
  EXPECT_EQ(compacted, wanted);
  EXPECT_EQ(Run(sandbox, context, "get x").out.text, "5");
}

TEST_F(RunsTest, FinishedRunCanBeAskedForAndOnlyInItsSandbox) {
  const std::string sandbox = NewSandbox();
  const RunResult result = Run(sandbox, "", "print hello");
  const auto found = Await(service().GetRun(sandbox, result.run_id));
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->out.text, "hello");
  EXPECT_EQ(Await(service().GetRun(NewSandbox(), result.run_id)).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(Await(service().GetRun(sandbox, "run_x")).error().code, ErrorCode::kNotFound);
}

TEST_F(RunsTest, RunGoesOnWhenItsCallerIsGone) {
  const std::string sandbox = NewSandbox();
  const std::string context = NewContext(sandbox);
  auto recorder = std::make_shared<Recorder>();
  boost::asio::io_context impatient;
  boost::asio::cancellation_signal hang_up;
  bool ended = false;
  boost::asio::co_spawn(
      impatient,
      [&]() -> boost::asio::awaitable<void> {
        (void)co_await service().Run(Request(sandbox, context, "set x 1\nsleep"), recorder);
      },
      boost::asio::bind_cancellation_slot(hang_up.slot(), [&](std::exception_ptr) { ended = true; }));
  impatient.poll();
  ASSERT_TRUE(Eventually([&] {
    impatient.poll();
    const std::lock_guard lock(world->mutex);
    return world->running == 1;
  }));
  hang_up.emit(boost::asio::cancellation_type::terminal);
  impatient.poll();
  const std::string run_id = recorder->events().front().second;
  EXPECT_EQ(Await(service().GetRun(sandbox, run_id)).error().code, ErrorCode::kConflict);
  ASSERT_TRUE(Await(service().InterruptContext(sandbox, context)).ok());
  ASSERT_TRUE(Eventually([&] { return Await(service().GetRun(sandbox, run_id)).ok(); }));
  EXPECT_EQ(Run(sandbox, context, "get x").out.text, "1");
  EXPECT_TRUE(Eventually([&] {
    impatient.poll();
    return ended;
  }));
}

TEST_F(RunsTest, BadLimitsAreRefusedByName) {
  const std::string sandbox = NewSandbox();
  for (const std::int64_t timeout : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1'000'000'000'000}}) {
    RunRequest request = Request(sandbox, "", "print x");
    request.timeout_ms = timeout;
    const auto result = Await(service().Run(request, nullptr));
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code, ErrorCode::kInvalidRequest);
    EXPECT_EQ(result.error().details.front().second, "timeoutMs");
  }
  RunRequest request = Request(sandbox, "", "print x");
  request.memory_bytes = 1;
  EXPECT_EQ(Await(service().Run(request, nullptr)).error().code, ErrorCode::kInvalidRequest);
  request.memory_bytes.reset();
  request.fuel_us = 0;
  EXPECT_EQ(Await(service().Run(request, nullptr)).error().code, ErrorCode::kInvalidRequest);
  request.fuel_us.reset();
  request.code = std::string(config.code_bytes + 1, 'x');
  EXPECT_EQ(Await(service().Run(request, nullptr)).error().code, ErrorCode::kCodeSourceTooLarge);
  request.code = "\xff";
  EXPECT_EQ(Await(service().Run(request, nullptr)).error().code, ErrorCode::kInvalidRequest);
  request.code = "print x";
  request.env = {{"CROWNEST_X", "1"}};
  EXPECT_EQ(Await(service().Run(request, nullptr)).error().code, ErrorCode::kReservedEnvKey);
  request.env.clear();
  request.cwd = "/etc";
  EXPECT_EQ(Await(service().Run(request, nullptr)).error().code, ErrorCode::kPathOutsideWorkspace);
}

TEST_F(RunsTest, StopLetsRunsEndAndRefusesNewOnes) {
  const std::string sandbox = NewSandbox();
  const std::string context = NewContext(sandbox);
  Run(sandbox, context, "set x 1");
  auto stubborn = Begin(service().Run(Request(sandbox, context, "set x 2\nsleep"), nullptr));
  ASSERT_TRUE(WaitForRunning(1));
  Close();
  const auto result = stubborn.get();
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->status, RunStatus::kInterrupted);
  EXPECT_TRUE(world->living.empty());
  EXPECT_EQ(Run(sandbox, context, "get x").out.text, "2") << "an interrupted run's state is kept";
}

}  // namespace
}  // namespace dormouse::service
