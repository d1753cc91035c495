// SPDX-License-Identifier: Apache-2.0
// What the C code made by dormouse-aot is written in: types, memory access, and the operations
// whose wasm meaning C does not have. dormouse-aot copies this file in front of every module's
// `engine.h`, after a line that defines DORMOUSE_MEMORY_BASE.
//
// A memory access adds a 32-bit index and a 32-bit offset to the constant base and goes there
// unchecked; the host has reserved all of these addresses, so that a stray one faults.
#pragma once

#include <stdint.h>

#include "engine_abi.h"

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;
typedef float f32;
typedef double f64;

// As they lie in linear memory: at any alignment, and of any other type a moment ago.
#define DM_MEMORY_TYPE __attribute__((may_alias, aligned(1)))
typedef uint8_t DM_MEMORY_TYPE m_u8;
typedef uint16_t DM_MEMORY_TYPE m_u16;
typedef uint32_t DM_MEMORY_TYPE m_u32;
typedef uint64_t DM_MEMORY_TYPE m_u64;
typedef int8_t DM_MEMORY_TYPE m_s8;
typedef int16_t DM_MEMORY_TYPE m_s16;
typedef int32_t DM_MEMORY_TYPE m_s32;
typedef float DM_MEMORY_TYPE m_f32;
typedef double DM_MEMORY_TYPE m_f64;

#define DM_ADDRESS(index, offset) (DORMOUSE_MEMORY_BASE + (u64)(index) + (offset))
#define DM_AT(type, index, offset) (*(m_##type*)DM_ADDRESS(index, offset))

#define DM_HIDDEN __attribute__((visibility("hidden")))
#define DM_INLINE static inline __attribute__((always_inline))
#define DM_UNLIKELY(condition) __builtin_expect(!!(condition), 0)

extern DM_HIDDEN u32 dormouse_pages;
extern DM_HIDDEN void* dormouse_host;
extern DM_HIDDEN int64_t dormouse_fuel;
DM_HIDDEN __attribute__((noreturn, cold)) void dormouse_trap(enum DormouseTrap kind);
DM_HIDDEN u32 dormouse_memory_grow(u32 delta);
DM_HIDDEN void dormouse_memory_copy(u32 to, u32 from, u32 length);
DM_HIDDEN void dormouse_memory_fill(u32 to, u32 value, u32 length);

// memory.init of a segment that is gone: only the empty one is allowed.
DM_HIDDEN void dormouse_memory_init_dropped(u32 to, u32 from, u32 length);

struct DormouseFunctionEntry {
  void* function;
  u64 type;  // 0 for an empty entry, so that it matches no call
};

// An undefined instruction that carries the kind, for the host's SIGILL handler. A call would cost
// every leaf function its stack alignment.
#define DM_TRAP(kind)                                         \
  do {                                                        \
    __asm__ volatile("ud1l %c0(%%eax), %%eax" : : "i"(kind)); \
    __builtin_unreachable();                                  \
  } while (0)

#define DM_CALL_CHECK(table, size, index, wanted)                        \
  if (DM_UNLIKELY((index) >= (size) || (table)[index].type != (wanted))) \
  DM_TRAP(DORMOUSE_TRAP_INDIRECT_CALL)

#define DM_TICK(weight) \
  if (DM_UNLIKELY((dormouse_fuel -= (weight)) < 0)) DM_TRAP(DORMOUSE_TRAP_OUT_OF_FUEL)

DM_INLINE u32 dm_clz32(u32 x) { return x ? (u32)__builtin_clz(x) : 32; }
DM_INLINE u32 dm_ctz32(u32 x) { return x ? (u32)__builtin_ctz(x) : 32; }
DM_INLINE u64 dm_clz64(u64 x) { return x ? (u64)__builtin_clzll(x) : 64; }
DM_INLINE u64 dm_ctz64(u64 x) { return x ? (u64)__builtin_ctzll(x) : 64; }

#define DM_DIVISIONS(bits)                                                         \
  DM_INLINE u##bits dm_div_s##bits(u##bits a, u##bits b) {                         \
    if (DM_UNLIKELY(b == 0)) DM_TRAP(DORMOUSE_TRAP_DIVIDE_BY_ZERO);                \
    if (DM_UNLIKELY(a == (u##bits)1 << (bits - 1) && b == ~(u##bits)0))            \
      DM_TRAP(DORMOUSE_TRAP_INTEGER_OVERFLOW);                                     \
    return (u##bits)((s##bits)a / (s##bits)b);                                     \
  }                                                                                \
  DM_INLINE u##bits dm_rem_s##bits(u##bits a, u##bits b) {                         \
    if (DM_UNLIKELY(b == 0)) DM_TRAP(DORMOUSE_TRAP_DIVIDE_BY_ZERO);                \
    return DM_UNLIKELY(b == ~(u##bits)0) ? 0 : (u##bits)((s##bits)a % (s##bits)b); \
  }                                                                                \
  DM_INLINE u##bits dm_div_u##bits(u##bits a, u##bits b) {                         \
    if (DM_UNLIKELY(b == 0)) DM_TRAP(DORMOUSE_TRAP_DIVIDE_BY_ZERO);                \
    return a / b;                                                                  \
  }                                                                                \
  DM_INLINE u##bits dm_rem_u##bits(u##bits a, u##bits b) {                         \
    if (DM_UNLIKELY(b == 0)) DM_TRAP(DORMOUSE_TRAP_DIVIDE_BY_ZERO);                \
    return a % b;                                                                  \
  }
DM_DIVISIONS(32)
DM_DIVISIONS(64)

#define DM_REINTERPRET(name, to, from)  \
  DM_INLINE to name(from x) {           \
    to y;                               \
    __builtin_memcpy(&y, &x, sizeof y); \
    return y;                           \
  }
DM_REINTERPRET(dm_bits32, u32, f32)
DM_REINTERPRET(dm_bits64, u64, f64)
DM_REINTERPRET(dm_float32, f32, u32)
DM_REINTERPRET(dm_float64, f64, u64)

// A NaN of either operand wins and becomes quiet; of zeros, the negative one is smaller.
#define DM_EXTREMES(bits)                                                   \
  DM_INLINE f##bits dm_min_f##bits(f##bits a, f##bits b) {                  \
    if (a < b) return a;                                                    \
    if (b < a) return b;                                                    \
    if (a == b) return dm_float##bits(dm_bits##bits(a) | dm_bits##bits(b)); \
    return a + b;                                                           \
  }                                                                         \
  DM_INLINE f##bits dm_max_f##bits(f##bits a, f##bits b) {                  \
    if (a > b) return a;                                                    \
    if (b > a) return b;                                                    \
    if (a == b) return dm_float##bits(dm_bits##bits(a) & dm_bits##bits(b)); \
    return a + b;                                                           \
  }
DM_EXTREMES(32)
DM_EXTREMES(64)

// Float to integer. `below` is the largest float under the range, or `low` itself counts as inside
// where no float lies between the two; `above` is the smallest one over the range.
#define DM_TRUNCATIONS(name, from, to, cast, inside, smallest, largest)                  \
  DM_INLINE to dm_trunc_##name(from x) {                                                 \
    if (DM_UNLIKELY(x != x)) DM_TRAP(DORMOUSE_TRAP_INVALID_CONVERSION);                  \
    if (DM_UNLIKELY(!(inside))) DM_TRAP(DORMOUSE_TRAP_INTEGER_OVERFLOW);                 \
    return (to)(cast)x;                                                                  \
  }                                                                                      \
  DM_INLINE to dm_trunc_sat_##name(from x) {                                             \
    return (inside) ? (to)(cast)x : x != x ? 0 : x < 0 ? (to)(smallest) : (to)(largest); \
  }
DM_TRUNCATIONS(s32_f32, f32, u32, s32, x >= -0x1p31f && x < 0x1p31f, INT32_MIN, INT32_MAX)
DM_TRUNCATIONS(u32_f32, f32, u32, u32, x > -1.0f && x < 0x1p32f, 0, UINT32_MAX)
DM_TRUNCATIONS(s32_f64, f64, u32, s32, x > -2147483649.0 && x < 0x1p31, INT32_MIN, INT32_MAX)
DM_TRUNCATIONS(u32_f64, f64, u32, u32, x > -1.0 && x < 0x1p32, 0, UINT32_MAX)
DM_TRUNCATIONS(s64_f32, f32, u64, s64, x >= -0x1p63f && x < 0x1p63f, INT64_MIN, INT64_MAX)
DM_TRUNCATIONS(u64_f32, f32, u64, u64, x > -1.0f && x < 0x1p64f, 0, UINT64_MAX)
DM_TRUNCATIONS(s64_f64, f64, u64, s64, x >= -0x1p63 && x < 0x1p63, INT64_MIN, INT64_MAX)
DM_TRUNCATIONS(u64_f64, f64, u64, u64, x > -1.0 && x < 0x1p64, 0, UINT64_MAX)
