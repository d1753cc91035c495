// SPDX-License-Identifier: Apache-2.0
// Artifacts: made of workspace files or by runs, read after their sandbox is gone, ended by deletion or retention.
#include <spdlog/spdlog.h>
#include <unistd.h>

#include "common/utf8.h"
#include "service/artifact_quota.h"
#include "service/content_check.h"
#include "service/ids.h"
#include "service/service_impl.h"
#include "service/usage.h"
#include "service/validation.h"
#include "workspace/draft.h"
#include "workspace/file_operations.h"
#include "workspace/path.h"

namespace dormouse::service {
namespace {

constexpr std::uint32_t kArtifactsAtOnce = 200;
constexpr std::uint32_t kTombstonesAtOnce = 1'000;
// For so long a deleted artifact can still be told from one that never was.
constexpr std::int64_t kTombstoneMs = 30ll * 24 * 3600 * 1000;
constexpr std::size_t kMaxArtifactNameBytes = 255;

Error NoSuchArtifact() { return Error(ErrorCode::kNotFound, "there is no such artifact"); }

bool IsGone(const store::ArtifactRow& row, std::int64_t now_ms) {
  return row.deleted_ms || (row.expires_ms && *row.expires_ms <= now_ms);
}

// A file may have a name that no header or terminal should get.
std::string CleanName(std::string_view file_name) {
  std::string name(Utf8Prefix(file_name, kMaxArtifactNameBytes));
  for (char& c : name) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '_';
  }
  return name.empty() ? "file" : name;
}

Result<ContentType> SniffContent(store::Store& store, const workspace::TreeEntry& file) {
  DORMOUSE_ASSIGN(const FileDescriptor descriptor, store.OpenContent(file.digest));
  std::string sample(std::min<std::uint64_t>(kTypeSampleBytes, file.size_bytes), '\0');
  const ssize_t got = ::pread(descriptor.get(), sample.data(), sample.size(), 0);
  if (got < 0) return SystemError("read a content", errno);
  sample.resize(static_cast<std::size_t>(got));
  const Sample extent = sample.size() == file.size_bytes ? Sample::kWhole : Sample::kBeginning;
  return ContentTypeOf(workspace::NameOf(file.path), sample, extent);
}

}  // namespace

Artifact ServiceImpl::Describe(const store::ArtifactRow& row) const {
  Artifact artifact;
  artifact.id = row.id;
  artifact.org_id = row.org_id;
  artifact.project_id = row.project_id;
  artifact.sandbox_id = row.sandbox_id;
  artifact.run_id = row.run_id;
  artifact.name = row.name;
  artifact.content_type = row.content_type;
  artifact.active_content = row.active_content;
  artifact.may_show_inline = !row.active_content && MayShowInline(row.content_type);
  artifact.size_bytes = row.size_bytes;
  artifact.source_path = row.source_path;
  artifact.created_at = TimeOf(row.created_ms);
  if (row.expires_ms) artifact.expires_at = TimeOf(*row.expires_ms);
  if (row.deleted_ms) artifact.deleted_at = TimeOf(*row.deleted_ms);
  // The sweep comes later than the end.
  if (!row.deleted_ms && IsGone(row, NowMs())) artifact.deleted_at = artifact.expires_at;
  if (row.digest && !artifact.deleted_at) artifact.sha256 = row.digest->Hex();
  return artifact;
}

ServiceImpl::Task<store::ArtifactRow> ServiceImpl::FindArtifact(std::string artifact_id) {
  if (!artifact_id.starts_with("art_") || artifact_id.size() > 64) co_return NoSuchArtifact();
  auto row = co_await OnPool(pool_, [this, &artifact_id] { return store_->ReadArtifact(artifact_id); });
  if (!row.ok()) co_return std::move(row).error();
  if (!*row) co_return NoSuchArtifact();
  co_return **std::move(row);
}

ServiceImpl::Task<Artifact> ServiceImpl::Create(CreateArtifact request) {
  DORMOUSE_CO_TRY(CheckArtifactName(request.name));
  DORMOUSE_CO_ASSIGN(SandboxPtr sandbox, co_await FindLiveSandbox(request.sandbox_id));
  co_return co_await Detach(CreateArtifactNow(std::move(sandbox), std::move(request)));
}

ServiceImpl::Task<Artifact> ServiceImpl::CreateArtifactNow(SandboxPtr sandbox,
                                                           CreateArtifact request) {
  DORMOUSE_CO_ASSIGN(const auto workspace, co_await LoadWorkspace(sandbox));
  store::ContentPin pin;
  DORMOUSE_CO_ASSIGN(const workspace::TreeEntry file,
                     workspace->Read([&](const workspace::Tree& tree) {
                       auto found = workspace::FindFile(workspace::Draft(tree), request.path);
                       if (found.ok()) pin = store_->pins().Acquire(found->digest).pin;
                       return found;
                     }));
  if (file.size_bytes > config_.artifact_bytes) {
    const std::string limit = std::to_string(config_.artifact_bytes);
    const std::string actual = std::to_string(file.size_bytes);
    co_return Error(ErrorCode::kFileTooLarge,
                    "the file has " + actual + " bytes, an artifact at most " + limit,
                    {{"field", "path"}, {"limit", limit}, {"actual", actual}});
  }
  auto type = co_await OnPool(pool_, [this, &file] { return SniffContent(*store_, file); });
  if (!type.ok()) co_return std::move(type).error();
  ArtifactReservation room(sandbox);
  if (!room.Add(store::ChargeOf(file.size_bytes), config_.artifact_sandbox_bytes)) {
    const std::string limit = std::to_string(config_.artifact_sandbox_bytes);
    co_return Error(ErrorCode::kQuotaExceeded,
                    "the artifacts of the sandbox would have more than " + limit + " bytes",
                    {{"limit", limit}});
  }
  store::ArtifactRow row;
  row.id = NewArtifactId();
  row.sandbox_id = sandbox->id;
  row.name = request.name.empty() ? CleanName(workspace::NameOf(file.path)) : request.name;
  row.content_type = type->content_type;
  row.active_content = type->active;
  row.digest = file.digest;
  row.size_bytes = file.size_bytes;
  row.source_path = workspace::AbsolutePath(file.path);
  row.created_ms = NowMs();
  row.expires_ms = ArtifactExpiry(config_, row.created_ms);
  // A sandbox that is being destroyed holds this lock.
  const FifoMutex::Guard turn = co_await sandbox->tree_lock.Lock();
  DORMOUSE_CO_TRY(CheckLive(*sandbox));
  {
    const std::lock_guard lock(sandbox->mutex);
    row.org_id = sandbox->row.org_id;
    row.project_id = sandbox->row.project_id;
  }
  store::Transaction transaction;
  transaction.artifacts.push_back(row);
  transaction.pins.push_back(std::move(pin));
  transaction.usage.push_back(UsageOf(row.project_id, metric::kArtifactBytes,
                                      static_cast<std::int64_t>(row.size_bytes), row.created_ms));
  if (request.answer) answers_.AddTo(transaction, request.answer(Describe(row)), row.created_ms);
  DORMOUSE_CO_TRY(co_await store_->Commit(std::move(transaction)));
  room.Keep();
  co_return Describe(row);
}

ServiceImpl::Task<Paged<Artifact>> ServiceImpl::List(ListArtifacts request) {
  DORMOUSE_CO_TRY(CheckPage(request.page));
  store::ArtifactQuery query;
  query.sandbox_id = request.sandbox_id;
  query.deleted = request.historical;
  query.now_ms = NowMs();
  query.limit = request.page.limit + 1;  // one more tells whether there is a next page
  if (!request.page.cursor.empty()) {
    DORMOUSE_CO_ASSIGN(query.after, DecodeCursor(request.page.cursor));
  }
  // Of a destroyed sandbox too, but not of one that never was.
  DORMOUSE_CO_TRY(co_await FindSandbox(request.sandbox_id));
  auto rows = co_await OnPool(pool_, [this, &query] { return store_->ReadArtifacts(query); });
  if (!rows.ok()) co_return std::move(rows).error();
  Paged<Artifact> page;
  if (rows->size() > request.page.limit) {
    rows->pop_back();
    page.next_cursor = EncodeCursor(rows->back().created_ms, rows->back().id);
  }
  for (const store::ArtifactRow& row : *rows) page.items.push_back(Describe(row));
  co_return page;
}

ServiceImpl::Task<Artifact> ServiceImpl::GetArtifact(std::string artifact_id) {
  DORMOUSE_CO_ASSIGN(const store::ArtifactRow row, co_await FindArtifact(std::move(artifact_id)));
  co_return Describe(row);
}

ServiceImpl::Task<Service::OpenedArtifact> ServiceImpl::OpenArtifact(std::string artifact_id) {
  DORMOUSE_CO_ASSIGN(const store::ArtifactRow row, co_await FindArtifact(std::move(artifact_id)));
  if (IsGone(row, NowMs()) || !row.digest) {
    co_return Error(ErrorCode::kNotFound, "the artifact was deleted");
  }
  const store::ContentPins::Acquired acquired = store_->pins().Acquire(*row.digest);
  // It was deleted just now, and the sweep is faster.
  if (acquired.being_removed) co_return NoSuchArtifact();
  Result<FileDescriptor> descriptor =
      co_await OnPool(pool_, [this, &row] { return store_->OpenContent(*row.digest); });
  if (!descriptor.ok()) co_return std::move(descriptor).error();
  co_return OpenedArtifact{Describe(row), std::move(*descriptor)};
}

ServiceImpl::Task<Artifact> ServiceImpl::DeleteArtifact(std::string artifact_id) {
  DORMOUSE_CO_ASSIGN(store::ArtifactRow row, co_await FindArtifact(std::move(artifact_id)));
  co_return co_await Detach(DeleteArtifactNow(std::move(row)));
}

ServiceImpl::Task<Artifact> ServiceImpl::DeleteArtifactNow(store::ArtifactRow row) {
  DORMOUSE_CO_ASSIGN(const SandboxPtr sandbox, co_await FindSandbox(row.sandbox_id));
  const FifoMutex::Guard turn = co_await sandbox->tree_lock.Lock();
  // Under the lock, so that only one of two deletions gives the room back.
  DORMOUSE_CO_ASSIGN(row, co_await FindArtifact(row.id));
  if (row.deleted_ms) co_return Describe(row);
  const std::int64_t now_ms = NowMs();
  row.deleted_ms = IsGone(row, now_ms) ? *row.expires_ms : now_ms;
  store::Transaction transaction;
  transaction.deleted_artifacts.push_back({row.id, *row.deleted_ms});
  DORMOUSE_CO_TRY(co_await store_->Commit(std::move(transaction)));
  const std::lock_guard lock(sandbox->mutex);
  sandbox->artifact_bytes -= store::ChargeOf(row.size_bytes);
  co_return Describe(row);
}

std::unique_ptr<RunArtifacts> ServiceImpl::MakeRunArtifacts(const RunJob& job) {
  const RunRequest& request = job.request;
  if (request.artifact_policy != ArtifactPolicy::kPromote || !request.may_create_artifacts) {
    return nullptr;
  }
  RunArtifacts::Origin origin;
  {
    const std::lock_guard lock(job.sandbox->mutex);
    origin.org_id = job.sandbox->row.org_id;
    origin.project_id = job.sandbox->row.project_id;
  }
  origin.run_id = job.id;
  origin.created_ms = NowMs();
  auto artifacts = std::make_unique<RunArtifacts>(config_, *store_, contents_, job.sandbox,
                                                  std::move(origin));
  if (request.capture_full_output) artifacts->CaptureStreams();
  return artifacts;
}

void ServiceImpl::WithdrawArtifacts(const RunJob& job, RunResult& result) {
  if (!job.artifacts || job.artifacts->committed()) return;
  result.stdout_artifact_id.clear();
  result.stderr_artifact_id.clear();
  for (CodeOutput& output : result.outputs) {
    output.artifact_id.clear();
    if (output.kind != CodeOutput::Kind::kArtifact) continue;
    output.kind = CodeOutput::Kind::kRejected;
    output.reason = "not_saved";
  }
}

void ServiceImpl::SettleOutputs(RunJob& job, std::size_t delivered, RunResult& result) {
  WithdrawArtifacts(job, result);
  job.artifacts.reset();
  if (!job.listener) return;
  for (std::size_t i = delivered; i < result.outputs.size(); ++i) {
    job.listener->OnOutput(result.outputs[i]);
  }
}

boost::asio::awaitable<void> ServiceImpl::ExpireArtifacts() {
  const std::int64_t now_ms = NowMs();
  const auto expired = co_await OnPool(
      pool_, [this, now_ms] { return store_->ReadExpiredArtifacts(now_ms, kArtifactsAtOnce); });
  if (!expired.ok()) {
    spdlog::warn("cannot look for expired artifacts: {}", expired.error().message);
    co_return;
  }
  for (const store::ArtifactRow& row : *expired) {
    if (stopping_) co_return;
    const Result<Artifact> deleted = co_await DeleteArtifactNow(row);
    if (!deleted.ok()) {
      spdlog::warn("cannot delete the expired artifact {}: {}", row.id, deleted.error().message);
    }
  }
}

boost::asio::awaitable<void> ServiceImpl::DropOldTombstones() {
  const std::int64_t before_ms = NowMs() - kTombstoneMs;
  auto ids = co_await OnPool(
      pool_, [this, before_ms] { return store_->ReadOldTombstones(before_ms, kTombstonesAtOnce); });
  if (!ids.ok() || ids->empty()) co_return;
  store::Transaction transaction;
  transaction.dropped_artifacts = std::move(*ids);
  const Result<void> dropped = co_await store_->Commit(std::move(transaction));
  if (!dropped.ok()) spdlog::warn("cannot drop old artifacts: {}", dropped.error().message);
}

}  // namespace dormouse::service
