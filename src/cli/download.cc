// SPDX-License-Identifier: Apache-2.0
#include "cli/download.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "cli/arguments.h"
#include "cli/output.h"
#include "common/file_descriptor.h"
#include "common/write_all.h"

namespace dormouse::cli {

int Download(Backend& backend, const std::string& target, const std::string& local_file,
             bool json) {
  FileDescriptor opened;
  int fd = STDOUT_FILENO;
  std::optional<Error> fault;
  const auto answer = backend.Send({"GET", target, {}}, [&](std::string_view bytes) {
    // Opened late: a file that cannot be downloaded must not truncate a local one.
    if (!local_file.empty() && local_file != "-" && !opened.valid()) {
      opened = FileDescriptor(
          ::open(local_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
      if (!opened.valid()) {
        fault = SystemError("creating " + local_file, errno);
        return false;
      }
      fd = opened.get();
    }
    Result<void> written = WriteAll(fd, bytes, "writing");
    if (!written.ok()) fault = std::move(written).error();
    return written.ok();
  });
  if (!answer.ok()) return ReportError(answer.error(), json);
  if (fault) return ReportError(*fault, json);
  if (!local_file.empty() && local_file != "-" && !opened.valid()) {
    // An empty file has no bytes that would have made it.
    opened =
        FileDescriptor(::open(local_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    if (!opened.valid())
      return ReportError(SystemError("creating " + local_file, errno), json);
  }
  return kExitOk;
}

}  // namespace dormouse::cli
