// SPDX-License-Identifier: Apache-2.0
// The tables, and how a database of an older version becomes one of this version.
#pragma once

#include <cstdint>

#include "common/result.h"
#include "store/sqlite/database.h"

namespace dormouse::store::sqlite {

inline constexpr std::int64_t kNewestVersion = -1;

// Brings the database to version `target` (tests make databases of older servers with it) in one transaction per
// step. kConflict if it is of a newer version than this server knows.
Result<void> Migrate(Database& database, std::int64_t target = kNewestVersion);

}  // namespace dormouse::store::sqlite
