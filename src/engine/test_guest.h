// SPDX-License-Identifier: Apache-2.0
// A small engine written by hand, for the tests of this folder: the table that dormouse-aot would
// write, over functions that do one thing each.
#pragma once

#include <cstdint>

#include "engine/engine_abi.h"
#include "engine/signature.h"

namespace dormouse::engine::test_guest {

inline constexpr std::uint64_t kBase = 0x40000000;

inline std::uint32_t pages = 0;
inline void* host = nullptr;
inline std::uint32_t (*memory_grow)(void*, std::uint32_t) = nullptr;
inline void (*trap)(DormouseTrap) = nullptr;
inline void* ask_slot = nullptr;
inline std::uint32_t counter = 7;
inline std::uint64_t wide = 8;
inline double ratio = 0.5;

inline volatile std::uint32_t* Word(std::uint32_t address) {
  return reinterpret_cast<volatile std::uint32_t*>(kBase + address);
}

inline std::uint32_t Add(std::uint32_t a, std::uint32_t b) { return a + b; }
inline std::uint32_t Load(std::uint32_t address) { return *Word(address); }
inline void Store(std::uint32_t address, std::uint32_t value) { *Word(address) = value; }
inline std::uint32_t Ask(std::uint32_t question) {
  return reinterpret_cast<std::uint32_t (*)(void*, std::uint32_t)>(ask_slot)(host, question);
}
// Each level keeps about 4 KiB.
[[clang::noinline]] inline std::uint32_t Recurse(std::uint32_t depth) {
  volatile char frame[4096];
  frame[0] = static_cast<char>(depth);
  if (depth == 0) return 0;
  return Recurse(depth - 1) + static_cast<std::uint32_t>(frame[0] & 1);
}
// Asks the host with that much less stack.
inline std::uint32_t AskFromDeep(std::uint32_t stack_bytes) {
  auto* const frame = static_cast<volatile char*>(__builtin_alloca(stack_bytes));
  frame[stack_bytes - 1] = 1;
  return Ask(1) + static_cast<std::uint32_t>(frame[stack_bytes - 1]);
}
// Until the word at `address` is no longer 0; returns it.
inline std::uint32_t SpinWhileZero(std::uint32_t address) {
  while (*Word(address) == 0) {
  }
  return *Word(address);
}
inline void Ud2() { __builtin_trap(); }
inline void Ud1OfOverflow() {
  asm volatile("ud1l %c0(%%eax), %%eax" : : "i"(DORMOUSE_TRAP_INTEGER_OVERFLOW));
}
inline void Ud1OfNothing() { asm volatile("ud1l %c0(%%eax), %%eax" : : "i"(100)); }
inline std::uint32_t HardwareDivide(std::uint32_t a, std::uint32_t b) {
  std::uint32_t high = 0;
  asm volatile("divl %2" : "+a"(a), "+d"(high) : "r"(b));
  return a;
}
inline void TrapSlot() { trap(DORMOUSE_TRAP_OUT_OF_FUEL); }

inline const DormouseImport kImports[] = {{"test", "ask", "i>i", &ask_slot}};
inline const DormouseExport kExports[] = {
    {"add", "ii>i", reinterpret_cast<void*>(&Add)},
    {"load", "i>i", reinterpret_cast<void*>(&Load)},
};
inline const DormouseGlobal kGlobals[] = {
    {"counter", &counter, 4}, {"wide", &wide, 8}, {"ratio", &ratio, 8}};

inline DormouseEngine MakeEngine() {
  DormouseEngine engine{};
  engine.abi_version = DORMOUSE_ENGINE_ABI_VERSION;
  engine.memory_base = kBase;
  engine.initial_pages = 1;
  engine.max_pages = 16;
  engine.memory_pages = &pages;
  engine.host = &host;
  engine.memory_grow = &memory_grow;
  engine.trap = &trap;
  engine.imports = kImports;
  engine.import_count = 1;
  engine.exports = kExports;
  engine.export_count = 2;
  engine.globals = kGlobals;
  engine.global_count = 3;
  return engine;
}

}  // namespace dormouse::engine::test_guest
