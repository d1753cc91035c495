// SPDX-License-Identifier: Apache-2.0
// How values of rows look inside columns.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "store/rows.h"

namespace dormouse::store::sqlite {

// A JSON object of strings.
std::string EncodeMap(const StringMap& map);
Result<StringMap> DecodeMap(std::string_view json);

// Per segment: id (u64), size (u64), little-endian.
std::string EncodeSegments(const std::vector<SegmentRef>& segments);
Result<std::vector<SegmentRef>> DecodeSegments(std::string_view bytes);

}  // namespace dormouse::store::sqlite
