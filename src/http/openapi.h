// SPDX-License-Identifier: Apache-2.0
// The OpenAPI document of this build: docs/openapi.json, byte for byte.
#pragma once

#include <string_view>

namespace dormouse::http {

std::string_view OpenApiDocument();

}  // namespace dormouse::http
