// SPDX-License-Identifier: Apache-2.0
#include "aot/native_libc.h"

#include <algorithm>
#include <iterator>

namespace dormouse::aot {
namespace {

struct Replacement {
  std::string_view name;
  std::string_view signature;
  const char* body;
};

// memcpy too is a memmove: overlap is the guest's mistake, but must not depend on the machine.
constexpr Replacement kReplacements[] = {
    {"memcpy", "iii>i",
     "__builtin_memmove((void*)DM_ADDRESS(l0, 0u), (void*)DM_ADDRESS(l1, 0u), l2);\nreturn l0;\n"},
    {"memmove", "iii>i",
     "__builtin_memmove((void*)DM_ADDRESS(l0, 0u), (void*)DM_ADDRESS(l1, 0u), l2);\nreturn l0;\n"},
    {"memset", "iii>i", "__builtin_memset((void*)DM_ADDRESS(l0, 0u), (int)l1, l2);\nreturn l0;\n"},
    {"memcmp", "iii>i",
     "const int order =\n"
     "    __builtin_memcmp((void*)DM_ADDRESS(l0, 0u), (void*)DM_ADDRESS(l1, 0u), l2);\n"
     "return (u32)((order > 0) - (order < 0));\n"},
    {"memchr", "iii>i",
     "void* const found = __builtin_memchr((void*)DM_ADDRESS(l0, 0u), (int)l1, l2);\n"
     "return found ? (u32)((u64)found - DORMOUSE_MEMORY_BASE) : 0;\n"},
    {"strlen", "i>i", "return (u32)__builtin_strlen((char*)DM_ADDRESS(l0, 0u));\n"},
};

}  // namespace

const char* NativeLibcBody(const wabt::Func& func, std::string_view signature) {
  std::string_view name = func.name;
  if (name.empty()) return nullptr;
  name.remove_prefix(1);  // the text format's '$'
  const auto* const found = std::find_if(
      std::begin(kReplacements), std::end(kReplacements),
      [&](const Replacement& row) { return row.name == name && row.signature == signature; });
  return found == std::end(kReplacements) ? nullptr : found->body;
}

}  // namespace dormouse::aot
