// SPDX-License-Identifier: Apache-2.0
// All rows of a query at once.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "common/result.h"
#include "store/sqlite/database.h"

namespace dormouse::store::sqlite {

// Each row is made by `make`, a function from a Query to a Result<Row>. The first error ends it.
template <typename Row, typename Make>
Result<std::vector<Row>> Collect(Query& query, Make make) {
  std::vector<Row> rows;
  while (true) {
    DORMOUSE_ASSIGN(const bool found, query.Step());
    if (!found) return rows;
    DORMOUSE_ASSIGN(Row made, make(query));
    rows.push_back(std::move(made));
  }
}

// For queries of one column.
inline Result<std::string> FirstText(const Query& query) { return query.TextAt(0); }

}  // namespace dormouse::store::sqlite
