// SPDX-License-Identifier: Apache-2.0
// How the archive of a workspace run gets here: in one request, or by a transfer that is finalized.
#include <sys/stat.h>

#include "service/ids.h"
#include "service/workspace_runs.h"

namespace dormouse::service {
namespace {

constexpr std::size_t kMaxTransfers = 16;  // of one run

Error ChecksumMismatch() {
  return Error(ErrorCode::kUploadChecksumMismatch, "the archive does not have the announced SHA-256");
}

Error SizeMismatch(std::uint64_t actual, std::uint64_t announced) {
  return Error(ErrorCode::kUploadSizeMismatch,
               "the archive has " + std::to_string(actual) + " bytes, announced were " +
                   std::to_string(announced),
               {{"actual", std::to_string(actual)}, {"limit", std::to_string(announced)}});
}

Error TooLarge(std::uint64_t actual, std::uint64_t limit) {
  return Error(ErrorCode::kArchiveTooLarge,
               "the archive has " + std::to_string(actual) + " bytes, limit " + std::to_string(limit),
               {{"actual", std::to_string(actual)}, {"limit", std::to_string(limit)}});
}

// Whether the run still takes an archive.
Result<void> CheckOpen(const WorkspaceRun& run) {
  if (!run.started_ms && !HasEnded(run)) return {};
  return Error(ErrorCode::kConflict, "the workspace run is " + run.status + " and takes no archive");
}

}  // namespace

ArchiveTransfer WorkspaceRuns::Describe(const store::WorkspaceUploadRow& row) const {
  ArchiveTransfer transfer;
  transfer.id = row.id;
  transfer.run_id = row.run_id;
  transfer.status = row.status;
  transfer.expires_at = Time(std::chrono::milliseconds(row.expires_ms));
  transfer.max_size_bytes = service_.config_.staged_archive_bytes;
  return transfer;
}

WorkspaceRuns::Task<WorkspaceRun> WorkspaceRuns::SetArchive(WorkspaceRun row, StatePtr state,
                                                            store::ArchiveInfo archive,
                                                            store::Transaction transaction) {
  row.archive = archive;
  row.archive_stored = true;
  const auto log = MakeLog(std::move(state), std::move(row));
  store::WorkspaceRunEventRow progress;
  progress.type = "archive_progress";
  progress.size_bytes = archive.size_bytes;
  log->Add(std::move(progress));
  log->SetStatus("archive_uploaded");
  DORMOUSE_CO_TRY(co_await log->Flush(std::move(transaction)));
  co_return log->row();
}

WorkspaceRuns::Task<WorkspaceRun> WorkspaceRuns::Upload(UploadArchive request) {
  const std::uint64_t size = request.bytes.size();
  if (size > service_.config_.direct_archive_bytes) {
    co_return TooLarge(size, service_.config_.direct_archive_bytes);
  }
  if (request.size_bytes && *request.size_bytes != size) co_return SizeMismatch(size, *request.size_bytes);
  DORMOUSE_CO_ASSIGN(const WorkspaceRun row, co_await Read(request.run_id));
  DORMOUSE_CO_TRY(CheckOpen(row));
  StatePtr state = StateOf(row.id);
  co_return co_await service_.Detach(UploadNow(std::move(request), std::move(state)));
}

WorkspaceRuns::Task<WorkspaceRun> WorkspaceRuns::UploadNow(UploadArchive request, StatePtr state) {
  const FifoMutex::Guard turn = co_await state->lock.Lock();
  DORMOUSE_CO_ASSIGN(WorkspaceRun row, co_await Read(request.run_id));
  DORMOUSE_CO_TRY(CheckOpen(row));
  Result<workspace::StagedContent> staged = co_await OnPool(
      service_.pool_, [this, &request] { return service_.contents_.Stage(request.bytes); });
  if (!staged.ok()) co_return std::move(staged).error();
  if (request.sha256 && *request.sha256 != staged->digest) co_return ChecksumMismatch();
  if (row.archive) {
    if (row.archive->digest == staged->digest) co_return row;
    co_return Error(ErrorCode::kUploadConflict, "the workspace run has another archive already");
  }
  const store::ArchiveInfo archive{staged->digest, staged->size_bytes, service_.NowMs()};
  store::Transaction transaction;
  std::move(*staged).AddTo(transaction);
  co_return co_await SetArchive(std::move(row), std::move(state), archive, std::move(transaction));
}

WorkspaceRuns::Task<ArchiveTransfer> WorkspaceRuns::CreateTransfer(CreateArchiveTransfer request) {
  if (request.size_bytes > service_.config_.staged_archive_bytes) {
    co_return TooLarge(request.size_bytes, service_.config_.staged_archive_bytes);
  }
  DORMOUSE_CO_ASSIGN(const WorkspaceRun row, co_await Read(request.run_id));
  DORMOUSE_CO_TRY(CheckOpen(row));
  store::WorkspaceUploadRow upload;
  upload.id = NewUploadId();
  upload.run_id = request.run_id;
  upload.status = "pending";
  upload.digest = request.sha256;
  upload.size_bytes = request.size_bytes;
  upload.created_ms = service_.NowMs();
  upload.expires_ms = upload.created_ms + service_.config_.upload_kept.count();
  StatePtr state = StateOf(request.run_id);
  co_return co_await service_.Detach(
      CreateTransferNow(std::move(upload), std::move(request.answer), std::move(state)));
}

WorkspaceRuns::Task<ArchiveTransfer> WorkspaceRuns::CreateTransferNow(
    store::WorkspaceUploadRow row, Answerer<ArchiveTransfer> answer, StatePtr state) {
  const FifoMutex::Guard turn = co_await state->lock.Lock();
  DORMOUSE_CO_ASSIGN(const WorkspaceRun run, co_await Read(row.run_id));
  DORMOUSE_CO_TRY(CheckOpen(run));
  auto others = co_await OnPool(service_.pool_, [this, &row] {
    return service_.store_->ReadWorkspaceUploads(row.run_id);
  });
  if (!others.ok()) co_return std::move(others).error();
  if (others->size() >= kMaxTransfers) {
    co_return Error(ErrorCode::kQuotaExceeded,
                    "the workspace run has " + std::to_string(kMaxTransfers) + " transfers already",
                    {{"limit", std::to_string(kMaxTransfers)}});
  }
  store::Transaction transaction;
  transaction.workspace_uploads.push_back(row);
  if (answer) service_.answers_.AddTo(transaction, answer(Describe(row)), row.created_ms);
  DORMOUSE_CO_TRY(co_await service_.store_->Commit(std::move(transaction)));
  co_return Describe(row);
}

WorkspaceRuns::Task<store::WorkspaceUploadRow> WorkspaceRuns::ReadUpload(const std::string& run_id,
                                                                         std::string upload_id) {
  const Error missing(ErrorCode::kUploadNotFound, "there is no such upload of this workspace run");
  if (!upload_id.starts_with("upl_") || upload_id.size() > 64) co_return missing;
  auto upload = co_await OnPool(service_.pool_, [this, &upload_id] {
    return service_.store_->ReadWorkspaceUpload(upload_id);
  });
  if (!upload.ok()) co_return std::move(upload).error();
  if (!*upload || (*upload)->run_id != run_id) co_return missing;
  const bool over = (*upload)->status != "finalized" && (*upload)->expires_ms <= service_.NowMs();
  if (over || (*upload)->status == "expired") {
    co_return Error(ErrorCode::kUploadExpired, "the upload has expired; ask for a new one");
  }
  co_return **std::move(upload);
}

WorkspaceRuns::Task<TransferTarget> WorkspaceRuns::BeginTransfer(std::string run_id,
                                                                 std::string upload_id) {
  DORMOUSE_CO_ASSIGN(const WorkspaceRun row, co_await Read(run_id));
  DORMOUSE_CO_ASSIGN(const auto upload, co_await ReadUpload(run_id, std::move(upload_id)));
  if (upload.status == "finalized") {
    co_return Error(ErrorCode::kUploadConflict, "the upload is finalized");
  }
  DORMOUSE_CO_TRY(CheckOpen(row));
  auto file = co_await OnPool(service_.pool_,
                              [this] { return service_.store_->files().CreateTemporary(); });
  if (!file.ok()) co_return std::move(file).error();
  co_return TransferTarget{std::move(*file), upload.size_bytes};
}

WorkspaceRuns::Task<void> WorkspaceRuns::FinishTransfer(std::string run_id, std::string upload_id,
                                                        FileDescriptor file) {
  DORMOUSE_CO_ASSIGN(auto upload, co_await ReadUpload(run_id, std::move(upload_id)));
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) co_return SystemError("fstat of an upload", errno);
  const auto actual = static_cast<std::uint64_t>(status.st_size);
  if (actual != upload.size_bytes) co_return SizeMismatch(actual, upload.size_bytes);
  StatePtr state = StateOf(run_id);
  co_return co_await service_.Detach(
      FinishTransferNow(std::move(upload), std::move(file), std::move(state)));
}

WorkspaceRuns::Task<void> WorkspaceRuns::FinishTransferNow(store::WorkspaceUploadRow upload,
                                                           FileDescriptor file, StatePtr state) {
  Result<workspace::StagedContent> staged = co_await OnPool(service_.pool_, [this, &file, &upload] {
    return service_.contents_.StageFile(file.get(), upload.size_bytes);
  });
  if (!staged.ok()) co_return std::move(staged).error();
  if (staged->digest != upload.digest) co_return ChecksumMismatch();
  const FifoMutex::Guard turn = co_await state->lock.Lock();
  DORMOUSE_CO_ASSIGN(const WorkspaceRun row, co_await Read(upload.run_id));
  DORMOUSE_CO_TRY(CheckOpen(row));
  DORMOUSE_CO_ASSIGN(upload, co_await ReadUpload(upload.run_id, upload.id));
  if (upload.status == "finalized") {
    co_return Error(ErrorCode::kUploadConflict, "the upload is finalized");
  }
  upload.status = "uploaded";
  store::Transaction transaction;
  std::move(*staged).AddTo(transaction);
  transaction.workspace_uploads.push_back(std::move(upload));
  co_return co_await service_.store_->Commit(std::move(transaction));
}

WorkspaceRuns::Task<WorkspaceRun> WorkspaceRuns::Finalize(FinalizeArchive request) {
  DORMOUSE_CO_ASSIGN(const WorkspaceRun row, co_await Read(request.run_id));
  if (!row.archive) DORMOUSE_CO_TRY(CheckOpen(row));
  if (row.started_ms || HasEnded(row)) {
    if (row.archive->digest == request.sha256) co_return row;
    DORMOUSE_CO_TRY(CheckOpen(row));
  }
  StatePtr state = StateOf(row.id);
  co_return co_await service_.Detach(FinalizeNow(std::move(request), std::move(state)));
}

WorkspaceRuns::Task<WorkspaceRun> WorkspaceRuns::FinalizeNow(FinalizeArchive request, StatePtr state) {
  const FifoMutex::Guard turn = co_await state->lock.Lock();
  DORMOUSE_CO_ASSIGN(WorkspaceRun row, co_await Read(request.run_id));
  DORMOUSE_CO_TRY(CheckOpen(row));
  DORMOUSE_CO_ASSIGN(auto upload, co_await ReadUpload(request.run_id, request.upload_id));
  if (upload.digest != request.sha256) co_return ChecksumMismatch();
  if (upload.size_bytes != request.size_bytes) {
    co_return SizeMismatch(upload.size_bytes, request.size_bytes);
  }
  if (upload.status == "pending") {
    co_return Error(ErrorCode::kUploadIncomplete, "nothing was uploaded yet");
  }
  if (row.archive) {
    if (row.archive->digest == upload.digest) co_return row;
    co_return Error(ErrorCode::kUploadConflict, "the workspace run has another archive already");
  }
  const store::ArchiveInfo archive{upload.digest, upload.size_bytes, service_.NowMs()};
  upload.status = "finalized";
  store::Transaction transaction;
  transaction.workspace_uploads.push_back(std::move(upload));
  co_return co_await SetArchive(std::move(row), std::move(state), archive, std::move(transaction));
}

}  // namespace dormouse::service
