// SPDX-License-Identifier: Apache-2.0
// Text encodings, hashes and randomness for runtime/.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "hash.h"
#include "native.h"

typedef struct Bytes {
  uint8_t* data;  // NULL: an exception is pending
  size_t length;
} Bytes;

// The bytes [argv[1], argv[2]) of the Uint8Array argv[0]; the ends are clamped.
static Bytes GetSlice(JSContext* context, int argc, JSValueConst* argv) {
  size_t size = 0;
  uint8_t* data = JS_GetUint8Array(context, &size, argv[0]);
  if (data == NULL) return (Bytes){NULL, 0};
  int64_t start = 0;
  int64_t end = (int64_t)size;
  if (argc > 1) JS_ToInt64(context, &start, argv[1]);
  if (argc > 2) JS_ToInt64(context, &end, argv[2]);
  if (end > (int64_t)size) end = (int64_t)size;
  if (start < 0) start = 0;
  if (start > end) start = end;
  return (Bytes){data + start, (size_t)(end - start)};
}

// The length of the valid UTF-8 sequence at `p`, or minus the length of its longest valid prefix.
static int SequenceLength(const uint8_t* p, const uint8_t* end) {
  uint8_t first = *p;
  if (first < 0x80) return 1;
  int length = first >= 0xc2 && first <= 0xdf   ? 2
               : first >= 0xe0 && first <= 0xef ? 3
               : first >= 0xf0 && first <= 0xf4 ? 4
                                                : 0;
  if (length == 0) return -1;
  uint8_t low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
  uint8_t high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
  for (int i = 1; i < length; i++) {
    if (p + i >= end || p[i] < low || p[i] > high) return -i;
    low = 0x80;
    high = 0xbf;
  }
  return length;
}

static const uint8_t* FindInvalid(const uint8_t* p, const uint8_t* end) {
  while (p < end) {
    int length = SequenceLength(p, end);
    if (length < 0) return p;
    p += length;
  }
  return NULL;
}

// utf8Decode(bytes, start, end, fatal): as the Encoding standard says; undefined when fatal and bad.
static JSValue DecodeUtf8(JSContext* context, JSValueConst self, int argc, JSValueConst* argv) {
  (void)self;
  Bytes bytes = GetSlice(context, argc, argv);
  if (bytes.data == NULL) return JS_EXCEPTION;
  const uint8_t* p = bytes.data;
  const uint8_t* end = p + bytes.length;
  if (FindInvalid(p, end) == NULL) {
    return JS_NewStringLen(context, (const char*)p, bytes.length);
  }
  if (argc > 3 && JS_ToBool(context, argv[3]) == 1) return JS_UNDEFINED;
  if (bytes.length > (1u << 30) - 1) return JS_ThrowRangeError(context, "Invalid string length");
  uint8_t* repaired = js_malloc(context, bytes.length * 3 + 1);
  if (repaired == NULL) return JS_EXCEPTION;
  size_t size = 0;
  while (p < end) {
    int length = SequenceLength(p, end);
    if (length > 0) {
      memcpy(repaired + size, p, (size_t)length);
      size += (size_t)length;
      p += length;
    } else {
      memcpy(repaired + size, "\xef\xbf\xbd", 3);
      size += 3;
      p -= length;
    }
  }
  JSValue text = JS_NewStringLen(context, (const char*)repaired, size);
  js_free(context, repaired);
  return text;
}

static JSValue EncodeUtf8(JSContext* context, JSValueConst self, int argc, JSValueConst* argv) {
  (void)self;
  (void)argc;
  size_t length = 0;
  char* text = driver_utf8(context, argv[0], &length);
  if (text == NULL) return JS_EXCEPTION;
  JSValue array = JS_NewUint8ArrayCopy(context, (const uint8_t*)text, length);
  free(text);
  return array;
}

// utf8Length(text): the number of bytes that utf8Encode would make.
static JSValue Utf8Length(JSContext* context, JSValueConst self, int argc, JSValueConst* argv) {
  (void)self;
  (void)argc;
  size_t length = 0;
  const char* text = JS_ToCStringLen(context, &length, argv[0]);
  if (text == NULL) return JS_EXCEPTION;
  JS_FreeCString(context, text);
  return JS_NewInt64(context, (int64_t)length);
}

static JSValue DecodeUtf16(JSContext* context, JSValueConst self, int argc, JSValueConst* argv) {
  (void)self;
  Bytes bytes = GetSlice(context, argc, argv);
  if (bytes.data == NULL) return JS_EXCEPTION;
  size_t units = bytes.length / 2;
  uint16_t* copy = js_malloc(context, units * 2 + 2);
  if (copy == NULL) return JS_EXCEPTION;
  memcpy(copy, bytes.data, units * 2);
  JSValue text = JS_NewStringUTF16(context, copy, units);
  js_free(context, copy);
  return text;
}

// latin1Decode(bytes, start, end, mask): mask 0x7f makes it ASCII.
static JSValue DecodeLatin1(JSContext* context, JSValueConst self, int argc, JSValueConst* argv) {
  (void)self;
  Bytes bytes = GetSlice(context, argc, argv);
  if (bytes.data == NULL) return JS_EXCEPTION;
  int mask = 0xff;
  if (argc > 3) JS_ToInt32(context, &mask, argv[3]);
  char* text = js_malloc(context, bytes.length * 2 + 1);
  if (text == NULL) return JS_EXCEPTION;
  size_t size = 0;
  for (size_t i = 0; i < bytes.length; i++) {
    uint8_t c = bytes.data[i] & (uint8_t)mask;
    if (c < 0x80) {
      text[size++] = (char)c;
    } else {
      text[size++] = (char)(0xc0 | c >> 6);
      text[size++] = (char)(0x80 | (c & 0x3f));
    }
  }
  JSValue result = JS_NewStringLen(context, text, size);
  js_free(context, text);
  return result;
}

// utf16Encode(text, width): 16-bit units, or with width 1 their lower bytes.
static JSValue EncodeUnits(JSContext* context, JSValueConst self, int argc, JSValueConst* argv) {
  (void)self;
  int width = 2;
  if (argc > 1) JS_ToInt32(context, &width, argv[1]);
  size_t units = 0;
  const uint16_t* text = JS_ToCStringLenUTF16(context, &units, argv[0]);
  if (text == NULL) return JS_EXCEPTION;
  JSValue array;
  if (width == 2) {
    array = JS_NewUint8ArrayCopy(context, (const uint8_t*)text, units * 2);
  } else {
    uint8_t* narrow = js_malloc(context, units + 1);
    if (narrow == NULL) {
      array = JS_EXCEPTION;
    } else {
      for (size_t i = 0; i < units; i++) narrow[i] = (uint8_t)text[i];
      array = JS_NewUint8ArrayCopy(context, narrow, units);
      js_free(context, narrow);
    }
  }
  JS_FreeCStringUTF16(context, text);
  return array;
}

// hashInit(name): the state, a Uint8Array; undefined for an unknown name.
static JSValue HashInit(JSContext* context, JSValueConst self, int argc, JSValueConst* argv) {
  (void)self;
  (void)argc;
  const char* name = JS_ToCString(context, argv[0]);
  if (name == NULL) return JS_EXCEPTION;
  HashKind kind;
  bool known = hash_kind_from_name(name, &kind);
  JS_FreeCString(context, name);
  if (!known) return JS_UNDEFINED;
  Hash hash;
  hash_init(&hash, kind);
  return JS_NewUint8ArrayCopy(context, (const uint8_t*)&hash, sizeof hash);
}

static bool GetHash(JSContext* context, JSValueConst value, Hash* hash, uint8_t** place) {
  size_t size = 0;
  *place = JS_GetUint8Array(context, &size, value);
  if (*place == NULL) return false;
  if (size == sizeof *hash) {
    memcpy(hash, *place, sizeof *hash);
    if ((unsigned)hash->kind <= kSha512) return true;
  }
  JS_ThrowTypeError(context, "not a hash state");
  return false;
}

static JSValue HashUpdate(JSContext* context, JSValueConst self, int argc, JSValueConst* argv) {
  (void)self;
  (void)argc;
  Hash hash;
  uint8_t* place;
  if (!GetHash(context, argv[0], &hash, &place)) return JS_EXCEPTION;
  size_t size = 0;
  const uint8_t* data = JS_GetUint8Array(context, &size, argv[1]);
  if (data == NULL) return JS_EXCEPTION;
  hash_update(&hash, data, size);
  memcpy(place, &hash, sizeof hash);
  return JS_UNDEFINED;
}

static JSValue HashDigest(JSContext* context, JSValueConst self, int argc, JSValueConst* argv) {
  (void)self;
  (void)argc;
  Hash hash;
  uint8_t* place;
  if (!GetHash(context, argv[0], &hash, &place)) return JS_EXCEPTION;
  uint8_t digest[kHashMaxBytes];
  size_t size = hash_finish(&hash, digest);
  return JS_NewUint8ArrayCopy(context, digest, size);
}

static JSValue RandomFill(JSContext* context, JSValueConst self, int argc, JSValueConst* argv) {
  (void)self;
  (void)argc;
  size_t size = 0;
  uint8_t* data = JS_GetUint8Array(context, &size, argv[0]);
  if (data == NULL) return JS_EXCEPTION;
  for (size_t done = 0; done < size;) {
    size_t part = size - done < 256 ? size - done : 256;
    if (getentropy(data + done, part) != 0) {
      return JS_ThrowPlainError(context, "the host gave no random bytes");
    }
    done += part;
  }
  return JS_UNDEFINED;
}

const JSCFunctionListEntry native_text_functions[] = {
    JS_CFUNC_DEF("utf8Decode", 4, DecodeUtf8),
    JS_CFUNC_DEF("utf8Encode", 1, EncodeUtf8),
    JS_CFUNC_DEF("utf8Length", 1, Utf8Length),
    JS_CFUNC_DEF("utf16Decode", 3, DecodeUtf16),
    JS_CFUNC_DEF("utf16Encode", 2, EncodeUnits),
    JS_CFUNC_DEF("latin1Decode", 4, DecodeLatin1),
    JS_CFUNC_DEF("hashInit", 1, HashInit),
    JS_CFUNC_DEF("hashUpdate", 2, HashUpdate),
    JS_CFUNC_DEF("hashDigest", 1, HashDigest),
    JS_CFUNC_DEF("randomFill", 1, RandomFill),
};
const int native_text_function_count =
    sizeof native_text_functions / sizeof native_text_functions[0];
