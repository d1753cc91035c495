// SPDX-License-Identifier: Apache-2.0
#include "http/body_reader.h"

#include <algorithm>
#include <boost/json/parser.hpp>
#include <cmath>

#include "common/utf8.h"
#include "http/text.h"

namespace dormouse::http {
namespace {

namespace json = boost::json;

constexpr std::size_t kMaxDepth = 16;
constexpr std::size_t kMaxMapEntries = 1'000;

Error BadBody(std::string message) { return Error(ErrorCode::kInvalidRequest, std::move(message)); }

bool IsJsonContentType(std::string_view value) {
  const std::size_t semicolon = std::min(value.find(';'), value.size());
  const std::string_view type = TrimSpaces(value.substr(0, semicolon));
  constexpr std::string_view kPrefix = "application/";
  if (!EqualsIgnoringCase(type, "application/json")) {
    const bool suffixed = type.size() > kPrefix.size() + 5 &&
                          EqualsIgnoringCase(type.substr(0, kPrefix.size()), kPrefix) &&
                          EqualsIgnoringCase(type.substr(type.size() - 5), "+json");
    if (!suffixed) return false;
  }
  if (semicolon == value.size()) return true;
  const std::string_view parameter = TrimSpaces(value.substr(semicolon + 1));
  return parameter.empty() || EqualsIgnoringCase(parameter, "charset=utf-8") ||
         EqualsIgnoringCase(parameter, "charset=\"utf-8\"");
}

std::string_view NameOfKind(json::kind kind) {
  switch (kind) {
    case json::kind::null:
      return "null";
    case json::kind::bool_:
      return "a boolean";
    case json::kind::string:
      return "a string";
    case json::kind::array:
      return "an array";
    case json::kind::object:
      return "an object";
    default:
      return "a number";
  }
}

// JSON has one kind of number: 1000.0 is the integer 1000.
std::optional<std::int64_t> AsInteger(const json::value& value) {
  if (const auto* integer = value.if_int64()) return *integer;
  const auto* real = value.if_double();
  constexpr double kExact = 9'007'199'254'740'992;  // 2^53
  if (real == nullptr || std::trunc(*real) != *real || std::fabs(*real) > kExact)
    return std::nullopt;
  return static_cast<std::int64_t>(*real);
}

}  // namespace

Result<BodyReader> BodyReader::Parse(const Request& request) {
  if (request.body.empty()) return BodyReader(json::object());
  const auto content_type = request.Header("content-type");
  if (content_type && !IsJsonContentType(*content_type)) {
    return Error(ErrorCode::kUnsupportedMediaType, "the content type must be application/json",
                 {{"contentType", std::string(content_type->substr(0, 100))}});
  }
  json::parse_options options;
  options.max_depth = kMaxDepth;
  json::parser parser({}, options);
  json::error_code failure;
  const std::size_t parsed = parser.write(request.body, failure);
  if (failure) {
    return BadBody(IsValidUtf8(request.body) ? "the body is not valid JSON: " + failure.message() +
                                                   " at byte " + std::to_string(parsed)
                                             : "the body is not valid UTF-8");
  }
  json::value value = parser.release();
  if (!value.is_object()) {
    return BadBody("the body must be a JSON object, not " + std::string(NameOfKind(value.kind())));
  }
  return BodyReader(std::move(value.get_object()));
}

const json::value* BodyReader::Take(std::string_view field) {
  taken_.push_back(field);
  return fault_ ? nullptr : object_.if_contains(field);
}

void BodyReader::Fail(std::string_view field, std::string message) {
  if (fault_) return;
  fault_ = Error(ErrorCode::kInvalidRequest, std::move(message), {{"field", std::string(field)}});
}

void BodyReader::FailMissing(std::string_view field) {
  Fail(field, std::string(field) + " is required");
}

std::optional<std::string> BodyReader::String(std::string_view field) {
  const json::value* const value = Take(field);
  if (value == nullptr) return std::nullopt;
  if (const json::string* const text = value->if_string()) return std::string(*text);
  Fail(field,
       std::string(field) + " must be a string, not " + std::string(NameOfKind(value->kind())));
  return std::nullopt;
}

std::optional<json::array> BodyReader::Array(std::string_view field) {
  const json::value* const value = Take(field);
  if (value == nullptr) return std::nullopt;
  if (const json::array* const array = value->if_array()) return *array;
  Fail(field,
       std::string(field) + " must be an array, not " + std::string(NameOfKind(value->kind())));
  return std::nullopt;
}

std::optional<json::object> BodyReader::Object(std::string_view field) {
  const json::value* const value = Take(field);
  if (value == nullptr) return std::nullopt;
  if (const json::object* const object = value->if_object()) return *object;
  Fail(field,
       std::string(field) + " must be an object, not " + std::string(NameOfKind(value->kind())));
  return std::nullopt;
}

std::string BodyReader::RequiredString(std::string_view field) {
  if (!Has(field)) FailMissing(field);
  return String(field).value_or("");
}

std::string BodyReader::Name(std::string_view field) {
  const std::optional<std::string> text = String(field);
  if (text && text->empty()) Fail(field, std::string(field) + " must not be empty");
  return text.value_or("");
}

std::optional<bool> BodyReader::Boolean(std::string_view field) {
  const json::value* const value = Take(field);
  if (value == nullptr) return std::nullopt;
  if (const bool* const truth = value->if_bool()) return *truth;
  Fail(field, std::string(field) + " must be true or false, not " +
                  std::string(NameOfKind(value->kind())));
  return std::nullopt;
}

std::optional<std::int64_t> BodyReader::Integer(std::string_view field, std::int64_t low,
                                                std::int64_t high) {
  const json::value* const value = Take(field);
  if (value == nullptr) return std::nullopt;
  const std::optional<std::int64_t> integer = AsInteger(*value);
  if (integer && *integer >= low && *integer <= high) return integer;
  Fail(field, std::string(field) + " must be an integer from " + std::to_string(low) + " to " +
                  std::to_string(high));
  return std::nullopt;
}

std::int64_t BodyReader::RequiredInteger(std::string_view field, std::int64_t low,
                                         std::int64_t high) {
  if (!Has(field)) FailMissing(field);
  return Integer(field, low, high).value_or(0);
}

service::StringMap BodyReader::Strings(std::string_view field) {
  service::StringMap map;
  const json::value* const value = Take(field);
  if (value == nullptr) return map;
  const json::object* const object = value->if_object();
  if (object == nullptr || object->size() > kMaxMapEntries) {
    Fail(field, std::string(field) + " must be an object with at most 1000 strings");
    return map;
  }
  for (const auto& [key, item] : *object) {
    const json::string* const text = item.if_string();
    if (text == nullptr) {
      const std::string path = std::string(field) + "." + std::string(std::string_view(key));
      Fail(path, path + " must be a string, not " + std::string(NameOfKind(item.kind())));
      return {};
    }
    map.emplace(std::string_view(key), std::string_view(*text));
  }
  return map;
}

std::vector<std::string> BodyReader::StringList(std::string_view field, std::size_t limit) {
  std::vector<std::string> list;
  const json::value* const value = Take(field);
  if (value == nullptr) return list;
  const json::array* const array = value->if_array();
  if (array == nullptr || array->size() > limit) {
    Fail(field, std::string(field) + " must be an array with at most " + std::to_string(limit) +
                    " strings");
    return list;
  }
  for (const json::value& item : *array) {
    const json::string* const text = item.if_string();
    if (text == nullptr || text->empty()) {
      Fail(field, std::string(field) + " must hold strings that are not empty");
      return {};
    }
    list.emplace_back(std::string_view(*text));
  }
  return list;
}

std::optional<std::size_t> BodyReader::Choice(std::string_view field,
                                              std::vector<std::string_view> choices) {
  const std::optional<std::string> text = String(field);
  if (!text) return std::nullopt;
  const auto found = std::find(choices.begin(), choices.end(), *text);
  if (found != choices.end()) return static_cast<std::size_t>(found - choices.begin());
  std::string message = std::string(field) + " must be one of";
  for (const std::string_view choice : choices) message += " " + std::string(choice);
  Fail(field, std::move(message));
  return std::nullopt;
}

Result<void> BodyReader::Finish() {
  if (fault_) return *fault_;
  for (const auto& member : object_) {
    const std::string_view key = member.key();
    if (std::find(taken_.begin(), taken_.end(), key) != taken_.end()) continue;
    const std::string name(key.substr(0, 100));
    return Error(ErrorCode::kInvalidRequest, "unknown field " + name, {{"field", name}});
  }
  return {};
}

}  // namespace dormouse::http
