// SPDX-License-Identifier: Apache-2.0
#include "wasi/wasi.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>

#include "wasi/test_support.h"

namespace dormouse::wasi {
namespace {

constexpr u32 kResult = TestGuest::kResult;
constexpr u32 kData = TestGuest::kData;
constexpr u32 kPath = TestGuest::kPath;
constexpr u32 kCreate = 1;
constexpr u32 kExclusive = 4;
constexpr u32 kTruncate = 8;
constexpr u32 kAppend = 1;

Errno Err(u32 raw) { return static_cast<Errno>(raw); }

std::vector<std::string> ListAll(TestGuest& guest, u32 fd, u32 buffer_bytes) {
  std::vector<std::string> names;
  u64 cookie = 0;
  while (true) {
    if (FdReaddir(*guest.wasi, fd, kData, buffer_bytes, cookie, kResult) != 0) return {"<error>"};
    const u32 used = guest.Get<u32>();
    u32 at = 0;
    while (at + 24 <= used) {
      const u32 length = guest.Get<u32>(kData + at + 16);
      if (at + 24 + length > used) break;
      names.push_back(guest.Text(kData + at + 24, length));
      cookie = guest.Get<u64>(kData + at);
      at += 24 + length;
    }
    if (used < buffer_bytes) return names;
  }
}

TEST(Wasi, DescriptorsZeroToThreeAreOpenAtTheStart) {
  TestGuest guest;
  EXPECT_EQ(Err(FdFdstatGet(*guest.wasi, 0, kResult)), Errno::kSuccess);
  EXPECT_EQ(guest.Get<std::uint8_t>(), 2);  // a character device
  EXPECT_EQ(Err(FdPrestatGet(*guest.wasi, 3, kResult)), Errno::kSuccess);
  EXPECT_EQ(guest.Get<u64>(), u64{1} << 32);
  EXPECT_EQ(Err(FdPrestatDirName(*guest.wasi, 3, kData, 1)), Errno::kSuccess);
  EXPECT_EQ(guest.Text(kData, 1), "/");
  EXPECT_EQ(Err(FdPrestatGet(*guest.wasi, 2, kResult)), Errno::kBadFile);
  EXPECT_EQ(Err(FdPrestatGet(*guest.wasi, 4, kResult)), Errno::kBadFile);
}

// wasi-libc takes a character device that cannot seek for a terminal.
TEST(Wasi, StreamsAreNotTerminals) {
  TestGuest guest;
  for (u32 fd = 0; fd < 3; ++fd) {
    ASSERT_EQ(Err(FdFdstatGet(*guest.wasi, fd, kResult)), Errno::kSuccess);
    EXPECT_NE(guest.Get<u64>(kResult + 8) & (rights::kSeek | rights::kTell), 0u);
    EXPECT_EQ(guest.Seek(fd, 0), Errno::kNotSeekable);
  }
}

TEST(Wasi, OutputKeepsTheOrderOfWritesOverBothStreams) {
  TestGuest guest;
  const u32 error_node = guest.MustOpen("dev/stderr", 0, "w");
  ASSERT_EQ(guest.Write(1, "a"), Errno::kSuccess);
  ASSERT_EQ(guest.Write(2, "b"), Errno::kSuccess);
  ASSERT_EQ(guest.Write(error_node, "c"), Errno::kSuccess);
  ASSERT_EQ(guest.Write(1, "d"), Errno::kSuccess);
  using Expected = std::vector<std::pair<OutputStream, std::string>>;
  EXPECT_EQ(guest.output.writes, (Expected{{OutputStream::kStdout, "a"},
                                           {OutputStream::kStderr, "b"},
                                           {OutputStream::kStderr, "c"},
                                           {OutputStream::kStdout, "d"}}));
  EXPECT_EQ(guest.Read(1, 1), "<error>");
  EXPECT_EQ(guest.Write(0, "x"), Errno::kBadFile);
  guest.output.error = Errno::kPipe;
  EXPECT_EQ(guest.Write(1, "x"), Errno::kPipe);
}

TEST(Wasi, StdinIsWhatTheRunWasGivenAndThenEnds) {
  TestGuest guest;
  EXPECT_EQ(guest.Read(0, 10), "");
  guest.wasi->BeginRun("one\ntwo\n");
  EXPECT_EQ(guest.Read(0, 4), "one\n");
  const u32 node = guest.MustOpen("dev/stdin");
  EXPECT_EQ(guest.Read(node, 2), "tw");
  guest.wasi->BeginRun("new");
  EXPECT_EQ(guest.Read(0, 10), "new");
  EXPECT_EQ(guest.Read(0, 10), "");
}

TEST(Wasi, DevicesReadAndWriteAsOnLinux) {
  TestGuest guest;
  const u32 null = guest.MustOpen("dev/null", kCreate | kTruncate, "rw");
  EXPECT_EQ(guest.Read(null, 5), "");
  EXPECT_EQ(guest.Write(null, "gone"), Errno::kSuccess);
  EXPECT_EQ(guest.Get<u32>(), 4u);
  EXPECT_EQ(guest.Seek(null, 100), Errno::kSuccess);
  EXPECT_EQ(guest.Read(guest.MustOpen("dev/zero"), 5), std::string(5, '\0'));
  const u32 random = guest.MustOpen("dev/urandom");
  EXPECT_NE(guest.Read(random, 16), guest.Read(random, 16));
}

TEST(Wasi, AppendingGoesToTheEndThatIsThereAtTheTime) {
  TestGuest guest;
  const u32 a = guest.MustOpen("tmp/f", kCreate, "rw", kAppend);
  const u32 b = guest.MustOpen("tmp/f", 0, "rw");
  ASSERT_EQ(guest.Write(a, "12345"), Errno::kSuccess);
  EXPECT_EQ(guest.Tell(a), 5u);
  ASSERT_EQ(guest.Seek(a, 0), Errno::kSuccess);
  ASSERT_EQ(guest.Write(a, "67"), Errno::kSuccess);
  EXPECT_EQ(guest.Tell(a), 7u);
  ASSERT_EQ(Err(FdFilestatSetSize(*guest.wasi, b, 2)), Errno::kSuccess);
  ASSERT_EQ(guest.Write(a, "x"), Errno::kSuccess);
  EXPECT_EQ(guest.Tell(a), 3u);
  guest.Put(kData, "Z");
  ASSERT_EQ(Err(FdPwrite(*guest.wasi, a, guest.Vector(kData, 1), 1, 0, kResult)), Errno::kSuccess);
  EXPECT_EQ(guest.Tell(a), 3u);
  EXPECT_EQ(guest.ReadFile("tmp/f"), "12xZ");
}

TEST(Wasi, ExclusiveCreationSucceedsOnce) {
  TestGuest guest;
  u32 fd;
  EXPECT_EQ(guest.Open("tmp/x", kCreate | kExclusive, "w", 0, fd), Errno::kSuccess);
  EXPECT_EQ(guest.Open("tmp/x", kCreate | kExclusive, "w", 0, fd), Errno::kExists);
}

TEST(Wasi, AFullTableRefusesBeforeItCreatesAnything) {
  Limits limits;
  limits.max_open_descriptors = 6;
  TestGuest guest(limits);
  u32 fd;
  ASSERT_EQ(guest.Open("tmp/a", kCreate, "w", 0, fd), Errno::kSuccess);
  EXPECT_EQ(fd, 4u);
  ASSERT_EQ(guest.Open("tmp/a", 0, "r", 0, fd), Errno::kSuccess);
  EXPECT_EQ(guest.Open("tmp/b", kCreate, "w", 0, fd), Errno::kTooManyOpen);
  EXPECT_EQ(guest.Stat("tmp/b").inode, 0u);
  EXPECT_EQ(Err(FdClose(*guest.wasi, 4)), Errno::kSuccess);
  ASSERT_EQ(guest.Open("tmp/a", 0, "r", 0, fd), Errno::kSuccess);
  EXPECT_EQ(fd, 4u) << "the lowest free number";
}

TEST(Wasi, DuplicatesShareTheOffset) {
  TestGuest guest;
  ASSERT_EQ(guest.WriteFile("tmp/f", "abcdef"), Errno::kSuccess);
  const u32 fd = guest.MustOpen("tmp/f");
  ASSERT_EQ(Err(FdDup(*guest.wasi, fd, 10, kResult)), Errno::kSuccess);
  EXPECT_EQ(guest.Get<u32>(), 10u);
  EXPECT_EQ(guest.Read(fd, 2), "ab");
  EXPECT_EQ(guest.Read(10, 2), "cd");
  EXPECT_EQ(Err(FdClose(*guest.wasi, fd)), Errno::kSuccess);
  EXPECT_EQ(guest.Read(10, 2), "ef");
  EXPECT_EQ(Err(FdRenumber(*guest.wasi, 10, 1)), Errno::kSuccess);
  EXPECT_EQ(guest.Tell(1), 6u);
  EXPECT_EQ(Err(FdClose(*guest.wasi, 10)), Errno::kBadFile);
}

TEST(Wasi, ListingTwentyThousandFilesReturnsEachOnceWhateverTheBuffer) {
  TestGuest guest;
  ASSERT_EQ(guest.Mkdir("tmp/d"), Errno::kSuccess);
  for (int i = 0; i < 20'000; ++i) {
    ASSERT_EQ(guest.WriteFile("tmp/d/" + std::to_string(i), ""), Errno::kSuccess);
  }
  const u32 fd = guest.MustOpen("tmp/d");
  for (const u32 buffer : {300u, 4096u, 100'000u}) {
    const std::vector<std::string> names = ListAll(guest, fd, buffer);
    EXPECT_EQ(names.size(), 20'002u);
    EXPECT_EQ(names[0], ".");
    EXPECT_EQ(names[1], "..");
    EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), 20'002u);
  }
}

TEST(Wasi, ARemovedDirectoryListsNothing) {
  TestGuest guest;
  ASSERT_EQ(guest.Mkdir("tmp/d"), Errno::kSuccess);
  const u32 fd = guest.MustOpen("tmp/d");
  ASSERT_EQ(Err(PathRemoveDirectory(*guest.wasi, 3, kPath, guest.Put(kPath, "tmp/d"))),
            Errno::kSuccess);
  EXPECT_TRUE(ListAll(guest, fd, 4096).empty());
}

TEST(Wasi, ReadLinkCutsWhatDoesNotFit) {
  TestGuest guest;
  ASSERT_EQ(Err(PathSymlink(*guest.wasi, kPath, guest.Put(kPath, "target"), 3, TestGuest::kPath2,
                            guest.Put(TestGuest::kPath2, "tmp/l"))),
            Errno::kSuccess);
  const u32 length = guest.Put(kPath, "tmp/l");
  ASSERT_EQ(Err(PathReadlink(*guest.wasi, 3, kPath, length, kData, 3, kResult)), Errno::kSuccess);
  EXPECT_EQ(guest.Text(kData, guest.Get<u32>()), "tar");
}

TEST(Wasi, ModeBitsAreKept) {
  TestGuest guest;
  ASSERT_EQ(guest.WriteFile("tmp/f", "x"), Errno::kSuccess);
  const u32 length = guest.Put(kPath, "tmp/f");
  ASSERT_EQ(Err(PathChmod(*guest.wasi, 3, 1, kPath, length, 0100751)), Errno::kSuccess);
  ASSERT_EQ(Err(PathModeGet(*guest.wasi, 3, 1, kPath, length, kResult)), Errno::kSuccess);
  EXPECT_EQ(guest.Get<u32>(), 0751u);
  const u32 fd = guest.MustOpen("tmp/f");
  ASSERT_EQ(Err(FdChmod(*guest.wasi, fd, 0600)), Errno::kSuccess);
  ASSERT_EQ(Err(FdModeGet(*guest.wasi, fd, kResult)), Errno::kSuccess);
  EXPECT_EQ(guest.Get<u32>(), 0600u);
}

TEST(Wasi, MountsTellTheirSizeAndWhatIsFree) {
  Limits limits;
  limits.max_workspace_bytes = 1 << 20;
  limits.max_tmp_bytes = 1 << 16;
  limits.max_files = 10;
  TestGuest guest(limits);
  ASSERT_EQ(guest.WriteFile("workspace/f", std::string(4096, 'x')), Errno::kSuccess);
  ASSERT_EQ(Err(PathStatvfs(*guest.wasi, 3, 1, kPath, guest.Put(kPath, "workspace"), kResult)),
            Errno::kSuccess);
  const auto workspace = guest.Get<RawMountStat>();
  EXPECT_EQ(workspace.bytes, 1u << 20);
  EXPECT_EQ(workspace.free_bytes, (1u << 20) - 4096);
  EXPECT_EQ(workspace.files, 10u);
  EXPECT_EQ(workspace.free_files, 8u);  // its root is one, too
  EXPECT_EQ(workspace.read_only, 0u);
  ASSERT_EQ(guest.WriteFile("tmp/f", "x"), Errno::kSuccess);
  ASSERT_EQ(Err(FdStatvfs(*guest.wasi, guest.MustOpen("tmp/f"), kResult)), Errno::kSuccess);
  EXPECT_EQ(guest.Get<RawMountStat>().bytes, 1u << 16);
  EXPECT_NE(guest.Get<RawMountStat>().device, workspace.device);
  ASSERT_EQ(Err(FdStatvfs(*guest.wasi, 3, kResult)), Errno::kSuccess);
  EXPECT_EQ(guest.Get<RawMountStat>().read_only, 1u);
  EXPECT_EQ(guest.Get<RawMountStat>().free_bytes, 0u);
  EXPECT_EQ(Err(FdStatvfs(*guest.wasi, 77, kResult)), Errno::kBadFile);
  EXPECT_EQ(Err(FdStatvfs(*guest.wasi, 3, 0xffff'fff0)), Errno::kFault);
}

TEST(Wasi, PathsWithNulOrBadUtf8AreRefused) {
  TestGuest guest;
  EXPECT_EQ(guest.Mkdir(std::string_view("tmp/a\0b", 7)), Errno::kInvalid);
  EXPECT_EQ(guest.Mkdir("tmp/\xff"), Errno::kIllegalName);
  EXPECT_EQ(guest.Mkdir(""), Errno::kNotFound);
  EXPECT_EQ(guest.Mkdir("tmp/" + std::string(5000, 'x')), Errno::kNameTooLong);
}

TEST(Wasi, FloatFlagsTellWhatArithmeticRaised) {
  TestGuest guest;
  FloatFlags(*guest.wasi, 63, 0);
  EXPECT_EQ(FloatFlags(*guest.wasi, 0, 0), 0u);
  volatile double zero = 0.0;
  volatile double quotient = 1.0 / zero;
  EXPECT_EQ(FloatFlags(*guest.wasi, 4, 1 | 16), 4u) << quotient;
  EXPECT_EQ(FloatFlags(*guest.wasi, 63, 0xffff'ffc2), 1u | 16u);  // not the control bits beside the flags
  EXPECT_EQ(FloatFlags(*guest.wasi, 0, 0), 0u);
}

TEST(Wasi, ThereAreNoArgumentsAndNoEnvironment) {
  TestGuest guest;
  for (const auto sizes : {&ArgsSizesGet, &EnvironSizesGet}) {
    guest.Put(kResult, "xxxxxxxx");
    ASSERT_EQ(Err(sizes(*guest.wasi, kResult, kResult + 4)), Errno::kSuccess);
    EXPECT_EQ(guest.Get<u64>(), 0u);
  }
}

TEST(Wasi, ClocksShowTheGuestsTime) {
  TestGuest guest;
  ASSERT_EQ(Err(ClockTimeGet(*guest.wasi, 0, 1, kResult)), Errno::kSuccess);
  EXPECT_EQ(guest.Get<std::int64_t>(), guest.time.realtime_ns);
  ASSERT_EQ(Err(ClockTimeGet(*guest.wasi, 1, 1, kResult)), Errno::kSuccess);
  EXPECT_EQ(guest.Get<std::int64_t>(), 1'000'000'000'000);
  guest.time.monotonic_ns += 7;
  guest.time.cpu_ns += 5;
  ASSERT_EQ(Err(ClockTimeGet(*guest.wasi, 1, 1, kResult)), Errno::kSuccess);
  EXPECT_EQ(guest.Get<std::int64_t>(), 1'000'000'000'007);
  for (const u32 clock : {2u, 3u}) {
    ASSERT_EQ(Err(ClockTimeGet(*guest.wasi, clock, 1, kResult)), Errno::kSuccess);
    EXPECT_EQ(guest.Get<std::int64_t>(), 5);
  }
  EXPECT_EQ(Err(ClockTimeGet(*guest.wasi, 4, 1, kResult)), Errno::kInvalid);
  EXPECT_EQ(Err(ClockResGet(*guest.wasi, 1, kResult)), Errno::kSuccess);
}

TEST(Wasi, ExitIsRecordedAndLeavesThroughTheHook) {
  TestGuest guest;
  ProcExit(*guest.wasi, 3);
  EXPECT_EQ(guest.exits, std::vector<u32>{3});
  EXPECT_EQ(guest.wasi->exit_code(), 3u);
  guest.wasi->BeginRun("");
  EXPECT_FALSE(guest.wasi->exit_code().has_value());
  EXPECT_EQ(Err(ProcRaise(*guest.wasi, 17)), Errno::kSuccess);
  EXPECT_EQ(Err(ProcRaise(*guest.wasi, 99)), Errno::kInvalid);
  EXPECT_FALSE(guest.wasi->exit_code().has_value());
  (void)ProcRaise(*guest.wasi, 6);
  EXPECT_EQ(guest.wasi->exit_code(), 134u);
}

TEST(Wasi, NothingIsASocket) {
  TestGuest guest;
  EXPECT_EQ(Err(SockShutdown(*guest.wasi, 1, 0)), Errno::kNotSocket);
  EXPECT_EQ(Err(SockRecv(*guest.wasi, 77, 0, 0, 0, 0, 0)), Errno::kBadFile);
}

TEST(Wasi, RightsCanOnlyBeGivenUp) {
  TestGuest guest;
  ASSERT_EQ(guest.WriteFile("tmp/f", "x"), Errno::kSuccess);
  const u32 fd = guest.MustOpen("tmp/f", 0, "rw");
  EXPECT_EQ(Err(FdFdstatSetRights(*guest.wasi, fd, rights::kRead, 0)), Errno::kSuccess);
  EXPECT_EQ(Err(FdFdstatSetRights(*guest.wasi, fd, rights::kWrite, 0)), Errno::kNotCapable);
  EXPECT_EQ(guest.Write(fd, "y"), Errno::kBadFile);
  EXPECT_EQ(guest.Read(fd, 5), "x");
}

TEST(Wasi, AccessModesOfOpenAreEnforced) {
  TestGuest guest;
  ASSERT_EQ(guest.WriteFile("tmp/f", "x"), Errno::kSuccess);
  EXPECT_EQ(guest.Write(guest.MustOpen("tmp/f"), "y"), Errno::kBadFile);
  EXPECT_EQ(guest.Read(guest.MustOpen("tmp/f", 0, "w"), 1), "<error>");
  EXPECT_EQ(Err(FdFilestatSetSize(*guest.wasi, guest.MustOpen("tmp/f"), 0)), Errno::kInvalid);
}

TEST(Wasi, VectorsAreCheckedBeforeAnythingMoves) {
  TestGuest guest;
  const u32 fd = guest.MustOpen("tmp/f", kCreate, "rw");
  const u32 end = 4 << 16;
  const RawVector vectors[2] = {{kData, 3}, {end - 1, 2}};
  guest.Put(TestGuest::kVectors,
            std::string_view(reinterpret_cast<const char*>(vectors), sizeof vectors));
  EXPECT_EQ(Err(FdWrite(*guest.wasi, fd, TestGuest::kVectors, 2, kResult)), Errno::kFault);
  EXPECT_EQ(guest.Stat("tmp/f").size, 0u);
  EXPECT_EQ(Err(FdWrite(*guest.wasi, fd, end - 8, 2, kResult)), Errno::kFault);
  EXPECT_EQ(Err(FdWrite(*guest.wasi, fd, TestGuest::kVectors, 1, end - 3)), Errno::kFault);
  EXPECT_EQ(Err(FdWrite(*guest.wasi, fd, 0, 1025, kResult)), Errno::kInvalid);
  EXPECT_EQ(Err(FdWrite(*guest.wasi, fd, 0, 0, kResult)), Errno::kSuccess);
}

TEST(Wasi, BinaryContentComesBackByteForByte) {
  TestGuest guest;
  std::string all;
  for (int i = 0; i < 40'000; ++i) all.push_back(static_cast<char>(i * 7 + i / 256));
  ASSERT_EQ(guest.WriteFile("workspace/b", all), Errno::kSuccess);
  EXPECT_EQ(guest.ReadFile("workspace/b"), all);
}

// Each import with arguments near every border. Run it under a sanitizer for what it is worth.
TEST(Wasi, HostileArgumentsNeverReachOutsideTheGuest) {
  Limits limits;
  limits.max_tmp_bytes = 1 << 20;
  limits.max_workspace_bytes = 1 << 20;
  TestGuest guest(limits);
  guest.wasi->Interrupt();
  std::mt19937_64 random(7);
  const u32 end = 4 << 16;
  const u32 interesting[] = {0,       1,        2,   3,       4,           5,
                             8,       64,       256, 4096,    kData,       end - 1,
                             end - 8, end - 24, end, end + 1, 0x7fff'ffff, 0xffff'ffff};
  const auto value = [&]<typename T>() -> T {
    if constexpr (sizeof(T) == 8) {
      return random() % 3 == 0 ? random() : interesting[random() % std::size(interesting)];
    } else {
      return interesting[random() % std::size(interesting)];
    }
  };
  const auto call = [&]<typename R, typename... P>(R (*function)(Wasi&, P...)) {
    (void)function(*guest.wasi, value.template operator()<P>()...);
  };
  for (int round = 0; round < 3000; ++round) {
    for (int i = 0; i < 8; ++i)
      guest.Put(static_cast<u32>(random() % 60'000), std::string_view("tmp/../a\0\x05", 10));
    VisitImports([&]<auto function>(std::string_view, std::string_view name) {
      if (name != "poll_oneoff") call(function);  // it might wait for years
    });
  }
  EXPECT_LE(guest.wasi->files().mount(MountKind::kTmp).bytes.used(), limits.max_tmp_bytes);
}

TEST(WasiImports, EveryFunctionOfPreview1IsThereOnce) {
  std::set<std::string> names;
  int extensions = 0;
  VisitImports([&]<auto>(std::string_view module, std::string_view name) {
    if (module == kWasiModule) {
      EXPECT_TRUE(names.insert(std::string(name)).second) << name;
    } else {
      ++extensions;
    }
  });
  EXPECT_EQ(names.size(), 46u);
  EXPECT_EQ(extensions, 8);
}

}  // namespace
}  // namespace dormouse::wasi
