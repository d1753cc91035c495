// SPDX-License-Identifier: Apache-2.0
// RunEvents: receives what a run does while it goes on, passes it to the listener, and keeps what the result needs.
//
// Threads: as RunHost; Finish and what follows only after the run.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "scheduler/worker.h"
#include "service/config.h"
#include "service/output_mapper.h"
#include "service/run_artifacts.h"
#include "service/stream_capture.h"
#include "service/types.h"
#include "store/store.h"
#include "workspace/workspace.h"

namespace dormouse::service {

class RunEvents final : public scheduler::RunHost {
 public:
  // Borrows `store`, `mirror` and `artifacts`, which must outlive it. `listener` may be null, and so may `artifacts`
  // unless `promotion` is kOn.
  RunEvents(const Config& config, store::Store& store, const workspace::Mirror& mirror,
            std::shared_ptr<RunListener> listener, Promotion promotion, RunArtifacts* artifacts);

  void OnStdout(std::string_view bytes) override;
  void OnStderr(std::string_view bytes) override;
  void OnOutput(std::string_view json) override;
  void OnError(std::string_view json) override;
  void OnExit(std::string_view json) override;
  Result<FileDescriptor> OpenContent(const Sha256Digest& digest) override;
  Result<FileDescriptor> CreateFile() override;

  // The run has ended: passes on what the streams still hold, and fills streams and outputs of `result`.
  void Finish(RunResult& result);

  // How many outputs the listener has. The first that became an artifact and all after it wait until the run is saved:
  // before that nobody could fetch the artifact.
  std::size_t delivered_outputs() const { return delivered_; }
  const std::optional<CodeError>& guest_error() const { return error_; }
  const std::optional<GuestExit>& guest_exit() const { return exit_; }

 private:
  store::Store& store_;
  const workspace::Mirror& mirror_;
  const std::shared_ptr<RunListener> listener_;
  StreamCapture out_;
  StreamCapture err_;
  RunArtifacts* const artifacts_;
  OutputMapper mapper_;
  std::vector<CodeOutput> outputs_;
  std::size_t delivered_ = 0;
  bool holding_ = false;
  std::optional<CodeError> error_;
  std::optional<GuestExit> exit_;
  std::size_t files_ = 0;
};

}  // namespace dormouse::service
