// SPDX-License-Identifier: Apache-2.0
// Files of a sandbox, as clients see and change them.
#include <algorithm>

#include "service/service_impl.h"
#include "service/usage.h"
#include "workspace/archive_reader.h"
#include "workspace/draft.h"
#include "workspace/file_operations.h"
#include "workspace/merge.h"
#include "workspace/path.h"

namespace dormouse::service {
namespace {

FileInfo InfoOf(const workspace::TreeEntry& entry) {
  FileInfo info;
  info.path = workspace::AbsolutePath(entry.path);
  info.name = std::string(workspace::NameOf(entry.path));
  info.type = entry.kind == workspace::FileKind::kFile        ? FileType::kFile
              : entry.kind == workspace::FileKind::kDirectory ? FileType::kDirectory
                                                              : FileType::kSymlink;
  info.size_bytes = entry.size_bytes;
  info.mode = entry.mode;
  info.modified_at = Time(std::chrono::duration_cast<Time::duration>(
      std::chrono::nanoseconds(entry.mtime_ns)));
  info.target = entry.target;
  return info;
}

std::int64_t CreatedMs(const SandboxState& sandbox) {
  const std::lock_guard lock(sandbox.mutex);
  return sandbox.row.created_ms;
}

}  // namespace

ServiceImpl::Task<std::shared_ptr<workspace::Workspace>> ServiceImpl::LoadWorkspace(
    SandboxPtr sandbox) {
  {
    const std::lock_guard lock(sandbox->mutex);
    if (sandbox->workspace) co_return sandbox->workspace;
  }
  const FifoMutex::Guard turn = co_await sandbox->load_lock.Lock();
  {
    const std::lock_guard lock(sandbox->mutex);
    if (sandbox->workspace) co_return sandbox->workspace;
  }
  Result<workspace::Tree> tree =
      co_await OnPool(pool_, [this, id = sandbox->id]() -> Result<workspace::Tree> {
        DORMOUSE_ASSIGN(std::vector<store::TreeEntry> entries, store_->ReadTree(id));
        return workspace::Tree::Load(std::move(entries));
      });
  if (!tree.ok()) co_return std::move(tree).error();
  auto workspace = std::make_shared<workspace::Workspace>(std::move(*tree), store_->pins());
  const std::lock_guard lock(sandbox->mutex);
  sandbox->workspace = workspace;
  co_return workspace;
}

template <typename Change>
ServiceImpl::Task<FileInfo> ServiceImpl::ChangeTree(SandboxPtr sandbox,
                                                    std::vector<workspace::StagedContent> contents,
                                                    Change change) {
  DORMOUSE_CO_ASSIGN(const auto workspace, co_await LoadWorkspace(sandbox));
  const FifoMutex::Guard turn = co_await sandbox->tree_lock.Lock();
  DORMOUSE_CO_TRY(CheckLive(*sandbox));
  workspace::Draft draft(workspace->Current());
  const std::int64_t now_ms = NowMs();
  DORMOUSE_CO_ASSIGN(const workspace::TreeEntry entry, change(draft, now_ms * 1'000'000));
  DORMOUSE_CO_TRY(workspace::CheckQuota(workspace->Current().totals(), draft.totals(),
                                        {config_.workspace_bytes, config_.workspace_files}));
  const store::TreeChange changed = draft.Change(sandbox->id);
  const std::vector<store::ContentPin> pins = workspace->PinsFor(changed);
  store::Transaction transaction;
  transaction.trees.push_back(changed);
  transaction.touched.push_back({sandbox->id, "", now_ms});
  std::uint64_t bytes = 0;
  for (const workspace::StagedContent& content : contents) bytes += content.size_bytes;
  if (bytes > 0) {
    transaction.usage.push_back(UsageOf(sandbox->project_id, metric::kFileBytes,
                                        static_cast<std::int64_t>(bytes), now_ms));
  }
  for (workspace::StagedContent& content : contents) std::move(content).AddTo(transaction);
  DORMOUSE_CO_TRY(co_await store_->Commit(std::move(transaction)));
  workspace->Applied(changed);
  const std::lock_guard lock(sandbox->mutex);
  sandbox->row.last_used_ms = now_ms;
  co_return InfoOf(entry);
}

ServiceImpl::Task<std::vector<FileInfo>> ServiceImpl::ListFiles(std::string sandbox_id,
                                                                std::string path) {
  DORMOUSE_CO_ASSIGN(SandboxPtr sandbox, co_await FindLiveSandbox(std::move(sandbox_id)));
  DORMOUSE_CO_ASSIGN(const auto workspace, co_await LoadWorkspace(sandbox));
  DORMOUSE_CO_ASSIGN(const std::vector<workspace::TreeEntry> entries,
                     workspace->Read([&](const workspace::Tree& tree) {
                       return workspace::ListDirectory(workspace::Draft(tree), path);
                     }));
  std::vector<FileInfo> files;
  files.reserve(entries.size());
  for (const workspace::TreeEntry& entry : entries) files.push_back(InfoOf(entry));
  co_return files;
}

ServiceImpl::Task<FileInfo> ServiceImpl::StatFile(std::string sandbox_id, std::string path) {
  DORMOUSE_CO_ASSIGN(SandboxPtr sandbox, co_await FindLiveSandbox(std::move(sandbox_id)));
  DORMOUSE_CO_ASSIGN(const auto workspace, co_await LoadWorkspace(sandbox));
  DORMOUSE_CO_ASSIGN(workspace::TreeEntry entry,
                     workspace->Read([&](const workspace::Tree& tree) {
                       return workspace::StatEntry(workspace::Draft(tree), path);
                     }));
  if (entry.path.empty()) {
    // The tree keeps no times of its root: it is as new as the newest thing in it.
    DORMOUSE_CO_ASSIGN(const std::vector<workspace::TreeEntry> children,
                       workspace->Read([&](const workspace::Tree& tree) {
                         return workspace::ListDirectory(workspace::Draft(tree), path);
                       }));
    entry.mtime_ns = CreatedMs(*sandbox) * 1'000'000;
    for (const workspace::TreeEntry& child : children) {
      entry.mtime_ns = std::max(entry.mtime_ns, child.mtime_ns);
    }
  }
  co_return InfoOf(entry);
}

ServiceImpl::Task<Service::OpenedFile> ServiceImpl::OpenFile(std::string sandbox_id,
                                                             std::string path) {
  DORMOUSE_CO_ASSIGN(SandboxPtr sandbox, co_await FindLiveSandbox(std::move(sandbox_id)));
  DORMOUSE_CO_ASSIGN(const auto workspace, co_await LoadWorkspace(sandbox));
  store::ContentPin pin;
  DORMOUSE_CO_ASSIGN(const workspace::TreeEntry entry,
                     workspace->Read([&](const workspace::Tree& tree) {
                       auto found = workspace::FindFile(workspace::Draft(tree), path);
                       // Until it is open, the content must outlive the file.
                       if (found.ok()) pin = store_->pins().Acquire(found->digest).pin;
                       return found;
                     }));
  Result<FileDescriptor> descriptor = co_await OnPool(
      pool_, [this, digest = entry.digest] { return store_->OpenContent(digest); });
  if (!descriptor.ok()) co_return std::move(descriptor).error();
  co_return OpenedFile{InfoOf(entry), std::move(*descriptor)};
}

ServiceImpl::Task<FileInfo> ServiceImpl::Write(WriteFile request) {
  if (request.content.size() > config_.direct_file_bytes) {
    const std::string limit = std::to_string(config_.direct_file_bytes);
    co_return Error(ErrorCode::kFileTooLarge,
                    "content is " + std::to_string(request.content.size()) + " bytes, limit " + limit,
                    {{"field", "content"}, {"limit", limit}});
  }
  DORMOUSE_CO_ASSIGN(SandboxPtr sandbox, co_await FindLiveSandbox(request.sandbox_id));
  co_return co_await Detach(WriteNow(std::move(sandbox), std::move(request)));
}

ServiceImpl::Task<FileInfo> ServiceImpl::WriteNow(SandboxPtr sandbox, WriteFile request) {
  Result<workspace::StagedContent> staged =
      co_await OnPool(pool_, [this, &request] { return contents_.Stage(request.content); });
  if (!staged.ok()) co_return std::move(staged).error();
  const Sha256Digest digest = staged->digest;
  std::vector<workspace::StagedContent> contents;
  contents.push_back(std::move(*staged));
  const workspace::WriteOptions options{request.create_parents, request.overwrite};
  const std::uint64_t size_bytes = request.content.size();
  co_return co_await ChangeTree(
      std::move(sandbox), std::move(contents),
      [&](workspace::Draft& draft, std::int64_t now_ns) {
        return workspace::WriteFile(draft, request.path, digest, size_bytes, options, now_ns);
      });
}

ServiceImpl::Task<Service::Upload> ServiceImpl::BeginUpload(UploadTarget target) {
  DORMOUSE_CO_ASSIGN(SandboxPtr sandbox, co_await FindLiveSandbox(target.sandbox_id));
  DORMOUSE_CO_ASSIGN(const auto workspace, co_await LoadWorkspace(sandbox));
  Upload upload;
  DORMOUSE_CO_ASSIGN(upload.limit_bytes,
                     workspace->Read([&](const workspace::Tree& tree) -> Result<std::uint64_t> {
                       const workspace::Draft before(tree);
                       const auto old = workspace::FindFile(before, target.path);
                       const std::uint64_t freed_bytes = old.ok() ? old->size_bytes : 0;
                       // An empty file in its place meets all obstacles that the real one would.
                       workspace::Draft trial(tree);
                       const workspace::WriteOptions options{target.create_parents, target.overwrite};
                       DORMOUSE_TRY(workspace::WriteFile(trial, target.path, Sha256Digest(), 0,
                                                         options, 0));
                       DORMOUSE_TRY(workspace::CheckQuota(
                           tree.totals(), trial.totals(),
                           {config_.workspace_bytes, config_.workspace_files}));
                       const std::uint64_t used_bytes = tree.totals().bytes - freed_bytes;
                       return config_.workspace_bytes - std::min(config_.workspace_bytes, used_bytes);
                     }));
  DORMOUSE_CO_ASSIGN(upload.file, store_->files().CreateTemporary());
  co_return upload;
}

ServiceImpl::Task<FileInfo> ServiceImpl::FinishUpload(UploadTarget target, FileDescriptor file) {
  DORMOUSE_CO_ASSIGN(SandboxPtr sandbox, co_await FindLiveSandbox(target.sandbox_id));
  co_return co_await Detach(
      FinishUploadNow(std::move(sandbox), std::move(target), std::move(file)));
}

ServiceImpl::Task<FileInfo> ServiceImpl::FinishUploadNow(SandboxPtr sandbox, UploadTarget target,
                                                         FileDescriptor file) {
  Result<workspace::StagedContent> staged =
      co_await OnPool(pool_, [this, &file] { return contents_.StageOwned(std::move(file)); });
  if (!staged.ok()) co_return std::move(staged).error();
  const Sha256Digest digest = staged->digest;
  const std::uint64_t size_bytes = staged->size_bytes;
  std::vector<workspace::StagedContent> contents;
  contents.push_back(std::move(*staged));
  const workspace::WriteOptions options{target.create_parents, target.overwrite};
  co_return co_await ChangeTree(
      std::move(sandbox), std::move(contents),
      [&](workspace::Draft& draft, std::int64_t now_ns) {
        return workspace::WriteFile(draft, target.path, digest, size_bytes, options, now_ns);
      });
}

ServiceImpl::Task<FileInfo> ServiceImpl::Make(MakeDirectory request) {
  DORMOUSE_CO_ASSIGN(SandboxPtr sandbox, co_await FindLiveSandbox(request.sandbox_id));
  const auto parents = request.parents ? workspace::Parents::kMake : workspace::Parents::kMustExist;
  co_return co_await Detach(ChangeTree(
      std::move(sandbox), {},
      [path = std::move(request.path), parents](workspace::Draft& draft, std::int64_t now_ns) {
        return workspace::MakeDirectory(draft, path, parents, now_ns);
      }));
}

ServiceImpl::Task<FileInfo> ServiceImpl::Move(MoveFile request) {
  DORMOUSE_CO_ASSIGN(SandboxPtr sandbox, co_await FindLiveSandbox(request.sandbox_id));
  const auto overwrite = request.overwrite ? workspace::Overwrite::kYes : workspace::Overwrite::kNo;
  co_return co_await Detach(ChangeTree(
      std::move(sandbox), {},
      [from = std::move(request.from), to = std::move(request.to), overwrite](
          workspace::Draft& draft, std::int64_t now_ns) {
        return workspace::Move(draft, from, to, overwrite, now_ns);
      }));
}

ServiceImpl::Task<void> ServiceImpl::DeleteFile(std::string sandbox_id, std::string path) {
  DORMOUSE_CO_ASSIGN(SandboxPtr sandbox, co_await FindLiveSandbox(std::move(sandbox_id)));
  const Result<FileInfo> deleted = co_await Detach(ChangeTree(
      std::move(sandbox), {},
      [path = std::move(path)](workspace::Draft& draft,
                               std::int64_t now_ns) -> Result<workspace::TreeEntry> {
        DORMOUSE_TRY(workspace::Delete(draft, path, now_ns));
        return workspace::TreeEntry();
      }));
  if (!deleted.ok()) co_return deleted.error();
  co_return Result<void>();
}

ServiceImpl::Task<void> ServiceImpl::ExtractArchive(std::string sandbox_id, Sha256Digest archive,
                                                    std::uint64_t archive_bytes,
                                                    std::function<bool()> is_stopped) {
  DORMOUSE_CO_ASSIGN(SandboxPtr sandbox, co_await FindLiveSandbox(std::move(sandbox_id)));
  Result<FileDescriptor> file =
      co_await OnPool(pool_, [this, archive] { return store_->OpenContent(archive); });
  if (!file.ok()) co_return std::move(file).error();
  workspace::ArchiveReader reader(std::move(*file), archive_bytes,
                                  {config_.workspace_files, config_.workspace_bytes}, *store_,
                                  contents_, std::move(is_stopped));
  // Contents are stored as they come, so that memory holds one portion; the tree changes at once, in the end.
  std::vector<store::ContentPin> pins;
  for (bool is_last = false; !is_last;) {
    Result<workspace::ArchiveReader::Portion> portion =
        co_await OnPool(pool_, [&reader] { return reader.Next(); });
    if (!portion.ok()) co_return std::move(portion).error();
    is_last = portion->is_last;
    DORMOUSE_CO_TRY(CheckLive(*sandbox));
    store::Transaction transaction;
    for (workspace::StagedContent& content : portion->contents) {
      pins.push_back(store_->pins().Acquire(content.digest).pin);
      std::move(content).AddTo(transaction);
    }
    DORMOUSE_CO_TRY(co_await store_->Commit(std::move(transaction)));
  }
  workspace::RunChanges changes;
  changes.upserts = reader.TakeEntries();
  DORMOUSE_CO_TRY(workspace::CheckRunChanges(changes));
  Result<FileInfo> changed = co_await ChangeTree(
      std::move(sandbox), {},
      [&changes](workspace::Draft& draft, std::int64_t now_ns) -> Result<workspace::TreeEntry> {
        workspace::MergeRun(draft, std::move(changes), now_ns);
        return workspace::TreeEntry();
      });
  if (!changed.ok()) co_return std::move(changed).error();
  co_return Result<void>();
}

}  // namespace dormouse::service
