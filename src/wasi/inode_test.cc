// SPDX-License-Identifier: Apache-2.0
#include "wasi/inode.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace dormouse::wasi {
namespace {

std::map<std::string, std::uint32_t> CookiesOf(Directory& directory) {
  std::map<std::string, std::uint32_t> cookies;
  for (const auto& [cookie, entry] : directory.entries()) cookies[entry.name] = cookie;
  return cookies;
}

TEST(Directory, CookiesFitASignedLongOfTheGuestAndLeaveRoomForTheDots) {
  Directory directory;
  for (int i = 0; i < 20'000; ++i) directory.Insert("file" + std::to_string(i), nullptr, nullptr);
  EXPECT_EQ(directory.size(), 20'000u);
  for (const auto& [cookie, entry] : directory.entries()) {
    ASSERT_GE(cookie, Directory::kFirstCookie);
    ASSERT_LE(cookie, 0x7fff'ffffu);
    ASSERT_EQ(directory.Find(entry.name), &entry);
  }
}

TEST(Directory, ListingGoesOnAfterEntriesWereRemovedAndAdded) {
  Directory directory;
  for (int i = 0; i < 1000; ++i) directory.Insert("old" + std::to_string(i), nullptr, nullptr);
  std::set<std::string> seen;
  int step = 0;
  for (const DirectoryEntry* entry = directory.After(2); entry != nullptr; ++step) {
    const std::uint32_t cookie = entry->cookie;
    EXPECT_TRUE(seen.insert(entry->name).second);
    if (step % 3 == 0) directory.Erase(directory.Find(entry->name));
    directory.Insert("new" + std::to_string(step), nullptr, nullptr);
    entry = directory.After(cookie);
  }
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(seen.contains("old" + std::to_string(i)));
}

TEST(Directory, CookiesDoNotDependOnTheOrderOfInsertion) {
  Directory forward;
  Directory backward;
  for (int i = 0; i < 500; ++i) forward.Insert(std::to_string(i), nullptr, nullptr);
  for (int i = 499; i >= 0; --i) backward.Insert(std::to_string(i), nullptr, nullptr);
  backward.SetCookies(forward.DisplacedCookies());
  EXPECT_EQ(CookiesOf(forward), CookiesOf(backward));
}

TEST(Directory, DisplacedCookiesAreGivenBackAndTheirOccupantsMoved) {
  Directory directory;
  for (int i = 0; i < 50; ++i) directory.Insert(std::to_string(i), nullptr, nullptr);
  auto cookies = CookiesOf(directory);
  // "1" gets the place of "2", "3" a free one, and one name is not there any more.
  const std::uint32_t taken = cookies["2"];
  directory.SetCookies({{"1", taken}, {"3", 77}, {"gone", 78}, {"4", 1}, {"5", 0x8000'0000}});
  EXPECT_EQ(directory.Find("1")->cookie, taken);
  EXPECT_EQ(directory.Find("3")->cookie, 77u);
  EXPECT_EQ(directory.Find("4")->cookie, cookies["4"]);
  EXPECT_EQ(directory.Find("5")->cookie, cookies["5"]);
  EXPECT_NE(directory.Find("2")->cookie, taken);
  EXPECT_EQ(directory.size(), 50u);
  for (const auto& [cookie, entry] : directory.entries()) {
    EXPECT_EQ(cookie, entry.cookie);
    EXPECT_EQ(directory.Find(entry.name), &entry);
  }
  EXPECT_FALSE(directory.DisplacedCookies().empty());
}

TEST(Directory, NothingComesAfterTheHighestCookie) {
  Directory directory;
  directory.Insert("a", nullptr, nullptr);
  EXPECT_EQ(directory.After(0x7fff'ffff), nullptr);
  EXPECT_EQ(directory.After(~std::uint64_t{0}), nullptr);
}

}  // namespace
}  // namespace dormouse::wasi
