// SPDX-License-Identifier: Apache-2.0
// FileContent: the bytes of one regular file, sparse and copy-on-write.
//
// A content is a base, of which the first `base_limit` bytes still show, under chunks of 64 KiB
// that were written since. The base is either bytes in memory (a file of an image, a saved file) or
// named by digest and loaded on the first read that needs it. Chunks are only as large as what was
// written into them; everything else up to the size is a hole and reads as zeros.
//
// Bytes are charged to a Quota: what shows of the base, and what chunks hold beyond it (rounded up
// to 128 bytes each). A second one may count sizes, holes included, once for each name of the file:
// what somebody who keeps the files elsewhere will count.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "common/sha256.h"
#include "wasi/errno.h"
#include "wasi/host_interfaces.h"

namespace dormouse::wasi {

// Bytes used against a limit. Use may lie above the limit (manifests and saved files are never
// refused); then nothing more can be charged.
class Quota {
 public:
  explicit Quota(std::uint64_t limit) : limit_(limit) {}
  std::uint64_t remaining() const {
    if (suspended_) return kPlenty;
    return used_ < limit_ ? limit_ - used_ : 0;
  }
  // While suspended, there is always room.
  void Suspend(bool suspended) { suspended_ = suspended; }
  std::uint64_t used() const { return used_; }
  std::uint64_t limit() const { return limit_; }
  void Add(std::uint64_t amount) { used_ += amount; }
  void Subtract(std::uint64_t amount) { used_ -= amount; }

 private:
  static constexpr std::uint64_t kPlenty = std::uint64_t{1} << 62;
  std::uint64_t limit_;
  std::uint64_t used_ = 0;
  bool suspended_ = false;
};

class FileContent {
 public:
  static constexpr std::uint64_t kChunkBytes = 65536;

  // A run of bytes of one kind.
  struct Extent {
    enum class Kind : std::uint8_t {
      kBytes,  // `data`
      kHole,   // zeros
      kBase,   // the same offsets of base_digest(), which is not loaded; none after EnsureLoaded
    };
    Kind kind;
    std::uint64_t offset;
    std::uint64_t length;
    const std::byte* data;
  };

  // An empty content without names. Borrows `quota` and `sizes`, which may be null.
  explicit FileContent(Quota& quota, Quota* sizes = nullptr) : quota_(&quota), sizes_(sizes) {}
  ~FileContent();
  FileContent(const FileContent&) = delete;
  FileContent& operator=(const FileContent&) = delete;

  std::uint64_t size() const { return size_; }
  // How large the sizes' quota lets this file become; at least size().
  std::uint64_t max_size() const;
  // How many names the file has, for the sizes' quota.
  void SetNames(std::uint64_t names);
  // The name of the whole content, as long as it is known: set by SetStored or MarkStored and kept
  // until the next change.
  const std::optional<Sha256Digest>& digest() const { return digest_; }
  // The name of the base, if it has one and any of it shows.
  std::optional<Sha256Digest> base_digest() const;

  // Reads up to `out.size()` bytes; fewer only at the end. EIO when the base cannot be loaded.
  Errno Read(ContentSource* source, std::uint64_t offset, std::span<std::byte> out,
             std::uint64_t& got);
  // Writes as many bytes as the quotas allow; kNoSpace if that is none, `put` is 0 on any error.
  // Requires: offset + in.size() does not overflow.
  Errno Write(ContentSource* source, std::uint64_t offset, std::span<const std::byte> in,
              std::uint64_t& put);
  // Cuts or extends with a hole; asks no quota.
  void Resize(std::uint64_t size);
  // Loads the base now, so that later reads cannot fail.
  Errno EnsureLoaded(ContentSource* source);

  // Replaces everything by a content with that name. Never refused by the quota.
  void SetStored(const Sha256Digest& digest, std::uint64_t size);
  // Replaces everything by `bytes`, without copying them. Never refused by the quota.
  void SetBytes(SharedBytes bytes);
  // The current content is stored elsewhere under `digest`. With kDrop its bytes are given up and
  // loaded again when needed.
  enum class Memory : std::uint8_t { kKeep, kDrop };
  void MarkStored(const Sha256Digest& digest, Memory memory);

  // The extents in order, covering the size. Valid until the next change.
  std::vector<Extent> Extents() const;

 private:
  struct Free {
    void operator()(std::byte* bytes) const { std::free(bytes); }
  };
  struct Chunk {
    std::unique_ptr<std::byte[], Free> bytes;
    std::uint32_t size = 0;
    std::uint32_t capacity = 0;
  };
  using Chunks = std::map<std::uint64_t, Chunk>;

  Chunk* Find(std::uint64_t index);
  Errno WriteChunk(ContentSource* source, std::uint64_t index, std::uint32_t start,
                   std::span<const std::byte> in, std::uint32_t& put);
  std::uint32_t BaseBytesIn(std::uint64_t index) const;
  std::uint64_t ChargeOf(std::uint64_t index, const Chunk& chunk) const;
  static bool Reserve(Chunk& chunk, std::uint32_t capacity);
  void Clear();
  void SetSize(std::uint64_t size);

  Quota* quota_;
  Quota* sizes_;
  std::uint64_t names_ = 0;
  std::uint64_t size_ = 0;
  std::uint64_t base_limit_ = 0;
  std::uint64_t base_size_ = 0;
  SharedBytes base_;
  Sha256Digest base_digest_;
  bool base_named_ = false;
  bool base_loaded_ = false;
  std::optional<Sha256Digest> digest_;
  Chunks chunks_;
  // The chunk found last: most accesses are sequential.
  std::uint64_t cached_index_ = ~std::uint64_t{0};
  Chunk* cached_ = nullptr;
};

}  // namespace dormouse::wasi
