// SPDX-License-Identifier: Apache-2.0
// Errors as values: a code that tells the caller what to do, a message for people, fields for machines.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dormouse {

// Never renumbered: codes travel in the worker protocol. The one table of their API names, HTTP statuses and
// retry advice is in error.cc.
enum class ErrorCode : std::uint16_t {
  kInvalidRequest = 1,
  kUnauthorized = 2,
  kForbidden = 3,
  kNotFound = 4,
  kConflict = 5,
  kSandboxDestroyed = 6,
  kUnsupportedCodeLanguage = 7,
  kCodeSourceTooLarge = 8,
  kQuotaExceeded = 9,
  kRateLimited = 10,
  kInternal = 11,
  kUnavailable = 12,
  kPathOutsideWorkspace = 13,
  kFileNotFound = 14,
  kFileAlreadyExists = 15,
  kPathIsDirectory = 16,
  kPathNotDirectory = 17,
  kParentDirectoryNotFound = 18,
  kDirectoryNotEmpty = 19,
  kFileTooLarge = 20,
  kInvalidFileEncoding = 21,
  kIdempotencyKeyReused = 22,
  kIdempotencyRequestInProgress = 23,
  kReservedEnvKey = 24,
  kCorrupt = 25,        // stored bytes fail their checksum or do not decode
  kStorageFull = 26,
  kMethodNotAllowed = 27,
  kPayloadTooLarge = 28,
  kUnsupportedMediaType = 29,
  kFeatureNotEnabled = 30,
  kSandboxTtlExceeded = 31,
  kInvalidMetadataKey = 40,
  kInvalidMetadataValue = 41,
  kMetadataTooLarge = 42,
  kMetadataTooManyKeys = 43,
  kUnsupportedRuntimeOption = 50,
  kUploadNotFound = 51,
  kUploadExpired = 52,
  kUploadConflict = 53,
  kUploadIncomplete = 54,
  kUploadChecksumMismatch = 55,
  kUploadSizeMismatch = 56,
  kArchiveTooLarge = 57,
};

// How a code looks from outside. `api_name` is stable; clients branch on it.
struct ErrorInfo {
  ErrorCode code;
  std::string_view api_name;
  int http_status;
  bool retryable;
};

// Returns the row of `code`; unknown values map to the row of kInternal.
const ErrorInfo& InfoOf(ErrorCode code);

struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;
  // Machine-readable details, for example {"field", "timeoutMs"}, {"limit", "600000"}. Never secrets or guest output.
  std::vector<std::pair<std::string, std::string>> details;

  Error() = default;
  Error(ErrorCode code_in, std::string message_in) : code(code_in), message(std::move(message_in)) {}
  Error(ErrorCode code_in, std::string message_in,
        std::vector<std::pair<std::string, std::string>> details_in)
      : code(code_in), message(std::move(message_in)), details(std::move(details_in)) {}
};

// An internal error that names the failed system call and errno.
Error SystemError(std::string_view what, int error_number);

}  // namespace dormouse
