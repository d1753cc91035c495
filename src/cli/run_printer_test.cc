// SPDX-License-Identifier: Apache-2.0
#include "cli/run_printer.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

namespace dormouse::cli {
namespace {

struct Shown {
  std::string out;
  std::string err;
  std::optional<int> exit_code;
};

Shown Show(std::initializer_list<const char*> events, Unsaved unsaved = Unsaved::kHeldByServer) {
  RunPrinter printer(unsaved);
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  for (const char* event : events) printer.OnEvent(boost::json::parse(event).as_object());
  Shown shown;
  shown.out = ::testing::internal::GetCapturedStdout();
  shown.err = ::testing::internal::GetCapturedStderr();
  shown.exit_code = printer.exit_code();
  return shown;
}

TEST(RunPrinter, TextGoesWhereTheCodeSentIt) {
  const Shown shown =
      Show({R"({"type":"stdout","data":"out"})", R"({"type":"stderr","data":"err"})"});
  EXPECT_EQ(shown.out, "out");
  EXPECT_EQ(shown.err, "err");
  EXPECT_FALSE(shown.exit_code.has_value());
}

TEST(RunPrinter, AValueIsShownOnceInItsTextForm) {
  const Shown shown = Show(
      {R"({"type":"output","data":{"kind":"inline","format":"text","value":"{'a': 1}","isResult":true}})",
       R"({"type":"output","data":{"kind":"inline","format":"json","value":{"a":1},"isResult":true}})"});
  EXPECT_EQ(shown.out, "{'a': 1}\n");
}

TEST(RunPrinter, OfATableTheTextIsEnoughOfAChartItIsNot) {
  const Shown table = Show(
      {R"({"type":"output","data":{"kind":"inline","format":"text","value":"a b","isResult":true}})",
       R"({"type":"output","data":{"kind":"rejected","format":"html","reason":"requires_artifact_promotion"}})",
       R"({"type":"output","data":{"kind":"inline","format":"data","value":{"data":[]},"isResult":true}})",
       R"({"type":"complete","data":{"status":"ok","state":"kept"}})"});
  EXPECT_EQ(table.out, "a b\n");
  EXPECT_EQ(table.err, "");
  const Shown chart = Show(
      {R"({"type":"output","data":{"kind":"inline","format":"text","value":"pie chart","isResult":true}})",
       R"({"type":"output","data":{"kind":"inline","format":"chart","value":{},"isResult":true}})",
       R"({"type":"output","data":{"kind":"rejected","format":"svg","reason":"requires_artifact_promotion"}})",
       R"({"type":"complete","data":{"status":"ok","state":"kept"}})"});
  EXPECT_EQ(chart.out, "pie chart\n");
  EXPECT_EQ(chart.err, "[svg: --promote keeps it as an artifact]\n");
}

TEST(RunPrinter, ArtifactsAreNamed) {
  const Shown shown = Show(
      {R"({"type":"output","data":{"kind":"artifact","format":"png","artifactId":"art_1","sizeBytes":7}})",
       R"({"type":"complete","data":{"status":"ok","state":"kept","stdoutArtifactId":"art_2"}})"});
  EXPECT_EQ(shown.out, "");
  EXPECT_EQ(shown.err, "[artifact art_1 png 7 bytes]\n[artifact art_2 stdout]\n");
}

TEST(RunPrinter, AnErrorIsShownOnceWithItsTraceback) {
  const Shown shown = Show(
      {R"({"type":"error","data":{"name":"E","message":"m","traceback":["line 1","E: m"]}})",
       R"({"type":"complete","data":{"status":"error","error":{"name":"E","message":"m","traceback":["line 1","E: m"]}}})"});
  EXPECT_EQ(shown.err, "line 1\nE: m\n");
  EXPECT_EQ(shown.exit_code, 1);
}

TEST(RunPrinter, AnExitIsNoErrorUnlessItHasAMessage) {
  const Shown plain = Show(
      {R"({"type":"complete","data":{"status":"exited","exitCode":7,"error":{"name":"SystemExit","message":"7"}}})"});
  EXPECT_EQ(plain.err, "");
  EXPECT_EQ(plain.exit_code, 7);
  const Shown message = Show(
      {R"({"type":"complete","data":{"status":"exited","exitCode":1,"error":{"name":"SystemExit","message":"bye"}}})"});
  EXPECT_EQ(message.err, "bye\n");
}

TEST(RunPrinter, SaysWhatBecameOfTheState) {
  const Shown shown =
      Show({R"({"type":"complete","data":{"status":"timeout","state":"rolled_back"}})"});
  EXPECT_EQ(shown.err, "[stopped at its deadline; state rolled back to before this run]\n");
  const Shown exited = Show(
      {R"({"type":"complete","data":{"status":"exited","exitCode":0,"state":"rolled_back"}})"});
  EXPECT_EQ(exited.err, "[exited; state rolled back to before this run]\n");
  EXPECT_EQ(exited.exit_code, 4);
}

TEST(RunPrinter, SuccessIsOnlyWhatIsSaved) {
  const Shown stale = Show(
      {R"({"type":"complete","data":{"status":"ok","state":"kept","context":{"stale":true,"staleReason":"full"}}})"});
  EXPECT_EQ(stale.exit_code, 4);
  EXPECT_EQ(stale.err,
            "dormouse: memory and files as this run left them could not be saved: full; the server "
            "holds them, and saves them with the next run if it can\n");
  const Shown lost = Show(
      {R"({"type":"complete","data":{"status":"exited","exitCode":0,"state":"kept","context":{"stateLost":true}}})"});
  EXPECT_EQ(lost.exit_code, 4);
  EXPECT_NE(lost.err.find("earlier runs of the context are gone"), std::string::npos);
  EXPECT_EQ(Show({R"({"type":"complete","data":{"status":"exited","exitCode":0,"state":"kept"}})"})
                .exit_code,
            0);
}

TEST(RunPrinter, AFailedRunKeepsItsExitCodeAndSaysTheRest) {
  const Shown shown = Show(
      {R"({"type":"complete","data":{"status":"exited","exitCode":9,"state":"kept","context":{"stale":true,"staleReason":"full"}}})"},
      Unsaved::kLost);
  EXPECT_EQ(shown.exit_code, 9);
  EXPECT_NE(shown.err.find("they are lost"), std::string::npos);
}

TEST(RunPrinter, AFailureOfTheServerIsNotTheCodesFault) {
  const Shown shown = Show(
      {R"({"type":"error","data":{"name":"x","message":"disk full","code":"x","requestId":"req_1"}})"});
  EXPECT_EQ(shown.err, "dormouse: disk full\n");
  EXPECT_EQ(shown.exit_code, 3);
}

}  // namespace
}  // namespace dormouse::cli
