// SPDX-License-Identifier: Apache-2.0
// SignatureOf: the ABI's text form of a C++ function type, "iI>f", made at compile time.
//
// Integers of 32 and 64 bits of either sign, float, double and void map to wasm's four types;
// anything else does not compile, so that a wrong type in a host function is found by the compiler
// and not by the guest.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>

namespace dormouse::engine {

template <typename T>
consteval char WasmTypeCode() {
  static_assert(
      std::is_arithmetic_v<T> && !std::is_same_v<T, bool> && (sizeof(T) == 4 || sizeof(T) == 8),
      "only 32 and 64 bit integers, float and double cross the border to a guest");
  if constexpr (std::is_integral_v<T>) return sizeof(T) == 4 ? 'i' : 'I';
  return sizeof(T) == 4 ? 'f' : 'F';
}

template <typename Function>
struct SignatureOf;

template <typename R, typename... P>
struct SignatureOf<R(P...)> {
  static constexpr std::size_t kLength = sizeof...(P) + 1 + (std::is_void_v<R> ? 0 : 1);
  static consteval std::array<char, kLength + 1> Make() {
    std::array<char, kLength + 1> text{};
    std::size_t at = 0;
    ((text[at++] = WasmTypeCode<P>()), ...);
    text[at++] = '>';
    if constexpr (!std::is_void_v<R>) text[at++] = WasmTypeCode<R>();
    return text;
  }
  static constexpr std::array<char, kLength + 1> kText = Make();
  static constexpr std::string_view kView{kText.data(), kLength};
};

}  // namespace dormouse::engine
