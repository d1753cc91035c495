// SPDX-License-Identifier: Apache-2.0
#include "aot/c_text.h"

namespace dormouse::aot {

std::string CStringLiteral(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\' || c == '?') {  // '?' would begin a trigraph
      out.push_back('\\');
      out.push_back(c);
    } else if (byte >= 0x20 && byte < 0x7f) {
      out.push_back(c);
    } else {
      out.push_back('\\');
      out.push_back(static_cast<char>('0' + (byte >> 6)));
      out.push_back(static_cast<char>('0' + ((byte >> 3) & 7)));
      out.push_back(static_cast<char>('0' + (byte & 7)));
    }
  }
  out.push_back('"');
  return out;
}

}  // namespace dormouse::aot
