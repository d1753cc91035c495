// SPDX-License-Identifier: Apache-2.0
#include "service/run_artifacts.h"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include "service/content_check.h"
#include "service/ids.h"
#include "service/usage.h"

namespace dormouse::service {

std::optional<std::int64_t> ArtifactExpiry(const Config& config, std::int64_t created_ms) {
  if (config.artifact_retention.count() == 0) return std::nullopt;
  return created_ms + config.artifact_retention.count();
}

RunArtifacts::RunArtifacts(const Config& config, store::Store& store,
                           workspace::ContentStore& contents,
                           std::shared_ptr<SandboxState> sandbox, Origin origin)
    : config_(config),
      store_(store),
      contents_(contents),
      sandbox_(std::move(sandbox)),
      origin_(std::move(origin)),
      reservation_(sandbox_) {}

store::ArtifactRow RunArtifacts::NewRow(std::string name, std::string content_type) {
  store::ArtifactRow row;
  row.id = NewArtifactId();
  row.org_id = origin_.org_id;
  row.project_id = origin_.project_id;
  row.sandbox_id = sandbox_->id;
  row.run_id = origin_.run_id;
  row.name = std::move(name);
  row.content_type = std::move(content_type);
  row.created_ms = origin_.created_ms;
  row.expires_ms = ArtifactExpiry(config_, origin_.created_ms);
  return row;
}

OutputPromoter::Kept RunArtifacts::Keep(const PromotedOutput& output) {
  const std::uint64_t size_bytes = output.bytes.size();
  if (size_bytes > config_.promoted_output_bytes || size_bytes > config_.artifact_bytes ||
      size_bytes > config_.promoted_run_bytes - output_bytes_) {
    return {{}, "output_too_large"};
  }
  store::ArtifactRow row = NewRow("output-" + std::to_string(output.number) + "." +
                                      std::string(output.extension),
                                  std::string(output.content_type));
  row.active_content = output.is_active;
  row.size_bytes = size_bytes;
  if (!reservation_.Add(store::ChargeOf(size_bytes), config_.artifact_sandbox_bytes)) {
    return {{}, "quota_exceeded"};
  }
  Result<workspace::StagedContent> content = contents_.Stage(output.bytes);
  if (!content.ok()) {
    spdlog::warn("an output of {} could not be kept: {}", origin_.run_id, content.error().message);
    return {{}, "not_saved"};
  }
  row.digest = content->digest;
  output_bytes_ += size_bytes;
  pending_.push_back({std::move(row), std::move(*content)});
  return {pending_.back().row.id, {}};
}

void RunArtifacts::CaptureStreams() {
  const std::uint64_t limit = std::min(config_.captured_stream_bytes, config_.artifact_bytes);
  out_.emplace(store_.files(), limit);
  err_.emplace(store_.files(), limit);
}

bool RunArtifacts::has_captured() const {
  return (out_ && out_->size_bytes() > 0) || (err_ && err_->size_bytes() > 0);
}

void RunArtifacts::FinishStreams(RunResult& result) {
  if (out_) result.stdout_artifact_id = FinishStream(&*out_, "stdout.txt");
  if (err_) result.stderr_artifact_id = FinishStream(&*err_, "stderr.txt");
  out_.reset();
  err_.reset();
}

std::string RunArtifacts::FinishStream(SpillFile* stream, std::string name) {
  if (stream->size_bytes() == 0) return {};
  const auto refuse = [&](const std::string& reason) {
    spdlog::warn("{} of {} could not be kept: {}", name, origin_.run_id, reason);
    return std::string();
  };
  if (!reservation_.Add(store::ChargeOf(stream->size_bytes()), config_.artifact_sandbox_bytes)) {
    return refuse("the sandbox's quota of artifacts is used up");
  }
  Result<FileDescriptor> file = stream->TakeFile();
  if (!file.ok()) return refuse(file.error().message);
  std::string sample(std::min<std::size_t>(kTypeSampleBytes, stream->size_bytes()), '\0');
  if (::pread(file->get(), sample.data(), sample.size(), 0) != static_cast<ssize_t>(sample.size())) {
    return refuse("it cannot be read back");
  }
  const Sample extent = sample.size() == stream->size_bytes() ? Sample::kWhole : Sample::kBeginning;
  store::ArtifactRow row = NewRow(name, ContentTypeOf(name, sample, extent).content_type);
  Result<workspace::StagedContent> content = contents_.StageOwned(std::move(*file));
  if (!content.ok()) return refuse(content.error().message);
  row.digest = content->digest;
  row.size_bytes = content->size_bytes;
  pending_.push_back({std::move(row), std::move(*content)});
  return pending_.back().row.id;
}

void RunArtifacts::AddTo(store::Transaction& transaction) {
  for (Pending& pending : pending_) {
    std::move(pending.content).AddTo(transaction);
    transaction.usage.push_back(UsageOf(pending.row.project_id, metric::kArtifactBytes,
                                        static_cast<std::int64_t>(pending.row.size_bytes),
                                        pending.row.created_ms));
    transaction.artifacts.push_back(std::move(pending.row));
  }
  pending_.clear();
}

void RunArtifacts::Committed() {
  reservation_.Keep();
  committed_ = true;
}

}  // namespace dormouse::service
