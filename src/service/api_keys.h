// SPDX-License-Identifier: Apache-2.0
// ApiKeys: who may call. A key reads dm_live_<lookup>_<secret>; the store has its lookup part and the hash of the whole.
//
// Threads: Authenticate may be called from any thread.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "common/result.h"
#include "store/store.h"

namespace dormouse::service {

class ApiKeys {
 public:
  // Reads the keys. When there are none, makes one and writes it to `admin.key` in the data directory, mode 0600.
  // Blocks.
  static Result<ApiKeys> Open(store::Store& store);

  // The id of the key, or kUnauthorized. Takes the same time for a wrong secret as for a right one.
  Result<std::string> Authenticate(std::string_view key) const;

 private:
  std::unordered_map<std::string, store::ApiKeyRow> by_lookup_;
};

}  // namespace dormouse::service
