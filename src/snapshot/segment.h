// SPDX-License-Identifier: Apache-2.0
// Segment: the bytes in which a run's end state is stored. docs/formats/segment.md describes the layout.
//
// A segment holds the engine's globals, the size of its memory, tagged records of host state, and pages XORed with the
// boot image and compressed, so that a page in which a few reference counts moved costs a few bytes. Segments of a
// context form a list; for every page and every record the newest segment that has it counts. A base segment needs no
// older one.
//
// Readers treat segments as hostile: nothing is allocated for a length that was not checked, and any damage is
// reported as kCorrupt with the memory's content then undefined.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "snapshot/boot_image.h"
#include "snapshot/page.h"

namespace dormouse::snapshot {

enum class RecordTag : std::uint16_t {
  kDescriptors = 1,   // wasi: descriptor table, clocks
  kPrivateFiles = 2,  // wasi: /tmp and unlinked open files
  kContext = 3,       // worker: what it must remember of the context
};

inline constexpr std::uint64_t kMaxRecordBytes = 1ull << 30;

struct SegmentContent {
  bool base = false;
  std::uint32_t memory_pages = 0;  // of 64 KiB
  std::vector<std::uint64_t> globals;
  std::map<RecordTag, std::string> records;
};

struct WrittenSegment {
  std::uint64_t size_bytes = 0;
  std::uint64_t checksum = 0;  // XXH3-64 over all bytes
};

// Receives the segment's bytes in order.
using SegmentSink = std::function<Result<void>(std::string_view bytes)>;

// Writes a segment with the given pages (ascending) of the memory at `memory`.
Result<WrittenSegment> WriteSegment(const SegmentContent& content, std::span<const PageIndex> pages,
                                    const std::byte* memory, const BootImage& boot,
                                    const SegmentSink& sink);

// Applies segments to a memory that holds the boot image. Add them newest first.
class SegmentReader {
 public:
  // `memory` must be at least as large as the first (newest) segment says; `grow` makes it so and is called once.
  SegmentReader(std::byte* memory, std::function<Result<void>(std::uint32_t memory_pages)> grow)
      : memory_(memory), grow_(std::move(grow)) {}

  // Verifies the checksum and restores all pages and records that no newer segment had.
  Result<void> Add(std::string_view bytes, std::uint64_t checksum);

  // Of the newest segment, with the newest record of each tag. Valid after the first Add.
  const SegmentContent& content() const { return content_; }
  // Every page that some segment holds, ascending.
  std::vector<PageIndex> StoredPages() const;

 private:
  std::byte* memory_;
  std::function<Result<void>(std::uint32_t)> grow_;
  SegmentContent content_;
  std::vector<bool> restored_;
  bool first_ = true;
  bool complete_ = false;  // a base segment was added
};

}  // namespace dormouse::snapshot
