// SPDX-License-Identifier: Apache-2.0
// Uploads: requests whose body is a file as it is. The body goes to disk while it comes in, so what can be refused is
// refused before.
#pragma once

#include <string_view>

#include "http/message.h"
#include "http/query.h"
#include "service/service.h"

namespace dormouse::http {

// Checks the head of an upload into the sandbox.
Result<service::Service::UploadTarget> ParseUpload(const Request& head, const Query& query,
                                                   const std::string& sandbox_id);

// Appends to the upload's file, of which `done_bytes` are written. Blocks for a write to the disk's cache.
Result<void> WriteUpload(const FileDescriptor& file, std::uint64_t done_bytes, std::string_view bytes);

// Why a body of more than `limit_bytes` is not taken.
Error UploadTooLarge(const service::Service::Upload& upload);

}  // namespace dormouse::http
