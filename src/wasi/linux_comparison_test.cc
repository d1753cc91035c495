// SPDX-License-Identifier: Apache-2.0
// The same random operations on our file system and on a directory of the real one: answers, errors
// and the trees at the end must be equal.
#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <random>
#include <set>
#include <sstream>

#include "wasi/test_support.h"

namespace dormouse::wasi {
namespace {

Errno FromLinux(int error) {
  switch (error) {
    case 0:
      return Errno::kSuccess;
    case EBADF:
      return Errno::kBadFile;
    case EBUSY:
      return Errno::kBusy;
    case EEXIST:
      return Errno::kExists;
    case EINVAL:
      return Errno::kInvalid;
    case EISDIR:
      return Errno::kIsDirectory;
    case ELOOP:
      return Errno::kLoop;
    case EMFILE:
      return Errno::kTooManyOpen;
    case ENAMETOOLONG:
      return Errno::kNameTooLong;
    case ENOENT:
      return Errno::kNotFound;
    case ENOTDIR:
      return Errno::kNotDirectory;
    case ENOTEMPTY:
      return Errno::kNotEmpty;
    case EPERM:
      return Errno::kNotPermitted;
    case ESPIPE:
      return Errno::kNotSeekable;
    default:
      return Errno::kIo;
  }
}

Errno LastError(long result) { return result < 0 ? FromLinux(errno) : Errno::kSuccess; }

// One answer as text, so that both sides can be compared and shown.
std::string Answer(Errno error, const std::string& value = "") {
  return "errno " + std::to_string(static_cast<int>(error)) + " " +
         (error == Errno::kSuccess ? value : std::string());
}

std::string StatText(FileType type, std::uint64_t size, std::uint64_t links, unsigned mode) {
  std::ostringstream text;
  text << "type " << static_cast<int>(type);
  if (type != FileType::kDirectory) text << " size " << size << " links " << links;
  if (type != FileType::kSymlink) text << " mode " << mode;
  return text.str();
}

struct OpenWay {
  int linux_flags;
  u32 open_flags;
  u32 fd_flags;
  const char* access;
  bool follow = true;
};

constexpr OpenWay kOpenWays[] = {
    {O_RDONLY, 0, 0, "r"},
    {O_RDWR, 0, 0, "rw"},
    {O_WRONLY, 0, 0, "w"},
    {O_RDWR | O_CREAT, 1, 0, "rw"},
    {O_RDWR | O_CREAT | O_EXCL, 1 | 4, 0, "rw"},
    {O_RDWR | O_CREAT | O_TRUNC, 1 | 8, 0, "rw"},
    {O_RDWR | O_TRUNC, 8, 0, "rw"},
    {O_RDWR | O_CREAT | O_APPEND, 1, 1, "rw"},
    {O_WRONLY | O_APPEND, 0, 1, "w"},
    {O_RDONLY | O_CREAT, 1, 0, "r"},
    {O_RDONLY | O_DIRECTORY, 2, 0, "r"},
    {O_RDONLY | O_NOFOLLOW, 0, 0, "r", false},
    {O_RDWR | O_CREAT | O_NOFOLLOW, 1, 0, "rw", false},
    {O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 2, 0, "r", false},
};

constexpr const char* kSkeleton = "1/2/3/4/5/6";

// The same calls on both sides.
class Linux {
 public:
  explicit Linux(const std::filesystem::path& top) {
    std::filesystem::create_directories(top / kSkeleton);
    base_ = ::open((top / kSkeleton).c_str(), O_RDONLY | O_DIRECTORY);
  }
  ~Linux() {
    for (const int fd : files_) ::close(fd);
    ::close(base_);
  }
  std::string Open(const std::string& path, const OpenWay& way) {
    const int fd = ::openat(base_, path.c_str(), way.linux_flags, 0644);
    if (fd >= 0) files_.push_back(fd);
    return Answer(LastError(fd));
  }
  std::string Close(std::size_t file) {
    ::close(files_[file]);
    files_.erase(files_.begin() + static_cast<std::ptrdiff_t>(file));
    return Answer(Errno::kSuccess);
  }
  std::string Stat(const std::string& path, bool follow) {
    struct stat status{};
    const int result = ::fstatat(base_, path.c_str(), &status, follow ? 0 : AT_SYMLINK_NOFOLLOW);
    return Answer(LastError(result), Text(status));
  }
  std::string FdStat(std::size_t file) {
    struct stat status{};
    const int result = ::fstat(files_[file], &status);
    return Answer(LastError(result), Text(status));
  }
  std::string Mkdir(const std::string& path) {
    return Answer(LastError(::mkdirat(base_, path.c_str(), 0755)));
  }
  std::string Rmdir(const std::string& path) {
    return Answer(LastError(::unlinkat(base_, path.c_str(), AT_REMOVEDIR)));
  }
  std::string Unlink(const std::string& path) {
    return Answer(LastError(::unlinkat(base_, path.c_str(), 0)));
  }
  std::string Rename(const std::string& from, const std::string& to) {
    return Answer(LastError(::renameat(base_, from.c_str(), base_, to.c_str())));
  }
  std::string Link(const std::string& from, const std::string& to, bool follow) {
    return Answer(LastError(
        ::linkat(base_, from.c_str(), base_, to.c_str(), follow ? AT_SYMLINK_FOLLOW : 0)));
  }
  std::string Symlink(const std::string& target, const std::string& path) {
    return Answer(LastError(::symlinkat(target.c_str(), base_, path.c_str())));
  }
  std::string ReadLink(const std::string& path) {
    char buffer[100];
    const ssize_t length = ::readlinkat(base_, path.c_str(), buffer, sizeof buffer);
    return Answer(LastError(length), length < 0 ? "" : std::string(buffer, length));
  }
  std::string Write(std::size_t file, const std::string& text) {
    const ssize_t put = ::write(files_[file], text.data(), text.size());
    return Answer(LastError(put), std::to_string(put));
  }
  std::string Pwrite(std::size_t file, const std::string& text, std::uint64_t offset) {
    const ssize_t put =
        ::pwrite(files_[file], text.data(), text.size(), static_cast<off_t>(offset));
    return Answer(LastError(put), std::to_string(put));
  }
  std::string Read(std::size_t file, std::size_t length) {
    std::string text(length, '\0');
    const ssize_t got = ::read(files_[file], text.data(), length);
    if (got >= 0) text.resize(static_cast<std::size_t>(got));
    return Answer(LastError(got), text);
  }
  std::string Pread(std::size_t file, std::size_t length, std::uint64_t offset) {
    std::string text(length, '\0');
    const ssize_t got = ::pread(files_[file], text.data(), length, static_cast<off_t>(offset));
    if (got >= 0) text.resize(static_cast<std::size_t>(got));
    return Answer(LastError(got), text);
  }
  std::string Seek(std::size_t file, std::int64_t delta, int whence) {
    const off_t at = ::lseek(files_[file], delta, whence);
    return Answer(LastError(at), std::to_string(at));
  }
  std::string Truncate(std::size_t file, std::uint64_t size) {
    return Answer(LastError(::ftruncate(files_[file], static_cast<off_t>(size))));
  }
  std::string List(const std::string& path) {
    const int fd = ::openat(base_, path.c_str(), O_RDONLY | O_DIRECTORY);
    if (fd < 0) return Answer(FromLinux(errno));
    DIR* const directory = ::fdopendir(fd);
    std::set<std::string> names;
    while (const dirent* const entry = ::readdir(directory)) {
      names.insert(std::string(entry->d_name) + ":" + std::to_string(entry->d_type));
    }
    ::closedir(directory);
    std::string all;
    for (const std::string& name : names) all += name + " ";
    return Answer(Errno::kSuccess, all);
  }
  bool IsDirectory(std::size_t file) {
    struct stat status{};
    ::fstat(files_[file], &status);
    return S_ISDIR(status.st_mode);
  }
  std::size_t file_count() const { return files_.size(); }

 private:
  static std::string Text(const struct stat& status) {
    const FileType type = S_ISDIR(status.st_mode)   ? FileType::kDirectory
                          : S_ISLNK(status.st_mode) ? FileType::kSymlink
                                                    : FileType::kRegular;
    return StatText(type, static_cast<std::uint64_t>(status.st_size), status.st_nlink,
                    status.st_mode & 07777);
  }
  int base_;
  std::vector<int> files_;
};

class Ours {
 public:
  Ours() {
    std::string path = "workspace";
    for (const char* name : {"1", "2", "3", "4", "5", "6"}) {
      path += std::string("/") + name;
      EXPECT_EQ(guest_.Mkdir(path), Errno::kSuccess);
    }
    base_ = guest_.MustOpen(path, 2);
  }
  std::string Open(const std::string& path, const OpenWay& way) {
    u64 wanted = rights::kAll & ~(rights::kRead | rights::kWrite);
    if (way.access[0] == 'r') wanted |= rights::kRead;
    if (std::string_view(way.access).ends_with('w')) wanted |= rights::kWrite;
    const u32 error = PathOpen(wasi(), base_, way.follow ? 1 : 0, kPath, Put(path), way.open_flags,
                               wanted, rights::kAll, way.fd_flags, kResult);
    if (error == 0) files_.push_back(guest_.Get<u32>());
    return Answer(error);
  }
  std::string Close(std::size_t file) {
    const u32 error = FdClose(wasi(), files_[file]);
    files_.erase(files_.begin() + static_cast<std::ptrdiff_t>(file));
    return Answer(error);
  }
  std::string Stat(const std::string& path, bool follow) {
    return StatAnswer(
        PathFilestatGet(wasi(), base_, follow ? 1 : 0, kPath, Put(path), kResult),
        [&] { (void)PathModeGet(wasi(), base_, follow ? 1 : 0, kPath, Put(path), kMode); });
  }
  std::string FdStat(std::size_t file) {
    return StatAnswer(FdFilestatGet(wasi(), files_[file], kResult),
                      [&] { (void)FdModeGet(wasi(), files_[file], kMode); });
  }
  std::string Mkdir(const std::string& path) {
    return Answer(PathCreateDirectory(wasi(), base_, kPath, Put(path)));
  }
  std::string Rmdir(const std::string& path) {
    return Answer(PathRemoveDirectory(wasi(), base_, kPath, Put(path)));
  }
  std::string Unlink(const std::string& path) {
    return Answer(PathUnlinkFile(wasi(), base_, kPath, Put(path)));
  }
  std::string Rename(const std::string& from, const std::string& to) {
    return Answer(
        PathRename(wasi(), base_, kPath, Put(from), base_, kPath2, guest_.Put(kPath2, to)));
  }
  std::string Link(const std::string& from, const std::string& to, bool follow) {
    return Answer(PathLink(wasi(), base_, follow ? 1 : 0, kPath, Put(from), base_, kPath2,
                           guest_.Put(kPath2, to)));
  }
  std::string Symlink(const std::string& target, const std::string& path) {
    return Answer(PathSymlink(wasi(), kPath, Put(target), base_, kPath2, guest_.Put(kPath2, path)));
  }
  std::string ReadLink(const std::string& path) {
    const u32 error = PathReadlink(wasi(), base_, kPath, Put(path), kData, 100, kResult);
    return Answer(error, guest_.Text(kData, guest_.Get<u32>()));
  }
  std::string Write(std::size_t file, const std::string& text) {
    const u32 length = guest_.Put(kData, text);
    return Counted(FdWrite(wasi(), files_[file], guest_.Vector(kData, length), 1, kResult));
  }
  std::string Pwrite(std::size_t file, const std::string& text, std::uint64_t offset) {
    const u32 length = guest_.Put(kData, text);
    return Counted(
        FdPwrite(wasi(), files_[file], guest_.Vector(kData, length), 1, offset, kResult));
  }
  std::string Read(std::size_t file, std::size_t length) {
    const u32 vector = guest_.Vector(kData, static_cast<u32>(length));
    const u32 error = FdRead(wasi(), files_[file], vector, 1, kResult);
    return Answer(error, error == 0 ? guest_.Text(kData, guest_.Get<u32>()) : "");
  }
  std::string Pread(std::size_t file, std::size_t length, std::uint64_t offset) {
    const u32 vector = guest_.Vector(kData, static_cast<u32>(length));
    const u32 error = FdPread(wasi(), files_[file], vector, 1, offset, kResult);
    return Answer(error, error == 0 ? guest_.Text(kData, guest_.Get<u32>()) : "");
  }
  std::string Seek(std::size_t file, std::int64_t delta, int whence) {
    const u32 error =
        FdSeek(wasi(), files_[file], static_cast<u64>(delta), static_cast<u32>(whence), kResult);
    return Answer(error, std::to_string(guest_.Get<u64>()));
  }
  std::string Truncate(std::size_t file, std::uint64_t size) {
    return Answer(FdFilestatSetSize(wasi(), files_[file], size));
  }
  std::string List(const std::string& path) {
    u32 error = PathOpen(wasi(), base_, 1, kPath, Put(path), 2, rights::kAll & ~rights::kWrite,
                         rights::kAll, 0, kResult);
    if (error != 0) return Answer(error);
    const u32 fd = guest_.Get<u32>();
    std::set<std::string> names;
    u64 cookie = 0;
    while (true) {
      error = FdReaddir(wasi(), fd, kData, 300, cookie, kResult);
      const u32 used = guest_.Get<u32>();
      u32 at = 0;
      while (error == 0 && at + 24 <= used) {
        const u32 length = guest_.Get<u32>(kData + at + 16);
        if (at + 24 + length > used) break;
        const auto type = static_cast<FileType>(guest_.Get<std::uint8_t>(kData + at + 20));
        const int linux_type = type == FileType::kDirectory ? DT_DIR
                               : type == FileType::kSymlink ? DT_LNK
                                                            : DT_REG;
        names.insert(guest_.Text(kData + at + 24, length) + ":" + std::to_string(linux_type));
        cookie = guest_.Get<u64>(kData + at);
        at += 24 + length;
      }
      if (error != 0 || used < 300) break;
    }
    (void)FdClose(wasi(), fd);
    std::string all;
    for (const std::string& name : names) all += name + " ";
    return Answer(error, all);
  }

 private:
  static constexpr u32 kPath = TestGuest::kPath;
  static constexpr u32 kPath2 = TestGuest::kPath2;
  static constexpr u32 kData = TestGuest::kData;
  static constexpr u32 kResult = TestGuest::kResult;
  static constexpr u32 kMode = 200;

  static std::string Answer(u32 error, const std::string& value = "") {
    return wasi::Answer(static_cast<Errno>(error), value);
  }
  std::string Counted(u32 error) {
    return Answer(error, error == 0 ? std::to_string(guest_.Get<u32>()) : "");
  }
  template <typename GetMode>
  std::string StatAnswer(u32 error, GetMode&& get_mode) {
    const auto raw = guest_.Get<RawFilestat>();
    if (error == 0) get_mode();
    return Answer(error, StatText(static_cast<FileType>(raw.type), raw.size, raw.links,
                                  guest_.Get<u32>(kMode)));
  }
  u32 Put(const std::string& path) { return guest_.Put(kPath, path); }
  Wasi& wasi() { return *guest_.wasi; }

  TestGuest guest_;
  u32 base_;
  std::vector<u32> files_;
};

class Comparison {
 public:
  Comparison(unsigned seed, const std::filesystem::path& top) : random_(seed), linux_(top) {}

  // False when they differ.
  bool Run(int steps) {
    for (int i = 0; i < steps && same_; ++i) Step();
    if (same_) CompareTrees(".", 0);
    if (!same_) ADD_FAILURE() << log_.str();
    return same_;
  }

 private:
  std::size_t Pick(std::size_t limit) { return random_() % limit; }

  std::string Name() {
    static constexpr const char* kNames[] = {"a", "b", "c", "d", "e"};
    return kNames[Pick(std::size(kNames))];
  }
  // A ".." once in a while, so that links do not lead out of the part that both sides share.
  std::string Path() {
    std::string path;
    bool up = false;
    const std::size_t parts = 1 + std::min(Pick(4), Pick(4));
    for (std::size_t i = 0; i < parts; ++i) {
      if (i > 0) path += Pick(10) == 0 ? "//" : "/";
      const std::size_t kind = Pick(24);
      if (kind == 0) {
        path += ".";
      } else if (kind == 1 && !up && i > 0) {
        path += "..";
        up = true;
      } else {
        path += Name();
      }
    }
    if (Pick(8) == 0) path += Pick(4) == 0 ? "//" : "/";
    if (Pick(60) == 0) path = "";
    return path;
  }
  std::string Text() { return std::string(Pick(40) + 1, static_cast<char>('a' + Pick(26))); }

  template <typename Call>
  void Both(const std::string& what, Call&& call) {
    const std::string expected = call(linux_);
    const std::string got = call(ours_);
    log_ << what << " -> " << expected << "\n";
    if (expected == got) return;
    log_ << "   but ours: " << got << "\n";
    same_ = false;
  }

  void Step() {
    const std::string path = Path();
    const std::string other = Path();
    const bool flag = Pick(2) == 0;
    switch (Pick(12)) {
      case 0:
        return Both("mkdir " + path, [&](auto& side) { return side.Mkdir(path); });
      case 1:
        return Both("rmdir " + path, [&](auto& side) { return side.Rmdir(path); });
      case 2:
        return Both("unlink " + path, [&](auto& side) { return side.Unlink(path); });
      case 3:
        return Both("rename " + path + " " + other,
                    [&](auto& side) { return side.Rename(path, other); });
      case 4:
        return Both("link " + path + " " + other + (flag ? " follow" : ""),
                    [&](auto& side) { return side.Link(path, other, flag); });
      case 5:
        return Both("symlink " + path + " " + other,
                    [&](auto& side) { return side.Symlink(path, other); });
      case 6:
        return Both("readlink " + path, [&](auto& side) { return side.ReadLink(path); });
      case 7:
        return Both(std::string(flag ? "stat " : "lstat ") + path,
                    [&](auto& side) { return side.Stat(path, flag); });
      case 8:
        return Both("list " + path, [&](auto& side) { return side.List(path); });
      case 9:
      case 10:
        if (linux_.file_count() < 8) {
          const std::size_t way = Pick(std::size(kOpenWays));
          return Both("open " + path + " way " + std::to_string(way),
                      [&](auto& side) { return side.Open(path, kOpenWays[way]); });
        }
        [[fallthrough]];
      default:
        if (linux_.file_count() > 0) FileStep();
    }
  }

  void FileStep() {
    const std::size_t file = Pick(linux_.file_count());
    const std::string name = "file " + std::to_string(file) + " ";
    const std::string text = Text();
    const std::uint64_t offset = Pick(8) == 0 ? Pick(200'000) : Pick(100);
    const std::size_t length = 1 + Pick(50);
    switch (Pick(9)) {
      case 0:
        return Both(name + "close", [&](auto& side) { return side.Close(file); });
      case 1:
        return Both(name + "write", [&](auto& side) { return side.Write(file, text); });
      case 2:
        return Both(name + "pwrite " + std::to_string(offset),
                    [&](auto& side) { return side.Pwrite(file, text, offset); });
      case 3:
        return Both(name + "read", [&](auto& side) { return side.Read(file, length); });
      case 4:
        return Both(name + "pread " + std::to_string(offset),
                    [&](auto& side) { return side.Pread(file, length, offset); });
      case 5: {
        // What lseek answers for directories is up to the file system.
        if (linux_.IsDirectory(file)) return;
        const auto delta = static_cast<std::int64_t>(Pick(200)) - 60;
        const int whence = static_cast<int>(Pick(3));
        return Both(name + "seek " + std::to_string(delta) + " " + std::to_string(whence),
                    [&](auto& side) { return side.Seek(file, delta, whence); });
      }
      case 6:
        return Both(name + "truncate " + std::to_string(offset),
                    [&](auto& side) { return side.Truncate(file, offset); });
      default:
        return Both(name + "fstat", [&](auto& side) { return side.FdStat(file); });
    }
  }

  void CompareTrees(const std::string& path, int depth) {
    if (depth > 12 || !same_) return;
    const std::string listing = linux_.List(path);
    Both("list " + path, [&](auto& side) { return side.List(path); });
    std::istringstream names(listing.substr(listing.find(' ', 6)));
    for (std::string item; names >> item;) {
      const std::string name = item.substr(0, item.rfind(':'));
      const std::string type = item.substr(item.rfind(':') + 1);
      const std::string below = path + "/" + name;
      if (name == "." || name == "..") continue;
      Both("lstat " + below, [&](auto& side) { return side.Stat(below, false); });
      if (type == std::to_string(DT_LNK)) {
        Both("readlink " + below, [&](auto& side) { return side.ReadLink(below); });
      } else if (type == std::to_string(DT_DIR)) {
        CompareTrees(below, depth + 1);
      } else {
        const std::size_t file = linux_.file_count();
        Both("open " + below, [&](auto& side) { return side.Open(below, kOpenWays[0]); });
        for (std::uint64_t at = 0; at < 210'000 && same_; at += 30'000) {
          Both("pread " + below, [&](auto& side) { return side.Pread(file, 30'000, at); });
        }
        Both("close " + below, [&](auto& side) { return side.Close(file); });
      }
    }
  }

  std::mt19937 random_;
  Linux linux_;
  Ours ours_;
  std::ostringstream log_;
  bool same_ = true;
};

TEST(LinuxComparison, RandomOperationsAnswerAsOnLinux) {
  for (unsigned seed = 1; seed <= 40; ++seed) {
    std::string pattern = (std::filesystem::temp_directory_path() / "comparison-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    const bool same = Comparison(seed, pattern).Run(400);
    std::filesystem::remove_all(pattern);
    ASSERT_TRUE(same) << "seed " << seed;
  }
}

}  // namespace
}  // namespace dormouse::wasi
