// SPDX-License-Identifier: Apache-2.0
#include "wasi/file_content.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <utility>

namespace dormouse::wasi {
namespace {

constexpr std::uint64_t kChunk = FileContent::kChunkBytes;
// Charges are rounded up to this, so that a chunk of one byte pays for its bookkeeping too.
constexpr std::uint32_t kChargeBytes = 128;

}  // namespace

FileContent::~FileContent() { Clear(); }

std::optional<Sha256Digest> FileContent::base_digest() const {
  if (!base_named_ || base_limit_ == 0) return std::nullopt;
  return base_digest_;
}

std::uint32_t FileContent::BaseBytesIn(std::uint64_t index) const {
  const std::uint64_t start = index * kChunk;
  if (start >= base_limit_) return 0;
  return static_cast<std::uint32_t>(std::min(base_limit_ - start, kChunk));
}

std::uint64_t FileContent::ChargeOf(std::uint64_t index, const Chunk& chunk) const {
  const std::uint32_t base = BaseBytesIn(index);
  if (chunk.size <= base) return 0;
  return (chunk.size - base + kChargeBytes - 1) / kChargeBytes * kChargeBytes;
}

void FileContent::Clear() {
  for (const auto& [index, chunk] : chunks_) quota_->Subtract(ChargeOf(index, chunk));
  quota_->Subtract(base_limit_);
  chunks_.clear();
  cached_ = nullptr;
  base_ = SharedBytes();
  base_named_ = false;
  base_loaded_ = false;
  base_limit_ = 0;
  base_size_ = 0;
  SetSize(0);
  digest_.reset();
}

void FileContent::SetSize(std::uint64_t size) {
  if (sizes_ != nullptr) {
    sizes_->Subtract(size_ * names_);
    sizes_->Add(size * names_);
  }
  size_ = size;
}

void FileContent::SetNames(std::uint64_t names) {
  if (sizes_ != nullptr) {
    sizes_->Subtract(size_ * names_);
    sizes_->Add(size_ * names);
  }
  names_ = names;
}

std::uint64_t FileContent::max_size() const {
  if (sizes_ == nullptr || names_ == 0) return std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t more = sizes_->remaining() / names_;
  return size_ + std::min(more, std::numeric_limits<std::uint64_t>::max() - size_);
}

FileContent::Chunk* FileContent::Find(std::uint64_t index) {
  if (cached_ != nullptr && cached_index_ == index) return cached_;
  const auto found = chunks_.find(index);
  if (found == chunks_.end()) return nullptr;
  cached_index_ = index;
  cached_ = &found->second;
  return cached_;
}

Errno FileContent::EnsureLoaded(ContentSource* source) {
  if (base_loaded_ || base_limit_ == 0) return Errno::kSuccess;
  if (source == nullptr) return Errno::kIo;
  Result<SharedBytes> bytes = source->Load(base_digest_, base_size_);
  if (!bytes.ok() || bytes->size() != base_size_) return Errno::kIo;
  base_ = std::move(bytes).value();
  base_loaded_ = true;
  return Errno::kSuccess;
}

Errno FileContent::Read(ContentSource* source, std::uint64_t offset, std::span<std::byte> out,
                        std::uint64_t& got) {
  got = 0;
  if (offset >= size_) return Errno::kSuccess;
  const std::uint64_t wanted = std::min<std::uint64_t>(out.size(), size_ - offset);
  while (got < wanted) {
    const std::uint64_t at = offset + got;
    const std::uint64_t index = at / kChunk;
    const auto within = static_cast<std::uint32_t>(at % kChunk);
    const std::uint64_t length = std::min(wanted - got, kChunk - within);
    const Chunk* const chunk = chunks_.empty() ? nullptr : Find(index);
    const std::byte* from = nullptr;
    std::uint64_t there = 0;  // bytes from `within` on; zeros follow
    if (chunk != nullptr) {
      from = chunk->bytes.get();
      there = chunk->size;
    } else if (at < base_limit_) {
      const Errno loaded = EnsureLoaded(source);
      if (loaded != Errno::kSuccess) return got > 0 ? Errno::kSuccess : loaded;
      from = base_.bytes().data() + index * kChunk;
      there = BaseBytesIn(index);
    }
    const std::uint64_t copied = there > within ? std::min(length, there - within) : 0;
    if (copied > 0) std::memcpy(out.data() + got, from + within, copied);
    if (copied < length) std::memset(out.data() + got + copied, 0, length - copied);
    got += length;
  }
  return Errno::kSuccess;
}

bool FileContent::Reserve(Chunk& chunk, std::uint32_t capacity) {
  if (capacity <= chunk.capacity) return true;
  const std::uint32_t rounded = std::max(std::bit_ceil(capacity), kChargeBytes);
  void* const grown = std::realloc(chunk.bytes.get(), rounded);
  if (grown == nullptr) return false;
  (void)chunk.bytes.release();
  chunk.bytes.reset(static_cast<std::byte*>(grown));
  chunk.capacity = rounded;
  return true;
}

Errno FileContent::WriteChunk(ContentSource* source, std::uint64_t index, std::uint32_t start,
                              std::span<const std::byte> in, std::uint32_t& put) {
  put = 0;
  const std::uint32_t base = BaseBytesIn(index);
  Chunk* chunk = Find(index);
  const std::uint32_t held = std::max(chunk != nullptr ? chunk->size : 0, base);
  const std::uint64_t charged = chunk != nullptr ? ChargeOf(index, *chunk) : 0;
  auto length = static_cast<std::uint32_t>(in.size());
  if (start + length > held) {
    const std::uint64_t affordable =
        base + (charged + quota_->remaining()) / kChargeBytes * kChargeBytes;
    const std::uint64_t room = std::max<std::uint64_t>(held, affordable);
    if (room <= start) return Errno::kNoSpace;
    length = static_cast<std::uint32_t>(std::min<std::uint64_t>(length, room - start));
  }
  const std::uint32_t end = start + length;
  if (chunk == nullptr) {
    const bool keeps_base = base > 0 && !(start == 0 && end >= base);
    if (keeps_base) {
      const Errno loaded = EnsureLoaded(source);
      if (loaded != Errno::kSuccess) return loaded;
    }
    Chunk fresh;
    if (!Reserve(fresh, std::max(end, base))) return Errno::kNoMemory;
    if (keeps_base) std::memcpy(fresh.bytes.get(), base_.bytes().data() + index * kChunk, base);
    fresh.size = base;
    chunk = &chunks_.insert_or_assign(index, std::move(fresh)).first->second;
    cached_index_ = index;
    cached_ = chunk;
  }
  if (end > chunk->size) {
    if (!Reserve(*chunk, end)) return Errno::kNoMemory;
    if (start > chunk->size) {
      std::memset(chunk->bytes.get() + chunk->size, 0, start - chunk->size);
    }
    chunk->size = end;
    quota_->Add(ChargeOf(index, *chunk) - charged);
  }
  std::memcpy(chunk->bytes.get() + start, in.data(), length);
  put = length;
  return Errno::kSuccess;
}

Errno FileContent::Write(ContentSource* source, std::uint64_t offset, std::span<const std::byte> in,
                         std::uint64_t& put) {
  put = 0;
  const std::uint64_t most = max_size();
  if (offset >= most && !in.empty()) return Errno::kNoSpace;
  in = in.first(std::min<std::uint64_t>(in.size(), most - std::min(most, offset)));
  while (put < in.size()) {
    const std::uint64_t at = offset + put;
    const auto start = static_cast<std::uint32_t>(at % kChunk);
    const std::uint64_t wanted = std::min<std::uint64_t>(in.size() - put, kChunk - start);
    std::uint32_t length = 0;
    const Errno error = WriteChunk(source, at / kChunk, start, in.subspan(put, wanted), length);
    if (error != Errno::kSuccess) {
      if (put == 0) return error;
      break;
    }
    put += length;
    if (at + length > size_) SetSize(at + length);
    digest_.reset();
  }
  return Errno::kSuccess;
}

void FileContent::Resize(std::uint64_t size) {
  if (size == size_) return;
  digest_.reset();
  if (size < size_) {
    cached_ = nullptr;
    auto chunk = chunks_.lower_bound(size / kChunk);
    while (chunk != chunks_.end()) {
      quota_->Subtract(ChargeOf(chunk->first, chunk->second));
      const std::uint64_t start = chunk->first * kChunk;
      if (start >= size) {
        chunk = chunks_.erase(chunk);
        continue;
      }
      chunk->second.size =
          static_cast<std::uint32_t>(std::min<std::uint64_t>(chunk->second.size, size - start));
      ++chunk;
    }
    if (size < base_limit_) {
      quota_->Subtract(base_limit_ - size);
      base_limit_ = size;
      if (size == 0) base_ = SharedBytes();
    }
    // The chunk that was cut is charged anew, against the base that still shows.
    const auto cut = chunks_.find(size / kChunk);
    if (cut != chunks_.end()) quota_->Add(ChargeOf(cut->first, cut->second));
  }
  SetSize(size);
}

void FileContent::SetStored(const Sha256Digest& digest, std::uint64_t size) {
  Clear();
  base_digest_ = digest;
  base_named_ = true;
  base_size_ = size;
  base_limit_ = size;
  SetSize(size);
  digest_ = digest;
  quota_->Add(base_limit_);
}

void FileContent::SetBytes(SharedBytes bytes) {
  Clear();
  base_ = std::move(bytes);
  base_loaded_ = true;
  base_size_ = base_.size();
  base_limit_ = base_size_;
  SetSize(base_size_);
  quota_->Add(base_limit_);
}

void FileContent::MarkStored(const Sha256Digest& digest, Memory memory) {
  if (memory == Memory::kDrop) {
    SetStored(digest, size_);
  } else {
    digest_ = digest;
  }
}

std::vector<FileContent::Extent> FileContent::Extents() const {
  std::vector<Extent> extents;
  const auto add = [&](Extent::Kind kind, std::uint64_t from, std::uint64_t to,
                       const std::byte* data) {
    if (from >= to) return;
    if (kind != Extent::Kind::kBytes && !extents.empty() && extents.back().kind == kind) {
      extents.back().length += to - from;
    } else {
      extents.push_back({kind, from, to - from, data});
    }
  };
  const auto add_unwritten = [&](std::uint64_t from, std::uint64_t to) {
    const std::uint64_t base_end = std::min(to, base_limit_);
    if (base_loaded_ && from < base_end) {
      add(Extent::Kind::kBytes, from, base_end, base_.bytes().data() + from);
    } else {
      add(Extent::Kind::kBase, from, base_end, nullptr);
    }
    add(Extent::Kind::kHole, std::max(from, base_limit_), to, nullptr);
  };
  std::uint64_t at = 0;
  for (const auto& [index, chunk] : chunks_) {
    const std::uint64_t start = index * kChunk;
    const std::uint64_t end = std::min(start + kChunk, size_);
    add_unwritten(at, start);
    add(Extent::Kind::kBytes, start, std::min(start + chunk.size, size_), chunk.bytes.get());
    add(Extent::Kind::kHole, start + chunk.size, end, nullptr);
    at = end;
  }
  add_unwritten(at, size_);
  return extents;
}

}  // namespace dormouse::wasi
