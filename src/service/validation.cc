// SPDX-License-Identifier: Apache-2.0
#include "service/validation.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include "common/utf8.h"
#include "service/templates.h"
#include "workspace/path.h"

namespace dormouse::service {
namespace {

constexpr std::size_t kMetadataPairs = 16;
constexpr std::size_t kMetadataKeyCharacters = 64;
constexpr std::size_t kMetadataValueCharacters = 512;
constexpr std::size_t kMetadataBytes = 4096;
constexpr std::size_t kEnvPairs = 256;
constexpr std::size_t kEnvKeyBytes = 256;
constexpr std::size_t kEnvBytes = 64u << 10;
constexpr std::size_t kContextNameBytes = 128;
constexpr std::uint32_t kMaxPage = 500;
constexpr std::int64_t kMaxTtlMs = 36'500ll * 24 * 3600 * 1000;

Error OverLimit(ErrorCode code, std::string_view field, std::string_view what, std::uint64_t found,
                std::uint64_t limit) {
  return Error(code,
               std::string(field) + ": " + std::string(what) + " is " + std::to_string(found) +
                   ", limit " + std::to_string(limit),
               {{"field", std::string(field)},
                {"limit", std::to_string(limit)},
                {"actual", std::to_string(found)}});
}

Error OverLimit(std::string_view field, std::string_view what, std::uint64_t found,
                std::uint64_t limit) {
  return OverLimit(ErrorCode::kInvalidRequest, field, what, found, limit);
}

bool IsEnvironmentName(std::string_view name) {
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) return false;
  for (const char c : name) {
    const bool letter = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
    if (!letter && (c < '0' || c > '9')) return false;
  }
  return true;
}

}  // namespace

Error InvalidField(std::string_view field, std::string what) {
  return Error(ErrorCode::kInvalidRequest, std::string(field) + " " + std::move(what),
               {{"field", std::string(field)}});
}

std::size_t CountCharacters(std::string_view text) {
  std::size_t count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return count;
}

Result<void> CheckMetadata(const StringMap& metadata) {
  if (metadata.size() > kMetadataPairs) {
    return OverLimit(ErrorCode::kMetadataTooManyKeys, "metadata", "the number of keys",
                     metadata.size(), kMetadataPairs);
  }
  std::size_t bytes = 0;
  for (const auto& [key, value] : metadata) {
    const bool plain = std::none_of(key.begin(), key.end(), [](char c) {
      return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    });
    if (key.empty() || !plain || !IsValidUtf8(key)) {
      return Error(ErrorCode::kInvalidMetadataKey,
                   "metadata holds an empty key, or one with control characters or invalid UTF-8",
                   {{"field", "metadata"}});
    }
    if (CountCharacters(key) > kMetadataKeyCharacters) {
      return OverLimit(ErrorCode::kInvalidMetadataKey, "metadata", "the number of a key's characters",
                       CountCharacters(key), kMetadataKeyCharacters);
    }
    if (!IsValidUtf8(value)) {
      return Error(ErrorCode::kInvalidMetadataValue, "metadata holds a value of invalid UTF-8",
                   {{"field", "metadata"}});
    }
    if (CountCharacters(value) > kMetadataValueCharacters) {
      return OverLimit(ErrorCode::kInvalidMetadataValue, "metadata",
                       "the number of a value's characters", CountCharacters(value),
                       kMetadataValueCharacters);
    }
    bytes += key.size() + value.size();
  }
  if (bytes <= kMetadataBytes) return {};
  return OverLimit(ErrorCode::kMetadataTooLarge, "metadata", "its size in bytes", bytes,
                   kMetadataBytes);
}

Result<void> CheckEnvironment(const StringMap& env) {
  if (env.size() > kEnvPairs) return OverLimit("env", "the number of variables", env.size(), kEnvPairs);
  std::size_t bytes = 0;
  for (const auto& [key, value] : env) {
    if (!IsEnvironmentName(key) || key.size() > kEnvKeyBytes) {
      return InvalidField("env", "holds a name that is not made of letters, digits and underscores");
    }
    if (key.starts_with("CROWNEST") || key.starts_with("DORMOUSE")) {
      return Error(ErrorCode::kReservedEnvKey, "the environment variable " + key + " is reserved",
                   {{"field", "env"}});
    }
    if (!IsValidUtf8(value) || value.find('\0') != std::string::npos) {
      return InvalidField("env", "holds a value with a NUL or invalid UTF-8");
    }
    bytes += key.size() + value.size();
  }
  if (bytes > kEnvBytes) return OverLimit("env", "its size in bytes", bytes, kEnvBytes);
  return {};
}

Result<void> CheckContextName(std::string_view name) {
  if (name.size() > kContextNameBytes) {
    return OverLimit("name", "its size in bytes", name.size(), kContextNameBytes);
  }
  if (!IsValidUtf8(name)) return InvalidField("name", "is not valid UTF-8");
  for (const char c : name) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      return InvalidField("name", "holds a control character");
    }
  }
  return {};
}

Result<std::string> CheckWorkingDirectory(std::string_view cwd) {
  if (cwd.size() > workspace::kMaxPathBytes || !IsValidUtf8(cwd) ||
      cwd.find('\0') != std::string_view::npos) {
    return InvalidField("cwd", "is too long, or holds a NUL or invalid UTF-8");
  }
  // By names alone: which links there are is the guest's business, and it cannot leave its own world.
  std::vector<std::string_view> names;
  if (!cwd.starts_with('/')) names.push_back(workspace::kRoot.substr(1));
  std::size_t start = 0;
  while (start <= cwd.size()) {
    const std::size_t slash = std::min(cwd.find('/', start), cwd.size());
    const std::string_view name = cwd.substr(start, slash - start);
    start = slash + 1;
    if (name.empty() || name == ".") continue;
    if (name != "..") {
      names.push_back(name);
    } else if (!names.empty()) {
      names.pop_back();
    }
  }
  if (names.empty() || names.front() != workspace::kRoot.substr(1)) {
    return Error(ErrorCode::kPathOutsideWorkspace, "cwd is not inside /workspace", {{"field", "cwd"}});
  }
  std::string normal;
  for (const std::string_view name : names) normal.append("/").append(name);
  return normal;
}

Result<std::int64_t> CheckTtl(std::optional<std::int64_t> ttl_ms, const Template& preset) {
  if (!ttl_ms) return preset.default_ttl_ms;
  if (*ttl_ms < 1 || *ttl_ms > kMaxTtlMs) {
    return InvalidField("ttlMs", "is " + std::to_string(*ttl_ms) + ", allowed are 1 to " +
                                     std::to_string(kMaxTtlMs));
  }
  if (preset.max_ttl_ms > 0 && *ttl_ms > preset.max_ttl_ms) {
    return Error(ErrorCode::kSandboxTtlExceeded,
                 "ttlMs is " + std::to_string(*ttl_ms) + ", limit " + std::to_string(preset.max_ttl_ms),
                 {{"field", "ttlMs"}, {"limit", std::to_string(preset.max_ttl_ms)}});
  }
  return *ttl_ms;
}

Result<void> CheckPage(const Page& page) {
  if (page.limit < 1 || page.limit > kMaxPage) {
    return InvalidField("limit", "is " + std::to_string(page.limit) + ", allowed are 1 to 500");
  }
  return {};
}

Result<void> CheckRun(const RunRequest& request, const Config& config) {
  if (request.code.size() > config.code_bytes) {
    return Error(ErrorCode::kCodeSourceTooLarge,
                 "code is " + std::to_string(request.code.size()) + " bytes, limit " +
                     std::to_string(config.code_bytes),
                 {{"field", "code"}, {"limit", std::to_string(config.code_bytes)}});
  }
  if (!IsValidUtf8(request.code)) return InvalidField("code", "is not valid UTF-8");
  if (request.stdin_bytes.size() > config.stdin_bytes) {
    return OverLimit("stdin", "its size in bytes", request.stdin_bytes.size(), config.stdin_bytes);
  }
  DORMOUSE_TRY(CheckEnvironment(request.env));
  const std::int64_t max_timeout = config.max_timeout.count();
  if (request.timeout_ms && (*request.timeout_ms < 1 || *request.timeout_ms > max_timeout)) {
    return Error(ErrorCode::kInvalidRequest,
                 "timeoutMs is " + std::to_string(*request.timeout_ms) + ", allowed are 1 to " +
                     std::to_string(max_timeout),
                 {{"field", "timeoutMs"}, {"limit", std::to_string(max_timeout)}});
  }
  if (request.capture_full_output) {
    if (request.artifact_policy != ArtifactPolicy::kPromote) {
      return InvalidField("captureFullOutput", "needs the artifactPolicy promote");
    }
    if (!request.may_create_artifacts) {
      return Error(ErrorCode::kForbidden, "captureFullOutput needs the scope artifact:create");
    }
  }
  if (request.fuel_us && *request.fuel_us < 1) {
    return InvalidField("fuel", "is " + std::to_string(*request.fuel_us) + ", it must be at least 1");
  }
  return {};
}

std::string EncodeCursor(std::int64_t created_ms, const std::string& id) {
  return std::to_string(created_ms) + "." + id;
}

Result<std::pair<std::int64_t, std::string>> DecodeCursor(const std::string& cursor) {
  std::int64_t created_ms = 0;
  const char* const end = cursor.data() + cursor.size();
  const auto [rest, error] = std::from_chars(cursor.data(), end, created_ms);
  if (error != std::errc() || rest == end || *rest != '.' || cursor.size() > 128) {
    return InvalidField("cursor", "is not one that a list has returned");
  }
  return std::pair(created_ms, std::string(rest + 1, end));
}

Result<void> CheckArtifactName(std::string_view name) {
  constexpr std::size_t kMaxBytes = 255;
  if (name.size() > kMaxBytes) return OverLimit("name", "its size in bytes", name.size(), kMaxBytes);
  if (!IsValidUtf8(name)) return InvalidField("name", "is not valid UTF-8");
  for (const char c : name) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      return InvalidField("name", "has a control character");
    }
  }
  return {};
}

}  // namespace dormouse::service
