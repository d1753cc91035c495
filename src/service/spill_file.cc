// SPDX-License-Identifier: Apache-2.0
#include "service/spill_file.h"

#include <unistd.h>

#include <cerrno>

namespace dormouse::service {

void SpillFile::Append(std::string_view bytes) {
  if (fault_) return;
  if (!file_.valid()) {
    auto made = files_.CreateTemporary();
    if (!made.ok()) {
      fault_ = std::move(made).error();
      return;
    }
    file_ = std::move(made).value();
  }
  bytes = bytes.substr(0, limit_bytes_ - size_bytes_);
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(file_.get(), bytes.data(), bytes.size(),
                                     static_cast<off_t>(size_bytes_));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      fault_ = SystemError("write captured output", errno);
      return;
    }
    size_bytes_ += static_cast<std::uint64_t>(written);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

Result<FileDescriptor> SpillFile::TakeFile() {
  if (fault_) return *fault_;
  return std::move(file_);
}

}  // namespace dormouse::service
