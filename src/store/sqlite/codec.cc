// SPDX-License-Identifier: Apache-2.0
#include "store/sqlite/codec.h"

#include <algorithm>
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

std::string EncodeList(const std::vector<std::string>& items) {
  boost::json::array array;
  for (const std::string& item : items) array.emplace_back(item);
  return boost::json::serialize(array);
}

std::string EncodeNames(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    if (!text.empty()) text.push_back(' ');
    text.append(name);
  }
  return text;
}

std::vector<std::string> DecodeNames(std::string_view text) {
  std::vector<std::string> names;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (end > 0) names.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return names;
}

std::string EncodeHeaders(const HeaderList& headers) {
  boost::json::object object;
  for (const auto& [name, value] : headers) object[name] = value;
  return boost::json::serialize(object);
}

Result<HeaderList> DecodeHeaders(std::string_view json) {
  boost::system::error_code error;
  const boost::json::value value = boost::json::parse({json.data(), json.size()}, error);
  if (error || !value.is_object()) return Error(ErrorCode::kCorrupt, "stored headers do not decode");
  HeaderList headers;
  for (const auto& item : value.get_object()) {
    if (!item.value().is_string()) return Error(ErrorCode::kCorrupt, "stored headers do not decode");
    const auto& text = item.value().get_string();
    headers.emplace_back(std::string(item.key()), std::string(text.data(), text.size()));
  }
  return headers;
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

Result<Sha256Digest> DigestAt(const Query& query, int column) {
  const auto digest = Sha256Digest::FromBytes(query.TextAt(column));
  if (!digest) return Error(ErrorCode::kCorrupt, "a stored digest does not decode");
  return *digest;
}

}  // namespace dormouse::store::sqlite
