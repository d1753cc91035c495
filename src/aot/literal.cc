// SPDX-License-Identifier: Apache-2.0
#include "aot/literal.h"

#include <bit>
#include <cmath>
#include <cstdio>

#include "aot/c_text.h"

namespace dormouse::aot {
namespace {

// Exact, and short for the usual numbers.
std::string HexFloat(double value, const char* suffix) {
  char text[64];
  const int length = std::snprintf(text, sizeof(text), "%a%s", value, suffix);
  return std::string(text, static_cast<std::size_t>(length));
}

}  // namespace

std::string Literal(wabt::Type type, std::uint64_t bits) {
  switch (type) {
    case wabt::Type::I32:
      return Text(static_cast<std::uint32_t>(bits), "u");
    case wabt::Type::I64:
      return Text(bits, "ull");
    case wabt::Type::F32: {
      const float value = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
      if (!std::isfinite(value)) return Text("dm_float32(", bits, "u)");
      return value < 0 || std::signbit(value) ? Text("(", HexFloat(value, "f"), ")")
                                              : HexFloat(value, "f");
    }
    default: {
      const double value = std::bit_cast<double>(bits);
      if (!std::isfinite(value)) return Text("dm_float64(", bits, "ull)");
      return value < 0 || std::signbit(value) ? Text("(", HexFloat(value, ""), ")")
                                              : HexFloat(value, "");
    }
  }
}

}  // namespace dormouse::aot
