// SPDX-License-Identifier: Apache-2.0
// Base64 in the standard alphabet, with padding.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace dormouse {

std::string Base64Encode(std::string_view bytes);
// Nothing for anything but padded base64 without white space.
std::optional<std::string> Base64Decode(std::string_view text);

}  // namespace dormouse
