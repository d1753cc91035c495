// SPDX-License-Identifier: Apache-2.0
#include "common/write_all.h"

#include <unistd.h>

#include <cerrno>

namespace dormouse {

Result<void> WriteAll(int fd, std::string_view bytes, std::string_view what) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return SystemError(what, errno);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

}  // namespace dormouse
