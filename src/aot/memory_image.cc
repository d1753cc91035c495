// SPDX-License-Identifier: Apache-2.0
#include "aot/memory_image.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "aot/c_text.h"
#include "aot/constant_expression.h"

namespace dormouse::aot {
namespace {

constexpr std::uint64_t kPageBytes = 65536;

}  // namespace

Result<std::string> BuildMemoryImage(const wabt::Module& module) {
  const std::uint64_t memory_bytes =
      module.memories.empty() ? 0 : module.memories[0]->page_limits.initial * kPageBytes;
  std::string image;
  for (const wabt::DataSegment* segment : module.data_segments) {
    if (segment->kind != wabt::SegmentKind::Active) continue;
    DORMOUSE_ASSIGN(const ConstantValue offset, EvaluateConstant(module, segment->offset));
    const std::uint64_t end = offset.bits + segment->data.size();
    if (end > memory_bytes) {
      return Error(ErrorCode::kInvalidRequest,
                   Text("data segment ", segment->name, " ends at byte ", end,
                        ", the initial memory has ", memory_bytes));
    }
    if (end > image.size()) image.resize(end);
    if (!segment->data.empty()) {
      std::memcpy(image.data() + offset.bits, segment->data.data(), segment->data.size());
    }
  }
  const std::size_t last = image.find_last_not_of('\0');
  const std::uint64_t used = last == std::string::npos ? 0 : last + 1;
  image.resize((used + kPageBytes - 1) / kPageBytes * kPageBytes);
  return image;
}

}  // namespace dormouse::aot
