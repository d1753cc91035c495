// SPDX-License-Identifier: Apache-2.0
#include "workspace/archive_reader.h"

#include <archive.h>
#include <archive_entry.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <functional>

#include "store/testing.h"

namespace dormouse::workspace {
namespace {

using store::testing::TemporaryDirectory;

struct Entry {
  std::string path;
  std::string content;
  unsigned type = AE_IFREG;
  std::string target;
  std::string hard_link;
  unsigned mode = 0644;
};

std::string Pack(const std::vector<Entry>& entries) {
  std::string bytes(8u << 20, '\0');
  std::size_t used = 0;
  struct archive* const archive = archive_write_new();
  archive_write_add_filter_gzip(archive);
  archive_write_set_format_pax(archive);
  (void)archive_write_set_options(archive, "hdrcharset=BINARY");
  EXPECT_EQ(archive_write_open_memory(archive, bytes.data(), bytes.size(), &used), ARCHIVE_OK);
  for (const Entry& item : entries) {
    archive_entry* const entry = archive_entry_new();
    archive_entry_copy_pathname(entry, item.path.c_str());
    archive_entry_set_filetype(entry, item.type);
    archive_entry_set_perm(entry, item.mode);
    archive_entry_set_mtime(entry, 1'000, 0);
    archive_entry_set_size(entry, static_cast<std::int64_t>(item.content.size()));
    if (!item.target.empty()) archive_entry_copy_symlink(entry, item.target.c_str());
    if (!item.hard_link.empty()) archive_entry_copy_hardlink(entry, item.hard_link.c_str());
    EXPECT_GE(archive_write_header(archive, entry), ARCHIVE_WARN) << archive_error_string(archive);
    archive_write_data(archive, item.content.data(), item.content.size());
    archive_entry_free(entry);
  }
  archive_write_close(archive);
  archive_write_free(archive);
  bytes.resize(used);
  return bytes;
}

class ArchiveReaderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    store::StoreOptions options;
    options.directory = directory_.path();
    auto store = store::OpenSqliteStore(std::move(options));
    ASSERT_TRUE(store.ok()) << store.error().message;
    store_ = std::move(*store);
    contents_ = std::make_unique<ContentStore>(*store_);
  }
  Result<std::vector<store::TreeEntry>> Read(const std::string& bytes) {
    FileDescriptor file(::memfd_create("archive", MFD_CLOEXEC));
    EXPECT_EQ(::pwrite(file.get(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
    ArchiveReader reader(std::move(file), bytes.size(), limits_, *store_, *contents_, is_stopped_);
    while (true) {
      DORMOUSE_ASSIGN(const ArchiveReader::Portion portion, reader.Next());
      ++portions_;
      if (portion.is_last) return reader.TakeEntries();
    }
  }
  ErrorCode CodeOf(const std::string& bytes) {
    const auto read = Read(bytes);
    EXPECT_FALSE(read.ok());
    return read.ok() ? ErrorCode::kInternal : read.error().code;
  }

  TemporaryDirectory directory_;
  std::unique_ptr<store::Store> store_;
  std::unique_ptr<ContentStore> contents_;
  ArchiveLimits limits_{1'000, 200u << 20};
  std::function<bool()> is_stopped_;
  int portions_ = 0;
};

TEST_F(ArchiveReaderTest, EntriesBecomeRows) {
  const auto read = Read(Pack({{"./d/", "", AE_IFDIR, "", "", 0500},
                               {"d/a.txt", "hello", AE_IFREG, "", "", 04755},
                               {"link", "", AE_IFLNK, "d/../d/a.txt"},
                               {"hard", "", AE_IFREG, "", "./d//a.txt"},
                               {"\u00e4/\U0001F994", "x"},
                               {".", "", AE_IFDIR}}));
  ASSERT_TRUE(read.ok()) << read.error().message;
  ASSERT_EQ(read->size(), 5u);
  EXPECT_EQ((*read)[0].path, "d");
  EXPECT_EQ((*read)[0].mode, 0700u);
  EXPECT_EQ((*read)[1].path, "d/a.txt");
  EXPECT_EQ((*read)[1].digest, Sha256("hello"));
  EXPECT_EQ((*read)[1].mode, 0755u);
  EXPECT_EQ((*read)[1].mtime_ns, 1'000'000'000'000);
  EXPECT_EQ((*read)[2].path, "hard");
  EXPECT_EQ((*read)[2].digest, Sha256("hello"));
  EXPECT_EQ((*read)[3].target, "d/../d/a.txt");
  EXPECT_EQ((*read)[4].path, "\u00e4/\U0001F994");
}

TEST_F(ArchiveReaderTest, WhatLeavesTheWorkspaceIsRefused) {
  for (const Entry& entry : std::vector<Entry>{{"/a", "x"},
                                               {"../a", "x"},
                                               {"a/../../b", "x"},
                                               {"a", "", AE_IFLNK, "../b"},
                                               {"d/a", "", AE_IFLNK, "../../b"},
                                               {"d/a", "", AE_IFLNK, "/etc/passwd"},
                                               {"d/a", "", AE_IFLNK, "/workspacex"},
                                               {"a", "", AE_IFREG, "", "/etc/passwd"},
                                               {"a", "", AE_IFREG, "", "nowhere"},
                                               {"a", "", AE_IFCHR},
                                               {"a", "", AE_IFIFO},
                                               {std::string(300, 'n'), "x"}}) {
    EXPECT_EQ(CodeOf(Pack({entry})), ErrorCode::kInvalidRequest) << entry.path << " " << entry.target;
  }
  EXPECT_TRUE(Read(Pack({{"d/a", "", AE_IFLNK, "../b"}, {"c", "", AE_IFLNK, "/workspace"}})).ok());
}

TEST_F(ArchiveReaderTest, WhatIsNoArchiveIsRefused) {
  const std::string good = Pack({{"a", std::string(100'000, 'x') + "y"}});
  EXPECT_EQ(CodeOf(""), ErrorCode::kInvalidRequest);
  EXPECT_EQ(CodeOf("hello"), ErrorCode::kInvalidRequest);
  EXPECT_EQ(CodeOf(good.substr(1)), ErrorCode::kInvalidRequest);
  for (std::size_t length = 2; length < good.size() - 40; length += 7) {
    const auto cut = Read(good.substr(0, length));
    if (!cut.ok()) EXPECT_EQ(cut.error().code, ErrorCode::kInvalidRequest) << length;
  }
}

TEST_F(ArchiveReaderTest, LimitsHold) {
  limits_ = {3, 1'000};
  EXPECT_TRUE(Read(Pack({{"a", "x"}, {"b", "y"}, {"c", "z"}})).ok());
  EXPECT_EQ(CodeOf(Pack({{"a", "x"}, {"b", "y"}, {"c", "z"}, {"d", ""}})), ErrorCode::kArchiveTooLarge);
  EXPECT_EQ(CodeOf(Pack({{"a", std::string(600, 'x')}, {"b", std::string(600, 'y')}})),
            ErrorCode::kArchiveTooLarge);
  EXPECT_EQ(CodeOf(Pack({{"a", std::string(5'000, 'x')}})), ErrorCode::kArchiveTooLarge);
  EXPECT_EQ(CodeOf(Pack({{"a", std::string(600, 'x')}, {"b", "", AE_IFREG, "", "a"}})),
            ErrorCode::kArchiveTooLarge);
  const std::string zeros = Pack({{"zeros", std::string(4u << 20, '\0')}});
  limits_ = {3, 1ull << 40, 4u << 20};
  EXPECT_TRUE(Read(zeros).ok());
  limits_.harmless_bytes = 1u << 20;
  EXPECT_EQ(CodeOf(zeros), ErrorCode::kArchiveTooLarge);
}

TEST_F(ArchiveReaderTest, StopsWhenAsked) {
  int asked = 0;
  is_stopped_ = [&asked] { return ++asked > 20; };
  EXPECT_EQ(CodeOf(Pack({{"big", std::string(6u << 20, 'x')}})), ErrorCode::kUnavailable);
  EXPECT_EQ(asked, 21) << "within a file";
  asked = 0;
  EXPECT_EQ(CodeOf(Pack(std::vector<Entry>(30, Entry{"same", ""}))), ErrorCode::kUnavailable);
  EXPECT_EQ(asked, 21) << "between files";
}

TEST_F(ArchiveReaderTest, ManyFilesComeInPortions) {
  std::vector<Entry> entries;
  for (int i = 0; i < 900; ++i) entries.push_back({"f" + std::to_string(i), std::to_string(i)});
  const auto read = Read(Pack(entries));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->size(), 900u);
  EXPECT_EQ(portions_, 2);
}

}  // namespace
}  // namespace dormouse::workspace
