// SPDX-License-Identifier: Apache-2.0
#include "cli/local_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "common/file_descriptor.h"

namespace dormouse::cli {

Result<std::string> ReadLocalFile(const std::string& file, std::uint64_t limit) {
  FileDescriptor opened;
  int fd = STDIN_FILENO;
  if (file != "-") {
    opened = FileDescriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
    if (!opened.valid()) return SystemError("opening " + file, errno);
    fd = opened.get();
  }
  std::string bytes;
  char piece[65536];
  while (true) {
    const ssize_t length = ::read(fd, piece, sizeof(piece));
    if (length < 0 && errno == EINTR) continue;
    if (length < 0) return SystemError("reading " + file, errno);
    if (length == 0) return bytes;
    bytes.append(piece, static_cast<std::size_t>(length));
    if (bytes.size() > limit) {
      return Error(ErrorCode::kFileTooLarge,
                   file + " is larger than " + std::to_string(limit) + " bytes");
    }
  }
}

}  // namespace dormouse::cli
