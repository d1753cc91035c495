// SPDX-License-Identifier: Apache-2.0
#include "workspace/content_store.h"

#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include "common/write_all.h"

namespace dormouse::workspace {
namespace {

constexpr std::size_t kChunkBytes = 1u << 20;

bool IsZero(std::string_view bytes) {
  return bytes.empty() ||
         (bytes[0] == 0 && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0);
}

class Hasher {
 public:
  Hasher() : context_(EVP_MD_CTX_new(), &EVP_MD_CTX_free) {
    EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr);
  }
  void Add(std::string_view bytes) { EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()); }
  Sha256Digest Finish() {
    Sha256Digest digest;
    EVP_DigestFinal_ex(context_.get(), digest.bytes.data(), nullptr);
    return digest;
  }

 private:
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};

}  // namespace

void StagedContent::AddTo(store::Transaction& transaction) && {
  transaction.pins.push_back(std::move(pin));
  if (row) transaction.contents.push_back(std::move(*row));
  if (file) transaction.files.push_back(std::move(*file));
}

Result<bool> ContentStore::Pin(StagedContent& content) {
  store::ContentPins::Acquired acquired = store_.pins().Acquire(content.digest);
  content.pin = std::move(acquired.pin);
  if (acquired.being_removed) return false;
  DORMOUSE_ASSIGN(const auto size, store_.ReadContentSize(content.digest));
  return size.has_value();
}

Result<StagedContent> ContentStore::Stage(std::string_view bytes) {
  StagedContent content;
  content.digest = Sha256(bytes);
  content.size_bytes = bytes.size();
  DORMOUSE_ASSIGN(const bool known, Pin(content));
  if (known) return content;
  content.row = store::ContentRow{content.digest, content.size_bytes, {}, {}};
  if (bytes.size() <= store::kInlineContentBytes) {
    content.row->bytes = bytes;
    return content;
  }
  DORMOUSE_ASSIGN(FileDescriptor file, store_.files().CreateTemporary());
  DORMOUSE_TRY(WriteAll(file.get(), bytes, "write a content"));
  DORMOUSE_ASSIGN(content.file,
                  store_.files().Place(store::DataFileKind::kContent, std::move(file)));
  content.row->file = content.file->name();
  return content;
}

Result<StagedContent> ContentStore::StageFile(int fd, std::uint64_t limit_bytes) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) return SystemError("fstat", errno);
  if (static_cast<std::uint64_t>(status.st_size) <= kChunkBytes) {
    // Small enough to hash from memory, and perhaps to keep inline.
    std::string bytes(static_cast<std::size_t>(status.st_size), '\0');
    const ssize_t got = ::pread(fd, bytes.data(), bytes.size(), 0);
    if (got < 0) return SystemError("read a content", errno);
    bytes.resize(static_cast<std::size_t>(got));
    if (bytes.size() > limit_bytes) return Error(ErrorCode::kFileTooLarge, "the file is too large");
    return Stage(bytes);
  }
  if (static_cast<std::uint64_t>(status.st_size) > limit_bytes) {
    return Error(ErrorCode::kFileTooLarge, "the file is " + std::to_string(status.st_size) +
                                               " bytes, limit " + std::to_string(limit_bytes));
  }
  DORMOUSE_ASSIGN(FileDescriptor copy, store_.files().CreateTemporary());
  Hasher hasher;
  std::vector<char> chunk(kChunkBytes);
  StagedContent content;
  while (true) {
    const ssize_t got =
        ::pread(fd, chunk.data(), chunk.size(), static_cast<off_t>(content.size_bytes));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return SystemError("read a content", errno);
    if (got == 0) break;
    content.size_bytes += static_cast<std::uint64_t>(got);
    if (content.size_bytes > limit_bytes) {
      return Error(ErrorCode::kFileTooLarge, "the file is too large");
    }
    const std::string_view bytes(chunk.data(), static_cast<std::size_t>(got));
    hasher.Add(bytes);
    // Holes stay holes: a guest may make a large file of nothing at no cost.
    if (IsZero(bytes)) {
      if (::lseek(copy.get(), got, SEEK_CUR) < 0) return SystemError("write a content", errno);
    } else {
      DORMOUSE_TRY(WriteAll(copy.get(), bytes, "write a content"));
    }
  }
  if (::ftruncate(copy.get(), static_cast<off_t>(content.size_bytes)) != 0) {
    return SystemError("write a content", errno);
  }
  content.digest = hasher.Finish();
  DORMOUSE_ASSIGN(const bool known, Pin(content));
  if (known) return content;
  content.row = store::ContentRow{content.digest, content.size_bytes, {}, {}};
  DORMOUSE_ASSIGN(content.file,
                  store_.files().Place(store::DataFileKind::kContent, std::move(copy)));
  content.row->file = content.file->name();
  return content;
}

Result<StagedContent> ContentStore::StageOwned(FileDescriptor file) {
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return SystemError("fstat", errno);
  const auto size_bytes = static_cast<std::uint64_t>(status.st_size);
  if (size_bytes <= store::kInlineContentBytes) return StageFile(file.get(), size_bytes);
  StagedContent content;
  content.size_bytes = size_bytes;
  DORMOUSE_ASSIGN(content.digest, Sha256OfFile(file.get()));
  DORMOUSE_ASSIGN(const bool known, Pin(content));
  if (known) return content;
  content.row = store::ContentRow{content.digest, content.size_bytes, {}, {}};
  DORMOUSE_ASSIGN(content.file,
                  store_.files().Place(store::DataFileKind::kContent, std::move(file)));
  content.row->file = content.file->name();
  return content;
}

}  // namespace dormouse::workspace
