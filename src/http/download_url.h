// SPDX-License-Identifier: Apache-2.0
// Links to downloads. They are this API's own and need the key.
#pragma once

#include <string_view>

#include "http/message.h"

namespace dormouse::http {

// `target` is the path and query of the download, encoded.
Response DownloadUrlResponse(const Request& request, std::string_view target);

}  // namespace dormouse::http
