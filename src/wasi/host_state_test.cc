// SPDX-License-Identifier: Apache-2.0
#include "wasi/host_state.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>

#include "common/byte_io.h"
#include "wasi/test_support.h"

namespace dormouse::wasi {
namespace {

constexpr u32 kResult = TestGuest::kResult;
constexpr u32 kData = TestGuest::kData;
constexpr u32 kCreate = 1;
constexpr u32 kAppend = 1;

WorkspaceEntry FileEntry(TestGuest& guest, std::string path, std::string text) {
  WorkspaceEntry entry{.path = std::move(path)};
  entry.size = text.size();
  entry.digest = guest.contents.Add(std::move(text));
  return entry;
}

void ApplyFull(TestGuest& guest, std::vector<WorkspaceEntry> entries) {
  WorkspaceManifest manifest;
  manifest.upserts = std::move(entries);
  ASSERT_TRUE(guest.wasi->workspace().ApplyManifest(manifest).ok());
}

struct Records {
  std::string descriptors;
  std::string private_files;
};

Records Save(TestGuest& guest) {
  Records records;
  Result<std::string> files = guest.wasi->state().SavePrivateFiles();
  EXPECT_TRUE(files.ok());
  if (files.ok()) records.private_files = *files;
  guest.wasi->state().MarkPrivateFilesSaved();
  records.descriptors = guest.wasi->state().SaveDescriptors();
  return records;
}

Result<void> TryRestore(TestGuest& guest, const Records& records) {
  DORMOUSE_TRY(
      guest.wasi->state().RestorePrivateFiles(SharedBytes::FromString(records.private_files)));
  return guest.wasi->state().RestoreDescriptors(records.descriptors);
}

void Restore(TestGuest& guest, const Records& records) {
  const Result<void> restored = TryRestore(guest, records);
  ASSERT_TRUE(restored.ok()) << restored.error().message;
}

TEST(HostState, OpenFilesGoOnWhereTheyWere) {
  TestGuest before;
  const std::vector<WorkspaceEntry> entries = {FileEntry(before, "in.txt", "0123456789"),
                                               FileEntry(before, "log", "old\n")};
  ApplyFull(before, entries);
  ASSERT_EQ(before.WriteFile("tmp/t", "temporary"), Errno::kSuccess);
  const u32 in = before.MustOpen("workspace/in.txt");
  const u32 log = before.MustOpen("workspace/log", 0, "w", kAppend);
  const u32 temporary = before.MustOpen("tmp/t", 0, "rw");
  EXPECT_EQ(before.Read(in, 3), "012");
  EXPECT_EQ(before.Seek(temporary, 4), Errno::kSuccess);
  const Records records = Save(before);

  TestGuest after;
  after.contents.contents = before.contents.contents;
  ApplyFull(after, entries);
  Restore(after, records);
  EXPECT_EQ(after.Read(in, 3), "345");
  ASSERT_EQ(after.Write(log, "new\n"), Errno::kSuccess);
  EXPECT_EQ(after.ReadFile("workspace/log"), "old\nnew\n");
  EXPECT_EQ(after.Read(temporary, 20), "orary");
  EXPECT_EQ(after.Write(in, "x"), Errno::kBadFile) << "still only readable";
  u32 fd;
  ASSERT_EQ(after.Open("tmp/t", 0, "r", 0, fd), Errno::kSuccess);
  EXPECT_EQ(fd, temporary + 1);
  EXPECT_EQ(static_cast<Errno>(FdPrestatGet(*after.wasi, 3, kResult)), Errno::kSuccess);
  ASSERT_EQ(after.Write(1, "out"), Errno::kSuccess);
  EXPECT_EQ(after.output.All(OutputStream::kStdout), "out");
}

TEST(HostState, DuplicatesStillShareTheirOffset) {
  TestGuest before;
  ASSERT_EQ(before.WriteFile("tmp/f", "abcdef"), Errno::kSuccess);
  const u32 fd = before.MustOpen("tmp/f");
  const u32 own = before.MustOpen("tmp/f");
  ASSERT_EQ(FdDup(*before.wasi, fd, 20, kResult), 0u);
  TestGuest after;
  Restore(after, Save(before));
  EXPECT_EQ(after.Read(fd, 2), "ab");
  EXPECT_EQ(after.Read(20, 2), "cd");
  EXPECT_EQ(after.Read(own, 2), "ab");
}

TEST(HostState, TheTmpTreeComesBackWithNamesLinksTimesAndHoles) {
  TestGuest before;
  ASSERT_EQ(before.Mkdir("tmp/d"), Errno::kSuccess);
  ASSERT_EQ(before.Mkdir("tmp/d/e"), Errno::kSuccess);
  ASSERT_EQ(before.WriteFile("tmp/d/e/f", "deep"), Errno::kSuccess);
  FileSystem& files = before.wasi->files();
  Inode& root = files.root();
  ASSERT_EQ(files.Link(root, "tmp/d/e/f", Follow::kNo, root, "tmp/hard"), Errno::kSuccess);
  ASSERT_EQ(files.Symlink("d/e/f", root, "tmp/soft"), Errno::kSuccess);
  const u32 sparse = before.MustOpen("tmp/sparse", kCreate, "rw");
  ASSERT_EQ(before.Write(sparse, "start"), Errno::kSuccess);
  ASSERT_EQ(before.Seek(sparse, std::int64_t{5} << 30), Errno::kSuccess);
  ASSERT_EQ(before.Write(sparse, "end"), Errno::kSuccess);
  InodePtr inode;
  ASSERT_EQ(files.Lookup(root, "tmp/hard", Follow::kNo, inode), Errno::kSuccess);
  ASSERT_EQ(files.SetMode(*inode, 0751), Errno::kSuccess);
  ASSERT_EQ(files.SetTimes(*inode, {}, {TimeChange::Kind::kValue, 4242}), Errno::kSuccess);
  const std::uint64_t id = inode->id;
  inode = nullptr;
  const Records records = Save(before);
  EXPECT_LT(records.private_files.size(), 200'000u);

  TestGuest after;
  Restore(after, records);
  EXPECT_EQ(after.ReadFile("tmp/d/e/f"), "deep");
  EXPECT_EQ(after.ReadFile("tmp/soft"), "deep");
  EXPECT_EQ(after.Stat("tmp/hard").links, 2u);
  EXPECT_EQ(after.Stat("tmp/hard").inode, id);
  EXPECT_EQ(after.Stat("tmp/hard").mode, 0751u);
  EXPECT_EQ(after.Stat("tmp/hard").mtime_ns, 4242);
  EXPECT_EQ(after.Stat("tmp/d").mtime_ns, before.Stat("tmp/d").mtime_ns);
  EXPECT_EQ(after.Stat("tmp/sparse").size, (std::uint64_t{5} << 30) + 3);
  ASSERT_EQ(after.Seek(sparse, std::int64_t{5} << 30), Errno::kSuccess);
  EXPECT_EQ(after.Read(sparse, 10), "end");
  ASSERT_EQ(after.Seek(sparse, 3), Errno::kSuccess);
  EXPECT_EQ(after.Read(sparse, 4), std::string("rt\0\0", 4));
  EXPECT_LE(after.wasi->files().mount(MountKind::kTmp).bytes.used(), 70'000u);
}

TEST(HostState, RestoredFilesCanBeWrittenWithoutTouchingTheRecord) {
  TestGuest before;
  const std::string big(30'000, 'a');
  ASSERT_EQ(before.WriteFile("tmp/f", big), Errno::kSuccess);
  const Records records = Save(before);
  const SharedBytes bytes = SharedBytes::FromString(records.private_files);
  for (int i = 0; i < 2; ++i) {
    TestGuest after;
    ASSERT_TRUE(after.wasi->state().RestorePrivateFiles(bytes).ok());
    ASSERT_TRUE(after.wasi->state().RestoreDescriptors(records.descriptors).ok());
    EXPECT_EQ(after.ReadFile("tmp/f"), big);
    const u32 fd = after.MustOpen("tmp/f", 0, "rw");
    ASSERT_EQ(after.Write(fd, "changed"), Errno::kSuccess);
  }
  EXPECT_EQ(bytes.view(), records.private_files);
}

TEST(HostState, UnlinkedFilesOfEveryMountLiveOn) {
  TestGuest before;
  const std::vector<WorkspaceEntry> entries = {FileEntry(before, "remote", "from the server")};
  ApplyFull(before, entries);
  ASSERT_EQ(before.WriteFile("tmp/t", "of tmp"), Errno::kSuccess);
  ASSERT_EQ(before.WriteFile("workspace/w", "of workspace"), Errno::kSuccess);
  const u32 t = before.MustOpen("tmp/t");
  const u32 w = before.MustOpen("workspace/w", 0, "rw");
  const u32 remote = before.MustOpen("workspace/remote");
  ASSERT_EQ(before.Mkdir("tmp/gone"), Errno::kSuccess);
  const u32 gone = before.MustOpen("tmp/gone");
  for (const char* path : {"tmp/t", "workspace/w", "workspace/remote"}) {
    ASSERT_EQ(before.Unlink(path), Errno::kSuccess);
  }
  ASSERT_EQ(before.wasi->files().RemoveDirectory(before.wasi->files().root(), "tmp/gone"),
            Errno::kSuccess);
  before.contents.contents.clear();
  const Records records = Save(before);

  TestGuest after;
  ApplyFull(after, {});
  Restore(after, records);
  EXPECT_EQ(after.Read(t, 20), "of tmp");
  EXPECT_EQ(after.Read(w, 20), "of workspace");
  EXPECT_EQ(after.Read(remote, 20), "from the server");
  EXPECT_EQ(after.Stat("workspace/w").inode, 0u);
  ASSERT_EQ(FdFilestatGet(*after.wasi, w, kResult), 0u);
  EXPECT_EQ(after.Get<RawFilestat>().links, 0u);
  ASSERT_EQ(FdReaddir(*after.wasi, gone, kData, 1000, 0, kResult), 0u);
  EXPECT_EQ(after.Get<u32>(), 0u);
  EXPECT_TRUE(after.wasi->workspace().CollectChanges().empty());
  // Closing the last descriptor frees it, and the next record is without it.
  ASSERT_EQ(FdClose(*after.wasi, w), 0u);
  EXPECT_TRUE(after.wasi->state().private_files_dirty());
}

TEST(HostState, AFileThatVanishedFailsOnUseAndClosesCleanly) {
  TestGuest before;
  const std::vector<WorkspaceEntry> entries = {FileEntry(before, "gone", "1"),
                                               FileEntry(before, "typed", "1")};
  ApplyFull(before, entries);
  const u32 gone = before.MustOpen("workspace/gone");
  const u32 typed = before.MustOpen("workspace/typed");
  const Records records = Save(before);

  TestGuest after;
  WorkspaceEntry directory{.path = "typed", .type = FileType::kDirectory};
  directory.mode = 0755;
  ApplyFull(after, {directory});
  Restore(after, records);
  for (const u32 fd : {gone, typed}) {
    EXPECT_EQ(static_cast<Errno>(FdRead(*after.wasi, fd, after.Vector(kData, 1), 1, kResult)),
              Errno::kStale);
    EXPECT_EQ(after.Seek(fd, 0), Errno::kStale);
    EXPECT_EQ(static_cast<Errno>(FdFilestatGet(*after.wasi, fd, kResult)), Errno::kStale);
  }
  // It stays so over another restore.
  TestGuest again;
  Restore(again, Save(after));
  EXPECT_EQ(again.Seek(gone, 0), Errno::kStale);
  EXPECT_EQ(FdClose(*again.wasi, gone), 0u);
  EXPECT_EQ(again.Seek(gone, 0), Errno::kBadFile);
}

TEST(HostState, AReplacedFileIsReadOnAtTheOldOffset) {
  TestGuest before;
  ApplyFull(before, {FileEntry(before, "f", "old content")});
  const u32 fd = before.MustOpen("workspace/f");
  EXPECT_EQ(before.Read(fd, 4), "old ");
  const Records records = Save(before);
  TestGuest after;
  ApplyFull(after, {FileEntry(after, "f", "new text")});
  Restore(after, records);
  EXPECT_EQ(after.Read(fd, 20), "text");
}

TEST(HostState, AListingGoesOnWithoutLossOrRepetition) {
  TestGuest before;
  std::vector<WorkspaceEntry> entries;
  for (int i = 0; i < 3000; ++i) {
    entries.push_back(FileEntry(before, "d/" + std::to_string(i), ""));
  }
  ApplyFull(before, entries);
  const u32 fd = before.MustOpen("workspace/d");
  std::set<std::string> names;
  u64 cookie = 0;
  const auto read_some = [&](TestGuest& guest) {
    EXPECT_EQ(FdReaddir(*guest.wasi, fd, kData, 2000, cookie, kResult), 0u);
    const u32 used = guest.Get<u32>();
    for (u32 at = 0; at + 24 <= used;) {
      const u32 length = guest.Get<u32>(kData + at + 16);
      if (at + 24 + length > used) break;
      EXPECT_TRUE(names.insert(guest.Text(kData + at + 24, length)).second);
      cookie = guest.Get<u64>(kData + at);
      at += 24 + length;
    }
    return used == 2000;
  };
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(read_some(before));
  const Records records = Save(before);
  std::reverse(entries.begin(), entries.end());
  TestGuest after;
  ApplyFull(after, entries);
  Restore(after, records);
  while (read_some(after)) {
  }
  EXPECT_EQ(names.size(), 3002u);
}

TEST(HostState, MonotonicTimeGoesOnByWallTimeAndNeverBack) {
  TestGuest before;
  before.time.step_ns = 0;
  before.time.monotonic_ns += 50;
  before.time.cpu_ns += 1000;
  const std::int64_t monotonic = before.wasi->clock().MonotonicNs();
  const Records records = Save(before);
  for (const std::int64_t asleep : {std::int64_t{3'000'000'000}, std::int64_t{-5'000'000'000}}) {
    TestGuest after;
    after.time.step_ns = 0;
    after.time.realtime_ns = before.time.realtime_ns + asleep;
    after.time.monotonic_ns = 1;  // another machine
    after.time.cpu_ns = 0;
    Restore(after, records);
    EXPECT_EQ(after.wasi->clock().MonotonicNs(), monotonic + std::max<std::int64_t>(asleep, 0));
    EXPECT_EQ(after.wasi->clock().CpuNs(), 1000);
    after.time.monotonic_ns += 7;
    EXPECT_EQ(after.wasi->clock().MonotonicNs(), monotonic + std::max<std::int64_t>(asleep, 0) + 7);
  }
}

TEST(HostState, OnlyChangesOfPrivateFilesMakeThemDirty) {
  TestGuest guest;
  const auto dirty = [&] { return guest.wasi->state().private_files_dirty(); };
  EXPECT_FALSE(dirty());
  ASSERT_EQ(guest.WriteFile("workspace/w", "1"), Errno::kSuccess);
  EXPECT_EQ(guest.ReadFile("workspace/w"), "1");
  EXPECT_FALSE(dirty());
  ASSERT_EQ(guest.WriteFile("tmp/t", "1"), Errno::kSuccess);
  EXPECT_TRUE(dirty());
  Result<std::string> record = guest.wasi->state().SavePrivateFiles();
  ASSERT_TRUE(record.ok());
  EXPECT_TRUE(dirty()) << "until it is confirmed";
  guest.wasi->state().MarkPrivateFilesSaved();
  EXPECT_FALSE(dirty());
  EXPECT_EQ(guest.ReadFile("tmp/t"), "1");
  EXPECT_FALSE(dirty()) << "reading changes nothing worth saving";
  const u32 w = guest.MustOpen("workspace/w", 0, "rw");
  ASSERT_EQ(guest.Unlink("workspace/w"), Errno::kSuccess);
  EXPECT_TRUE(dirty());
  (void)Save(guest);
  EXPECT_FALSE(dirty());
  ASSERT_EQ(guest.Write(w, "2"), Errno::kSuccess);
  EXPECT_TRUE(dirty());
  const Records records = Save(guest);
  TestGuest after;
  Restore(after, records);
  EXPECT_FALSE(after.wasi->state().private_files_dirty());
}

TEST(HostState, AChangeDuringTheSaveIsNotForgotten) {
  TestGuest guest;
  ASSERT_EQ(guest.WriteFile("tmp/t", "1"), Errno::kSuccess);
  ASSERT_TRUE(guest.wasi->state().SavePrivateFiles().ok());
  ASSERT_EQ(guest.WriteFile("tmp/t", "2"), Errno::kSuccess);
  guest.wasi->state().MarkPrivateFilesSaved();
  EXPECT_TRUE(guest.wasi->state().private_files_dirty());
}

TEST(HostState, SavedFilesComeBackWhateverTheLimitsAreNow) {
  TestGuest before;
  ASSERT_EQ(before.WriteFile("tmp/t", std::string(20'000, 'x')), Errno::kSuccess);
  Limits limits;
  limits.max_tmp_bytes = 1000;
  TestGuest after(limits);
  Restore(after, Save(before));
  EXPECT_EQ(after.ReadFile("tmp/t").size(), 20'000u);
  EXPECT_EQ(after.WriteFile("tmp/u", "x"), Errno::kNoSpace);
}

TEST(HostState, SizeIsKnownBeforeSaving) {
  TestGuest guest;
  ASSERT_EQ(guest.WriteFile("tmp/a", std::string(30'000, 'x')), Errno::kSuccess);
  ASSERT_EQ(guest.WriteFile("workspace/b", std::string(20'000, 'x')), Errno::kSuccess);
  const u32 fd = guest.MustOpen("workspace/b");
  ASSERT_NE(fd, ~0u);
  ASSERT_EQ(guest.Unlink("workspace/b"), Errno::kSuccess);
  const std::uint64_t expected = guest.wasi->state().PrivateFilesBytes();
  const std::uint64_t real = Save(guest).private_files.size();
  EXPECT_GE(expected, 50'000u);
  EXPECT_LE(real > expected ? real - expected : expected - real, 2000u);
}

class StateRecords : public testing::Test {
 protected:
  StateRecords() {
    EXPECT_EQ(source_.Mkdir("tmp/d"), Errno::kSuccess);
    EXPECT_EQ(source_.WriteFile("tmp/d/f", "content of f"), Errno::kSuccess);
    EXPECT_EQ(source_.WriteFile("tmp/g", "g"), Errno::kSuccess);
    FileSystem& files = source_.wasi->files();
    EXPECT_EQ(files.Symlink("g", files.root(), "tmp/l"), Errno::kSuccess);
    EXPECT_EQ(files.Link(files.root(), "tmp/g", Follow::kNo, files.root(), "tmp/h"),
              Errno::kSuccess);
    (void)source_.MustOpen("tmp/g", 0, "rw");
    (void)source_.MustOpen("tmp/d");
    const u32 orphan = source_.MustOpen("workspace/o", kCreate, "rw");
    EXPECT_EQ(source_.Write(orphan, "orphan"), Errno::kSuccess);
    EXPECT_EQ(source_.Unlink("workspace/o"), Errno::kSuccess);
    records_ = Save(source_);
  }
  TestGuest source_;
  Records records_;
};

TEST_F(StateRecords, ADescriptorRecordCutAnywhereIsRefused) {
  for (std::size_t length = 0; length < records_.descriptors.size(); ++length) {
    TestGuest guest({}, std::nullopt, 1);
    EXPECT_FALSE(
        TryRestore(guest, {records_.descriptors.substr(0, length), records_.private_files}).ok())
        << length;
  }
}

TEST_F(StateRecords, APrivateRecordCutAnywhereIsRefused) {
  for (std::size_t length = 0; length < records_.private_files.size(); ++length) {
    TestGuest guest({}, std::nullopt, 1);
    EXPECT_FALSE(
        guest.wasi->state()
            .RestorePrivateFiles(SharedBytes::FromString(records_.private_files.substr(0, length)))
            .ok())
        << length;
  }
}

TEST_F(StateRecords, BytesAfterTheEndAreRefused) {
  TestGuest guest;
  EXPECT_FALSE(TryRestore(guest, {records_.descriptors + "x", records_.private_files}).ok());
  TestGuest other;
  EXPECT_FALSE(TryRestore(other, {records_.descriptors, records_.private_files + "x"}).ok());
}

// Whatever the bytes say, restoring ends in an error or in a file system that can be used.
TEST_F(StateRecords, DamagedRecordsNeverBreakTheHost) {
  std::mt19937 random(5);
  for (int round = 0; round < 4000; ++round) {
    Records damaged = records_;
    std::string& bytes = round % 2 == 0 ? damaged.descriptors : damaged.private_files;
    for (int i = 0; i < 1 + round % 4; ++i) {
      bytes[random() % bytes.size()] =
          static_cast<char>(random() % 3 == 0 ? random() : random() % 8);
    }
    TestGuest guest({}, std::nullopt, 1);
    if (!TryRestore(guest, damaged).ok()) continue;
    (void)guest.WriteFile("tmp/new", "x");
    (void)guest.Rename("tmp/d", "tmp/moved");
    (void)guest.Unlink("tmp/g");
    for (u32 fd = 0; fd < 10; ++fd) {
      (void)guest.Seek(fd, 0);
      (void)guest.Write(fd, "y");
      (void)guest.Read(fd, 10);
    }
    (void)Save(guest);
  }
}

TEST_F(StateRecords, UnknownPartsAreSkippedOnlyIfTheyAllowIt) {
  const std::size_t header = 6;
  const auto with_part = [&](std::uint16_t tag) {
    ByteWriter part;
    part.U16(tag);
    part.U64(3);
    part.Raw("abc");
    Records changed = records_;
    changed.descriptors.insert(header, part.bytes());
    changed.private_files.insert(header, part.bytes());
    return changed;
  };
  TestGuest skipping;
  EXPECT_TRUE(TryRestore(skipping, with_part(0x8123)).ok());
  TestGuest refusing;
  EXPECT_FALSE(TryRestore(refusing, with_part(0x0123)).ok());
}

}  // namespace
}  // namespace dormouse::wasi
