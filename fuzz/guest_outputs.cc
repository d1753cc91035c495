// SPDX-License-Identifier: Apache-2.0
// What a guest shows is hostile: outputs, errors and exits from any bytes, within their limits.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <boost/json/parse.hpp>

#include "common/utf8.h"
#include "service/output_mapper.h"

namespace service = dormouse::service;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  service::OutputMapper mapper({});
  for (const service::CodeOutput& output : mapper.Map(text)) {
    if (output.kind != service::CodeOutput::Kind::kInline) continue;
    // What is sent on as JSON must be JSON.
    boost::system::error_code error;
    boost::json::parse(output.value_json, error);
    if (error) __builtin_trap();
  }
  service::ParseGuestError(text);
  service::ParseGuestExit(text);
  return 0;
}
