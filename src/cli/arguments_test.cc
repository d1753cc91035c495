// SPDX-License-Identifier: Apache-2.0
#include "cli/arguments.h"

#include <gtest/gtest.h>

#include "cli/quantities.h"

namespace dormouse::cli {
namespace {

std::variant<Arguments, int> Parse(std::vector<std::string> words) {
  words.insert(words.begin(), "dormouse");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  return ParseArguments(static_cast<int>(argv.size()), argv.data());
}

template <typename Command>
Command Parsed(std::vector<std::string> words) {
  const auto parsed = Parse(std::move(words));
  const auto* const arguments = std::get_if<Arguments>(&parsed);
  if (arguments == nullptr || !std::holds_alternative<Command>(arguments->command)) {
    ADD_FAILURE() << "another command";
    return {};
  }
  return std::get<Command>(arguments->command);
}

int ExitCodeFor(std::vector<std::string> words) {
  const auto parsed = Parse(std::move(words));
  const int* const code = std::get_if<int>(&parsed);
  return code == nullptr ? -1 : *code;
}

TEST(ParseDurationMs, KnowsItsUnits) {
  EXPECT_EQ(ParseDurationMs("250ms"), 250);
  EXPECT_EQ(ParseDurationMs("1.5s"), 1'500);
  EXPECT_EQ(ParseDurationMs("45"), 45'000);
  EXPECT_EQ(ParseDurationMs("2m"), 120'000);
  EXPECT_EQ(ParseDurationMs("7d"), 604'800'000);
  for (const char* text : {"", "s", "0", "-1s", "1 s", "1y", "nan", "inf", "0.1ms", "1e300"}) {
    EXPECT_FALSE(ParseDurationMs(text)) << text;
  }
}

TEST(ParseBytes, KnowsItsUnits) {
  EXPECT_EQ(ParseBytes("100"), 100);
  EXPECT_EQ(ParseBytes("1.5K"), 1'536);
  EXPECT_EQ(ParseBytes("256M"), 268'435'456);
  EXPECT_FALSE(ParseBytes("1T"));
  EXPECT_FALSE(ParseBytes("0"));
}

TEST(ParseArguments, TakesCodeAFileOrStandardInput) {
  EXPECT_EQ(Parsed<RunArguments>({"run", "-c", "print(1)"}).code, "print(1)");
  EXPECT_EQ(Parsed<RunArguments>({"run", "-c", ""}).code, "");
  EXPECT_EQ(Parsed<RunArguments>({"run", "-c", "-1"}).code, "-1");
  EXPECT_EQ(Parsed<RunArguments>({"run", "script.py"}).file, "script.py");
  EXPECT_EQ(Parsed<RunArguments>({"run", "-"}).file, "-");
  EXPECT_EQ(ExitCodeFor({"run"}), kExitUsage);
  EXPECT_EQ(ExitCodeFor({"run", "-c", "1", "script.py"}), kExitUsage);
  EXPECT_EQ(ExitCodeFor({"run", "-", "--stdin", "-"}), kExitUsage);
}

TEST(ParseArguments, TakesTheOptionsOfARun) {
  const auto run =
      Parsed<RunArguments>({"run", "-c", "1", "-l", "javascript", "-s", "box", "--context", "main",
                            "--timeout", "30s", "-e", "A=b=c", "-e", "B=", "--memory", "1M"});
  EXPECT_EQ(run.where.language, "javascript");
  EXPECT_EQ(run.where.sandbox, "box");
  EXPECT_EQ(run.where.context, "main");
  EXPECT_EQ(run.timeout_ms, 30'000);
  EXPECT_EQ(run.memory_bytes, 1'048'576);
  ASSERT_EQ(run.env.size(), 2u);
  EXPECT_EQ(run.env[0], std::pair(std::string("A"), std::string("b=c")));
  EXPECT_EQ(ExitCodeFor({"run", "-c", "1", "--timeout", "soon"}), kExitUsage);
  EXPECT_EQ(ExitCodeFor({"run", "-c", "1", "-e", "A"}), kExitUsage);
}

TEST(ParseArguments, CommonOptionsMayFollowTheCommand) {
  for (const auto& words :
       {std::vector<std::string>{"--url", "http://x", "--json", "sandboxes", "list"},
        std::vector<std::string>{"sandboxes", "list", "--json", "--url", "http://x"}}) {
    const auto parsed = Parse(words);
    const auto* const arguments = std::get_if<Arguments>(&parsed);
    ASSERT_NE(arguments, nullptr);
    EXPECT_EQ(arguments->common.url, "http://x");
    EXPECT_TRUE(arguments->common.json);
  }
}

TEST(ParseArguments, TakesActionsOfTheGroups) {
  EXPECT_EQ(Parsed<SandboxesArguments>({"sandboxes", "create", "a", "--ttl", "1h"}).ttl_ms,
            3'600'000);
  const auto rollback =
      Parsed<ContextsArguments>({"contexts", "rollback", "main", "3", "--sandbox", "b"});
  EXPECT_EQ(rollback.action, ContextsArguments::Action::kRollback);
  EXPECT_EQ(rollback.where.sandbox, "b");
  EXPECT_EQ(rollback.where.context, "main");
  EXPECT_EQ(rollback.generation, 3);
  const auto write = Parsed<FilesArguments>({"files", "write", "a.txt", "local.txt", "--parents"});
  EXPECT_EQ(write.path, "a.txt");
  EXPECT_EQ(write.local_file, "local.txt");
  EXPECT_TRUE(write.parents);
  const auto put = Parsed<FilesArguments>({"files", "put", "a.txt", "local.txt"});
  EXPECT_EQ(put.action, FilesArguments::Action::kWrite);
  const auto create = Parsed<ArtifactsArguments>({"artifacts", "create", "a.txt", "--name", "n"});
  EXPECT_EQ(create.path, "a.txt");
  EXPECT_EQ(create.name, "n");
  EXPECT_TRUE(Parsed<ArtifactsArguments>({"artifacts", "list", "--all"}).historical);
  EXPECT_EQ(ExitCodeFor({"artifacts", "get"}), kExitUsage);
  EXPECT_TRUE(Parsed<RunArguments>({"run", "-s", "box", "-c", "1", "--promote"}).promote);
  EXPECT_EQ(ExitCodeFor({"run", "-c", "1", "--full-output"}), kExitUsage);
  EXPECT_EQ(Parsed<FilesArguments>({"files", "list"}).path, "/workspace");
  EXPECT_EQ(ExitCodeFor({"contexts", "rollback", "main"}), kExitUsage);
  EXPECT_EQ(ExitCodeFor({"files"}), kExitUsage);
  const auto key = Parsed<KeysArguments>(
      {"keys", "create", "--scope", "code:run", "--scope", "file:read", "--project", "prj_1", "ci"});
  EXPECT_EQ(key.action, KeysArguments::Action::kCreate);
  EXPECT_EQ(key.name, "ci");
  EXPECT_EQ(key.scopes, (std::vector<std::string>{"code:run", "file:read"}));
  EXPECT_EQ(key.projects, std::vector<std::string>{"prj_1"});
  EXPECT_EQ(Parsed<KeysArguments>({"keys", "revoke", "key_1"}).key_id, "key_1");
  EXPECT_EQ(Parsed<ProjectsArguments>({"projects", "create", "a"}).name, "a");
  EXPECT_EQ(ExitCodeFor({"keys", "create"}), kExitUsage);
}

TEST(ParseArguments, HelpIsNoError) {
  EXPECT_EQ(ExitCodeFor({"--help"}), kExitOk);
  EXPECT_EQ(ExitCodeFor({"run", "--help"}), kExitOk);
  EXPECT_EQ(ExitCodeFor({"--version"}), kExitOk);
  EXPECT_EQ(ExitCodeFor({}), kExitUsage);
  EXPECT_EQ(ExitCodeFor({"frobnicate"}), kExitUsage);
  EXPECT_EQ(ExitCodeFor({"run", "--frobnicate", "-c", "1"}), kExitUsage);
}

}  // namespace
}  // namespace dormouse::cli
