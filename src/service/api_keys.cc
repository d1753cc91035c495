// SPDX-License-Identifier: Apache-2.0
#include "service/api_keys.h"

#include <fcntl.h>
#include <openssl/crypto.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/system_executor.hpp>
#include <boost/asio/use_future.hpp>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <optional>

#include "service/ids.h"

namespace dormouse::service {
namespace {

constexpr std::string_view kPrefix = "dm_live_";
constexpr std::size_t kLookupCharacters = 10;
constexpr std::size_t kSecretCharacters = 40;  // 200 bits
constexpr std::size_t kMaxKeyBytes = 256;

// The file appears complete or not at all, and is never readable by others.
Result<void> WriteKeyFile(const std::filesystem::path& path, const std::string& key) {
  const std::filesystem::path aside = path.string() + ".new";
  ::unlink(aside.c_str());
  const FileDescriptor file(::open(aside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file.valid()) return SystemError("create " + aside.string(), errno);
  const std::string line = key + "\n";
  if (::write(file.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size()) ||
      ::fsync(file.get()) != 0 || ::rename(aside.c_str(), path.c_str()) != 0) {
    return SystemError("write " + path.string(), errno);
  }
  return {};
}

// On an executor that never ends: the store's thread may still be within its post when the caller goes on.
Result<void> CommitNow(store::Store& store, store::Transaction transaction) {
  return boost::asio::co_spawn(boost::asio::system_executor(), store.Commit(std::move(transaction)),
                               boost::asio::use_future)
      .get();
}

std::int64_t NowMs() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace

MintedKey MintKey(store::ApiKeyRow row) {
  row.id = NewKeyId();
  row.lookup = RandomId(kLookupCharacters);
  std::string secret = PrefixOf(row) + "_" + RandomId(kSecretCharacters);
  row.secret_sha256 = Sha256(secret);
  row.last4 = secret.substr(secret.size() - 4);
  return {std::move(row), std::move(secret)};
}

std::string PrefixOf(const store::ApiKeyRow& row) { return std::string(kPrefix) + row.lookup; }

Result<std::unique_ptr<ApiKeys>> ApiKeys::Open(store::Store& store) {
  DORMOUSE_ASSIGN(std::vector<store::ApiKeyRow> rows, store.ReadApiKeys());
  if (rows.empty()) {
    store::ApiKeyRow admin;
    admin.name = "admin";
    admin.all_scopes = true;
    admin.created_ms = NowMs();
    MintedKey minted = MintKey(std::move(admin));
    // The file first: a key that nobody can read would lock everyone out.
    const std::filesystem::path path = store.files().directory() / "admin.key";
    DORMOUSE_TRY(WriteKeyFile(path, minted.secret));
    store::Transaction transaction;
    transaction.api_keys.push_back(minted.row);
    DORMOUSE_TRY(CommitNow(store, std::move(transaction)));
    spdlog::info("made an API key, it is in {}", path.string());
    rows.push_back(std::move(minted.row));
  }
  auto keys = std::make_unique<ApiKeys>();
  for (store::ApiKeyRow& row : rows) keys->Put(std::move(row));
  return keys;
}

Result<Caller> ApiKeys::Authenticate(std::string_view key, std::int64_t now_ms) const {
  const Error refused(ErrorCode::kUnauthorized, "the API key is missing, malformed or not known");
  if (key.size() > kMaxKeyBytes || !key.starts_with(kPrefix)) return refused;
  const std::string_view rest = key.substr(kPrefix.size());
  std::shared_ptr<Entry> entry;
  {
    const std::shared_lock lock(mutex_);
    const auto it = by_lookup_.find(std::string(rest.substr(0, rest.find('_'))));
    if (it != by_lookup_.end()) entry = it->second;
  }
  // The lookup part is no secret; what follows compares all bytes of a hash, found or not.
  const Sha256Digest given = Sha256(key);
  const Sha256Digest wanted = entry ? entry->row.secret_sha256 : Sha256Digest();
  const bool same =
      CRYPTO_memcmp(given.bytes.data(), wanted.bytes.data(), given.bytes.size()) == 0;
  if (!same || !entry) return refused;
  entry->used_ms = now_ms;
  return Caller{entry->row.id, entry->grants};
}

store::ApiKeyRow ApiKeys::RowOf(const Entry& entry) {
  store::ApiKeyRow row = entry.row;
  const std::int64_t used_ms = entry.used_ms;
  if (used_ms != 0) row.last_used_ms = used_ms;
  return row;
}

std::vector<store::ApiKeyRow> ApiKeys::All() const {
  std::vector<store::ApiKeyRow> rows;
  {
    const std::shared_lock lock(mutex_);
    for (const auto& [id, entry] : by_id_) rows.push_back(RowOf(*entry));
  }
  std::sort(rows.begin(), rows.end(), [](const store::ApiKeyRow& a, const store::ApiKeyRow& b) {
    return a.created_ms != b.created_ms ? a.created_ms > b.created_ms : a.id > b.id;
  });
  return rows;
}

std::optional<store::ApiKeyRow> ApiKeys::Find(const std::string& id) const {
  const std::shared_lock lock(mutex_);
  const auto it = by_id_.find(id);
  if (it == by_id_.end()) return std::nullopt;
  return RowOf(*it->second);
}

void ApiKeys::Put(store::ApiKeyRow row) {
  auto entry = std::make_shared<Entry>();
  entry->grants = std::make_shared<const Grants>(
      Grants{row.all_scopes, row.scopes, row.project_ids});
  entry->used_ms = entry->stored_ms = row.last_used_ms.value_or(0);
  entry->row = std::move(row);
  const std::unique_lock lock(mutex_);
  if (entry->row.revoked_ms) {
    by_lookup_.erase(entry->row.lookup);
  } else {
    by_lookup_[entry->row.lookup] = entry;
  }
  by_id_[entry->row.id] = std::move(entry);
}

void ApiKeys::Forget(const std::string& id) {
  const std::unique_lock lock(mutex_);
  const auto it = by_id_.find(id);
  if (it == by_id_.end()) return;
  by_lookup_.erase(it->second->row.lookup);
  by_id_.erase(it);
}

std::vector<std::pair<std::string, std::int64_t>> ApiKeys::TakeUses(std::int64_t now_ms,
                                                                    std::int64_t interval_ms) {
  std::vector<std::pair<std::string, std::int64_t>> uses;
  const std::shared_lock lock(mutex_);
  for (const auto& [id, entry] : by_id_) {
    const std::int64_t used_ms = entry->used_ms;
    const std::int64_t stored_ms = entry->stored_ms;
    if (used_ms == stored_ms || (stored_ms != 0 && now_ms - stored_ms < interval_ms)) continue;
    entry->stored_ms = used_ms;
    uses.emplace_back(id, used_ms);
  }
  return uses;
}

}  // namespace dormouse::service
