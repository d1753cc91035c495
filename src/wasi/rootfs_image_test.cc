// SPDX-License-Identifier: Apache-2.0
#include "wasi/rootfs_image.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "wasi/test_support.h"

namespace dormouse::wasi {
namespace {

namespace fs = std::filesystem;

class RootfsImageTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "rootfs-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
    fs::create_directories(directory_ / "lib" / "deep" / "er");
    fs::create_directories(directory_ / "empty");
    Put("lib/a.py", "print('a')\n");
    Put("lib/b.py", "");
    Put("lib/deep/er/page.bin", std::string(5000, 'p'));
    Put("lib/déjà.txt", "vu");
    Put("run", "#!");
    fs::permissions(directory_ / "run", fs::perms::owner_all);
    fs::create_symlink("lib/a.py", directory_ / "link");
  }
  void TearDown() override { fs::remove_all(directory_); }
  void Put(const std::string& name, const std::string& text) {
    std::ofstream(directory_ / name, std::ios::binary) << text;
  }
  std::string Pack() {
    Result<std::string> image = PackRootfs(directory_.string());
    EXPECT_TRUE(image.ok());
    return image.ok() ? *image : std::string();
  }
  fs::path directory_;
};

TEST_F(RootfsImageTest, FilesOfThePackedTreeAreServedAtTheRoot) {
  Result<RootfsImage> image = RootfsImage::Open(SharedBytes::FromString(Pack()));
  ASSERT_TRUE(image.ok()) << image.error().message;
  TestTree tree({}, *image);
  EXPECT_EQ(tree.Read("lib/a.py"), "print('a')\n");
  EXPECT_EQ(tree.Read("lib/b.py"), "");
  EXPECT_EQ(tree.Read("/lib/deep/er/page.bin"), std::string(5000, 'p'));
  EXPECT_EQ(tree.Read("lib/déjà.txt"), "vu");
  EXPECT_EQ(tree.Read("link"), "print('a')\n");
  EXPECT_EQ(tree.Stat("run").mode, 0755u);
  EXPECT_EQ(tree.Stat("lib/a.py").mode, 0644u);
  EXPECT_EQ(tree.Stat("lib/a.py").mtime_ns, kRootfsMtimeNs);
  EXPECT_EQ(tree.List("/"),
            (std::vector<std::string>{"dev", "empty", "lib", "link", "run", "tmp", "workspace"}));
  EXPECT_TRUE(tree.List("/empty").empty());
}

TEST_F(RootfsImageTest, ContentsAreAlignedForMapping) {
  const std::string bytes = Pack();
  Result<RootfsImage> image = RootfsImage::Open(SharedBytes::FromString(bytes));
  ASSERT_TRUE(image.ok());
  const SharedBytes whole = SharedBytes::FromString(bytes);
  for (std::uint32_t i = 0; i < image->node_count(); ++i) {
    const RootfsImage::Node node = image->At(i);
    if (node.type != FileType::kRegular || node.data.size() == 0) continue;
    const std::size_t offset = bytes.find(node.data.view());
    EXPECT_EQ(offset % (node.data.size() >= 4096 ? 4096 : 16), 0u) << node.name;
  }
}

TEST_F(RootfsImageTest, PackingTwiceGivesTheSameBytesWhateverTheTimesOnTheHost) {
  const std::string first = Pack();
  fs::last_write_time(directory_ / "lib" / "a.py", fs::file_time_type::clock::now());
  EXPECT_EQ(Pack(), first);
}

TEST_F(RootfsImageTest, WritingToItIsRefused) {
  Result<RootfsImage> image = RootfsImage::Open(SharedBytes::FromString(Pack()));
  ASSERT_TRUE(image.ok());
  TestTree tree({}, *image);
  InodePtr inode;
  EXPECT_EQ(tree.Write("lib/a.py", "x"), Errno::kReadOnly);
  EXPECT_EQ(tree.files.Open(tree.root(), "lib/a.py", {.truncate = true}, inode), Errno::kReadOnly);
  EXPECT_EQ(tree.Write("lib/new", "x"), Errno::kReadOnly);
  EXPECT_EQ(tree.files.MakeDirectory(tree.root(), "lib/new"), Errno::kReadOnly);
  EXPECT_EQ(tree.files.Unlink(tree.root(), "lib/a.py"), Errno::kReadOnly);
  EXPECT_EQ(tree.files.Rename(tree.root(), "lib/a.py", tree.root(), "lib/c.py"), Errno::kReadOnly);
  EXPECT_EQ(tree.files.Rename(tree.root(), "lib/a.py", tree.root(), "tmp/c.py"),
            Errno::kCrossDevice);
  EXPECT_EQ(tree.Read("lib/a.py"), "print('a')\n");
}

TEST_F(RootfsImageTest, NamesOfMountsAreRefusedWhenPacking) {
  fs::create_directory(directory_ / "workspace");
  EXPECT_FALSE(PackRootfs(directory_.string()).ok());
}

TEST_F(RootfsImageTest, NamesThatAreNotUtf8AreRefusedWhenPacking) {
  Put("\xff", "x");
  EXPECT_FALSE(PackRootfs(directory_.string()).ok());
}

TEST_F(RootfsImageTest, AnImageCutAnywhereIsRefused) {
  const std::string bytes = Pack();
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    ASSERT_FALSE(RootfsImage::Open(SharedBytes::FromString(bytes.substr(0, length))).ok())
        << length;
  }
}

// Whatever a damaged index says, opening fails or every file can be read within the image.
TEST_F(RootfsImageTest, DamagedBytesNeverLeadOutsideTheImage) {
  const std::string good = Pack();
  std::mt19937 random(99);
  const std::size_t index_end = std::min<std::size_t>(good.size(), 48 + 10 * 48 + 80);
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes = good;
    for (int i = 0; i < 1 + round % 3; ++i) {
      bytes[random() % index_end] = static_cast<char>(random() % 4 == 0 ? random() : random() % 4);
    }
    Result<RootfsImage> image = RootfsImage::Open(SharedBytes::FromString(std::move(bytes)));
    if (!image.ok()) continue;
    TestTree tree({}, *image);
    for (const std::string& name : tree.List("/lib")) (void)tree.Read("/lib/" + name);
    (void)tree.Read("/lib/deep/er/page.bin");
  }
}

}  // namespace
}  // namespace dormouse::wasi
