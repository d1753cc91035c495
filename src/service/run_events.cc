// SPDX-License-Identifier: Apache-2.0
#include "service/run_events.h"

namespace dormouse::service {
namespace {

// Descriptors are finite; a worker that asks for more has gone wrong.
constexpr std::size_t kMaxFiles = 16'384;

}  // namespace

RunEvents::RunEvents(const Config& config, store::Store& store, const workspace::Mirror& mirror,
                     std::shared_ptr<RunListener> listener, Promotion promotion,
                     RunArtifacts* artifacts)
    : store_(store),
      mirror_(mirror),
      listener_(std::move(listener)),
      out_(config.stream_bytes),
      err_(config.stream_bytes),
      artifacts_(artifacts),
      mapper_(OutputLimits{config.inline_output_bytes, config.inline_run_bytes, config.outputs_per_run},
              promotion, artifacts) {}

void RunEvents::OnStdout(std::string_view bytes) {
  if (artifacts_ != nullptr) artifacts_->OnStdout(bytes);
  const std::string_view text = out_.Append(bytes);
  if (listener_ && !text.empty()) listener_->OnStdout(text);
}

void RunEvents::OnStderr(std::string_view bytes) {
  if (artifacts_ != nullptr) artifacts_->OnStderr(bytes);
  const std::string_view text = err_.Append(bytes);
  if (listener_ && !text.empty()) listener_->OnStderr(text);
}

void RunEvents::OnOutput(std::string_view json) {
  for (CodeOutput& output : mapper_.Map(json)) {
    if (!output.artifact_id.empty()) holding_ = true;
    if (!holding_) {
      if (listener_) listener_->OnOutput(output);
      ++delivered_;
    }
    outputs_.push_back(std::move(output));
  }
}

void RunEvents::OnError(std::string_view json) {
  if (!error_) error_ = ParseGuestError(json);
}

void RunEvents::OnExit(std::string_view json) {
  if (!exit_) exit_ = ParseGuestExit(json);
}

Result<FileDescriptor> RunEvents::OpenContent(const Sha256Digest& digest) {
  // Hashes are no secrets: without this check a guest could read what other sandboxes store.
  if (!mirror_.MayRead(digest)) {
    return Error(ErrorCode::kNotFound, "the content is not one of this workspace");
  }
  return store_.OpenContent(digest);
}

Result<FileDescriptor> RunEvents::CreateFile() {
  if (++files_ > kMaxFiles) return Error(ErrorCode::kUnavailable, "the run made too many large files");
  return store_.files().CreateTemporary();
}

void RunEvents::Finish(RunResult& result) {
  const std::string_view out = out_.Finish();
  if (listener_ && !out.empty()) listener_->OnStdout(out);
  const std::string_view err = err_.Finish();
  if (listener_ && !err.empty()) listener_->OnStderr(err);
  result.out = out_.Result();
  result.err = err_.Result();
  result.outputs = std::move(outputs_);
}

}  // namespace dormouse::service
