// SPDX-License-Identifier: Apache-2.0
#include "http/file_content.h"

#include <unistd.h>

#include <cerrno>

namespace dormouse::http {

Result<void> ReadContent(int fd, std::uint64_t offset, std::uint64_t length, std::string& out) {
  out.resize(length);
  std::size_t filled = 0;
  while (filled < length) {
    const ssize_t got =
        ::pread(fd, out.data() + filled, length - filled, static_cast<off_t>(offset + filled));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return SystemError("reading a file's content", errno);
    if (got == 0) return Error(ErrorCode::kCorrupt, "a stored content is shorter than recorded");
    filled += static_cast<std::size_t>(got);
  }
  return {};
}

}  // namespace dormouse::http
