// SPDX-License-Identifier: Apache-2.0
// Checks of what clients ask for. Every refusal names the field and the limit.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/result.h"
#include "service/config.h"
#include "service/types.h"

namespace dormouse::service {

struct Template;

Error InvalidField(std::string_view field, std::string what);

// Code points of text that is valid UTF-8.
std::size_t CountCharacters(std::string_view text);

// At most 16 pairs, keys of 1 to 64 and values of up to 512 characters, 4 KiB in all; UTF-8, no control characters in
// keys. Each limit has an error code of its own.
Result<void> CheckMetadata(const StringMap& metadata);
// POSIX names, not beginning with CROWNEST or DORMOUSE (kReservedEnvKey); no NUL; bounded.
Result<void> CheckEnvironment(const StringMap& env);
// 1 to 128 bytes of UTF-8 without control characters; empty is allowed and means none.
Result<void> CheckContextName(std::string_view name);
// The normal form of an absolute or relative directory in /workspace. It need not exist: the run will tell.
Result<std::string> CheckWorkingDirectory(std::string_view cwd);
// The lifetime of a sandbox: its template's default when absent, else 1 to its most (kSandboxTtlExceeded).
Result<std::int64_t> CheckTtl(std::optional<std::int64_t> ttl_ms, const Template& preset);
// 1 to 255 bytes of UTF-8 without control characters; empty is allowed and means the file's own.
Result<void> CheckArtifactName(std::string_view name);
// The place in a list, newest first: created_ms and id of the last one seen.
std::string EncodeCursor(std::int64_t created_ms, const std::string& id);
Result<std::pair<std::int64_t, std::string>> DecodeCursor(const std::string& cursor);
// Page sizes from 1 to 500.
Result<void> CheckPage(const Page& page);
// Sizes, encodings and numbers of a run's fields, as far as they do not depend on the binding.
Result<void> CheckRun(const RunRequest& request, const Config& config);

}  // namespace dormouse::service
