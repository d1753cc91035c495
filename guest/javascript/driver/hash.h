// SPDX-License-Identifier: Apache-2.0
// MD5 (RFC 1321), SHA-1 and SHA-2 (FIPS 180-4), incremental.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum HashKind { kMd5, kSha1, kSha224, kSha256, kSha384, kSha512 } HashKind;

enum { kHashMaxBytes = 64 };

typedef struct Hash {
  HashKind kind;
  uint64_t length;  // bytes so far
  union {
    uint32_t word32[8];
    uint64_t word64[8];
  } state;
  uint8_t block[128];
} Hash;

// False for an unknown name ("sha256", "SHA-256", ...).
bool hash_kind_from_name(const char* name, HashKind* kind);
void hash_init(Hash* hash, HashKind kind);
void hash_update(Hash* hash, const uint8_t* data, size_t length);
// Writes the digest and returns its size; the hash is spent.
size_t hash_finish(Hash* hash, uint8_t digest[kHashMaxBytes]);
