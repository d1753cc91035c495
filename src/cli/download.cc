// SPDX-License-Identifier: Apache-2.0
#include "cli/download.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "cli/output.h"
#include "cli/progress.h"
#include "common/file_descriptor.h"
#include "common/write_all.h"

namespace dormouse::cli {
namespace {

// Where a download goes: a file that is made with the first bytes, as one that cannot be downloaded
// must not truncate a local one; or standard output.
class Destination {
 public:
  explicit Destination(const std::string& file) : file_(file == "-" ? "" : file) {}

  // What is there after a failure; empty: nothing.
  std::string Remains() const {
    return opened_.valid() ? "; what came before that is in " + file_ : "";
  }
  bool is_standard_output() const { return file_.empty(); }

  Result<void> Open() {
    if (is_standard_output() || opened_.valid()) return {};
    opened_ = FileDescriptor(::open(file_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    if (!opened_.valid()) return SystemError("creating " + file_, errno);
    return {};
  }

  Result<void> Write(std::string_view bytes) {
    DORMOUSE_TRY(Open());
    if (is_standard_output()) return WriteAll(STDOUT_FILENO, bytes, "writing standard output");
    return WriteAll(opened_.get(), bytes, "writing " + file_);
  }

 private:
  const std::string file_;
  FileDescriptor opened_;
};

Result<void> Fetch(Backend& backend, const std::string& target, Destination& destination,
                   Progress::Audience audience) {
  Progress progress("downloading", audience);
  std::optional<Error> fault;
  ApiRequest request{"GET", target, {}};
  request.progress = &progress;
  DORMOUSE_TRY(backend.Send(request, [&](std::string_view bytes) {
    Result<void> written = destination.Write(bytes);
    if (!written.ok()) fault = std::move(written).error();
    return written.ok();
  }));
  if (fault) return *fault;
  // An empty file has no bytes that would have made it.
  return destination.Open();
}

}  // namespace

int Download(Backend& backend, const std::string& target, const std::string& local_file,
             const CommonArguments& common) {
  Destination destination(local_file);
  // Content on the same terminal and the line would tear each other apart.
  const bool mixed = destination.is_standard_output() && ::isatty(STDOUT_FILENO) == 1;
  const auto fetched =
      Fetch(backend, target, destination, mixed ? Progress::Audience::kNobody : AudienceOf(common));
  if (fetched.ok()) return kExitOk;
  Error error = fetched.error();
  error.message += destination.Remains();
  return ReportError(error, common.json);
}

}  // namespace dormouse::cli
