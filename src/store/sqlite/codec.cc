// SPDX-License-Identifier: Apache-2.0
#include "store/sqlite/codec.h"

#include <boost/json.hpp>

#include "common/byte_io.h"

namespace dormouse::store::sqlite {

std::string EncodeMap(const StringMap& map) {
  boost::json::object object;
  for (const auto& [key, value] : map) object[key] = value;
  return boost::json::serialize(object);
}

Result<StringMap> DecodeMap(std::string_view json) {
  boost::system::error_code error;
  const boost::json::value value = boost::json::parse({json.data(), json.size()}, error);
  if (error || !value.is_object()) return Error(ErrorCode::kCorrupt, "a stored map does not decode");
  StringMap map;
  for (const auto& item : value.get_object()) {
    if (!item.value().is_string()) return Error(ErrorCode::kCorrupt, "a stored map does not decode");
    const auto& text = item.value().get_string();
    map.emplace(std::string(item.key()), std::string(text.data(), text.size()));
  }
  return map;
}

std::string EncodeTable(const std::vector<std::vector<std::string>>& table) {
  boost::json::array rows;
  for (const auto& row : table) rows.emplace_back(boost::json::array(row.begin(), row.end()));
  return boost::json::serialize(rows);
}

Result<std::vector<std::vector<std::string>>> DecodeTable(std::string_view json, std::size_t width) {
  const Error corrupt(ErrorCode::kCorrupt, "a stored list does not decode");
  boost::system::error_code error;
  const boost::json::value value = boost::json::parse({json.data(), json.size()}, error);
  if (error || !value.is_array()) return corrupt;
  std::vector<std::vector<std::string>> table;
  for (const auto& item : value.get_array()) {
    if (!item.is_array() || item.get_array().size() != width) return corrupt;
    std::vector<std::string>& row = table.emplace_back();
    for (const auto& cell : item.get_array()) {
      if (!cell.is_string()) return corrupt;
      row.emplace_back(cell.get_string().data(), cell.get_string().size());
    }
  }
  return table;
}

std::string EncodeSegments(const std::vector<SegmentRef>& segments) {
  ByteWriter writer;
  for (const SegmentRef& segment : segments) {
    writer.I64(segment.id);
    writer.U64(segment.size_bytes);
  }
  return std::move(writer).bytes();
}

Result<std::vector<SegmentRef>> DecodeSegments(std::string_view bytes) {
  ByteReader reader(bytes);
  std::vector<SegmentRef> segments;
  while (reader.ok() && !reader.AtEnd()) {
    SegmentRef segment;
    segment.id = reader.I64();
    segment.size_bytes = reader.U64();
    segments.push_back(segment);
  }
  if (!reader.ok()) return Error(ErrorCode::kCorrupt, "a stored segment list does not decode");
  return segments;
}

}  // namespace dormouse::store::sqlite
