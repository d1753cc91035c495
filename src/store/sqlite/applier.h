// SPDX-License-Identifier: Apache-2.0
// Applier: turns a Transaction into statements. The caller begins and ends the database's transaction.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/result.h"
#include "store/sqlite/database.h"
#include "store/store.h"

namespace dormouse::store::sqlite {

// A file that no row refers to any more.
using DroppedFile = std::pair<DataFileKind, std::string>;

class Applier {
 public:
  explicit Applier(Database& database) : database_(database) {}

  // On an error the caller must roll back.
  Result<void> Apply(const Transaction& transaction);
  // Removes contents without references that `pins` lets go; `claimed` tells which, for ContentPins::Forget.
  Result<void> SweepContents(std::size_t limit, ContentPins& pins, std::vector<Sha256Digest>& claimed);

  // Valid once the transaction is committed.
  std::vector<DroppedFile>& dropped_files() { return dropped_files_; }

 private:
  Result<void> PutApiKey(const ApiKeyRow& row);
  Result<void> DropApiKey(const std::string& id);
  Result<void> TouchApiKey(const std::string& id, std::int64_t last_used_ms);
  Result<void> AddProject(const ProjectRow& row);
  Result<void> AddUsage(const UsageRow& row);
  Result<void> PutAnswer(const AnswerRow& row);
  Result<void> DropAnswer(const Sha256Digest& scope);
  Result<void> PutSandbox(const SandboxRow& row);
  Result<void> PutContext(const ContextRow& row);
  Result<void> Touch(const Transaction::Touched& touched);
  Result<void> AddSegment(const SegmentRow& row);
  Result<void> AddGeneration(const std::string& context_id, const GenerationRow& row);
  Result<void> DropGeneration(const std::string& context_id, std::uint64_t number);
  Result<void> DropContext(const std::string& context_id);
  Result<void> DropSandboxData(const std::string& sandbox_id);
  // workspace_run_applier.cc
  Result<void> ApplyWorkspaceRuns(const Transaction& transaction);
  Result<void> PutWorkspaceRun(const WorkspaceRunRow& row);
  Result<void> AddWorkspaceRunEvent(const WorkspaceRunEventRow& row);
  Result<void> PutWorkspaceUpload(const WorkspaceUploadRow& row);
  Result<void> DropWorkspaceUpload(const std::string& id);
  Result<void> DropWorkspaceRun(const std::string& id);
  Result<void> AddContent(const ContentRow& row);
  Result<void> ApplyTree(const TreeChange& change);
  Result<void> AddArtifact(const ArtifactRow& row);
  Result<void> DeleteArtifact(const Transaction::DeletedArtifact& deleted);
  Result<void> DropTreeEntry(const std::string& sandbox_id, const std::string& path);
  Result<void> PutTreeEntry(const std::string& sandbox_id, const TreeEntry& entry);
  // Brings the counts of references up to date, and removes segments that lost their last one.
  Result<void> SettleSegments();
  Result<void> SettleContents();

  Database& database_;
  // Net changes, so that a new generation and the one it pushes out cost nothing for the segments they share.
  std::map<std::int64_t, std::int64_t> segment_refs_;
  std::map<Sha256Digest, std::int64_t> content_refs_;
  std::vector<DroppedFile> dropped_files_;
};

}  // namespace dormouse::store::sqlite
