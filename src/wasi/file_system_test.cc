// SPDX-License-Identifier: Apache-2.0
#include "wasi/file_system.h"

#include <gtest/gtest.h>

#include <string>

#include "wasi/test_support.h"

namespace dormouse::wasi {
namespace {

Errno Link(TestTree& tree, std::string_view from, std::string_view to) {
  return tree.files.Link(tree.root(), from, Follow::kNo, tree.root(), to);
}
Errno Symlink(TestTree& tree, std::string_view target, std::string_view path) {
  return tree.files.Symlink(target, tree.root(), path);
}
Errno Rename(TestTree& tree, std::string_view from, std::string_view to) {
  return tree.files.Rename(tree.root(), from, tree.root(), to);
}
Errno Mkdir(TestTree& tree, std::string_view path) {
  return tree.files.MakeDirectory(tree.root(), path);
}

TEST(FileSystem, TheRootHoldsTheMountsAndIsReadOnly) {
  TestTree tree;
  EXPECT_EQ(tree.List("/"), (std::vector<std::string>{"dev", "tmp", "workspace"}));
  EXPECT_EQ(tree.Write("/x", ""), Errno::kReadOnly);
  EXPECT_EQ(Mkdir(tree, "/x"), Errno::kReadOnly);
  EXPECT_EQ(tree.Write("/dev/x", ""), Errno::kReadOnly);
  EXPECT_EQ(tree.files.Unlink(tree.root(), "/dev/null"), Errno::kReadOnly);
  EXPECT_EQ(tree.Stat("/tmp").mode, 01777u);
}

TEST(FileSystem, MountPointsCanNeitherBeRemovedNorMoved) {
  TestTree tree;
  EXPECT_EQ(tree.files.RemoveDirectory(tree.root(), "/tmp"), Errno::kBusy);
  EXPECT_EQ(Rename(tree, "/tmp", "/temp"), Errno::kBusy);
  EXPECT_EQ(Rename(tree, "/tmp", "/workspace/tmp"), Errno::kCrossDevice);
  EXPECT_EQ(Rename(tree, "/workspace", "/workspace/x"), Errno::kCrossDevice);
}

TEST(FileSystem, LinksAndRenamesDoNotCrossMounts) {
  TestTree tree;
  ASSERT_EQ(tree.Write("/tmp/a", "1"), Errno::kSuccess);
  EXPECT_EQ(Link(tree, "/tmp/a", "/workspace/a"), Errno::kCrossDevice);
  EXPECT_EQ(Rename(tree, "/tmp/a", "/workspace/a"), Errno::kCrossDevice);
  EXPECT_EQ(Rename(tree, "/tmp/a", "/a"), Errno::kCrossDevice);
  EXPECT_NE(tree.Stat("/tmp/a").device, tree.Stat("/workspace").device);
}

TEST(FileSystem, FortySymlinksAreFollowedAndNotOneMore) {
  TestTree tree;
  ASSERT_EQ(tree.Write("/tmp/0", "end"), Errno::kSuccess);
  for (int i = 1; i <= 50; ++i) {
    ASSERT_EQ(Symlink(tree, std::to_string(i - 1), "/tmp/" + std::to_string(i)), Errno::kSuccess);
  }
  EXPECT_EQ(tree.Read("/tmp/40"), "end");
  InodePtr inode;
  EXPECT_EQ(tree.files.Open(tree.root(), "/tmp/41", {}, inode), Errno::kLoop);
  ASSERT_EQ(Symlink(tree, "self", "/tmp/self"), Errno::kSuccess);
  EXPECT_EQ(tree.files.Open(tree.root(), "/tmp/self", {}, inode), Errno::kLoop);
  EXPECT_EQ(tree.files.Open(tree.root(), "/tmp/self/x", {}, inode), Errno::kLoop);
}

TEST(FileSystem, AbsoluteLinksStartAtTheGuestsRootAndDotDotStopsThere) {
  TestTree tree;
  ASSERT_EQ(tree.Write("/tmp/a", "inside"), Errno::kSuccess);
  ASSERT_EQ(Symlink(tree, "/tmp/a", "/workspace/absolute"), Errno::kSuccess);
  ASSERT_EQ(Symlink(tree, "../../../../../tmp/a", "/workspace/up"), Errno::kSuccess);
  ASSERT_EQ(Symlink(tree, "/etc", "/workspace/etc"), Errno::kSuccess);
  ASSERT_EQ(Symlink(tree, "/", "/workspace/root"), Errno::kSuccess);
  EXPECT_EQ(tree.Read("/workspace/absolute"), "inside");
  EXPECT_EQ(tree.Read("/workspace/up"), "inside");
  EXPECT_EQ(tree.Read("/workspace/root/tmp/a"), "inside");
  InodePtr inode;
  EXPECT_EQ(tree.files.Open(tree.root(), "/workspace/etc/passwd", {}, inode), Errno::kNotFound);
  EXPECT_EQ(tree.List("/.."), tree.List("/"));
}

TEST(FileSystem, ASlashAfterALinkMeansTheDirectoryItLeadsTo) {
  TestTree tree;
  ASSERT_EQ(Mkdir(tree, "/tmp/real"), Errno::kSuccess);
  ASSERT_EQ(tree.Write("/tmp/real/f", "x"), Errno::kSuccess);
  ASSERT_EQ(Symlink(tree, "real", "/tmp/link"), Errno::kSuccess);
  ASSERT_EQ(Symlink(tree, "real/f", "/tmp/file"), Errno::kSuccess);
  EXPECT_EQ(tree.Stat("/tmp/link").type, FileType::kSymlink);
  EXPECT_EQ(tree.Stat("/tmp/link/").type, FileType::kDirectory);
  EXPECT_EQ(tree.Stat("/tmp/link//").type, FileType::kDirectory);
  EXPECT_EQ(tree.Stat("/tmp/link/.").type, FileType::kDirectory);
  EXPECT_EQ(tree.Stat("/tmp/link/..").inode, tree.Stat("/tmp").inode);
  EXPECT_EQ(tree.Exists("/tmp/file/"), Errno::kNotDirectory);
  EXPECT_EQ(tree.files.Unlink(tree.root(), "/tmp/link/"), Errno::kNotDirectory);
  EXPECT_EQ(tree.files.RemoveDirectory(tree.root(), "/tmp/link/"), Errno::kNotDirectory);
}

TEST(FileSystem, NamesOf255BytesWorkAnd256DoNot) {
  TestTree tree;
  const std::string longest(255, 'n');
  EXPECT_EQ(tree.Write("/tmp/" + longest, "x"), Errno::kSuccess);
  EXPECT_EQ(tree.Read("/tmp/" + longest), "x");
  EXPECT_EQ(tree.Write("/tmp/" + longest + "n", "x"), Errno::kNameTooLong);
  EXPECT_EQ(tree.Exists("/tmp/" + std::string(5000, '/') + "x"), Errno::kNameTooLong);
  std::string path = "/tmp";
  while (path.size() < 4095) path += "/.";
  EXPECT_EQ(tree.Exists(path.substr(0, 4095)), Errno::kSuccess);
}

TEST(FileSystem, EveryUtf8NameIsItsOwnAndOthersAreRefused) {
  TestTree tree;
  const std::string nfc = "/tmp/caf\xc3\xa9";
  const std::string nfd = "/tmp/cafe\xcc\x81";
  ASSERT_EQ(tree.Write(nfc, "nfc"), Errno::kSuccess);
  ASSERT_EQ(tree.Write(nfd, "nfd"), Errno::kSuccess);
  EXPECT_EQ(tree.Read(nfc), "nfc");
  EXPECT_EQ(tree.Read(nfd), "nfd");
  for (const char* name : {" ", "%41", "#?&+", "'\"\\", "a\nb\tc", "-", ".x", "x.", "CON",
                           "\xe2\x80\xae", "\xf0\x9f\x90\xad"}) {
    EXPECT_EQ(tree.Write(std::string("/tmp/") + name, name), Errno::kSuccess) << name;
    EXPECT_EQ(tree.Read(std::string("/tmp/") + name), name);
  }
  for (const char* name : {"\xff", "\xc3", "\xed\xa0\x80", "\xc0\xaf", "a\x80"}) {
    EXPECT_EQ(tree.Write(std::string("/tmp/") + name, ""), Errno::kIllegalName);
    EXPECT_EQ(Symlink(tree, name, "/tmp/link"), Errno::kIllegalName);
  }
}

TEST(FileSystem, PathsStayWithinTheirLimitEvenWhenDirectoriesMove) {
  TestTree tree;
  const std::string name(250, 'd');
  std::string deep = "/tmp";
  InodePtr directory;
  for (int i = 0; i < 16; ++i) {
    ASSERT_EQ(Mkdir(tree, deep + "/" + name), Errno::kSuccess) << i;
    deep += "/" + name;
  }
  // Through a descriptor the path that is given is short, but the whole would be too long.
  ASSERT_EQ(tree.files.Lookup(tree.root(), deep, Follow::kYes, directory), Errno::kSuccess);
  EXPECT_EQ(tree.files.MakeDirectory(*directory, name), Errno::kNameTooLong);
  ASSERT_EQ(Mkdir(tree, "/tmp/a"), Errno::kSuccess);
  ASSERT_EQ(Mkdir(tree, "/tmp/a/" + name), Errno::kSuccess);
  EXPECT_EQ(Rename(tree, "/tmp/a", deep + "/a"), Errno::kNameTooLong);
  EXPECT_EQ(tree.Exists("/tmp/a/" + name), Errno::kSuccess);
}

TEST(FileSystem, AFileLivesOnWithoutANameWhileItIsOpen) {
  TestTree tree;
  ASSERT_EQ(tree.Write("/tmp/f", "still here"), Errno::kSuccess);
  InodePtr inode;
  ASSERT_EQ(tree.files.Open(tree.root(), "/tmp/f", {}, inode), Errno::kSuccess);
  ASSERT_EQ(tree.files.Unlink(tree.root(), "/tmp/f"), Errno::kSuccess);
  EXPECT_EQ(tree.ReadAll(*inode), "still here");
  EXPECT_EQ(tree.files.StatOf(*inode).links, 0u);
  const std::uint64_t used = tree.files.mount(MountKind::kTmp).bytes.used();
  EXPECT_GT(used, 0u);
  inode = nullptr;
  EXPECT_EQ(tree.files.mount(MountKind::kTmp).bytes.used(), 0u);
}

TEST(FileSystem, NothingCanBeMadeInARemovedDirectory) {
  TestTree tree;
  ASSERT_EQ(Mkdir(tree, "/tmp/d"), Errno::kSuccess);
  InodePtr directory;
  ASSERT_EQ(tree.files.Lookup(tree.root(), "/tmp/d", Follow::kYes, directory), Errno::kSuccess);
  ASSERT_EQ(tree.files.RemoveDirectory(tree.root(), "/tmp/d"), Errno::kSuccess);
  EXPECT_EQ(tree.files.MakeDirectory(*directory, "x"), Errno::kNotFound);
  EXPECT_EQ(tree.files.Rename(tree.root(), "/tmp/none", *directory, "x"), Errno::kNotFound);
  FileStat stat;
  EXPECT_EQ(tree.files.Stat(*directory, ".", Follow::kYes, stat), Errno::kSuccess);
  EXPECT_EQ(stat.links, 0u);
}

TEST(FileSystem, HardLinksShareContentAndCount) {
  TestTree tree;
  ASSERT_EQ(tree.Write("/tmp/a", "1"), Errno::kSuccess);
  ASSERT_EQ(Link(tree, "/tmp/a", "/tmp/b"), Errno::kSuccess);
  EXPECT_EQ(tree.Stat("/tmp/a").links, 2u);
  EXPECT_EQ(tree.Stat("/tmp/a").inode, tree.Stat("/tmp/b").inode);
  ASSERT_EQ(tree.Write("/tmp/b", "two"), Errno::kSuccess);
  EXPECT_EQ(tree.Read("/tmp/a"), "two");
  ASSERT_EQ(tree.files.Unlink(tree.root(), "/tmp/a"), Errno::kSuccess);
  EXPECT_EQ(tree.Stat("/tmp/b").links, 1u);
  EXPECT_EQ(Link(tree, "/tmp", "/tmp/c"), Errno::kNotPermitted);
}

TEST(FileSystem, DirectoryLinkCountsFollowTheirSubdirectories) {
  TestTree tree;
  ASSERT_EQ(Mkdir(tree, "/tmp/d"), Errno::kSuccess);
  ASSERT_EQ(Mkdir(tree, "/tmp/d/x"), Errno::kSuccess);
  ASSERT_EQ(Mkdir(tree, "/tmp/e"), Errno::kSuccess);
  EXPECT_EQ(tree.Stat("/tmp/d").links, 3u);
  ASSERT_EQ(Rename(tree, "/tmp/d/x", "/tmp/e"), Errno::kSuccess);
  EXPECT_EQ(tree.Stat("/tmp/d").links, 2u);
  EXPECT_EQ(tree.Stat("/tmp").links, 4u);
}

TEST(FileSystem, ADirectoryCannotMoveIntoItself) {
  TestTree tree;
  ASSERT_EQ(Mkdir(tree, "/tmp/d"), Errno::kSuccess);
  ASSERT_EQ(Mkdir(tree, "/tmp/d/e"), Errno::kSuccess);
  EXPECT_EQ(Rename(tree, "/tmp/d", "/tmp/d/e/f"), Errno::kInvalid);
  EXPECT_EQ(Rename(tree, "/tmp/d", "/tmp/d/e"), Errno::kInvalid);
  EXPECT_EQ(Rename(tree, "/tmp/d/e", "/tmp/d"), Errno::kNotEmpty);
}

TEST(FileSystem, EachMountHasItsOwnKindOfFull) {
  Limits limits;
  limits.max_tmp_bytes = 1024;
  limits.max_workspace_bytes = 2048;
  TestTree tree(limits);
  InodePtr inode;
  std::uint64_t put = 0;
  for (const auto& [path, bytes, error] :
       {std::tuple{"/tmp/f", 1024u, Errno::kNoSpace}, {"/workspace/f", 2048u, Errno::kQuota}}) {
    ASSERT_EQ(tree.files.Open(tree.root(), path, {.write = true, .create = true}, inode),
              Errno::kSuccess);
    ASSERT_EQ(tree.files.Write(*inode, 0, Bytes(std::string(5000, 'x')), put), Errno::kSuccess);
    EXPECT_EQ(put, bytes);
    EXPECT_EQ(tree.files.Write(*inode, put, Bytes("x"), put), error);
    EXPECT_EQ(tree.files.Allocate(*inode, 0, 100'000), error);
  }
  ASSERT_EQ(tree.files.Unlink(tree.root(), "/tmp/f"), Errno::kSuccess);
  EXPECT_EQ(tree.Write("/tmp/g", "room again"), Errno::kSuccess);
}

TEST(FileSystem, FilesLinksAndDirectoriesCountAgainstTheLimit) {
  Limits limits;
  limits.max_files = 4;  // one is the root
  TestTree tree(limits);
  ASSERT_EQ(tree.Write("/workspace/a", "1"), Errno::kSuccess);
  ASSERT_EQ(Link(tree, "/workspace/a", "/workspace/b"), Errno::kSuccess);
  ASSERT_EQ(Mkdir(tree, "/workspace/d"), Errno::kSuccess);
  EXPECT_EQ(tree.Write("/workspace/c", "1"), Errno::kQuota);
  EXPECT_EQ(Mkdir(tree, "/workspace/c"), Errno::kQuota);
  EXPECT_EQ(Symlink(tree, "a", "/workspace/c"), Errno::kQuota);
  EXPECT_EQ(Link(tree, "/workspace/a", "/workspace/c"), Errno::kQuota);
  EXPECT_EQ(Rename(tree, "/workspace/a", "/workspace/c"), Errno::kSuccess);
  ASSERT_EQ(tree.files.Unlink(tree.root(), "/workspace/b"), Errno::kSuccess);
  EXPECT_EQ(Symlink(tree, "a", "/workspace/e"), Errno::kSuccess);
}

TEST(FileSystem, AHoleOfFiveGigabytesCostsNothingAndBeyondTheLimitIsTooBig) {
  Limits limits;
  limits.max_tmp_bytes = 1 << 20;
  TestTree tree(limits);
  ASSERT_EQ(tree.Write("/tmp/f", ""), Errno::kSuccess);
  InodePtr inode;
  ASSERT_EQ(tree.files.Open(tree.root(), "/tmp/f", {.write = true}, inode), Errno::kSuccess);
  std::uint64_t put = 0;
  ASSERT_EQ(tree.files.Write(*inode, std::uint64_t{5} << 30, Bytes("end"), put), Errno::kSuccess);
  EXPECT_EQ(tree.Stat("/tmp/f").size, (std::uint64_t{5} << 30) + 3);
  EXPECT_EQ(tree.files.Truncate(*inode, limits.max_file_bytes), Errno::kSuccess);
  EXPECT_EQ(tree.files.Truncate(*inode, limits.max_file_bytes + 1), Errno::kFileTooBig);
  EXPECT_EQ(tree.files.Write(*inode, limits.max_file_bytes, Bytes("x"), put), Errno::kFileTooBig);
  EXPECT_EQ(tree.files.Write(*inode, limits.max_file_bytes - 1, Bytes("xyz"), put),
            Errno::kSuccess);
  EXPECT_EQ(put, 1u);
}

// The server counts what files are long, and would not store a run that is over its quota.
TEST(FileSystem, HolesAndNamesInTheWorkspaceCountLikeBytes) {
  Limits limits;
  limits.max_workspace_bytes = 1000;
  TestTree tree(limits);
  ASSERT_EQ(tree.Write("/workspace/f", "x"), Errno::kSuccess);
  InodePtr inode;
  ASSERT_EQ(tree.files.Open(tree.root(), "/workspace/f", {.write = true}, inode), Errno::kSuccess);
  Quota& sizes = inode->mount->sizes;
  std::uint64_t put = 0;
  EXPECT_EQ(tree.files.Truncate(*inode, 1001), Errno::kFileTooBig);
  EXPECT_EQ(tree.files.Write(*inode, std::uint64_t{5} << 30, Bytes("x"), put), Errno::kFileTooBig);
  EXPECT_EQ(inode->size(), 1u);
  ASSERT_EQ(tree.files.Truncate(*inode, 400), Errno::kSuccess);
  EXPECT_EQ(sizes.used(), 400u);
  ASSERT_EQ(Link(tree, "/workspace/f", "/workspace/g"), Errno::kSuccess);
  EXPECT_EQ(sizes.used(), 800u);
  EXPECT_EQ(Link(tree, "/workspace/f", "/workspace/h"), Errno::kQuota);
  // Each byte more is one in each name.
  EXPECT_EQ(tree.files.Truncate(*inode, 501), Errno::kQuota);
  ASSERT_EQ(tree.files.Write(*inode, 450, Bytes(std::string(100, 'y')), put), Errno::kSuccess);
  EXPECT_EQ(put, 50u);
  EXPECT_EQ(sizes.used(), 1000u);
  ASSERT_EQ(tree.files.Unlink(tree.root(), "/workspace/f"), Errno::kSuccess);
  EXPECT_EQ(sizes.used(), 500u);
  ASSERT_EQ(Rename(tree, "/workspace/g", "/workspace/i"), Errno::kSuccess);
  EXPECT_EQ(sizes.used(), 500u);
  // Nobody stores a file without a name.
  tree.files.Opened(*inode);
  ASSERT_EQ(tree.files.Unlink(tree.root(), "/workspace/i"), Errno::kSuccess);
  EXPECT_EQ(sizes.used(), 0u);
  EXPECT_EQ(tree.files.Truncate(*inode, 900), Errno::kSuccess);
  tree.files.Closed(*inode);
  inode.reset();
  ASSERT_EQ(tree.Write("/workspace/j", std::string(700, 'z')), Errno::kSuccess);
  EXPECT_EQ(sizes.used(), 700u);
}

TEST(FileSystem, TimesMoveAsPosixWants) {
  TestTree tree;
  ASSERT_EQ(tree.Write("/tmp/f", "1"), Errno::kSuccess);
  const FileStat born = tree.Stat("/tmp/f");
  const FileStat parent = tree.Stat("/tmp");
  (void)tree.Read("/tmp/f");
  EXPECT_GT(tree.Stat("/tmp/f").atime_ns, born.atime_ns);
  EXPECT_EQ(tree.Stat("/tmp/f").mtime_ns, born.mtime_ns);
  InodePtr inode;
  ASSERT_EQ(tree.files.Lookup(tree.root(), "/tmp/f", Follow::kYes, inode), Errno::kSuccess);
  ASSERT_EQ(tree.files.SetMode(*inode, 0600), Errno::kSuccess);
  EXPECT_EQ(tree.Stat("/tmp/f").mtime_ns, born.mtime_ns);
  EXPECT_GT(tree.Stat("/tmp/f").ctime_ns, born.ctime_ns);
  EXPECT_EQ(tree.Stat("/tmp/f").mode, 0600u);
  ASSERT_EQ(tree.files.SetTimes(*inode, {}, {TimeChange::Kind::kValue, 1'234'567'891}),
            Errno::kSuccess);
  EXPECT_EQ(tree.Stat("/tmp/f").mtime_ns, 1'234'567'891);
  EXPECT_EQ(tree.Stat("/tmp").mtime_ns, parent.mtime_ns);
  ASSERT_EQ(tree.files.Unlink(tree.root(), "/tmp/f"), Errno::kSuccess);
  EXPECT_GT(tree.Stat("/tmp").mtime_ns, parent.mtime_ns);
}

TEST(FileSystem, DevicesCanBeOpenedForWritingOnTheirReadOnlyMount) {
  TestTree tree;
  InodePtr inode;
  EXPECT_EQ(tree.files.Open(tree.root(), "/dev/null",
                            {.write = true, .create = true, .truncate = true}, inode),
            Errno::kSuccess);
  EXPECT_EQ(tree.List("/dev"), (std::vector<std::string>{"null", "random", "stderr", "stdin",
                                                         "stdout", "urandom", "zero"}));
}

TEST(FileSystem, InodeNumbersAreExactAsDoublesAndDifferBetweenLives) {
  TestTree first;
  TestTree second;
  ASSERT_EQ(first.Write("/tmp/f", ""), Errno::kSuccess);
  ASSERT_EQ(second.Write("/tmp/f", ""), Errno::kSuccess);
  EXPECT_NE(first.Stat("/tmp/f").inode, second.Stat("/tmp/f").inode);
  EXPECT_LT(first.Stat("/tmp/f").inode, std::uint64_t{1} << 53);
}

}  // namespace
}  // namespace dormouse::wasi
