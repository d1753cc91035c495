// SPDX-License-Identifier: Apache-2.0
#include "wasi/workspace_mirror.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "wasi/test_support.h"

namespace dormouse::wasi {
namespace {

using Kind = WorkspaceManifest::Kind;
using Content = WorkspaceChange::Content;

// A context's file system and mirror, and what a server does with its changes.
struct Context : TestTree {
  explicit Context(Limits limits = {}) : TestTree(limits), mirror(files) {}

  WorkspaceEntry File(std::string path, std::string text, std::int64_t mtime_ns = 1000) {
    WorkspaceEntry entry{.path = std::move(path)};
    entry.size = text.size();
    entry.digest = contents.Add(std::move(text));
    entry.mtime_ns = mtime_ns;
    return entry;
  }
  static WorkspaceEntry Dir(std::string path, std::int64_t mtime_ns = 1000) {
    WorkspaceEntry entry{.path = std::move(path), .type = FileType::kDirectory};
    entry.mode = 0755;
    entry.mtime_ns = mtime_ns;
    return entry;
  }
  static WorkspaceEntry SymlinkTo(std::string path, std::string target) {
    WorkspaceEntry entry{.path = std::move(path), .type = FileType::kSymlink};
    entry.target = std::move(target);
    return entry;
  }
  void Apply(Kind kind, std::vector<WorkspaceEntry> upserts,
             std::vector<std::string> deletions = {}) {
    WorkspaceManifest manifest;
    manifest.kind = kind;
    manifest.upserts = std::move(upserts);
    manifest.deletions = std::move(deletions);
    const Result<void> applied = mirror.ApplyManifest(manifest);
    ASSERT_TRUE(applied.ok()) << applied.error().message;
  }
  bool Refuses(Kind kind, std::vector<WorkspaceEntry> upserts,
               std::vector<std::string> deletions = {}) {
    WorkspaceManifest manifest;
    manifest.kind = kind;
    manifest.upserts = std::move(upserts);
    manifest.deletions = std::move(deletions);
    return !mirror.ApplyManifest(manifest).ok();
  }
  // Collects, stores contents and confirms, like a worker and its server.
  WorkspaceChanges Commit() {
    WorkspaceChanges changes = mirror.CollectChanges();
    std::vector<Sha256Digest> digests;
    for (WorkspaceChange& change : changes.upserts) {
      if (change.content != Content::kChanged) continue;
      change.entry.digest = contents.Add(ReadAll(*change.file));
      digests.push_back(change.entry.digest);
      change.file = nullptr;
    }
    EXPECT_TRUE(mirror.MarkCommitted(digests).ok());
    return changes;
  }
  std::string Changes() { return TextOf(mirror.CollectChanges()); }
  static std::string TextOf(const WorkspaceChanges& changes) {
    std::string text;
    for (const WorkspaceChange& change : changes.upserts) {
      if (!text.empty()) text += " ";
      text += change.is_new ? "+" : "~";
      text += change.entry.path;
      if (change.content == Content::kKnown) text += "=";
    }
    for (const std::string& path : changes.deletions) {
      if (!text.empty()) text += " ";
      text += "-" + path;
    }
    return text;
  }

  WorkspaceMirror mirror;
};

TEST(WorkspaceMirror, AManifestAppearsWithoutLoadingContents) {
  Context context;
  context.Apply(Kind::kFull, {context.File("a/b/c.txt", "deep"), Context::Dir("empty"),
                              Context::SymlinkTo("link", "a/b")});
  EXPECT_EQ(context.List("/workspace"), (std::vector<std::string>{"a", "empty", "link"}));
  EXPECT_EQ(context.Stat("/workspace/a/b/c.txt").size, 4u);
  EXPECT_EQ(context.Stat("/workspace/a/b/c.txt").mtime_ns, 1000);
  EXPECT_EQ(context.contents.loads, 0);
  EXPECT_EQ(context.Read("/workspace/link/c.txt"), "deep");
  EXPECT_EQ(context.contents.loads, 1);
  EXPECT_EQ(context.Changes(), "");
}

TEST(WorkspaceMirror, NothingTouchedMeansNothingToCollect) {
  Context context;
  context.Apply(Kind::kFull, {context.File("a", "1"), context.File("b", "2")});
  (void)context.Read("/workspace/a");
  (void)context.List("/workspace");
  EXPECT_FALSE(context.mirror.MayHaveChanges());
  EXPECT_TRUE(context.mirror.CollectChanges().empty());
}

TEST(WorkspaceMirror, WritesNewFilesAndDeletionsAreReported) {
  Context context;
  context.Apply(Kind::kFull, {context.File("a", "1"), context.File("b", "2"), Context::Dir("d")});
  ASSERT_EQ(context.Write("/workspace/a", "changed"), Errno::kSuccess);
  ASSERT_EQ(context.Write("/workspace/d/new", "n"), Errno::kSuccess);
  ASSERT_EQ(context.files.Unlink(context.root(), "/workspace/b"), Errno::kSuccess);
  WorkspaceChanges changes = context.mirror.CollectChanges();
  EXPECT_EQ(Context::TextOf(changes), "~a ~d +d/new -b");
  ASSERT_EQ(changes.upserts[0].content, Content::kChanged);
  EXPECT_EQ(context.ReadAll(*changes.upserts[0].file), "changed");
  EXPECT_EQ(changes.upserts[0].entry.size, 7u);
}

TEST(WorkspaceMirror, ChangesAreReportedUntilTheyAreCommitted) {
  Context context;
  context.Apply(Kind::kFull, {});
  ASSERT_EQ(context.Write("/workspace/a", "1"), Errno::kSuccess);
  EXPECT_EQ(context.Changes(), "+a");
  EXPECT_EQ(context.Changes(), "+a");
  ASSERT_EQ(context.Write("/workspace/b", "2"), Errno::kSuccess);
  EXPECT_EQ(Context::TextOf(context.Commit()), "+a +b");
  EXPECT_EQ(context.Changes(), "");
  EXPECT_EQ(context.Read("/workspace/a"), "1");
}

TEST(WorkspaceMirror, MarkingWithTheWrongNumberOfDigestsChangesNothing) {
  Context context;
  ASSERT_EQ(context.Write("/workspace/a", "1"), Errno::kSuccess);
  EXPECT_EQ(context.Changes(), "+a");
  EXPECT_FALSE(context.mirror.MarkCommitted({}).ok());
  EXPECT_EQ(context.Changes(), "+a");
}

TEST(WorkspaceMirror, WhatIsMadeAndRemovedWithinARunIsNotReported) {
  Context context;
  context.Apply(Kind::kFull, {context.File("keep", "k")});
  ASSERT_EQ(context.Write("/workspace/temp", "t"), Errno::kSuccess);
  ASSERT_EQ(context.files.Unlink(context.root(), "/workspace/temp"), Errno::kSuccess);
  EXPECT_EQ(context.Changes(), "");
  EXPECT_FALSE(context.mirror.MayHaveChanges());
}

TEST(WorkspaceMirror, ARenamedFileIsADeletionAndAWriteOfTheKnownContent) {
  Context context;
  context.Apply(Kind::kFull, {context.File("a", "same")});
  ASSERT_EQ(context.files.Rename(context.root(), "/workspace/a", context.root(), "/workspace/b"),
            Errno::kSuccess);
  EXPECT_EQ(context.Changes(), "+b= -a");
  EXPECT_EQ(context.contents.loads, 0);
}

TEST(WorkspaceMirror, ARenamedTreeSendsNoContentAgain) {
  Context context;
  context.Apply(Kind::kFull, {Context::Dir("d"), context.File("d/x", "1"), Context::Dir("d/e"),
                              context.File("d/e/y", "2"), context.File("d-not-below", "3")});
  ASSERT_EQ(context.files.Rename(context.root(), "/workspace/d", context.root(), "/workspace/f"),
            Errno::kSuccess);
  EXPECT_EQ(context.Changes(), "+f +f/e +f/e/y= +f/x= -d/x -d/e/y -d/e -d");
  EXPECT_EQ(Context::TextOf(context.Commit()).size() > 0, true);
  ASSERT_EQ(context.files.Rename(context.root(), "/workspace/f", context.root(), "/workspace/d"),
            Errno::kSuccess);
  EXPECT_EQ(context.Changes(), "+d +d/e +d/e/y= +d/x= -f/x -f/e/y -f/e -f");
}

TEST(WorkspaceMirror, RenamingForthAndBackIsNoChange) {
  Context context;
  context.Apply(Kind::kFull, {context.File("a", "1")});
  ASSERT_EQ(context.files.Rename(context.root(), "/workspace/a", context.root(), "/workspace/b"),
            Errno::kSuccess);
  ASSERT_EQ(context.files.Rename(context.root(), "/workspace/b", context.root(), "/workspace/a"),
            Errno::kSuccess);
  EXPECT_EQ(context.Changes(), "");
}

TEST(WorkspaceMirror, ModeAndTimeAloneSendNoContent) {
  Context context;
  context.Apply(Kind::kFull, {context.File("a", "1")});
  InodePtr inode;
  ASSERT_EQ(context.files.Lookup(context.root(), "/workspace/a", Follow::kYes, inode),
            Errno::kSuccess);
  ASSERT_EQ(context.files.SetMode(*inode, 0755), Errno::kSuccess);
  ASSERT_EQ(context.files.SetTimes(*inode, {}, {TimeChange::Kind::kValue, 77}), Errno::kSuccess);
  const WorkspaceChanges changes = context.mirror.CollectChanges();
  EXPECT_EQ(Context::TextOf(changes), "~a=");
  EXPECT_EQ(changes.upserts[0].entry.mode, 0755u);
  EXPECT_EQ(changes.upserts[0].entry.mtime_ns, 77);
}

TEST(WorkspaceMirror, AFileThatBecomesADirectoryIsReportedAsOne) {
  Context context;
  context.Apply(Kind::kFull, {context.File("x", "1"), Context::Dir("y"), context.File("y/z", "2")});
  ASSERT_EQ(context.files.Unlink(context.root(), "/workspace/x"), Errno::kSuccess);
  ASSERT_EQ(context.files.MakeDirectory(context.root(), "/workspace/x"), Errno::kSuccess);
  ASSERT_EQ(context.files.Unlink(context.root(), "/workspace/y/z"), Errno::kSuccess);
  ASSERT_EQ(context.files.RemoveDirectory(context.root(), "/workspace/y"), Errno::kSuccess);
  ASSERT_EQ(context.Write("/workspace/y", "file now"), Errno::kSuccess);
  EXPECT_EQ(context.Changes(), "~x ~y -y/z");
}

TEST(WorkspaceMirror, BothNamesOfAHardLinkAreReported) {
  Context context;
  context.Apply(Kind::kFull, {context.File("a", "1")});
  ASSERT_EQ(context.files.Link(context.root(), "/workspace/a", Follow::kNo, context.root(),
                               "/workspace/b"),
            Errno::kSuccess);
  EXPECT_EQ(Context::TextOf(context.Commit()), "+b=");
  ASSERT_EQ(context.Write("/workspace/b", "2"), Errno::kSuccess);
  EXPECT_EQ(context.Changes(), "~a ~b");
}

TEST(WorkspaceMirror, ARemoteWriteShowsUnderTheSameInodeAndOpenDescriptor) {
  Context context;
  context.Apply(Kind::kFull, {context.File("a", "old")});
  InodePtr open;
  ASSERT_EQ(context.files.Open(context.root(), "/workspace/a", {}, open), Errno::kSuccess);
  const std::uint64_t id = context.Stat("/workspace/a").inode;
  context.Apply(Kind::kDelta, {context.File("a", "newer", 2000)});
  EXPECT_EQ(context.Stat("/workspace/a").inode, id);
  EXPECT_EQ(context.ReadAll(*open), "newer");
  EXPECT_EQ(context.Stat("/workspace/a").mtime_ns, 2000);
  EXPECT_EQ(context.Changes(), "");
}

TEST(WorkspaceMirror, ARemoteWriteToOneHardLinkLeavesTheOtherAlone) {
  Context context;
  context.Apply(Kind::kFull, {context.File("a", "old")});
  ASSERT_EQ(context.files.Link(context.root(), "/workspace/a", Follow::kNo, context.root(),
                               "/workspace/b"),
            Errno::kSuccess);
  context.Commit();
  context.Apply(Kind::kDelta, {context.File("a", "new")});
  EXPECT_EQ(context.Read("/workspace/a"), "new");
  EXPECT_EQ(context.Read("/workspace/b"), "old");
}

TEST(WorkspaceMirror, ARemotelyDeletedFileLivesOnWhileItIsOpenEvenIfTheStoreForgetsIt) {
  Context context;
  context.Apply(Kind::kFull, {context.File("a", "kept")});
  InodePtr inode;
  ASSERT_EQ(context.files.Open(context.root(), "/workspace/a", {}, inode), Errno::kSuccess);
  const OpenFile open(context.files, inode);
  context.Apply(Kind::kFull, {});
  context.contents.contents.clear();
  EXPECT_EQ(context.Exists("/workspace/a"), Errno::kNotFound);
  EXPECT_EQ(context.ReadAll(*inode), "kept");
}

TEST(WorkspaceMirror, AnEntryEqualToTheBaseDoesNotUndoLocalWrites) {
  Context context;
  context.Apply(Kind::kFull, {context.File("a", "1")});
  ASSERT_EQ(context.Write("/workspace/a", "local"), Errno::kSuccess);
  context.Apply(Kind::kFull, {context.File("a", "1")});
  EXPECT_EQ(context.Read("/workspace/a"), "local");
  EXPECT_EQ(context.Changes(), "~a");
}

TEST(WorkspaceMirror, UncommittedLocalChangesWinOverRemoteOnesAndAreReported) {
  Context context;
  context.Apply(Kind::kFull, {context.File("a", "1"), context.File("b", "1"),
                              context.File("c", "1"), context.File("e", "1")});
  ASSERT_EQ(context.Write("/workspace/a", "local"), Errno::kSuccess);
  ASSERT_EQ(context.files.Unlink(context.root(), "/workspace/b"), Errno::kSuccess);
  ASSERT_EQ(context.Write("/workspace/c", "local"), Errno::kSuccess);
  context.Apply(
      Kind::kDelta,
      {context.File("a", "remote"), context.File("b", "remote"), context.File("e", "remote")},
      {"c"});
  EXPECT_EQ(context.Read("/workspace/a"), "local");
  EXPECT_EQ(context.Exists("/workspace/b"), Errno::kNotFound);
  EXPECT_EQ(context.Read("/workspace/c"), "local");
  EXPECT_EQ(context.Read("/workspace/e"), "remote");
  EXPECT_EQ(context.Changes(), "~a +c -b");
}

TEST(WorkspaceMirror, ADirectoryWithLocalFilesOutlivesItsRemoteDeletion) {
  Context context;
  context.Apply(Kind::kFull, {Context::Dir("d"), context.File("d/remote", "r")});
  ASSERT_EQ(context.Write("/workspace/d/local", "l"), Errno::kSuccess);
  context.Apply(Kind::kFull, {});
  EXPECT_EQ(context.List("/workspace/d"), std::vector<std::string>{"local"});
  EXPECT_EQ(context.Changes(), "+d +d/local");
}

TEST(WorkspaceMirror, RemoteChangesOfTypeAreApplied) {
  Context context;
  context.Apply(Kind::kFull, {context.File("a", "1"), Context::Dir("b"), context.File("b/c", "2"),
                              Context::SymlinkTo("l", "x")});
  context.Apply(Kind::kDelta,
                {Context::Dir("a"), context.File("a/in", "3"), context.File("b", "file"),
                 Context::SymlinkTo("l", "y")},
                {"b/c"});
  EXPECT_EQ(context.Read("/workspace/a/in"), "3");
  EXPECT_EQ(context.Read("/workspace/b"), "file");
  std::string_view target;
  ASSERT_EQ(context.files.ReadLink(context.root(), "/workspace/l", target), Errno::kSuccess);
  EXPECT_EQ(target, "y");
  EXPECT_EQ(context.Changes(), "");
}

TEST(WorkspaceMirror, DirectoriesChangeTheirTimeWhenEntriesComeOrGo) {
  Context context;
  context.Apply(Kind::kFull, {Context::Dir("d", 5000), context.File("d/a", "1")});
  EXPECT_EQ(context.Stat("/workspace/d").mtime_ns, 5000);
  context.Apply(Kind::kDelta, {context.File("d/b", "2")});
  const std::int64_t after_new = context.Stat("/workspace/d").mtime_ns;
  EXPECT_GT(after_new, 5000);
  context.Apply(Kind::kDelta, {}, {"d/a"});
  EXPECT_GT(context.Stat("/workspace/d").mtime_ns, after_new);
  context.Apply(Kind::kDelta, {Context::Dir("d", 6000), context.File("d/c", "3")});
  EXPECT_EQ(context.Stat("/workspace/d").mtime_ns, 6000);
}

TEST(WorkspaceMirror, MalformedManifestsAreRefusedAsAWhole) {
  Context context;
  context.Apply(Kind::kFull, {context.File("file", "1")});
  const WorkspaceEntry good = context.File("good", "g");
  for (const char* path : {"", "/abs", "a//b", "a/", "../x", "a/../b", ".", "a/.", "\xff"}) {
    EXPECT_TRUE(context.Refuses(Kind::kDelta, {good, context.File(path, "x")})) << path;
  }
  EXPECT_TRUE(context.Refuses(Kind::kDelta, {good, good}));
  EXPECT_TRUE(context.Refuses(Kind::kDelta, {good}, {"good"}));
  EXPECT_TRUE(context.Refuses(Kind::kDelta, {good}, {"file", "file"}));
  EXPECT_TRUE(context.Refuses(Kind::kDelta, {good, context.File("good/below", "x")}));
  EXPECT_TRUE(context.Refuses(Kind::kDelta, {context.File("file/below", "x")}));
  EXPECT_TRUE(context.Refuses(Kind::kDelta, {good, Context::SymlinkTo("l", "")}));
  WorkspaceEntry device = good;
  device.type = FileType::kDevice;
  EXPECT_TRUE(context.Refuses(Kind::kDelta, {device}));
  WorkspaceEntry mode = good;
  mode.mode = 0100644;
  EXPECT_TRUE(context.Refuses(Kind::kDelta, {mode}));
  EXPECT_EQ(context.List("/workspace"), std::vector<std::string>{"file"});
}

TEST(WorkspaceMirror, AManifestBeyondTheQuotaIsTakenButNothingMoreCanBeWritten) {
  Limits limits;
  limits.max_workspace_bytes = 1000;
  Context context(limits);
  context.Apply(Kind::kFull, {context.File("big", std::string(5000, 'x'))});
  EXPECT_EQ(context.Read("/workspace/big").size(), 5000u);
  EXPECT_EQ(context.Write("/workspace/more", "x"), Errno::kQuota);
  ASSERT_EQ(context.files.Unlink(context.root(), "/workspace/big"), Errno::kSuccess);
  EXPECT_EQ(context.Write("/workspace/more", "x"), Errno::kSuccess);
}

TEST(WorkspaceMirror, LargeCommittedContentsAreGivenUpAndLoadedAgain) {
  Context context;
  const std::string big(3 << 20, 'b');
  ASSERT_EQ(context.Write("/workspace/big", big), Errno::kSuccess);
  context.Commit();
  EXPECT_EQ(context.contents.loads, 0);
  EXPECT_EQ(context.Read("/workspace/big"), big);
  EXPECT_EQ(context.contents.loads, 1);
}

TEST(WorkspaceMirror, WritingAfterTheCollectionIsNotTakenForCommitted) {
  Context context;
  ASSERT_EQ(context.Write("/workspace/a", "first"), Errno::kSuccess);
  EXPECT_EQ(context.Changes(), "+a");
  ASSERT_EQ(context.Write("/workspace/a", "later"), Errno::kSuccess);
  const Sha256Digest digest = context.contents.Add("first");
  ASSERT_TRUE(context.mirror.MarkCommitted(std::span(&digest, 1)).ok());
  EXPECT_EQ(context.Read("/workspace/a"), "later");
  EXPECT_EQ(context.Changes(), "~a");
}

TEST(WorkspaceMirror, UnlinkedFilesAreNotHeldByTheMirror) {
  Limits limits;
  limits.max_workspace_bytes = 1 << 20;
  Context context(limits);
  for (int i = 0; i < 50; ++i) {
    ASSERT_EQ(context.Write("/workspace/f", std::string(900'000, 'x')), Errno::kSuccess) << i;
    ASSERT_EQ(context.files.Unlink(context.root(), "/workspace/f"), Errno::kSuccess);
  }
  EXPECT_EQ(context.files.mount(MountKind::kWorkspace).bytes.used(), 0u);
}

TEST(WorkspaceMirror, ManyTouchedNamesStillGiveTheRightChanges) {
  Context context;
  context.Apply(Kind::kFull, {context.File("gone", "1"), context.File("same", "2")});
  for (int i = 0; i < 60'000; ++i) {
    const std::string path = "/workspace/t" + std::to_string(i);
    ASSERT_EQ(context.Write(path, ""), Errno::kSuccess);
    ASSERT_EQ(context.files.Unlink(context.root(), path), Errno::kSuccess);
  }
  ASSERT_EQ(context.files.Unlink(context.root(), "/workspace/gone"), Errno::kSuccess);
  ASSERT_EQ(context.Write("/workspace/new", "n"), Errno::kSuccess);
  EXPECT_EQ(context.Changes(), "+new -gone");
}

// Two contexts of one sandbox take turns: after each commit and manifest, all three trees are
// equal.
class RandomTurns {
 public:
  explicit RandomTurns(unsigned seed) : random_(seed) {
    contexts_[0].contents.contents = contexts_[1].contents.contents;
  }

  void Turn() {
    Context& context = contexts_[Pick(2)];
    Bring(context);
    ExpectEqual(context);
    for (std::size_t i = 0, steps = Pick(12); i < steps; ++i) Operate(context);
    // A commit that fails now and then: the changes must come again.
    if (Pick(5) == 0) (void)context.mirror.CollectChanges();
    if (Pick(5) == 0) Operate(context);
    Take(context.Commit(), context);
    ExpectEqual(context);
    EXPECT_EQ(context.Changes(), "");
  }

 private:
  std::size_t Pick(std::size_t limit) { return random_() % limit; }

  void Bring(Context& context) {
    WorkspaceManifest manifest;
    const std::size_t index = &context == &contexts_[0] ? 0 : 1;
    if (Pick(3) == 0) {
      for (const auto& [path, entry] : server_) manifest.upserts.push_back(entry);
    } else {
      manifest.kind = Kind::kDelta;
      for (const auto& [path, entry] : server_) {
        const auto known = seen_[index].find(path);
        if (known == seen_[index].end() || !Same(known->second, entry)) {
          manifest.upserts.push_back(entry);
        }
      }
      for (const auto& [path, entry] : seen_[index]) {
        if (!server_.contains(path)) manifest.deletions.push_back(path);
      }
    }
    std::shuffle(manifest.upserts.begin(), manifest.upserts.end(), random_);
    const Result<void> applied = context.mirror.ApplyManifest(manifest);
    ASSERT_TRUE(applied.ok()) << applied.error().message;
    seen_[index] = server_;
  }

  static bool Same(const WorkspaceEntry& a, const WorkspaceEntry& b) {
    return a.type == b.type && a.digest == b.digest && a.size == b.size && a.mode == b.mode &&
           a.mtime_ns == b.mtime_ns && a.target == b.target;
  }

  void Take(const WorkspaceChanges& changes, Context& from) {
    for (const std::string& path : changes.deletions) {
      EXPECT_EQ(server_.erase(path), 1u) << path;
      EXPECT_FALSE(HasChildren(path)) << path;
    }
    for (const WorkspaceChange& change : changes.upserts) {
      EXPECT_EQ(change.is_new, !server_.contains(change.entry.path));
      if (change.content == Content::kKnown) {
        EXPECT_TRUE(from.contents.contents.contains(change.entry.digest));
      }
      server_[change.entry.path] = change.entry;
    }
    contexts_[0].contents.contents.merge(contexts_[1].contents.contents);
    contexts_[1].contents.contents = contexts_[0].contents.contents;
    seen_[&from == &contexts_[0] ? 0 : 1] = server_;
  }

  bool HasChildren(const std::string& path) {
    const auto next = server_.lower_bound(path + "/");
    return next != server_.end() && next->first.starts_with(path + "/");
  }

  void ExpectEqual(Context& context) {
    std::map<std::string, WorkspaceEntry> live;
    Gather(context, "", live);
    ASSERT_EQ(live.size(), server_.size());
    for (const auto& [path, entry] : server_) {
      ASSERT_TRUE(live.contains(path)) << path;
      const WorkspaceEntry& mine = live[path];
      EXPECT_EQ(mine.type, entry.type) << path;
      EXPECT_EQ(mine.digest, entry.digest) << path;
      EXPECT_EQ(mine.target, entry.target) << path;
      // A directory's own time may be newer where the server had none to give.
      if (entry.type == FileType::kRegular) {
        EXPECT_EQ(mine.mtime_ns, entry.mtime_ns) << path;
        EXPECT_EQ(mine.mode, entry.mode) << path;
      }
    }
  }

  void Gather(Context& context, const std::string& prefix,
              std::map<std::string, WorkspaceEntry>& live) {
    for (const std::string& name : context.List("/workspace/" + prefix)) {
      const std::string path = prefix + name;
      const FileStat stat = context.Stat("/workspace/" + path);
      WorkspaceEntry& entry = live[path];
      entry.type = stat.type;
      entry.mode = stat.mode;
      entry.mtime_ns = stat.mtime_ns;
      if (stat.type == FileType::kDirectory) Gather(context, path + "/", live);
      if (stat.type == FileType::kRegular) {
        entry.digest = Sha256(context.Read("/workspace/" + path));
      }
      if (stat.type == FileType::kSymlink) {
        std::string_view target;
        (void)context.files.ReadLink(context.root(), "/workspace/" + path, target);
        entry.target = target;
      }
    }
  }

  std::string Path() {
    std::string path = "/workspace";
    for (std::size_t i = 0, parts = 1 + std::min(Pick(4), Pick(4)); i < parts; ++i) {
      path += std::string("/") + static_cast<char>('a' + Pick(4));
    }
    return path;
  }

  void Operate(Context& context) {
    const std::string path = Path();
    const std::string other = Path();
    FileSystem& files = context.files;
    Inode& root = context.root();
    switch (Pick(9)) {
      case 0:
      case 1:
        (void)context.Write(path, std::string(Pick(30), static_cast<char>('a' + Pick(9))));
        break;
      case 2:
        (void)files.MakeDirectory(root, path);
        break;
      case 3:
        (void)files.Unlink(root, path);
        break;
      case 4:
        (void)files.RemoveDirectory(root, path);
        break;
      case 5:
      case 6:
        (void)files.Rename(root, path, root, other);
        break;
      case 7:
        (void)files.Symlink("a/b", root, path);
        break;
      case 8: {
        InodePtr inode;
        if (files.Lookup(root, path, Follow::kNo, inode) == Errno::kSuccess) {
          (void)files.SetMode(*inode, Pick(2) == 0 ? 0644 : 0755);
        }
        break;
      }
    }
  }

  std::mt19937 random_;
  Context contexts_[2];
  std::map<std::string, WorkspaceEntry> server_;
  std::map<std::string, WorkspaceEntry> seen_[2];
};

TEST(WorkspaceMirror, TwoContextsTakingTurnsAlwaysAgreeWithTheServer) {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    RandomTurns turns(seed);
    for (int i = 0; i < 60; ++i) {
      turns.Turn();
      ASSERT_FALSE(testing::Test::HasFailure()) << "seed " << seed << " turn " << i;
    }
  }
}

}  // namespace
}  // namespace dormouse::wasi
