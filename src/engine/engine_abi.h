// SPDX-License-Identifier: Apache-2.0
// The C interface between an engine's shared object (made by dormouse-aot) and its host. See
// docs/engine-abi.md.
//
// Plain C, because generated C code includes it. All pointers belong to the shared object and live
// as long as it is loaded.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DORMOUSE_ENGINE_ABI_VERSION 1u

// Why a guest left its code. Values are part of the ABI.
enum DormouseTrap {
  DORMOUSE_TRAP_NONE = 0,
  DORMOUSE_TRAP_UNREACHABLE = 1,
  DORMOUSE_TRAP_OUT_OF_BOUNDS = 2,
  DORMOUSE_TRAP_DIVIDE_BY_ZERO = 3,
  DORMOUSE_TRAP_INTEGER_OVERFLOW = 4,
  DORMOUSE_TRAP_INVALID_CONVERSION = 5,
  DORMOUSE_TRAP_INDIRECT_CALL = 6,
  DORMOUSE_TRAP_STACK_OVERFLOW = 7,
  DORMOUSE_TRAP_OUT_OF_FUEL = 8,
  DORMOUSE_TRAP_EXIT = 9,     // the guest called proc_exit
  DORMOUSE_TRAP_STOPPED = 10  // the host stopped it
};

// Signatures are written "iI>f": parameters, '>', results; i = i32, I = i64, f = f32, F = f64.
struct DormouseImport {
  const char* module;
  const char* name;
  const char* signature;
  void** slot;  // the host stores a function `R f(void* host, P…)` here
};

struct DormouseExport {
  const char* name;
  const char* signature;
  void* function;  // R f(P…)
};

struct DormouseGlobal {
  const char* name;  // export or debug name, else "global<N>"
  void* address;
  uint32_t size_bytes;  // 4 or 8
};

struct DormouseEngine {
  uint32_t abi_version;
  uint64_t memory_base;    // where page 0 must be mapped
  uint32_t initial_pages;  // of 64 KiB
  uint32_t max_pages;      // declared maximum, 65536 if none
  uint32_t* memory_pages;  // current size; kept by the host's memory_grow and read by memory.size
  void** host;             // passed to every import
  uint32_t (**memory_grow)(void* host, uint32_t delta_pages);  // old size or UINT32_MAX
  void (**trap)(enum DormouseTrap);                            // must not return
  int64_t* fuel;  // counted down when metered, else null
  const struct DormouseImport* imports;
  uint32_t import_count;
  const struct DormouseExport* exports;
  uint32_t export_count;
  const struct DormouseGlobal* globals;  // mutable ones only
  uint32_t global_count;
};

#ifdef __cplusplus
}
#endif
