// SPDX-License-Identifier: Apache-2.0
#include "service/compaction.h"

#include <cstdint>

namespace dormouse::service {
namespace {

constexpr std::size_t kMaxSegments = 16;
// Less is not worth the work.
constexpr std::uint64_t kMinTopBytes = 256u << 10;

}  // namespace

bool WantsCompaction(const std::vector<store::SegmentRef>& segments) {
  if (segments.size() < 2) return false;
  if (segments.size() >= kMaxSegments) return true;
  std::uint64_t top_bytes = 0;
  for (std::size_t i = 1; i < segments.size(); ++i) top_bytes += segments[i].size_bytes;
  return top_bytes > kMinTopBytes && top_bytes > segments.front().size_bytes;
}

}  // namespace dormouse::service
