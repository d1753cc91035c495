// SPDX-License-Identifier: Apache-2.0
// The frame of host state records: tagged parts. Part of HostState's implementation.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/byte_io.h"
#include "common/result.h"

namespace dormouse::wasi {

// Never renumbered. Readers skip unknown tags with this bit and refuse others.
inline constexpr std::uint16_t kSkippableTag = 0x8000;
enum class StateTag : std::uint16_t {
  kClock = 1,
  kOpenFile = 2,
  kListing = 3,
  kTmpRoot = 16,
  kNode = 17,
  kEntry = 18,
  kEnd = 0x7fff,  // the last part, so that a record cut between two parts is seen
};

inline constexpr std::uint32_t kDescriptorsMagic = 0x53444d44;  // "DMDS"
inline constexpr std::uint32_t kPrivateMagic = 0x53504d44;      // "DMPS"
inline constexpr std::uint16_t kStateVersion = 1;

inline std::string StateHeader(std::uint32_t magic) {
  ByteWriter writer;
  writer.U32(magic);
  writer.U16(kStateVersion);
  return std::move(writer).bytes();
}

// Tag and length of a part; `following` bytes come after what `part` holds already.
inline std::string StatePart(StateTag tag, const ByteWriter& part, std::uint64_t following = 0) {
  ByteWriter writer;
  writer.U16(static_cast<std::uint16_t>(tag));
  writer.U64(part.size() + following);
  writer.Raw(part.bytes());
  return std::move(writer).bytes();
}

inline std::string StateEnd() { return StatePart(StateTag::kEnd, ByteWriter()); }

inline Error CorruptState(std::string_view what) {
  return Error(ErrorCode::kCorrupt, "host state: " + std::string(what));
}

// Walks the parts of a record.
class StateReader {
 public:
  struct Part {
    std::uint16_t tag;
    std::string_view bytes;
  };

  explicit StateReader(std::string_view record) : reader_(record) {}

  Result<void> Header(std::uint32_t magic) {
    if (reader_.U32() != magic || !reader_.ok()) return CorruptState("not such a record");
    if (reader_.U16() != kStateVersion || !reader_.ok()) return CorruptState("unknown version");
    return {};
  }
  // Nothing after the last part.
  Result<std::optional<Part>> Next() {
    const std::uint16_t tag = reader_.U16();
    const std::uint64_t length = reader_.U64();
    if (!reader_.CanHold(length, 1)) return CorruptState("cut short");
    const std::string_view bytes = reader_.Raw(length);
    if (tag != static_cast<std::uint16_t>(StateTag::kEnd)) return std::optional<Part>({tag, bytes});
    if (!reader_.AtEnd()) return CorruptState("goes on after its end");
    return std::optional<Part>();
  }

 private:
  ByteReader reader_;
};

}  // namespace dormouse::wasi
