// SPDX-License-Identifier: Apache-2.0
// RunArtifacts: the artifacts that one run makes. Their contents are staged while the run goes on; they come into being
// with the transaction that commits the run's effects, or not at all.
//
// Threads: one call at a time. Owner: the run; it ends before the service's store and contents.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "service/artifact_quota.h"
#include "service/config.h"
#include "service/output_mapper.h"
#include "service/spill_file.h"
#include "store/store.h"
#include "workspace/content_store.h"

namespace dormouse::service {

class RunArtifacts final : public OutputPromoter {
 public:
  struct Origin {
    std::string org_id;
    std::string project_id;
    std::string run_id;
    std::int64_t created_ms = 0;
  };
  // Borrows all but the sandbox.
  RunArtifacts(const Config& config, store::Store& store, workspace::ContentStore& contents,
               std::shared_ptr<SandboxState> sandbox, Origin origin);

  Kept Keep(const PromotedOutput& output) override;
  bool WantsFullText() const override { return out_.has_value(); }

  // Standard output and error, as the guest wrote them, and texts that are displayed.
  void CaptureStreams();
  void OnStdout(std::string_view bytes) { if (out_) out_->Append(bytes); }
  void OnStderr(std::string_view bytes) { if (err_) err_->Append(bytes); }
  bool has_captured() const;
  // Makes artifacts of the captured streams and tells their ids. Blocks. A stream that cannot be kept has none.
  void FinishStreams(RunResult& result);

  bool empty() const { return pending_.empty(); }
  // Makes `transaction` store them.
  void AddTo(store::Transaction& transaction);
  // That transaction was committed.
  void Committed();
  bool committed() const { return committed_; }

 private:
  struct Pending {
    store::ArtifactRow row;
    workspace::StagedContent content;
  };
  store::ArtifactRow NewRow(std::string name, std::string content_type);
  std::string FinishStream(SpillFile* stream, std::string name);

  const Config& config_;
  store::Store& store_;
  workspace::ContentStore& contents_;
  const std::shared_ptr<SandboxState> sandbox_;
  const Origin origin_;
  ArtifactReservation reservation_;
  std::optional<SpillFile> out_;
  std::optional<SpillFile> err_;
  std::vector<Pending> pending_;
  std::uint64_t output_bytes_ = 0;
  bool committed_ = false;
};

// When an artifact made now ends, by the configured retention.
std::optional<std::int64_t> ArtifactExpiry(const Config& config, std::int64_t created_ms);

}  // namespace dormouse::service
