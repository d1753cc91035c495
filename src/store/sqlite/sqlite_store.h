// SPDX-License-Identifier: Apache-2.0
// SqliteStore: the Store over one SQLite database in write-ahead mode.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string_view>

#include "store/sqlite/reader_pool.h"
#include "store/sqlite/syncer.h"
#include "store/sqlite/writer.h"
#include "store/store.h"

namespace dormouse::store::sqlite {

class SqliteStore final : public Store {
 public:
  static Result<std::unique_ptr<Store>> Open(StoreOptions options);
  ~SqliteStore() override;

  boost::asio::awaitable<Result<void>> Commit(Transaction transaction) override;
  std::int64_t NextSegmentId() override { return next_segment_id_.fetch_add(1); }
  DataFiles& files() override { return *files_; }
  ContentPins& pins() override { return pins_; }

  Result<std::vector<ApiKeyRow>> ReadApiKeys() override;
  Result<OrganizationRow> ReadOrganization() override;
  Result<std::vector<ProjectRow>> ReadProjects() override;
  Result<std::vector<UsageRow>> ReadUsage(std::int64_t first_day) override;
  Result<std::vector<AnswerInfo>> ReadAnswerInfos() override;
  Result<std::optional<AnswerRow>> ReadAnswer(const Sha256Digest& scope) override;
  Result<std::optional<SandboxRow>> ReadSandbox(std::string_view id) override;
  Result<std::vector<SandboxRow>> ReadSandboxes(const SandboxQuery& query) override;
  Result<std::vector<std::string>> ReadExpiredSandboxes(std::int64_t now_ms,
                                                        std::uint32_t limit) override;
  Result<std::vector<std::string>> ReadIdleSandboxes(std::string_view template_slug,
                                                     std::int64_t unused_since_ms,
                                                     std::uint32_t limit) override;
  Result<std::vector<ContextRow>> ReadContexts(std::string_view sandbox_id) override;
  Result<std::vector<GenerationRow>> ReadGenerations(std::string_view context_id) override;
  Result<std::vector<EngineUse>> ReadEngineUses() override;
  Result<std::vector<LoadedSegment>> ReadSegments(const std::vector<SegmentRef>& refs) override;
  Result<std::vector<TreeEntry>> ReadTree(std::string_view sandbox_id) override;
  Result<std::optional<std::uint64_t>> ReadContentSize(const Sha256Digest& digest) override;
  Result<FileDescriptor> OpenContent(const Sha256Digest& digest) override;
  Result<std::optional<ArtifactRow>> ReadArtifact(std::string_view id) override;
  Result<std::vector<ArtifactRow>> ReadArtifacts(const ArtifactQuery& query) override;
  Result<std::uint64_t> ReadArtifactCharge(std::string_view sandbox_id) override;
  Result<std::vector<ArtifactRow>> ReadExpiredArtifacts(std::int64_t now_ms,
                                                        std::uint32_t limit) override;
  Result<std::vector<std::string>> ReadOldTombstones(std::int64_t deleted_before_ms,
                                                     std::uint32_t limit) override;
  Result<StoreTotals> ReadTotals() override;
  Result<std::optional<WorkspaceRunRow>> ReadWorkspaceRun(std::string_view id) override;
  Result<std::vector<WorkspaceRunRow>> ReadWorkspaceRuns(const WorkspaceRunQuery& query) override;
  Result<std::vector<WorkspaceRunRow>> ReadActiveWorkspaceRuns() override;
  Result<std::vector<std::string>> ReadOldWorkspaceRuns(std::int64_t ended_before_ms,
                                                        std::uint32_t limit) override;
  Result<std::vector<std::string>> ReadForgottenWorkspaceRuns(std::int64_t created_before_ms,
                                                              std::uint32_t limit) override;
  Result<std::vector<WorkspaceRunEventRow>> ReadWorkspaceRunEvents(std::string_view run_id,
                                                                   std::int64_t after_seq,
                                                                   std::uint32_t limit) override;
  Result<std::optional<WorkspaceUploadRow>> ReadWorkspaceUpload(std::string_view id) override;
  Result<std::vector<WorkspaceUploadRow>> ReadWorkspaceUploads(std::string_view run_id) override;
  Result<std::vector<WorkspaceUploadRow>> ReadExpiredWorkspaceUploads(std::int64_t now_ms,
                                                                      std::uint32_t limit) override;

  boost::asio::awaitable<Result<std::size_t>> SweepContents(std::size_t limit) override;
  Result<std::size_t> SweepOrphanFiles() override;

 private:
  SqliteStore(std::unique_ptr<DataFiles> files, std::filesystem::path database);
  Result<void> Prepare(StoreOptions options);
  boost::asio::awaitable<Result<std::size_t>> Submit(Writer::Job job);

  const std::unique_ptr<DataFiles> files_;
  const std::filesystem::path path_;
  ContentPins pins_;
  ReaderPool readers_;
  std::atomic<std::int64_t> next_segment_id_{1};
  std::unique_ptr<Syncer> syncer_;
  std::unique_ptr<Writer> writer_;
};

}  // namespace dormouse::store::sqlite
