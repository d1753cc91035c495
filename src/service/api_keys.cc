// SPDX-License-Identifier: Apache-2.0
#include "service/api_keys.h"

#include <fcntl.h>
#include <openssl/crypto.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
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

Result<void> CommitNow(store::Store& store, store::Transaction transaction) {
  boost::asio::io_context io;
  std::optional<Result<void>> done;
  boost::asio::co_spawn(
      io,
      [&]() -> boost::asio::awaitable<void> { done = co_await store.Commit(std::move(transaction)); },
      [](std::exception_ptr) {});
  io.run();
  return done ? *done : Error(ErrorCode::kInternal, "the commit did not end");
}

std::int64_t NowMs() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace

Result<ApiKeys> ApiKeys::Open(store::Store& store) {
  DORMOUSE_ASSIGN(std::vector<store::ApiKeyRow> rows, store.ReadApiKeys());
  if (rows.empty()) {
    store::ApiKeyRow row;
    row.id = NewKeyId();
    row.name = "admin";
    row.lookup = RandomId(kLookupCharacters);
    row.created_ms = NowMs();
    const std::string key = std::string(kPrefix) + row.lookup + "_" + RandomId(kSecretCharacters);
    row.secret_sha256 = Sha256(key);
    row.last4 = key.substr(key.size() - 4);
    // The file first: a key that nobody can read would lock everyone out.
    const std::filesystem::path path = store.files().directory() / "admin.key";
    DORMOUSE_TRY(WriteKeyFile(path, key));
    store::Transaction transaction;
    transaction.api_keys.push_back(row);
    DORMOUSE_TRY(CommitNow(store, std::move(transaction)));
    spdlog::info("made an API key, it is in {}", path.string());
    rows.push_back(std::move(row));
  }
  ApiKeys keys;
  for (store::ApiKeyRow& row : rows) {
    std::string lookup = row.lookup;
    if (!row.revoked_ms) keys.by_lookup_.emplace(std::move(lookup), std::move(row));
  }
  return keys;
}

Result<std::string> ApiKeys::Authenticate(std::string_view key) const {
  const Error refused(ErrorCode::kUnauthorized, "the API key is missing, malformed or not known");
  if (key.size() > kMaxKeyBytes || !key.starts_with(kPrefix)) return refused;
  const std::string_view rest = key.substr(kPrefix.size());
  const auto it = by_lookup_.find(std::string(rest.substr(0, rest.find('_'))));
  // The lookup part is no secret; what follows compares all bytes of a hash, found or not.
  const Sha256Digest given = Sha256(key);
  const Sha256Digest& wanted = it == by_lookup_.end() ? Sha256Digest() : it->second.secret_sha256;
  const bool same =
      CRYPTO_memcmp(given.bytes.data(), wanted.bytes.data(), given.bytes.size()) == 0;
  if (!same || it == by_lookup_.end()) return refused;
  return it->second.id;
}

}  // namespace dormouse::service
