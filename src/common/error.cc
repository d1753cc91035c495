// SPDX-License-Identifier: Apache-2.0
#include "common/error.h"

#include <cerrno>
#include <cstring>

namespace dormouse {
namespace {

constexpr ErrorInfo kTable[] = {
    {ErrorCode::kInternal, "internal_error", 500, true},
    {ErrorCode::kInvalidRequest, "invalid_request", 400, false},
    {ErrorCode::kUnauthorized, "unauthorized", 401, false},
    {ErrorCode::kForbidden, "forbidden", 403, false},
    {ErrorCode::kNotFound, "not_found", 404, false},
    {ErrorCode::kConflict, "conflict", 409, false},
    {ErrorCode::kSandboxDestroyed, "sandbox_destroyed", 410, false},
    {ErrorCode::kUnsupportedCodeLanguage, "unsupported_code_language", 400, false},
    {ErrorCode::kCodeSourceTooLarge, "code_source_too_large", 413, false},
    {ErrorCode::kQuotaExceeded, "quota_exceeded", 429, false},
    {ErrorCode::kRateLimited, "rate_limited", 429, true},
    {ErrorCode::kUnavailable, "resource_allocation_failed", 503, true},
    {ErrorCode::kPathOutsideWorkspace, "path_outside_workspace", 400, false},
    {ErrorCode::kFileNotFound, "file_not_found", 404, false},
    {ErrorCode::kFileAlreadyExists, "file_already_exists", 409, false},
    {ErrorCode::kPathIsDirectory, "path_is_directory", 400, false},
    {ErrorCode::kPathNotDirectory, "path_not_directory", 400, false},
    {ErrorCode::kParentDirectoryNotFound, "parent_directory_not_found", 404, false},
    {ErrorCode::kDirectoryNotEmpty, "directory_not_empty", 409, false},
    {ErrorCode::kFileTooLarge, "file_too_large", 413, false},
    {ErrorCode::kInvalidFileEncoding, "invalid_file_encoding", 400, false},
    {ErrorCode::kIdempotencyKeyReused, "idempotency_key_reused", 409, false},
    {ErrorCode::kIdempotencyRequestInProgress, "idempotency_request_in_progress", 409, true},
    {ErrorCode::kReservedEnvKey, "reserved_env_key", 400, false},
    {ErrorCode::kCorrupt, "internal_error", 500, false},
    {ErrorCode::kStorageFull, "resource_allocation_failed", 507, true},
    {ErrorCode::kMethodNotAllowed, "invalid_request", 405, false},
    {ErrorCode::kPayloadTooLarge, "invalid_request", 413, false},
    {ErrorCode::kUnsupportedMediaType, "invalid_request", 415, false},
    {ErrorCode::kFeatureNotEnabled, "feature_not_enabled", 403, false},
    {ErrorCode::kSandboxTtlExceeded, "sandbox_ttl_exceeded", 400, false},
    {ErrorCode::kInvalidMetadataKey, "invalid_metadata_key", 400, false},
    {ErrorCode::kInvalidMetadataValue, "invalid_metadata_value", 400, false},
    {ErrorCode::kMetadataTooLarge, "metadata_too_large", 400, false},
    {ErrorCode::kMetadataTooManyKeys, "metadata_too_many_keys", 400, false},
    {ErrorCode::kUnsupportedRuntimeOption, "unsupported_runtime_option", 400, false},
    {ErrorCode::kUploadNotFound, "upload_not_found", 404, false},
    {ErrorCode::kUploadExpired, "upload_expired", 410, false},
    {ErrorCode::kUploadConflict, "upload_conflict", 409, false},
    {ErrorCode::kUploadIncomplete, "upload_incomplete", 409, false},
    {ErrorCode::kUploadChecksumMismatch, "upload_checksum_mismatch", 400, false},
    {ErrorCode::kUploadSizeMismatch, "upload_size_mismatch", 400, false},
    {ErrorCode::kArchiveTooLarge, "archive_too_large", 413, false},
};

}  // namespace

const ErrorInfo& InfoOf(ErrorCode code) {
  for (const ErrorInfo& row : kTable) {
    if (row.code == code) return row;
  }
  return kTable[0];
}

Error SystemError(std::string_view what, int error_number) {
  const ErrorCode code = error_number == ENOSPC || error_number == EDQUOT ? ErrorCode::kStorageFull
                                                                          : ErrorCode::kInternal;
  return Error(code, std::string(what) + ": " + std::strerror(error_number));
}

}  // namespace dormouse
