// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "service/compaction.h"
#include "service/output_mapper.h"
#include "service/run_report.h"
#include "service/stream_capture.h"

namespace dormouse::service {
namespace {

std::string Summary(const CodeOutput& output) {
  switch (output.kind) {
    case CodeOutput::Kind::kInline:
      return output.format + "=" + output.value_json + (output.truncated ? " cut" : "");
    case CodeOutput::Kind::kArtifact:
      return output.format + " artifact";
    case CodeOutput::Kind::kRejected:
      return output.format + " rejected " + output.reason;
  }
  return "";
}

std::vector<std::string> Map(OutputMapper& mapper, std::string_view json) {
  std::vector<std::string> summaries;
  for (const CodeOutput& output : mapper.Map(json)) summaries.push_back(Summary(output));
  return summaries;
}

constexpr OutputLimits kLimits{.output_bytes = 1'000, .run_bytes = 2'000, .outputs = 100};

TEST(OutputMapper, BundleBecomesOneOutputPerTypeTextFirst) {
  OutputMapper mapper(kLimits);
  const std::vector<std::string> wanted = {
      "text=\"t\"",
      "markdown=\"*m*\"",
      "html rejected requires_artifact_promotion",
      "latex=\"$l$\"",
      "json={\"a\":[1,null]}",
      "chart={\"mark\":\"bar\"}",
      "svg rejected requires_artifact_promotion",
      "png rejected requires_artifact_promotion",
      "jpeg rejected requires_artifact_promotion",
      "application/pdf rejected unsupported_format",
  };
  EXPECT_EQ(Map(mapper, R"({"data":{"image/jpeg":"","application/pdf":"","image/png":"iVBO","image/svg+xml":"<svg/>",
      "application/vnd.vegalite.v5+json":{"mark":"bar"},"application/json":{"a":[1,null]},"text/latex":"$l$",
      "text/html":"<b>","text/markdown":"*m*","text/plain":"t"},"metadata":{},"isResult":true})"),
            wanted);
}

TEST(OutputMapper, JsonKeepsItsDigits) {
  OutputMapper mapper(kLimits);
  EXPECT_EQ(Map(mapper, R"({ "metadata" : {"data":{"application/json":0}}, "data" : {
      "application/json" : [ 123456789012345678901234567890, -1.50, 1e-7, "a \" }] b", {"k" : [ ]} , null ],
      "text/plain":"x"} })"),
            (std::vector<std::string>{
                "text=\"x\"",
                R"(json=[123456789012345678901234567890,-1.50,1e-7,"a \" }] b",{"k":[]},null])"}));
  // A key with escapes, and one that comes twice.
  EXPECT_EQ(Map(mapper, R"({"data":{"application\/json":1e1}})"), std::vector<std::string>{"json=1E1"});
  EXPECT_EQ(Map(mapper, R"({"data":{"application/json":1,"application/json":{}}})").size(), 1u);
  EXPECT_EQ(Map(mapper, R"({"data":5,"data":{"application/json":1.50}})"), std::vector<std::string>{"json=1.50"});
  EXPECT_EQ(Map(mapper, R"({"dat\u0061":{"application/json":1.50}})").size(), 1u);
}

TEST(OutputMapper, HostileJsonIsRejectedNotFatal) {
  const std::string deep = R"({"data":{"application/json":)" + std::string(5'000, '[') +
                           std::string(5'000, ']') + "}}";
  for (const std::string& json :
       {std::string(), std::string("nonsense"), std::string("[]"), std::string("{}"),
        std::string(R"({"data":[]})"), std::string("{\"data\":{\"text/plain\":\"\xff\"}}"), deep}) {
    OutputMapper mapper(kLimits);
    EXPECT_EQ(Map(mapper, json),
              std::vector<std::string>{"application/json rejected unsupported_format"});
  }
  OutputMapper mapper(kLimits);
  EXPECT_EQ(Map(mapper, R"({"data":{"text/plain":5}})"),
            std::vector<std::string>{"text rejected unsupported_format"});
}

TEST(OutputMapper, LongTextIsCutAndLongJsonRejected) {
  OutputMapper mapper(kLimits);
  const std::string text(1'500, 'x');
  const auto outputs = mapper.Map(R"({"data":{"text/plain":")" + text + R"(","application/json":")" + text + R"("}})");
  ASSERT_EQ(outputs.size(), 2u);
  EXPECT_TRUE(outputs[0].truncated);
  EXPECT_LE(outputs[0].value_json.size(), 1'002u);
  EXPECT_EQ(outputs[0].size_bytes, 1'500u);
  EXPECT_EQ(outputs[1].reason, "output_too_large");
  // Escapes count, and no character is cut in two.
  OutputMapper other(kLimits);
  std::string escapes;
  for (int i = 0; i < 1'000; ++i) escapes += "\\u0001";
  const auto escaped = other.Map(R"({"data":{"text/plain":")" + escapes + R"("}})");
  EXPECT_LE(escaped[0].value_json.size(), 1'002u);
  EXPECT_TRUE(escaped[0].truncated);
}

TEST(OutputMapper, LongTextKeepsItsEndsAndSaysWhatIsMissing) {
  OutputMapper mapper(kLimits);
  const std::string text = std::string(1'000, 'a') + std::string(1'000, 'z');
  const CodeOutput output = mapper.Map(R"({"data":{"text/plain":")" + text + R"("}})")[0];
  const std::string shown(boost::json::parse(output.value_json).as_string());
  EXPECT_TRUE(shown.starts_with("aaa") && shown.ends_with("zzz"));
  EXPECT_NE(shown.find("a\n[... 1064 bytes left out ...]\nz"), std::string::npos) << shown;
  EXPECT_EQ(output.size_bytes, 2'000u);
}

TEST(OutputMapper, MetadataAndDisplayIdAreOfTheOutputsTheyAreSaidOf) {
  OutputMapper mapper(kLimits);
  const auto outputs = mapper.Map(R"({"data":{"text/plain":"t","application/json":1},"isResult":false,"displayId":"d","update":true,
      "metadata":{"application/json":{"width":3},"image/png":{"width":4},"height":5}})");
  EXPECT_EQ(outputs[0].metadata_json, R"({"height":5})");
  EXPECT_EQ(outputs[1].metadata_json, R"({"width":3,"height":5})");
  EXPECT_EQ(outputs[1].display_id, "d");
  EXPECT_TRUE(outputs[0].update && outputs[1].update);
  const std::string large = R"({"data":{"text/plain":"t"},"update":true,"metadata":{"a":")" + std::string(5'000, 'x') + R"("}})";
  const CodeOutput plain = mapper.Map(large)[0];
  EXPECT_EQ(plain.metadata_json, "") << "too large";
  EXPECT_FALSE(plain.update) << "of what?";
}

TEST(OutputMapper, RunHasAnInlineBudgetAndACountOfOutputs) {
  OutputMapper mapper(kLimits);
  const std::string json = R"({"data":{"application/json":")" + std::string(900, 'x') + R"("}})";
  EXPECT_EQ(mapper.Map(json)[0].kind, CodeOutput::Kind::kInline);
  EXPECT_EQ(mapper.Map(json)[0].kind, CodeOutput::Kind::kInline);
  EXPECT_EQ(mapper.Map(json)[0].reason, "output_too_large");
  OutputMapper counted({.output_bytes = 1'000, .run_bytes = 1'000'000, .outputs = 3});
  std::size_t total = 0;
  for (int i = 0; i < 5'000; ++i) total += counted.Map(R"({"data":{"text/plain":"x"}})").size();
  EXPECT_EQ(total, 4u) << "three, and one that stands for the rest";
}

TEST(GuestError, IsBounded) {
  boost::json::array lines;
  for (int i = 0; i < 10'000; ++i) lines.emplace_back("line " + std::to_string(i));
  const CodeError error = ParseGuestError(boost::json::serialize(boost::json::object{
      {"name", std::string(1'000, 'n')}, {"message", "m"}, {"traceback", lines}, {"lineNumber", 3}}));
  EXPECT_EQ(error.name.size(), 256u);
  EXPECT_EQ(error.traceback.size(), 401u);
  EXPECT_EQ(error.traceback[200], "[... 9600 lines left out ...]");
  EXPECT_EQ(error.traceback.back(), "line 9999");
  EXPECT_EQ(error.line_number, 3);
  EXPECT_EQ(ParseGuestError("{").name, "Error");
}

TEST(RunReport, EachEndHasItsName) {
  const auto error = [](scheduler::RunStatus status, std::string message = "") {
    RunEnd end;
    end.status = status;
    end.message = std::move(message);
    end.timeout_ms = 1500;
    end.fuel_us = 7;
    end.memory_bytes = 1024;
    end.guest_error = CodeError{"KeyboardInterrupt", "guest's", {"frame"}, 4};
    const auto found = ErrorOf(end);
    EXPECT_TRUE(!found || found->traceback == std::vector<std::string>{"frame"});
    return found ? found->name + ": " + found->message : "";
  };
  using scheduler::RunStatus;
  EXPECT_EQ(error(RunStatus::kOk), "");
  EXPECT_EQ(error(RunStatus::kError), "KeyboardInterrupt: guest's");
  EXPECT_EQ(error(RunStatus::kTimeout), "TimeoutError: Code execution exceeded 1500 ms.");
  EXPECT_EQ(error(RunStatus::kFuelExhausted),
            "FuelExhaustedError: Code execution used up its 7 microseconds of CPU time.");
  EXPECT_EQ(error(RunStatus::kInterrupted), "Interrupted: The run was interrupted.");
  EXPECT_EQ(error(RunStatus::kOutOfMemory),
            "OutOfMemoryError: The run needed more than its memory limit of 1024 bytes.");
  EXPECT_EQ(error(RunStatus::kCrashed, "trap\xff"), "EngineCrash: The engine stopped working: trap\ufffd");
  EXPECT_EQ(error(RunStatus::kExited), "");
}

TEST(StreamCapture, KeepsHeadAndTailWithTrueTotals) {
  StreamCapture capture(100);
  std::string live;
  for (int i = 0; i < 100'000; ++i) live += capture.Append(std::to_string(i % 10));
  live += capture.Finish();
  EXPECT_EQ(live.size(), 100u);
  const CapturedText text = capture.Result();
  EXPECT_TRUE(text.truncated);
  EXPECT_EQ(text.total_bytes, 100'000u);
  EXPECT_EQ(text.text.substr(0, 50), live.substr(0, 50));
  EXPECT_EQ(text.text.substr(text.text.size() - 10), "0123456789");
  EXPECT_NE(text.text.find("\n[... 99900 bytes left out ...]\n"), std::string::npos) << text.text;
}

TEST(StreamCapture, OneHugeWriteIsCutLikeManySmallOnes) {
  StreamCapture capture(100);
  const std::string_view live = capture.Append(std::string(300'000, 'x') + "end");
  EXPECT_EQ(live.size(), 100u);
  const CapturedText text = capture.Result();
  EXPECT_TRUE(text.text.ends_with("xend"));
  EXPECT_NE(text.text.find("[... 299903 bytes"), std::string::npos) << text.text;
}

TEST(StreamCapture, TextUpToTheLimitIsWhole) {
  for (std::size_t size : {0u, 1u, 49u, 50u, 51u, 99u, 100u}) {
    StreamCapture capture(100);
    const std::string written(size, 'x');
    for (const char c : written) capture.Append(std::string_view(&c, 1));
    EXPECT_EQ(capture.Result().text, written);
    EXPECT_FALSE(capture.Result().truncated);
  }
}

TEST(StreamCapture, CharactersStayWholeEverywhere) {
  for (std::size_t limit = 10; limit < 30; ++limit) {
    StreamCapture capture(limit);
    std::string live;
    const std::string text = "\U0001f600\u20ac\u00e9a\U0001f600\u20ac\u00e9a\U0001f600\u20ac\u00e9a\U0001f600";
    for (const char c : text) live += capture.Append(std::string_view(&c, 1));
    EXPECT_TRUE(IsValidUtf8(live));
    EXPECT_LE(live.size(), limit);
    EXPECT_TRUE(IsValidUtf8(capture.Result().text));
    EXPECT_EQ(text.substr(0, live.size()), live);
  }
}

TEST(Compaction, PaysWhenTheTopOutweighsTheBase) {
  constexpr std::uint64_t kKiB = 1024;
  EXPECT_FALSE(WantsCompaction({}));
  EXPECT_FALSE(WantsCompaction({{1, 10'000 * kKiB}}));
  EXPECT_FALSE(WantsCompaction({{1, 10 * kKiB}, {2, 200 * kKiB}}));
  EXPECT_TRUE(WantsCompaction({{1, 10 * kKiB}, {2, 300 * kKiB}}));
  EXPECT_FALSE(WantsCompaction({{1, 400 * kKiB}, {2, 300 * kKiB}}));
  EXPECT_TRUE(WantsCompaction(std::vector<store::SegmentRef>(16, {1, 1})));
}

TEST(OutputMapper, TypesThatTheWorkerLeftOutAreRejectedByName) {
  OutputMapper mapper({.output_bytes = 100, .run_bytes = 100, .outputs = 10});
  const auto outputs = mapper.Map(
      R"({"data":{"text/plain":"x"},"tooLarge":["image/png","application/x",5],"isResult":true})");
  ASSERT_EQ(outputs.size(), 3u);
  EXPECT_EQ(outputs[0].format, "text");
  EXPECT_EQ(outputs[1].format, "png");
  EXPECT_EQ(outputs[1].reason, "output_too_large");
  EXPECT_TRUE(outputs[1].is_result);
  EXPECT_EQ(outputs[2].format, "application/x");
}

}  // namespace
}  // namespace dormouse::service
