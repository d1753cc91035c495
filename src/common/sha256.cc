// SPDX-License-Identifier: Apache-2.0
#include "common/sha256.h"

#include <openssl/evp.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

namespace dormouse {
namespace {

struct FreeContext {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};
using Context = std::unique_ptr<EVP_MD_CTX, FreeContext>;

int NibbleOf(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

std::string Sha256Digest::Hex() const {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  hex.reserve(64);
  for (const std::uint8_t byte : bytes) {
    hex.push_back(kDigits[byte >> 4]);
    hex.push_back(kDigits[byte & 15]);
  }
  return hex;
}

std::optional<Sha256Digest> Sha256Digest::FromHex(std::string_view hex) {
  if (hex.size() != 64) return std::nullopt;
  Sha256Digest digest;
  for (std::size_t i = 0; i < 32; ++i) {
    const int high = NibbleOf(hex[2 * i]);
    const int low = NibbleOf(hex[2 * i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    digest.bytes[i] = static_cast<std::uint8_t>(high << 4 | low);
  }
  return digest;
}

std::optional<Sha256Digest> Sha256Digest::FromBytes(std::string_view raw) {
  if (raw.size() != 32) return std::nullopt;
  Sha256Digest digest;
  std::memcpy(digest.bytes.data(), raw.data(), 32);
  return digest;
}

std::size_t Sha256Hash::operator()(const Sha256Digest& digest) const {
  std::size_t value;
  std::memcpy(&value, digest.bytes.data(), sizeof value);
  return value;
}

Sha256Digest Sha256(std::string_view bytes) {
  Sha256Digest digest;
  EVP_Digest(bytes.data(), bytes.size(), digest.bytes.data(), nullptr, EVP_sha256(), nullptr);
  return digest;
}

Result<Sha256Digest> Sha256OfFile(int fd) {
  const Context context(EVP_MD_CTX_new());
  if (!context || EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) != 1) {
    return Error(ErrorCode::kInternal, "SHA-256 is not available");
  }
  std::vector<char> buffer(1 << 18);
  off_t offset = 0;
  while (true) {
    const ssize_t got = ::pread(fd, buffer.data(), buffer.size(), offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return SystemError("pread", errno);
    if (got == 0) break;
    EVP_DigestUpdate(context.get(), buffer.data(), static_cast<std::size_t>(got));
    offset += got;
  }
  Sha256Digest digest;
  EVP_DigestFinal_ex(context.get(), digest.bytes.data(), nullptr);
  return digest;
}

}  // namespace dormouse
