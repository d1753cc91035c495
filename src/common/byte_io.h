// SPDX-License-Identifier: Apache-2.0
// ByteWriter and ByteReader: little-endian fields and length-prefixed byte strings, for every binary format we own.
//
// A reader never trusts a length: any read past the end makes it fail for good (`ok()` is false, values are zero),
// so that callers check once at the end. Counts must be checked with `CanHold` before anything is allocated for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

namespace dormouse {

class ByteWriter {
 public:
  void U8(std::uint8_t value) { bytes_.push_back(static_cast<char>(value)); }
  void U16(std::uint16_t value) { Fixed(value); }
  void U32(std::uint32_t value) { Fixed(value); }
  void U64(std::uint64_t value) { Fixed(value); }
  void I64(std::int64_t value) { Fixed(static_cast<std::uint64_t>(value)); }
  // Length (u32), then the bytes.
  void String(std::string_view value) {
    U32(static_cast<std::uint32_t>(value.size()));
    Raw(value);
  }
  void Raw(std::string_view value) { bytes_.append(value); }

  const std::string& bytes() const& { return bytes_; }
  std::string&& bytes() && { return std::move(bytes_); }
  std::size_t size() const { return bytes_.size(); }

 private:
  template <typename T>
  void Fixed(T value) {
    // Only little-endian hosts are supported; see CMakeLists.txt.
    char raw[sizeof(T)];
    std::memcpy(raw, &value, sizeof(T));
    bytes_.append(raw, sizeof(T));
  }
  std::string bytes_;
};

class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  std::uint8_t U8() { return Fixed<std::uint8_t>(); }
  std::uint16_t U16() { return Fixed<std::uint16_t>(); }
  std::uint32_t U32() { return Fixed<std::uint32_t>(); }
  std::uint64_t U64() { return Fixed<std::uint64_t>(); }
  std::int64_t I64() { return static_cast<std::int64_t>(Fixed<std::uint64_t>()); }
  // A view into the underlying bytes; empty after a failure.
  std::string_view String() { return Raw(U32()); }
  std::string_view Raw(std::size_t length) {
    if (!ok_ || length > rest_.size()) {
      ok_ = false;
      return {};
    }
    const std::string_view value = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return value;
  }
  // Whether `count` items of at least `bytes_each` can still follow. Fails the reader if not.
  bool CanHold(std::uint64_t count, std::size_t bytes_each) {
    if (!ok_ || count > rest_.size() / bytes_each) ok_ = false;
    return ok_;
  }

  bool ok() const { return ok_; }
  bool AtEnd() const { return ok_ && rest_.empty(); }
  std::size_t remaining() const { return rest_.size(); }

 private:
  template <typename T>
  T Fixed() {
    T value{};
    const std::string_view raw = Raw(sizeof(T));
    if (ok_) std::memcpy(&value, raw.data(), sizeof(T));
    return value;
  }
  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace dormouse
