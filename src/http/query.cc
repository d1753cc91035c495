// SPDX-License-Identifier: Apache-2.0
#include "http/query.h"

#include <algorithm>
#include <charconv>

#include "http/text.h"

namespace dormouse::http {
namespace {

constexpr std::size_t kMaxParameters = 100;
constexpr std::uint32_t kMaxPageItems = 500;

Error Invalid(std::string_view field, std::string message) {
  return Error(ErrorCode::kInvalidRequest, std::move(message), {{"field", std::string(field)}});
}

}  // namespace

Result<Query> Query::Parse(std::string_view text) {
  Query query;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('&'), text.size());
    const std::string_view item = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (item.empty()) continue;
    if (query.parameters_.size() == kMaxParameters) {
      return Error(ErrorCode::kInvalidRequest, "more than 100 query parameters");
    }
    const std::size_t equals = std::min(item.find('='), item.size());
    auto name = PercentDecode(item.substr(0, equals), PlusSign::kSpace);
    auto value = PercentDecode(item.substr(std::min(equals + 1, item.size())), PlusSign::kSpace);
    if (!name || !value) {
      return Error(ErrorCode::kInvalidRequest, "the query is not percent-encoded UTF-8");
    }
    query.parameters_.emplace_back(*std::move(name), *std::move(value));
  }
  return query;
}

Result<std::optional<std::string>> Query::Get(std::string_view name) const {
  std::optional<std::string> found;
  for (const auto& [key, value] : parameters_) {
    if (key != name) continue;
    if (found) return Invalid(name, "query parameter " + std::string(name) + " was sent twice");
    found = value;
  }
  return found;
}

Result<std::string> Query::Require(std::string_view name) const {
  DORMOUSE_ASSIGN(std::optional<std::string> value, Get(name));
  if (!value) return Invalid(name, "query parameter " + std::string(name) + " is required");
  return *std::move(value);
}

Result<service::Page> Query::GetPage() const {
  service::Page page;
  DORMOUSE_ASSIGN(const std::optional<std::string> limit, Get("limit"));
  if (limit) {
    const char* const end = limit->data() + limit->size();
    const auto [rest, failure] = std::from_chars(limit->data(), end, page.limit);
    if (failure != std::errc() || rest != end || page.limit < 1 || page.limit > kMaxPageItems) {
      return Invalid("limit", "limit must be an integer from 1 to 500");
    }
  }
  DORMOUSE_ASSIGN(const std::optional<std::string> cursor, Get("cursor"));
  page.cursor = cursor.value_or("");
  return page;
}

Result<bool> Query::IncludesHistorical() const {
  DORMOUSE_ASSIGN(const std::optional<std::string> include, Get("include"));
  if (include && *include != "historical") return Invalid("include", "include must be historical");
  return include.has_value();
}

Result<service::StringMap> Query::WithPrefix(std::string_view prefix) const {
  service::StringMap map;
  for (const auto& [key, value] : parameters_) {
    if (!key.starts_with(prefix)) continue;
    const auto [place, is_new] = map.emplace(key.substr(prefix.size()), value);
    // Two different values for one key can match nothing; the same value twice says nothing new.
    if (!is_new && place->second != value) {
      return Invalid(key, "query parameter " + key + " was sent with two values");
    }
  }
  return map;
}

Result<void> Query::RefuseOthers(std::initializer_list<std::string_view> names,
                                 std::string_view prefix) const {
  for (const auto& [key, value] : parameters_) {
    if (!prefix.empty() && key.starts_with(prefix)) continue;
    if (std::find(names.begin(), names.end(), key) == names.end()) {
      return Invalid(key, "unknown query parameter " + key);
    }
  }
  return {};
}

}  // namespace dormouse::http
