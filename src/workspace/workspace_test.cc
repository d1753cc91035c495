// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/testing.h"
#include "workspace/content_store.h"
#include "workspace/draft.h"
#include "workspace/file_operations.h"
#include "workspace/merge.h"
#include "workspace/path.h"
#include "workspace/workspace.h"

namespace dormouse::workspace {
namespace {

TreeEntry File(const std::string& path, const std::string& content = "x") {
  TreeEntry entry;
  entry.path = path;
  entry.digest = Sha256(content);
  entry.size_bytes = content.size();
  return entry;
}

TreeEntry Directory(const std::string& path) { return NewDirectory(path, 0); }

TreeEntry Link(const std::string& path, const std::string& target) {
  TreeEntry entry;
  entry.path = path;
  entry.kind = FileKind::kSymlink;
  entry.target = target;
  return entry;
}

Tree MakeTree(std::vector<TreeEntry> entries) {
  auto tree = Tree::Load(std::move(entries));
  EXPECT_TRUE(tree.ok());
  return std::move(*tree);
}

std::string Paths(const std::vector<TreeEntry>& entries) {
  std::string text;
  for (const TreeEntry& entry : entries) text += (text.empty() ? "" : " ") + entry.path;
  return text;
}

// Makes what `change` does to a draft happen to the tree.
template <typename Change>
std::vector<Sha256Digest> Apply(Tree& tree, Change change) {
  Draft draft(tree);
  change(draft);
  const TreeTotals totals = draft.totals();
  auto dropped = tree.Apply(draft.Change("sbx"));
  EXPECT_EQ(totals.entries, tree.totals().entries);
  EXPECT_EQ(totals.bytes, tree.totals().bytes);
  return dropped;
}

TEST(Tree, LoadRefusesATreeWithoutItsDirectories) {
  EXPECT_EQ(Tree::Load({File("a/b")}).error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(Tree::Load({File("a"), File("a/b")}).error().code, ErrorCode::kCorrupt);
}

TEST(Tree, ManifestTellsTheDifferenceOrEverything) {
  Tree tree = MakeTree({Directory("d"), File("d/a"), File("d/b")});
  const Manifest all = tree.ManifestSince(std::nullopt);
  EXPECT_TRUE(all.full);
  EXPECT_EQ(Paths(all.upserts), "d d/a d/b");
  const std::uint64_t before = tree.version();
  EXPECT_TRUE(tree.ManifestSince(before).upserts.empty());
  Apply(tree, [](Draft& draft) {
    draft.EraseAll("d");
    draft.Put(Directory("e"));
    draft.Put(File("e/c"));
  });
  Apply(tree, [](Draft& draft) { draft.Put(File("e/c", "changed")); });
  const Manifest delta = tree.ManifestSince(before);
  EXPECT_FALSE(delta.full);
  EXPECT_EQ(Paths(delta.upserts), "e e/c");
  EXPECT_EQ(delta.upserts[1].digest, Sha256("changed"));
  EXPECT_EQ(delta.deletions, (std::vector<std::string>{"d/b", "d/a", "d"}));
  // One that came and went in between is a harmless deletion.
  Apply(tree, [](Draft& draft) { draft.Put(File("t")); });
  Apply(tree, [](Draft& draft) { draft.Erase("t"); });
  EXPECT_EQ(tree.ManifestSince(before).deletions.front(), "t");
}

TEST(Tree, TooOldMirrorGetsEverything) {
  Tree tree = MakeTree({File("a")});
  const std::uint64_t before = tree.version();
  for (int i = 0; i < 6'000; ++i) {
    Apply(tree, [i](Draft& draft) { draft.Put(File("a", std::to_string(i))); });
  }
  EXPECT_TRUE(tree.ManifestSince(before).full);
  EXPECT_FALSE(tree.ManifestSince(tree.version() - 10).full);
}

TEST(Tree, DroppedContentsAreThoseNoFileHasAnyMore) {
  Tree tree = MakeTree({File("a", "one"), File("b", "one"), File("c", "two")});
  EXPECT_TRUE(Apply(tree, [](Draft& draft) { draft.Erase("a"); }).empty());
  const auto dropped = Apply(tree, [](Draft& draft) {
    draft.Erase("b");
    draft.Put(File("c", "three"));
  });
  EXPECT_EQ(dropped.size(), 2u);
  // Moved within one change, nothing is dropped.
  EXPECT_TRUE(Apply(tree, [](Draft& draft) {
                draft.Erase("c");
                draft.Put(File("z", "three"));
              }).empty());
}

TEST(Draft, ChildrenAreSeenThroughChanges) {
  // '-' and '.' sort before '/', so that a directory's range has strangers beside it.
  const Tree tree = MakeTree({Directory("a"), File("a-b"), File("a.txt"), File("a/x"), Directory("a/y"),
                              File("a/y/deep"), File("a0")});
  Draft draft(tree);
  EXPECT_EQ(Paths(draft.Children("")), "a a-b a.txt a0");
  EXPECT_EQ(Paths(draft.Children("a")), "a/x a/y");
  draft.Erase("a/x");
  draft.Put(File("a/z"));
  draft.EraseAll("a/y");
  EXPECT_EQ(Paths(draft.Children("a")), "a/z");
  draft.Erase("a/z");
  EXPECT_FALSE(draft.HasChildren("a"));
  EXPECT_TRUE(draft.HasChildren(""));
  EXPECT_EQ(draft.totals().entries, 4u);
}

TEST(Draft, WhatComesBackUnchangedIsNoChange) {
  const Tree tree = MakeTree({File("a")});
  Draft draft(tree);
  draft.Erase("a");
  draft.Put(File("a"));
  draft.Put(File("b"));
  draft.Erase("b");
  const store::TreeChange change = draft.Change("sbx");
  EXPECT_TRUE(change.upserts.empty());
  EXPECT_TRUE(change.deletions.empty());
}

TEST(Path, EntryPathsMustBeNormalAndInside) {
  for (const std::string& good : {std::string("a"), std::string("a/b"), std::string("..."),
                                  std::string("a b/\n\t\"\\"), std::string("\u202e\u00e9"),
                                  std::string(255, 'n')}) {
    EXPECT_TRUE(CheckEntryPath(good).ok()) << good;
  }
  std::string long_path;
  while (long_path.size() < kMaxPathBytes + 1) long_path += "abc/";
  for (const std::string& bad :
       {std::string(""), std::string("/a"), std::string("a/"), std::string("a//b"), std::string("."),
        std::string(".."), std::string("a/../b"), std::string("a/."), std::string("a\0b", 3),
        std::string("\xc3"), std::string(256, 'n'), long_path + "x"}) {
    EXPECT_FALSE(CheckEntryPath(bad).ok()) << bad;
  }
}

struct ResolveCase {
  const char* path;
  const char* result;  // the path, "-" and the path if nothing is there, or "!" and the error's name
};

class ResolveTest : public ::testing::TestWithParam<ResolveCase> {};

TEST_P(ResolveTest, LeadsWhereAKernelWouldInside) {
  std::vector<TreeEntry> entries = {
      Directory("dir"),
      Directory("dir/sub"),
      File("dir/file"),
      File("top"),
      Link("to-dir", "dir"),
      Link("to-file", "dir/file"),
      Link("to-file-as-dir", "dir/file/"),
      Link("abs", "/workspace/dir/sub"),
      Link("root", "/workspace"),
      Link("etc", "/etc/passwd"),
      Link("slash", "/"),
      Link("up", "../outside"),
      Link("up-and-back", "../workspace/top"),
      Link("dangling", "nowhere"),
      Link("self", "self"),
      Link("dir/sub/parent", ".."),
      Link("prefix", "/workspace-evil/x"),
  };
  for (int i = 0; i < 50; ++i) {
    entries.push_back(Link("chain" + std::to_string(i), i == 0 ? "top" : "chain" + std::to_string(i - 1)));
  }
  const Tree tree = MakeTree(entries);
  const auto resolved = Resolve(Draft(tree), GetParam().path, LastLink::kFollow);
  std::string found;
  if (!resolved.ok()) {
    found = "!" + std::string(InfoOf(resolved.error().code).api_name);
  } else {
    found = (resolved->entry == nullptr ? "-" : "") + resolved->path;
  }
  EXPECT_EQ(found, GetParam().result);
}

INSTANTIATE_TEST_SUITE_P(
    Paths, ResolveTest,
    ::testing::Values(
        ResolveCase{"top", "top"}, ResolveCase{"/workspace/top", "top"},
        ResolveCase{"/workspace", ""}, ResolveCase{"/workspace/", ""}, ResolveCase{".", ""},
        ResolveCase{"//workspace//dir/./file", "dir/file"}, ResolveCase{"dir/../top", "top"},
        ResolveCase{"to-dir/file", "dir/file"}, ResolveCase{"to-dir/", "dir"},
        ResolveCase{"to-dir//", "dir"}, ResolveCase{"to-dir/.", "dir"},
        ResolveCase{"to-dir/..", ""}, ResolveCase{"to-file", "dir/file"},
        ResolveCase{"to-file/", "!path_not_directory"},
        ResolveCase{"to-file-as-dir", "!path_not_directory"},
        ResolveCase{"top/", "!path_not_directory"}, ResolveCase{"top/.", "!path_not_directory"},
        ResolveCase{"top/..", "!path_not_directory"}, ResolveCase{"abs/parent/file", "dir/file"},
        ResolveCase{"root/root/top", "top"}, ResolveCase{"new", "-new"},
        ResolveCase{"dangling", "-nowhere"},
        ResolveCase{"none/../top", "!parent_directory_not_found"},
        ResolveCase{"none/x", "!parent_directory_not_found"},
        ResolveCase{"etc", "!path_outside_workspace"}, ResolveCase{"up", "!path_outside_workspace"},
        ResolveCase{"slash", "!path_outside_workspace"},
        ResolveCase{"slash/workspace/top", "top"}, ResolveCase{"up-and-back", "top"},
        ResolveCase{"prefix", "!path_outside_workspace"},
        ResolveCase{"/", "!path_outside_workspace"}, ResolveCase{"..", "!path_outside_workspace"},
        ResolveCase{"../..", "!path_outside_workspace"},
        ResolveCase{"/workspace-evil", "!path_outside_workspace"},
        ResolveCase{"/workspace/../workspace/top", "top"},
        ResolveCase{"/etc/passwd", "!path_outside_workspace"}, ResolveCase{"self", "!invalid_request"},
        ResolveCase{"chain39", "top"}, ResolveCase{"chain40", "!invalid_request"},
        ResolveCase{"", "!invalid_request"}));

TEST(FileOperations, WritingThroughALinkWritesItsTarget) {
  const Tree tree = MakeTree({File("real"), Link("link", "real"), Link("dangling", "made")});
  Draft draft(tree);
  EXPECT_EQ(WriteFile(draft, "link", Sha256("n"), 1, {}, 5)->path, "real");
  EXPECT_EQ(WriteFile(draft, "dangling", Sha256("n"), 1, {}, 5)->path, "made");
  EXPECT_EQ(WriteFile(draft, "real", Sha256("n"), 1, {.overwrite = false}, 5).error().code,
            ErrorCode::kFileAlreadyExists);
  EXPECT_EQ(WriteFile(draft, "x/y/z", Sha256("n"), 1, {.create_parents = true}, 5)->path, "x/y/z");
  EXPECT_EQ(draft.Find("x/y")->kind, FileKind::kDirectory);
}

TEST(FileOperations, AnEntryThatComesOrGoesGivesItsDirectoryANewTime) {
  const Tree tree = MakeTree({Directory("d"), File("d/f"), Directory("e")});
  Draft draft(tree);
  ASSERT_TRUE(WriteFile(draft, "d/f", Sha256("n"), 1, {}, 5).ok());
  EXPECT_EQ(draft.Find("d")->mtime_ns, tree.Find("d")->mtime_ns) << "replaced, not added";
  ASSERT_TRUE(WriteFile(draft, "d/g", Sha256("n"), 1, {}, 6).ok());
  EXPECT_EQ(draft.Find("d")->mtime_ns, 6);
  ASSERT_TRUE(MakeDirectory(draft, "d/h", Parents::kMustExist, 7).ok());
  EXPECT_EQ(draft.Find("d")->mtime_ns, 7);
  ASSERT_TRUE(Move(draft, "d/g", "e/g", Overwrite::kNo, 8).ok());
  EXPECT_EQ(draft.Find("d")->mtime_ns, 8);
  EXPECT_EQ(draft.Find("e")->mtime_ns, 8);
  ASSERT_TRUE(Delete(draft, "e/g", 9).ok());
  EXPECT_EQ(draft.Find("e")->mtime_ns, 9);
}

TEST(FileOperations, MoveFollowsTheRulesOfRename) {
  const Tree tree = MakeTree({Directory("d"), File("d/f"), File("g", "other"), Directory("empty"),
                              Link("l", "d")});
  const auto move = [&](const char* from, const char* to, Overwrite overwrite) -> std::string {
    Draft draft(tree);
    const auto moved = Move(draft, from, to, overwrite, 5);
    if (!moved.ok()) return "!" + std::string(InfoOf(moved.error().code).api_name);
    std::string left;
    for (const TreeEntry& entry : draft.Descendants("")) left += entry.path + " ";
    return left;
  };
  EXPECT_EQ(move("d", "moved", Overwrite::kNo), "empty g l moved moved/f ");
  EXPECT_EQ(move("d/f", "g", Overwrite::kNo), "!file_already_exists");
  EXPECT_EQ(move("d/f", "g", Overwrite::kYes), "d empty g l ");
  EXPECT_EQ(move("d", "empty", Overwrite::kYes), "empty empty/f g l ");
  EXPECT_EQ(move("empty", "d", Overwrite::kYes), "!directory_not_empty");
  EXPECT_EQ(move("g", "d", Overwrite::kYes), "!path_is_directory");
  EXPECT_EQ(move("d", "g", Overwrite::kYes), "!path_not_directory");
  EXPECT_EQ(move("d", "d/x", Overwrite::kYes), "!invalid_request");
  EXPECT_EQ(move("l", "k", Overwrite::kNo), "d d/f empty g k ");
  EXPECT_EQ(move("g", "g", Overwrite::kNo), "d d/f empty g l ");
  EXPECT_EQ(move(".", "x", Overwrite::kNo), "!invalid_request");
  EXPECT_EQ(move("none", "x", Overwrite::kNo), "!file_not_found");
}

std::string Merged(const std::vector<TreeEntry>& now, RunChanges changes) {
  const Tree tree = MakeTree(now);
  EXPECT_TRUE(CheckRunChanges(changes).ok());
  Draft draft(tree);
  MergeRun(draft, std::move(changes), 7);
  std::string text;
  for (const TreeEntry& entry : draft.Descendants("")) {
    text += entry.path + (entry.kind == FileKind::kDirectory ? "/ " : " ");
  }
  Tree after = tree;
  after.Apply(draft.Change("sbx"));
  EXPECT_TRUE(Tree::Load(draft.Descendants("")).ok()) << "a merged tree must be whole";
  EXPECT_EQ(after.totals().entries, draft.totals().entries);
  return text;
}

TEST(Merge, LastCommitWins) {
  EXPECT_EQ(Merged({File("a", "theirs")}, {{File("a", "ours")}, {}}), "a ");
  EXPECT_EQ(Merged({File("a", "theirs")}, {{}, {"a"}}), "");
  EXPECT_EQ(Merged({}, {{}, {"a"}}), "");
}

TEST(Merge, DeletedDirectoryKeepsWhatOthersPutIn) {
  EXPECT_EQ(Merged({Directory("d"), File("d/ours"), File("d/theirs")}, {{}, {"d", "d/ours"}}),
            "d/ d/theirs ");
  EXPECT_EQ(Merged({Directory("d"), File("d/ours")}, {{}, {"d/ours", "d"}}), "");
}

TEST(Merge, LostParentsComeBack) {
  EXPECT_EQ(Merged({}, {{File("a/b/c")}, {}}), "a/ a/b/ a/b/c ");
  EXPECT_EQ(Merged({File("a", "theirs")}, {{File("a/b")}, {}}), "a/ a/b ");
}

TEST(Merge, KindOfTheLastCommitWins) {
  EXPECT_EQ(Merged({Directory("a"), File("a/theirs")}, {{File("a")}, {}}), "a ");
  EXPECT_EQ(Merged({File("a")}, {{Directory("a")}, {}}), "a/ ");
  EXPECT_EQ(Merged({Directory("a"), File("a/kept")}, {{Directory("a")}, {}}), "a/ a/kept ");
}

TEST(Merge, IllegalChangesAreRefused) {
  EXPECT_FALSE(CheckRunChanges({{File("../x")}, {}}).ok());
  EXPECT_FALSE(CheckRunChanges({{File("a"), File("a")}, {}}).ok());
  EXPECT_FALSE(CheckRunChanges({{File("a")}, {"a"}}).ok());
  EXPECT_FALSE(CheckRunChanges({{}, {"/etc"}}).ok());
  EXPECT_FALSE(CheckRunChanges({{Link("a", "")}, {}}).ok());
  TreeEntry entry = File("a");
  entry.mode = 0100644;
  EXPECT_FALSE(CheckRunChanges({{entry}, {}}).ok());
}

class WorkspaceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    store::StoreOptions options;
    options.directory = directory_.path();
    auto opened = store::OpenSqliteStore(std::move(options));
    ASSERT_TRUE(opened.ok());
    store_ = std::move(*opened);
  }
  bool Commit(store::Transaction transaction) {
    return store::testing::Await(store_->Commit(std::move(transaction))).ok();
  }
  store::testing::TemporaryDirectory directory_;
  std::unique_ptr<store::Store> store_;
};

TEST_F(WorkspaceTest, ReplacedContentStaysWhileAMirrorKnowsIt) {
  ContentStore contents(*store_);
  auto workspace = std::make_shared<Workspace>(MakeTree({}), store_->pins());
  const auto write = [&](const std::string& text) {
    auto staged = contents.Stage(text);
    ASSERT_TRUE(staged.ok());
    store::Transaction transaction;
    std::move(*staged).AddTo(transaction);
    Draft draft(workspace->Current());
    draft.Put(File("f", text));
    const store::TreeChange change = draft.Change("sbx");
    const auto pins = workspace->PinsFor(change);
    transaction.trees.push_back(change);
    ASSERT_TRUE(Commit(std::move(transaction)));
    workspace->Applied(change);
  };
  const auto sweep = [&] { return *store::testing::Await(store_->SweepContents(100)); };
  write("one");
  auto mirror = std::make_unique<Mirror>(workspace);
  EXPECT_FALSE(mirror->MayRead(Sha256("never")));
  EXPECT_EQ(mirror->NextManifest().upserts.size(), 1u);
  write("two");
  EXPECT_EQ(sweep(), 0u);
  EXPECT_TRUE(mirror->MayRead(Sha256("one")));
  // One that was never told of it may not have it.
  Mirror late(workspace);
  late.NextManifest();
  EXPECT_FALSE(late.MayRead(Sha256("one")));
  EXPECT_TRUE(late.MayRead(Sha256("two")));
  mirror.reset();
  EXPECT_EQ(sweep(), 1u);
}

TEST_F(WorkspaceTest, WorkersFileIsCopiedNotTakenOver) {
  ContentStore contents(*store_);
  auto file = store_->files().CreateTemporary();
  ASSERT_TRUE(file.ok());
  const std::string bytes(2'000'000, 'a');
  ASSERT_EQ(::write(file->get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  auto staged = contents.StageFile(file->get(), 10'000'000);
  ASSERT_TRUE(staged.ok());
  EXPECT_EQ(staged->digest, Sha256(bytes));
  // The worker's descriptor still writes, but not into the content.
  ASSERT_EQ(::pwrite(file->get(), "evil", 4, 0), 4);
  const Sha256Digest digest = staged->digest;
  store::Transaction transaction;
  std::move(*staged).AddTo(transaction);
  transaction.trees.push_back({"sbx", {}, {File("f", bytes)}});
  ASSERT_TRUE(Commit(std::move(transaction)));
  const auto opened = store_->OpenContent(digest);
  ASSERT_TRUE(opened.ok());
  EXPECT_EQ(*Sha256OfFile(opened->get()), digest);
  EXPECT_EQ(contents.StageFile(file->get(), 1'000'000).error().code, ErrorCode::kFileTooLarge);
}

TEST_F(WorkspaceTest, HolesOfALargeFileTakeNoRoom) {
  ContentStore contents(*store_);
  auto file = store_->files().CreateTemporary();
  ASSERT_TRUE(file.ok());
  ASSERT_EQ(::pwrite(file->get(), "middle", 6, 5'000'000), 6);
  ASSERT_EQ(::ftruncate(file->get(), 20'000'000), 0);
  auto staged = contents.StageFile(file->get(), 100'000'000);
  ASSERT_TRUE(staged.ok());
  EXPECT_EQ(staged->size_bytes, 20'000'000u);
  EXPECT_EQ(staged->digest, *Sha256OfFile(file->get()));
  struct stat status {};
  ASSERT_EQ(::fstat(staged->file->descriptor(), &status), 0);
  EXPECT_EQ(status.st_size, 20'000'000);
  EXPECT_LT(status.st_blocks * 512, 4'000'000);
  EXPECT_EQ(*Sha256OfFile(staged->file->descriptor()), staged->digest);
}

}  // namespace
}  // namespace dormouse::workspace
