// SPDX-License-Identifier: Apache-2.0
// The table of runtime modules that the build script generates.
#pragma once

#include <stddef.h>

typedef struct EmbeddedModule {
  const char* name;
  const unsigned char* text;  // NUL after the last byte
  size_t length;              // without that NUL
} EmbeddedModule;

extern const EmbeddedModule embedded_modules[];
extern const size_t embedded_module_count;
