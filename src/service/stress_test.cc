// SPDX-License-Identifier: Apache-2.0
// Several clients at once, each with a context of its own in one sandbox, under a memory budget that evicts all the time.
#include <map>
#include <random>

#include "service/service_fixture.h"

namespace dormouse::service {
namespace {

using scheduler::RunStatus;
using scheduler::StateOutcome;

constexpr int kClients = 4;
constexpr int kSteps = 60;
constexpr std::string_view kLost = "lost-in-crash";

class StressTest : public testing::ServiceTest {
 protected:
  // What one client knows of its context.
  struct Client {
    std::string number;
    std::string context;
    std::string value = "undefined";
    std::map<std::uint64_t, std::string> generations;
    std::uint64_t executions = 0;
  };

  void RunAndCheck(Client& client, const std::string& code, RunStatus status) {
    const RunResult run = Run(sandbox, client.context, code);
    EXPECT_EQ(run.status, status);
    EXPECT_EQ(run.execution_count, ++client.executions);
    EXPECT_FALSE(run.stale) << run.stale_reason;
    if (run.state == StateOutcome::kKept) client.generations[run.generation] = client.value;
    if (code == "get x") EXPECT_EQ(run.out.text, client.value);
  }
  void Rollback(Client& client, unsigned choice) {
    const auto generations = Await(service().ListGenerations(sandbox, client.context));
    ASSERT_TRUE(generations.ok());
    if (generations->empty()) return;
    const std::uint64_t chosen = (*generations)[choice % generations->size()].generation;
    const auto rolled = Await(service().RollbackContext(sandbox, client.context, chosen));
    ASSERT_TRUE(rolled.ok()) << rolled.error().message;
    client.value = client.generations.at(chosen);
    client.generations[rolled->snapshot->generation] = client.value;
  }
  void Fork(const Client& client) {
    const auto fork = Await(service().ForkContext(sandbox, client.context, "", {}, nullptr));
    ASSERT_TRUE(fork.ok()) << fork.error().message;
    EXPECT_EQ(Run(sandbox, fork->id, "get x").out.text, client.value);
    EXPECT_TRUE(Await(service().DeleteContext(sandbox, fork->id)).ok());
  }
  void Step(Client& client, const std::string& id, unsigned choice) {
    switch (choice % 8) {
      case 0:
      case 1:
        client.value = id;
        RunAndCheck(client, "set x " + id + "\nwrite shared " + id + "\nwrite own" + client.number + " " + id,
                    RunStatus::kOk);
        break;
      case 2:
        RunAndCheck(client, "set x lost\nwrite shared " + std::string(kLost) + "\ncrash",
                    RunStatus::kCrashed);
        break;
      case 3:
        EXPECT_TRUE(Await(service().EvictContext(sandbox, client.context)).ok());
        break;
      case 4:
        Rollback(client, choice / 8);
        break;
      case 5:
        Fork(client);
        break;
      default:
        RunAndCheck(client, "get x", RunStatus::kOk);
    }
  }

  std::string sandbox;
};

TEST_F(StressTest, EveryClientFindsWhatItLeft) {
  config.resident_memory_bytes = 25u << 20;  // two of the fake workers
  config.idle_eviction = std::chrono::milliseconds(1);
  sandbox = NewSandbox();
  std::vector<std::thread> threads;
  for (int i = 0; i < kClients; ++i) {
    threads.emplace_back([this, i] {
      std::mt19937 random(static_cast<unsigned>(i));
      Client client;
      client.number = std::to_string(i);
      client.context = NewContext(sandbox);
      for (int step = 0; step < kSteps; ++step) {
        Step(client, client.number + "-" + std::to_string(step), random());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(Await(service().ListContexts(sandbox, Page{}))->items.size(), std::size_t{kClients});
  const auto files = Await(service().ListFiles(sandbox, "."));
  ASSERT_TRUE(files.ok());
  for (const FileInfo& file : *files) {
    EXPECT_NE(file.size_bytes, kLost.size()) << "nothing of a crashed run may be there";
  }
  Close();
  EXPECT_TRUE(world->living.empty());
}

}  // namespace
}  // namespace dormouse::service
