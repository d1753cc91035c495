// SPDX-License-Identifier: Apache-2.0
#include "service/command_line.h"

#include <gtest/gtest.h>

namespace dormouse::service {
namespace {

using Words = std::vector<std::string>;

Words WordsOf(std::string_view line) {
  const auto commands = ParseCommandLine(line);
  EXPECT_TRUE(commands.ok()) << line << ": " << (commands.ok() ? "" : commands.error().message);
  if (!commands.ok() || commands->size() != 1) return {};
  return commands->front().words;
}

ErrorCode CodeOf(std::string_view line) {
  const auto steps = ParsePrograms(line);
  EXPECT_FALSE(steps.ok()) << line;
  return steps.ok() ? ErrorCode::kInternal : steps.error().code;
}

TEST(CommandLine, WordsAreSplitAtBlanks) {
  EXPECT_EQ(WordsOf("  python \t a.py  x\n"), (Words{"python", "a.py", "x"}));
  EXPECT_EQ(WordsOf("\n a\\\n b"), (Words{"a", "b"}));
  EXPECT_EQ(WordsOf("a\\\nb c"), (Words{"ab", "c"}));
}

TEST(CommandLine, QuotesKeepWhatTheyHold) {
  EXPECT_EQ(WordsOf("p 'a b' \"c d\" e\\ f"), (Words{"p", "a b", "c d", "e f"}));
  EXPECT_EQ(WordsOf("p '' \"\""), (Words{"p", "", ""}));
  EXPECT_EQ(WordsOf("p 'it'\\''s' a'b'\"c\""), (Words{"p", "it's", "abc"}));
  EXPECT_EQ(WordsOf("p 'a\\n$x`;|'"), (Words{"p", "a\\n$x`;|"}));
  EXPECT_EQ(WordsOf("p \"a;|&<>()*?[#~\" '&&'"), (Words{"p", "a;|&<>()*?[#~", "&&"}));
  EXPECT_EQ(WordsOf("p \"line\nline\" 'line\nline'"), (Words{"p", "line\nline", "line\nline"}));
}

TEST(CommandLine, ABackslashInDoubleQuotesEscapesFourCharacters) {
  EXPECT_EQ(WordsOf(R"(p "\$x \` \" \\ \n \'")"), (Words{"p", R"($x ` " \ \n \')"}));
  EXPECT_EQ(WordsOf("p \"a\\\nb\""), (Words{"p", "ab"}));
}

TEST(CommandLine, ADollarThatNothingFollowsIsADollar) {
  EXPECT_EQ(WordsOf("p a$ \"$ 5\" $.x"), (Words{"p", "a$", "$ 5", "$.x"}));
}

TEST(CommandLine, CharactersThatMeanNothingToAShellAreLiteral) {
  EXPECT_EQ(WordsOf("p a#b a~ --x=y {a,b} ! % @ ^ , : é🦔"),
            (Words{"p", "a#b", "a~", "--x=y", "{a,b}", "!", "%", "@", "^", ",", ":", "é🦔"}));
}

TEST(CommandLine, AssignmentsStandBeforeTheProgram) {
  const auto commands = ParseCommandLine("A=1 _b2='x y' C= D\"=\"1 E=2");
  ASSERT_TRUE(commands.ok()) << commands.error().message;
  const SimpleCommand& command = commands->front();
  EXPECT_EQ(command.assignments, (std::vector<std::pair<std::string, std::string>>{
                                     {"A", "1"}, {"_b2", "x y"}, {"C", ""}}));
  // A quoted name or equals sign makes no assignment, and nothing after the program does.
  EXPECT_EQ(command.words, (Words{"D=1", "E=2"}));
  EXPECT_EQ(WordsOf("1A=2"), (Words{"1A=2"}));
  EXPECT_EQ(WordsOf("=2"), (Words{"=2"}));
}

TEST(CommandLine, CommandsAreJoinedByAnd) {
  const auto commands = ParseCommandLine("a b&&c &&\n d\n");
  ASSERT_TRUE(commands.ok()) << commands.error().message;
  ASSERT_EQ(commands->size(), 3u);
  EXPECT_EQ((*commands)[0].words, (Words{"a", "b"}));
  EXPECT_EQ((*commands)[1].words, (Words{"c"}));
  EXPECT_EQ((*commands)[2].words, (Words{"d"}));
}

TEST(CommandLine, WhatNeedsAShellIsRefused) {
  for (const char* line :
       {"python a.py | python b.py", "python a.py > out", "python a.py < in", "python a.py 2>&1",
        "python a.py; python b.py", "python a.py || python b.py", "python a.py &", "(python a.py)",
        "python $FILE", "python \"$FILE\"", "python ${F}", "python $(ls)", "python $((1))", "python $1",
        "python `ls`", "python \"`ls`\"", "python *.py", "python a?.py", "python [ab].py", "python ~/a.py",
        "# nothing", "python a.py # comment", "python a.py\npython b.py", "A=1", "python $'x'"}) {
    const auto parsed = ParseCommandLine(line);
    ASSERT_FALSE(parsed.ok()) << line;
    EXPECT_EQ(parsed.error().code, ErrorCode::kUnsupportedRuntimeOption) << line;
    EXPECT_NE(parsed.error().message.find("possible are"), std::string::npos) << line;
    EXPECT_EQ(parsed.error().details, (decltype(parsed.error().details){{"field", "command"}}));
  }
}

TEST(CommandLine, WhatNoShellTakesIsMalformed) {
  for (const std::string& line :
       {std::string(""), std::string("  \n "), std::string("python 'a"), std::string("python \"a"),
        std::string("python a\\"), std::string("&& python a"), std::string("python a &&"),
        std::string("python a && && b"), std::string("a\0b", 3), std::string("a \xff"),
        std::string(kMaxCommandBytes + 1, 'a')}) {
    const auto parsed = ParseCommandLine(line);
    ASSERT_FALSE(parsed.ok()) << line.substr(0, 100);
    EXPECT_EQ(parsed.error().code, ErrorCode::kInvalidRequest) << line.substr(0, 100);
  }
}

TEST(CommandLine, WordsAndCommandsAreBounded) {
  std::string many;
  for (std::size_t i = 0; i <= kMaxCommandWords; ++i) many += "a ";
  EXPECT_FALSE(ParseCommandLine(many).ok());
  std::string joined = "a";
  for (std::size_t i = 0; i < kMaxCommands; ++i) joined += "&&a";
  EXPECT_FALSE(ParseCommandLine(joined).ok());
}

Program Only(std::string_view line) {
  const auto steps = ParsePrograms(line);
  EXPECT_TRUE(steps.ok()) << line << ": " << (steps.ok() ? "" : steps.error().message);
  if (!steps.ok() || steps->empty() || steps->back().is_change) return {};
  return steps->back().program;
}

TEST(CommandLine, Python) {
  Program program = Only("PYTHONPATH=src python3 -u tools/a.py -c 'x y'");
  EXPECT_EQ(program.language, Program::Language::kPython);
  EXPECT_EQ(program.kind, Program::Kind::kFile);
  EXPECT_EQ(program.target, "tools/a.py");
  EXPECT_EQ(program.arguments, (Words{"-c", "x y"}));
  EXPECT_EQ(program.env.at(0).second, "src");
  EXPECT_EQ(program.directory, "/workspace");
  program = Only("python -c 'print(1)' a -b");
  EXPECT_EQ(program.kind, Program::Kind::kCode);
  EXPECT_EQ(program.target, "print(1)");
  EXPECT_EQ(program.arguments, (Words{"a", "-b"}));
  program = Only("/usr/bin/python3 -m json.tool x.json");
  EXPECT_EQ(program.kind, Program::Kind::kModule);
  EXPECT_EQ(program.target, "json.tool");
  EXPECT_EQ(Only("python -c ''").target, "");
}

TEST(CommandLine, NodeAndTypeScript) {
  EXPECT_EQ(Only("node a.js x").language, Program::Language::kJavaScript);
  EXPECT_EQ(Only("node --no-warnings -- a.js").target, "a.js");
  EXPECT_EQ(Only("node -e 'console.log(1)' x").kind, Program::Kind::kCode);
  EXPECT_EQ(Only("node a.ts").language, Program::Language::kTypeScript);
  EXPECT_EQ(Only("tsx a.ts").language, Program::Language::kTypeScript);
  EXPECT_EQ(Only("ts-node -e 'let a: number'").language, Program::Language::kTypeScript);
}

TEST(CommandLine, PerlAndRuby) {
  Program program = Only("PERL5LIB=x perl -w -Ilib -I more a.pl -e b");
  EXPECT_EQ(program.language, Program::Language::kPerl);
  EXPECT_EQ(program.kind, Program::Kind::kFile);
  EXPECT_EQ(program.target, "a.pl");
  EXPECT_EQ(program.options, (Words{"-w", "-Ilib", "-Imore"}));
  EXPECT_EQ(program.arguments, (Words{"-e", "b"}));
  program = Only("perl -E 'say 1' x");
  EXPECT_EQ(program.kind, Program::Kind::kCode);
  EXPECT_EQ(program.target, "say 1");
  EXPECT_EQ(program.options, (Words{"-E"}));
  EXPECT_EQ(Only("perl -- -x.pl").target, "-x.pl");
  EXPECT_EQ(Only("perl a.ts").language, Program::Language::kPerl);
  program = Only("/usr/bin/ruby -rjson -I lib -e 'p 1'");
  EXPECT_EQ(program.language, Program::Language::kRuby);
  EXPECT_EQ(program.kind, Program::Kind::kCode);
  EXPECT_EQ(program.options, (Words{"-rjson", "-Ilib"}));
}

TEST(CommandLine, ChangesOfDirectoryHoldForWhatFollows) {
  const auto steps = ParsePrograms("cd a && cd ./b/../c && python x.py && cd && node y.js && cd /workspace/d/");
  ASSERT_TRUE(steps.ok()) << steps.error().message;
  ASSERT_EQ(steps->size(), 6u);
  EXPECT_EQ((*steps)[1].directory, "/workspace/a/c");
  EXPECT_EQ((*steps)[2].program.directory, "/workspace/a/c");
  EXPECT_EQ((*steps)[4].program.directory, "/workspace");
  EXPECT_EQ((*steps)[5].directory, "/workspace/d");
}

TEST(CommandLine, NobodyLeavesTheWorkspace) {
  for (const char* line : {"cd ..", "cd /", "cd /tmp", "cd a/../..", "cd /workspacex", "cd ../etc"}) {
    EXPECT_EQ(CodeOf(line), ErrorCode::kPathOutsideWorkspace) << line;
  }
  EXPECT_TRUE(ParsePrograms("cd ../workspace/a").ok());
}

TEST(CommandLine, OtherProgramsAndOptionsAreRefused) {
  for (const char* line : {"ls", "bash -c ls", "pip install x", "npm test", "./a.py", "python", "python -c",
                           "python -m", "python -m ''", "python ''", "python -O a.py", "python -", "node", "node -p 1",
                           "node --inspect a.js", "cd a b", "cd -", "echo hi", "if", "python -i a.py", "perl",
                           "perl -n a.pl", "perl -I", "perl -e", "ruby -n a.rb", "python -w a.py", "node -w a.js"}) {
    EXPECT_EQ(CodeOf(line), ErrorCode::kUnsupportedRuntimeOption) << line;
  }
}

}  // namespace
}  // namespace dormouse::service
