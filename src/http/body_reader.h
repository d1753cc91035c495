// SPDX-License-Identifier: Apache-2.0
// BodyReader: the members of a JSON object, each taken once with its type, and nothing left over.
//
// The first fault sticks: later calls return empty values, and Finish() reports it. Every error
// names the field. `null` is never the same as absent; it is refused like any other wrong type.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "http/message.h"
#include "service/types.h"

namespace dormouse::http {

// As the upper bound of an integer: none but its type's.
inline constexpr std::int64_t kMaxInteger = std::numeric_limits<std::int64_t>::max();

class BodyReader {
 public:
  // Checks the content type and parses the body; an empty body counts as `{}`.
  static Result<BodyReader> Parse(const Request& request);

  bool Has(std::string_view field) const { return object_.contains(field); }
  std::optional<std::string> String(std::string_view field);
  std::string RequiredString(std::string_view field);
  std::optional<bool> Boolean(std::string_view field);
  std::optional<std::int64_t> Integer(std::string_view field, std::int64_t low, std::int64_t high);
  std::int64_t RequiredInteger(std::string_view field, std::int64_t low, std::int64_t high);
  // As String(), but an empty string is refused: to the service it would mean "absent".
  std::string Name(std::string_view field);
  service::StringMap Strings(
      std::string_view field);  // an object whose values are strings; absent: empty
  // An array of at most `limit` strings, none of them empty; absent: empty.
  std::vector<std::string> StringList(std::string_view field, std::size_t limit);
  std::optional<boost::json::array> Array(std::string_view field);
  std::optional<boost::json::object> Object(std::string_view field);
  // The position of the string in `choices`.
  std::optional<std::size_t> Choice(std::string_view field, std::vector<std::string_view> choices);
  void Ignore(std::string_view field) { taken_.emplace_back(field); }
  void Fail(std::string_view field, std::string message);

  // The first fault, or an error for a member that no call asked for.
  Result<void> Finish();

 private:
  explicit BodyReader(boost::json::object object) : object_(std::move(object)) {}
  // The member, or null when it is absent or an earlier fault stuck.
  const boost::json::value* Take(std::string_view field);
  void FailMissing(std::string_view field);

  boost::json::object object_;
  std::vector<std::string_view> taken_;  // literals of the callers
  std::optional<Error> fault_;
};

}  // namespace dormouse::http
