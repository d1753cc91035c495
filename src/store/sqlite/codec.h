// SPDX-License-Identifier: Apache-2.0
// How values of rows look inside columns.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/result.h"
#include "store/rows.h"
#include "store/sqlite/database.h"

namespace dormouse::store::sqlite {

// The scopes of a key that may do everything.
inline constexpr std::string_view kAllScopes = "*";

// A JSON object of strings.
std::string EncodeMap(const StringMap& map);
Result<StringMap> DecodeMap(std::string_view json);

// A JSON array of strings.
std::string EncodeList(const std::vector<std::string>& items);

// Names without spaces, separated by one space each.
std::string EncodeNames(const std::vector<std::string>& names);
std::vector<std::string> DecodeNames(std::string_view text);

// A JSON object of strings, in order; a name that occurs twice keeps its last value.
using HeaderList = std::vector<std::pair<std::string, std::string>>;
std::string EncodeHeaders(const HeaderList& headers);
Result<HeaderList> DecodeHeaders(std::string_view json);

// A JSON array of arrays of `width` strings each.
std::string EncodeTable(const std::vector<std::vector<std::string>>& table);
Result<std::vector<std::vector<std::string>>> DecodeTable(std::string_view json, std::size_t width);

// Per segment: id (u64), size (u64), little-endian.
std::string EncodeSegments(const std::vector<SegmentRef>& segments);
Result<std::vector<SegmentRef>> DecodeSegments(std::string_view bytes);

// kCorrupt when the column holds no digest.
Result<Sha256Digest> DigestAt(const Query& query, int column);

}  // namespace dormouse::store::sqlite
