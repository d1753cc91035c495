// SPDX-License-Identifier: Apache-2.0
// Query: the decoded parameters of a request target, in the order in which they were sent.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/result.h"
#include "service/types.h"

namespace dormouse::http {

class Query {
 public:
  // `text` is what follows the question mark, form-encoded. More than 100 parameters are refused.
  static Result<Query> Parse(std::string_view text);

  // Nothing when absent; an error when sent twice.
  Result<std::optional<std::string>> Get(std::string_view name) const;
  Result<std::string> Require(std::string_view name) const;
  // `limit` (1 to 500, default 50) and `cursor`.
  Result<service::Page> GetPage() const;
  // Whether `include=historical` is there; another value of `include` is an error.
  Result<bool> IncludesHistorical() const;
  // The parameters whose name begins with `prefix`, without it.
  Result<service::StringMap> WithPrefix(std::string_view prefix) const;
  // An error that names the first parameter that is neither in `names` nor begins with `prefix`
  // (empty: none does).
  Result<void> RefuseOthers(std::initializer_list<std::string_view> names,
                            std::string_view prefix = {}) const;

 private:
  std::vector<std::pair<std::string, std::string>> parameters_;
};

}  // namespace dormouse::http
