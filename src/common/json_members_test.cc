// SPDX-License-Identifier: Apache-2.0
#include "common/json_members.h"

#include <gtest/gtest.h>

namespace dormouse {
namespace {

TEST(JsonMembers, AreGivenAsTheyAreWritten) {
  const JsonMembers members = JsonMembersOf(R"( { "a" : 1.50 , "b\"c":"x,}\"" ,"d":{"e":[1, {"f":"]"}]},"g":null} )");
  ASSERT_EQ(members.size(), 4u);
  EXPECT_EQ(members[0], std::pair(std::string_view("a"), std::string_view("1.50")));
  EXPECT_EQ(members[1].first, R"(b\"c)");
  EXPECT_EQ(members[1].second, R"("x,}\"")");
  EXPECT_EQ(members[2].second, R"({"e":[1, {"f":"]"}]})");
  EXPECT_EQ(JsonMember(members, "g"), "null");
  EXPECT_EQ(JsonMember(members, "h"), "");
}

TEST(JsonMembers, TheLastOfEqualKeysCounts) {
  EXPECT_EQ(JsonMember(JsonMembersOf(R"({"a":1,"a":2})"), "a"), "2");
}

TEST(JsonMembers, OtherValuesHaveNone) {
  for (const char* text : {"", " ", "1", "[1]", "\"{\"", "{}", "{ }", "null"}) {
    EXPECT_TRUE(JsonMembersOf(text).empty()) << text;
  }
}

TEST(JsonMembers, TextCutAnywhereIsSafe) {
  const std::string_view whole = R"({"a":"\","b":[{"c":1}],"d":{"e":"f"}})";
  for (std::size_t length = 0; length <= whole.size(); ++length) {
    for (const auto& [key, value] : JsonMembersOf(whole.substr(0, length))) {
      EXPECT_LE(key.size() + value.size(), length);
    }
  }
}

}  // namespace
}  // namespace dormouse
