// SPDX-License-Identifier: Apache-2.0
#include "cli/event_parser.h"

#include <gtest/gtest.h>

#include <vector>

namespace dormouse::cli {
namespace {

std::vector<std::string> Drain(EventParser& parser) {
  std::vector<std::string> found;
  while (auto data = parser.Next()) found.push_back(*data);
  return found;
}

TEST(EventParser, FindsTheSameEventsWhereverTheStreamIsCut) {
  const std::string stream =
      ": hello\n\nevent: a\ndata: {\"x\":1}\n\n: keep-alive\n\ndata: two\ndata:lines\n\ndata: last";
  const std::vector<std::string> expected = {"{\"x\":1}", "two\nlines"};
  for (std::size_t cut = 0; cut <= stream.size(); ++cut) {
    EventParser parser;
    parser.Append(stream.substr(0, cut));
    std::vector<std::string> found = Drain(parser);
    parser.Append(stream.substr(cut));
    for (std::string& data : Drain(parser)) found.push_back(std::move(data));
    EXPECT_EQ(found, expected) << cut;
  }
}

TEST(EventParser, TakesSingleBytes) {
  EventParser parser;
  std::vector<std::string> found;
  for (const char c : std::string("data: a\n\ndata: b\n\n")) {
    parser.Append(std::string_view(&c, 1));
    for (std::string& data : Drain(parser)) found.push_back(std::move(data));
  }
  EXPECT_EQ(found, (std::vector<std::string>{"a", "b"}));
}

}  // namespace
}  // namespace dormouse::cli
