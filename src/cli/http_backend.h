// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "cli/backend.h"

namespace dormouse::cli {

// `url` is http://HOST:PORT with an optional path before /v1. One connection for each call.
Result<std::unique_ptr<Backend>> MakeHttpBackend(const std::string& url, std::string api_key);

}  // namespace dormouse::cli
