// SPDX-License-Identifier: Apache-2.0
// Memory that is held back, so that a full heap can be reported and tidied up. README.md has the rules.
#include "driver.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

// What is held back, largest first: a heap that is nearly full affords less. As much again is left for the next
// run. The first is a little more than two of the second, which take its place when it was all there was.
static const size_t kReserveBytes[] = {(8 << 20) + 4096, 4 << 20, 2 << 20};
enum { kReserves = sizeof(kReserveBytes) / sizeof(kReserveBytes[0]), kWasmPageBytes = 65536 };

static void* reserve;
static size_t reserve_bytes;
static int refused;  // the host gave no more memory, since the reserve was last taken

// In place of wasi-libc's, which does the same but leaves no trace of a refusal.
void* sbrk(intptr_t increment) {
  if (increment == 0) return (void*)(__builtin_wasm_memory_size(0) * kWasmPageBytes);
  if (increment < 0 || increment % kWasmPageBytes != 0) abort();
  size_t old_pages = __builtin_wasm_memory_grow(0, (size_t)increment / kWasmPageBytes);
  if (old_pages == SIZE_MAX) {
    refused = 1;
    errno = ENOMEM;
    return (void*)-1;
  }
  return (void*)(old_pages * kWasmPageBytes);
}

void DropReserve(void) {
  free(reserve);
  reserve = NULL;
  reserve_bytes = 0;
}

int InitMemory(void) {
  reserve = malloc(kReserveBytes[0]);
  reserve_bytes = kReserveBytes[0];
  return reserve != NULL ? 0 : -1;
}

// Takes as large a reserve as leaves as much room beside it.
static int TakeReserve(void) {
  DropReserve();
  for (int i = 0; i < kReserves; i++) {
    void* held = malloc(kReserveBytes[i]);
    // Volatile: or the compiler leaves out an allocation that nobody uses.
    void* volatile room = held != NULL ? malloc(kReserveBytes[i]) : NULL;
    int fits = room != NULL;
    free(room);
    if (fits) {
      reserve = held;
      reserve_bytes = kReserveBytes[i];
      refused = 0;
      return 0;
    }
    free(held);
  }
  return -1;
}

// Forgets the last error that was reported, which holds the variables of all its frames.
static void ForgetLastError(void) {
  static const char* const names[] = {"last_exc", "last_type", "last_value", "last_traceback"};
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
    if (PySys_SetObject(names[i], NULL) < 0) PyErr_Clear();
  }
}

int SettleMemory(void) {
  if (!refused && reserve_bytes == kReserveBytes[0]) return 0;
  if (TakeReserve() == 0) return 0;
  PyGC_Collect();
  if (TakeReserve() == 0) return 0;
  ForgetLastError();
  PyGC_Collect();
  return TakeReserve();
}
