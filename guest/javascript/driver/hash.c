// SPDX-License-Identifier: Apache-2.0
#include "hash.h"

#include <string.h>

#include "hash_tables.h"

static uint32_t RotateLeft(uint32_t x, int n) {
  return x << n | x >> (32 - n);
}
static uint32_t RotateRight(uint32_t x, int n) {
  return x >> n | x << (32 - n);
}
static uint64_t RotateRight64(uint64_t x, int n) {
  return x >> n | x << (64 - n);
}
static uint32_t LoadBig32(const uint8_t* p) {
  return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}
static uint64_t LoadBig64(const uint8_t* p) {
  return (uint64_t)LoadBig32(p) << 32 | LoadBig32(p + 4);
}

static void Md5Block(uint32_t state[4], const uint8_t* block) {
  static const uint8_t kShift[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
  uint32_t words[16];
  memcpy(words, block, sizeof words);  // wasm is little-endian, as MD5 is
  uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
  for (int i = 0; i < 64; i++) {
    uint32_t f;
    int index;
    switch (i / 16) {
      case 0: f = (b & c) | (~b & d); index = i; break;
      case 1: f = (d & b) | (~d & c); index = (5 * i + 1) % 16; break;
      case 2: f = b ^ c ^ d; index = (3 * i + 5) % 16; break;
      default: f = c ^ (b | ~d); index = (7 * i) % 16; break;
    }
    uint32_t next = b + RotateLeft(a + f + kMd5Sines[i] + words[index], kShift[i / 16][i % 4]);
    a = d;
    d = c;
    c = b;
    b = next;
  }
  state[0] += a;
  state[1] += b;
  state[2] += c;
  state[3] += d;
}

static void Sha1Block(uint32_t state[5], const uint8_t* block) {
  uint32_t w[80];
  for (int i = 0; i < 16; i++) w[i] = LoadBig32(block + 4 * i);
  for (int i = 16; i < 80; i++) w[i] = RotateLeft(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
  uint32_t a = state[0], b = state[1], c = state[2], d = state[3], e = state[4];
  for (int i = 0; i < 80; i++) {
    uint32_t f, k;
    switch (i / 20) {
      case 0: f = (b & c) | (~b & d); k = 0x5a827999; break;
      case 1: f = b ^ c ^ d; k = 0x6ed9eba1; break;
      case 2: f = (b & c) | (b & d) | (c & d); k = 0x8f1bbcdc; break;
      default: f = b ^ c ^ d; k = 0xca62c1d6; break;
    }
    uint32_t next = RotateLeft(a, 5) + f + e + k + w[i];
    e = d;
    d = c;
    c = RotateLeft(b, 30);
    b = a;
    a = next;
  }
  state[0] += a;
  state[1] += b;
  state[2] += c;
  state[3] += d;
  state[4] += e;
}

static void Sha256Block(uint32_t state[8], const uint8_t* block) {
  uint32_t w[64];
  for (int i = 0; i < 16; i++) w[i] = LoadBig32(block + 4 * i);
  for (int i = 16; i < 64; i++) {
    uint32_t s0 = RotateRight(w[i - 15], 7) ^ RotateRight(w[i - 15], 18) ^ w[i - 15] >> 3;
    uint32_t s1 = RotateRight(w[i - 2], 17) ^ RotateRight(w[i - 2], 19) ^ w[i - 2] >> 10;
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  uint32_t v[8];
  memcpy(v, state, sizeof v);
  for (int i = 0; i < 64; i++) {
    uint32_t s1 = RotateRight(v[4], 6) ^ RotateRight(v[4], 11) ^ RotateRight(v[4], 25);
    uint32_t choice = (v[4] & v[5]) ^ (~v[4] & v[6]);
    uint32_t t1 = v[7] + s1 + choice + (uint32_t)(kShaConstants[i] >> 32) + w[i];
    uint32_t s0 = RotateRight(v[0], 2) ^ RotateRight(v[0], 13) ^ RotateRight(v[0], 22);
    uint32_t t2 = s0 + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
    memmove(v + 1, v, 7 * sizeof v[0]);
    v[4] += t1;
    v[0] = t1 + t2;
  }
  for (int i = 0; i < 8; i++) state[i] += v[i];
}

static void Sha512Block(uint64_t state[8], const uint8_t* block) {
  uint64_t w[80];
  for (int i = 0; i < 16; i++) w[i] = LoadBig64(block + 8 * i);
  for (int i = 16; i < 80; i++) {
    uint64_t s0 = RotateRight64(w[i - 15], 1) ^ RotateRight64(w[i - 15], 8) ^ w[i - 15] >> 7;
    uint64_t s1 = RotateRight64(w[i - 2], 19) ^ RotateRight64(w[i - 2], 61) ^ w[i - 2] >> 6;
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  uint64_t v[8];
  memcpy(v, state, sizeof v);
  for (int i = 0; i < 80; i++) {
    uint64_t s1 = RotateRight64(v[4], 14) ^ RotateRight64(v[4], 18) ^ RotateRight64(v[4], 41);
    uint64_t choice = (v[4] & v[5]) ^ (~v[4] & v[6]);
    uint64_t t1 = v[7] + s1 + choice + kShaConstants[i] + w[i];
    uint64_t s0 = RotateRight64(v[0], 28) ^ RotateRight64(v[0], 34) ^ RotateRight64(v[0], 39);
    uint64_t t2 = s0 + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
    memmove(v + 1, v, 7 * sizeof v[0]);
    v[4] += t1;
    v[0] = t1 + t2;
  }
  for (int i = 0; i < 8; i++) state[i] += v[i];
}

static size_t BlockBytes(HashKind kind) {
  return kind >= kSha384 ? 128 : 64;
}

static void ConsumeBlock(Hash* hash, const uint8_t* block) {
  switch (hash->kind) {
    case kMd5: Md5Block(hash->state.word32, block); break;
    case kSha1: Sha1Block(hash->state.word32, block); break;
    case kSha224:
    case kSha256: Sha256Block(hash->state.word32, block); break;
    default: Sha512Block(hash->state.word64, block); break;
  }
}

bool hash_kind_from_name(const char* name, HashKind* kind) {
  static const char* const kNames[] = {"md5", "sha1", "sha224", "sha256", "sha384", "sha512"};
  char plain[8] = {0};
  size_t length = 0;
  for (; *name != 0; name++) {
    if (*name == '-') continue;
    if (length + 1 == sizeof plain) return false;
    plain[length++] = *name >= 'A' && *name <= 'Z' ? (char)(*name + 32) : *name;
  }
  for (int i = 0; i < 6; i++) {
    if (strcmp(plain, kNames[i]) == 0) {
      *kind = (HashKind)i;
      return true;
    }
  }
  return false;
}

void hash_init(Hash* hash, HashKind kind) {
  memset(hash, 0, sizeof *hash);
  hash->kind = kind;
  memcpy(&hash->state, kHashInitial[kind], sizeof hash->state);
}

void hash_update(Hash* hash, const uint8_t* data, size_t length) {
  size_t block = BlockBytes(hash->kind);
  size_t used = (size_t)(hash->length % block);
  hash->length += length;
  while (length > 0) {
    if (used == 0 && length >= block) {
      ConsumeBlock(hash, data);
      data += block;
      length -= block;
      continue;
    }
    size_t part = block - used < length ? block - used : length;
    memcpy(hash->block + used, data, part);
    used += part;
    data += part;
    length -= part;
    if (used == block) {
      ConsumeBlock(hash, hash->block);
      used = 0;
    }
  }
}

size_t hash_finish(Hash* hash, uint8_t digest[kHashMaxBytes]) {
  static const uint8_t kDigestBytes[] = {16, 20, 28, 32, 48, 64};
  size_t block = BlockBytes(hash->kind);
  size_t trailer = block == 128 ? 16 : 8;
  uint64_t bits = hash->length * 8;
  uint8_t padding[256] = {0x80};
  size_t used = (size_t)(hash->length % block);
  size_t size = (used + 1 + trailer <= block ? block : 2 * block) - used;
  for (int i = 0; i < 8; i++) {
    size_t place = hash->kind == kMd5 ? size - 8 + (size_t)i : size - 1 - (size_t)i;
    padding[place] = (uint8_t)(bits >> (8 * i));
  }
  hash_update(hash, padding, size);
  size_t bytes = kDigestBytes[hash->kind];
  for (size_t i = 0; i < bytes; i++) {
    if (hash->kind == kMd5) {
      digest[i] = (uint8_t)(hash->state.word32[i / 4] >> (8 * (i % 4)));
    } else if (block == 64) {
      digest[i] = (uint8_t)(hash->state.word32[i / 4] >> (24 - 8 * (i % 4)));
    } else {
      digest[i] = (uint8_t)(hash->state.word64[i / 8] >> (56 - 8 * (i % 8)));
    }
  }
  return bytes;
}
