// SPDX-License-Identifier: Apache-2.0
#include "snapshot/segment.h"

#include <xxhash.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "common/byte_io.h"

namespace dormouse::snapshot {
namespace {

constexpr std::uint32_t kMagic = 0x47534d44;  // "DMSG"
constexpr std::uint16_t kVersion = 1;
constexpr std::uint16_t kFlagBase = 1;
constexpr std::uint32_t kMaxMemoryPages = 65536;  // 4 GiB
constexpr std::uint32_t kMaxGlobals = 4096;
constexpr std::uint32_t kMaxRecords = 16;
// In a stored page index: the page is stored as it is, not XORed.
constexpr PageIndex kPlainPage = 1u << 31;
constexpr std::size_t kPagesPerFrame = 64;
constexpr std::size_t kFrameBytes = kPagesPerFrame * (sizeof(PageIndex) + kPageBytes);
// Level 1: snapshots are on the way of every answer; higher levels gain little on XORed pages.
constexpr int kLevel = 1;

Error Corrupt(std::string what) {
  return Error(ErrorCode::kCorrupt, "a snapshot segment is damaged: " + std::move(what));
}

struct FreeCompressor {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
};
struct FreeDecompressor {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

// Hashes and counts what goes through.
class CheckedSink {
 public:
  explicit CheckedSink(const SegmentSink& sink) : sink_(sink), hash_(XXH3_createState()) {
    XXH3_64bits_reset(hash_.get());
  }
  Result<void> Put(std::string_view bytes) {
    XXH3_64bits_update(hash_.get(), bytes.data(), bytes.size());
    written_.size_bytes += bytes.size();
    return sink_(bytes);
  }
  WrittenSegment Finish() {
    written_.checksum = XXH3_64bits_digest(hash_.get());
    return written_;
  }

 private:
  struct FreeState {
    void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
  };
  const SegmentSink& sink_;
  std::unique_ptr<XXH3_state_t, FreeState> hash_;
  WrittenSegment written_;
};

void XorPage(std::byte* target, const std::byte* a, const std::byte* b) {
  for (std::size_t i = 0; i < kPageBytes; i += sizeof(std::uint64_t)) {
    std::uint64_t x, y;
    std::memcpy(&x, a + i, sizeof x);
    std::memcpy(&y, b + i, sizeof y);
    x ^= y;
    std::memcpy(target + i, &x, sizeof x);
  }
}

std::size_t NonZeroBytes(const std::byte* page) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < kPageBytes; ++i) count += page[i] != std::byte{0};
  return count;
}

// Puts the page into `target`, XORed with the boot image or, where that has fewer bytes, as it is: memory that was free
// at boot holds leftovers, and XORed with them a fresh page of zeros would be noise. Returns the index to store.
PageIndex PutPage(std::byte* target, PageIndex index, const std::byte* page, const std::byte* boot) {
  XorPage(target, page, boot);
  if (NonZeroBytes(target) <= NonZeroBytes(page)) return index;
  std::memcpy(target, page, kPageBytes);
  return index | kPlainPage;
}

class Compressor {
 public:
  Compressor() : context_(ZSTD_createCCtx()) {}
  // {u32 raw length, u32 stored length, stored bytes}
  Result<std::string> Block(std::string_view raw) {
    std::string stored(ZSTD_compressBound(raw.size()), '\0');
    const std::size_t size = ZSTD_compressCCtx(context_.get(), stored.data(), stored.size(), raw.data(),
                                               raw.size(), kLevel);
    if (ZSTD_isError(size)) return Error(ErrorCode::kInternal, ZSTD_getErrorName(size));
    ByteWriter block;
    block.U32(static_cast<std::uint32_t>(raw.size()));
    block.String(std::string_view(stored).substr(0, size));
    return std::move(block).bytes();
  }

 private:
  std::unique_ptr<ZSTD_CCtx, FreeCompressor> context_;
};

class Decompressor {
 public:
  Decompressor() : context_(ZSTD_createDCtx()) {}
  Result<std::string> Block(ByteReader& reader, std::uint64_t max_raw_bytes) {
    const std::uint32_t raw_size = reader.U32();
    const std::string_view stored = reader.String();
    if (!reader.ok() || raw_size > max_raw_bytes) return Corrupt("a block has a bad length");
    std::string raw(raw_size, '\0');
    const std::size_t size = ZSTD_decompressDCtx(context_.get(), raw.data(), raw.size(), stored.data(),
                                                 stored.size());
    if (ZSTD_isError(size) || size != raw_size) return Corrupt("a block does not decompress");
    return raw;
  }

 private:
  std::unique_ptr<ZSTD_DCtx, FreeDecompressor> context_;
};

}  // namespace

Result<WrittenSegment> WriteSegment(const SegmentContent& content, std::span<const PageIndex> pages,
                                    const std::byte* memory, const BootImage& boot,
                                    const SegmentSink& sink) {
  CheckedSink out(sink);
  Compressor compressor;
  ByteWriter header;
  header.U32(kMagic);
  header.U16(kVersion);
  header.U16(content.base ? kFlagBase : 0);
  header.U32(content.memory_pages);
  header.U32(static_cast<std::uint32_t>(content.globals.size()));
  for (const std::uint64_t value : content.globals) header.U64(value);
  header.U32(static_cast<std::uint32_t>(content.records.size()));
  DORMOUSE_TRY(out.Put(header.bytes()));
  for (const auto& [tag, bytes] : content.records) {
    ByteWriter record;
    record.U16(static_cast<std::uint16_t>(tag));
    DORMOUSE_ASSIGN(const std::string block, compressor.Block(bytes));
    record.Raw(block);
    DORMOUSE_TRY(out.Put(record.bytes()));
  }
  ByteWriter count;
  count.U32(static_cast<std::uint32_t>(pages.size()));
  DORMOUSE_TRY(out.Put(count.bytes()));

  std::string raw;
  for (std::size_t first = 0; first < pages.size(); first += kPagesPerFrame) {
    const auto frame = pages.subspan(first, std::min(kPagesPerFrame, pages.size() - first));
    const std::size_t index_bytes = frame.size() * sizeof(PageIndex);
    raw.resize(index_bytes + frame.size() * kPageBytes);
    for (std::size_t i = 0; i < frame.size(); ++i) {
      const PageIndex stored =
          PutPage(reinterpret_cast<std::byte*>(raw.data()) + index_bytes + i * kPageBytes, frame[i],
                  memory + std::uint64_t{frame[i]} * kPageBytes, boot.Page(frame[i]));
      std::memcpy(raw.data() + i * sizeof stored, &stored, sizeof stored);
    }
    DORMOUSE_ASSIGN(const std::string block, compressor.Block(raw));
    DORMOUSE_TRY(out.Put(block));
  }
  return out.Finish();
}

Result<void> SegmentReader::Add(std::string_view bytes, std::uint64_t checksum) {
  if (complete_) return Corrupt("it lies below a base segment");
  if (XXH3_64bits(bytes.data(), bytes.size()) != checksum) return Corrupt("its checksum does not match");
  ByteReader reader(bytes);
  const std::uint32_t magic = reader.U32();
  const std::uint16_t version = reader.U16();
  const std::uint16_t flags = reader.U16();
  const std::uint32_t memory_pages = reader.U32();
  const std::uint32_t global_count = reader.U32();
  if (!reader.ok() || magic != kMagic) return Corrupt("it has no segment header");
  if (version != kVersion) return Corrupt("version " + std::to_string(version) + " is not known");
  if (memory_pages > kMaxMemoryPages || global_count > kMaxGlobals ||
      !reader.CanHold(global_count, sizeof(std::uint64_t))) {
    return Corrupt("its header is out of range");
  }
  std::vector<std::uint64_t> globals(global_count);
  for (std::uint64_t& value : globals) value = reader.U64();
  if (first_) {
    content_.memory_pages = memory_pages;
    content_.globals = std::move(globals);
    restored_.resize(std::uint64_t{memory_pages} * (65536 / kPageBytes));
    DORMOUSE_TRY(grow_(memory_pages));
    first_ = false;
  } else if (memory_pages > content_.memory_pages) {
    return Corrupt("its memory is larger than that of a newer one");
  }

  Decompressor decompressor;
  const std::uint32_t record_count = reader.U32();
  if (record_count > kMaxRecords) return Corrupt("it has too many records");
  for (std::uint32_t i = 0; i < record_count; ++i) {
    const auto tag = static_cast<RecordTag>(reader.U16());
    DORMOUSE_ASSIGN(std::string record, decompressor.Block(reader, kMaxRecordBytes));
    content_.records.try_emplace(tag, std::move(record));
  }

  const std::uint32_t page_count = reader.U32();
  for (std::uint32_t done = 0; reader.ok() && done < page_count;) {
    const std::size_t frame = std::min<std::size_t>(kPagesPerFrame, page_count - done);
    DORMOUSE_ASSIGN(const std::string raw, decompressor.Block(reader, kFrameBytes));
    if (raw.size() != frame * (sizeof(PageIndex) + kPageBytes)) return Corrupt("a frame has a bad size");
    const auto* page = reinterpret_cast<const std::byte*>(raw.data()) + frame * sizeof(PageIndex);
    for (std::size_t i = 0; i < frame; ++i, page += kPageBytes) {
      PageIndex index;
      std::memcpy(&index, raw.data() + i * sizeof index, sizeof index);
      const bool plain = (index & kPlainPage) != 0;
      index &= ~kPlainPage;
      if (index >= restored_.size()) return Corrupt("a page lies outside the memory");
      if (restored_[index]) continue;
      restored_[index] = true;
      std::byte* target = memory_ + std::uint64_t{index} * kPageBytes;
      if (plain) {
        std::memcpy(target, page, kPageBytes);
      } else {
        XorPage(target, target, page);
      }
    }
    done += static_cast<std::uint32_t>(frame);
  }
  if (!reader.AtEnd()) return Corrupt("it is cut short or has trailing bytes");
  content_.base = (flags & kFlagBase) != 0;
  complete_ = content_.base;
  return {};
}

std::vector<PageIndex> SegmentReader::StoredPages() const {
  std::vector<PageIndex> pages;
  for (std::size_t index = 0; index < restored_.size(); ++index) {
    if (restored_[index]) pages.push_back(static_cast<PageIndex>(index));
  }
  return pages;
}

}  // namespace dormouse::snapshot
