// SPDX-License-Identifier: Apache-2.0
// ApiKeys: the keys, as the store has them. A key reads dm_live_<lookup>_<secret>; the store has its lookup part, the hash
// of the whole and its last four characters.
//
// Threads: all calls from any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/result.h"
#include "service/types.h"
#include "store/store.h"

namespace dormouse::service {

// A row whose secret was just made.
struct MintedKey {
  store::ApiKeyRow row;
  std::string secret;
};
// Fills in id, lookup, hash and last four characters.
MintedKey MintKey(store::ApiKeyRow row);
// What people may see of every key of that lookup part.
std::string PrefixOf(const store::ApiKeyRow& row);

class ApiKeys {
 public:
  // Reads the keys. When there are none, makes one that may do everything and writes it to `admin.key` in the data
  // directory, mode 0600. Blocks.
  static Result<std::unique_ptr<ApiKeys>> Open(store::Store& store);

  // Whose key it is, or kUnauthorized. Takes the same time for a wrong secret as for a right one.
  Result<Caller> Authenticate(std::string_view key, std::int64_t now_ms) const;

  // With the last use as it is known here, newest first, revoked ones too.
  std::vector<store::ApiKeyRow> All() const;
  std::optional<store::ApiKeyRow> Find(const std::string& id) const;
  // What a transaction did. The caller takes care that changes do not overlap.
  void Put(store::ApiKeyRow row);
  void Forget(const std::string& id);

  // Uses that the store does not know of: at most one for each key and `interval_ms`. They count as stored then.
  std::vector<std::pair<std::string, std::int64_t>> TakeUses(std::int64_t now_ms,
                                                             std::int64_t interval_ms);

 private:
  struct Entry {
    store::ApiKeyRow row;
    std::shared_ptr<const Grants> grants;
    std::atomic<std::int64_t> used_ms{0};    // 0: never
    std::atomic<std::int64_t> stored_ms{0};  // what the store has
  };
  // Requires: mutex_.
  static store::ApiKeyRow RowOf(const Entry& entry);

  mutable std::shared_mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<Entry>> by_id_;
  std::unordered_map<std::string, std::shared_ptr<Entry>> by_lookup_;  // not the revoked ones
};

}  // namespace dormouse::service
