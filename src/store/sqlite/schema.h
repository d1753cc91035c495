// SPDX-License-Identifier: Apache-2.0
// The tables, and how a database of an older version becomes one of this version.
#pragma once

#include "common/result.h"
#include "store/sqlite/database.h"

namespace dormouse::store::sqlite {

// Brings the database to the current version in one transaction per step. kConflict if it is of a newer version.
Result<void> Migrate(Database& database);

}  // namespace dormouse::store::sqlite
