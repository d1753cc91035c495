// SPDX-License-Identifier: Apache-2.0
// Workspace runs, as the service hands them out, and the interface to them.
//
// A workspace run is a job: an archive is uploaded, unpacked into a sandbox, a command runs there, files are collected.
// Its life: awaiting_archive, archive_uploaded, then after the start starting (waits for its turn), extracting, running,
// collecting; it ends as succeeded, failed or canceled.
//
// Threads: every call may be made from any thread.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/file_descriptor.h"
#include "common/result.h"
#include "common/sha256.h"
#include "service/types.h"
#include "store/workspace_run_rows.h"

namespace dormouse::service {

using WorkspaceRun = store::WorkspaceRunRow;
using WorkspaceRunEvent = store::WorkspaceRunEventRow;
using WantedArtifact = store::WantedArtifact;

bool HasEnded(const WorkspaceRun& run);
// The names that the commands of the run give values to, sorted.
std::vector<std::string> EnvKeysOf(const WorkspaceRun& run);
// Whether the server did its part, whatever the command came to; nothing until the run has ended.
std::optional<bool> OrchestrationSucceeded(const WorkspaceRun& run);
// Every status there is.
bool IsWorkspaceRunStatus(std::string_view status);

struct CreateWorkspaceRun {
  Caller caller;
  std::string command;
  std::vector<WantedArtifact> artifacts;
  bool keep_sandbox = false;
  StringMap metadata;
  std::string source_metadata;  // a JSON object as text; empty: none
  std::string project_id;       // empty: the default
  std::string sandbox_id;       // empty: one is made for the run
  std::string template_slug;        // empty: the default
  std::string template_version_id;  // empty: whatever the slug says
  std::optional<std::int64_t> timeout_ms;
  Answerer<WorkspaceRun> answer;
};

struct ListWorkspaceRuns {
  Caller caller;  // sees those of its projects
  Page page;
  std::string project_id;
  std::string status;
  StringMap metadata;
};

struct UploadArchive {
  std::string run_id;
  std::string bytes;
  std::optional<Sha256Digest> sha256;  // what the client says it sends
  std::optional<std::uint64_t> size_bytes;
};

struct ArchiveTransfer {
  std::string id;  // upl_…
  std::string run_id;
  std::string status;  // pending, uploaded, finalized, expired
  Time expires_at;
  std::uint64_t max_size_bytes = 0;
};

struct CreateArchiveTransfer {
  std::string run_id;
  Sha256Digest sha256;
  std::uint64_t size_bytes = 0;
  Answerer<ArchiveTransfer> answer;
};

// Where the bytes of a transfer go before they are taken.
struct TransferTarget {
  FileDescriptor file;
  std::uint64_t limit_bytes = 0;
};

struct FinalizeArchive {
  std::string run_id;
  std::string upload_id;
  Sha256Digest sha256;
  std::uint64_t size_bytes = 0;
};

struct WorkspaceRunEvents {
  std::vector<WorkspaceRunEvent> items;
  bool has_more = false;
};

class WorkspaceRunService {
 public:
  template <typename T>
  using Async = boost::asio::awaitable<Result<T>>;

  virtual ~WorkspaceRunService() = default;

  // kNotFound when there is no such run in the caller's projects. Every route that names a run asks this first.
  virtual Async<void> CheckAccess(Caller caller, std::string run_id) = 0;
  virtual Async<WorkspaceRun> Create(CreateWorkspaceRun request) = 0;
  virtual Async<WorkspaceRun> Get(std::string run_id) = 0;
  virtual Async<Paged<WorkspaceRun>> List(ListWorkspaceRuns request) = 0;

  // The archive in one request. The same bytes again: the same answer. kUploadConflict when there is another archive.
  virtual Async<WorkspaceRun> Upload(UploadArchive request) = 0;
  virtual Async<ArchiveTransfer> CreateTransfer(CreateArchiveTransfer request) = 0;
  // A file for the bytes, which goes back to FinishTransfer. The same bytes again are fine; kUploadConflict once the
  // transfer is finalized.
  virtual Async<TransferTarget> BeginTransfer(std::string run_id, std::string upload_id) = 0;
  virtual Async<void> FinishTransfer(std::string run_id, std::string upload_id,
                                     FileDescriptor file) = 0;
  virtual Async<WorkspaceRun> Finalize(FinalizeArchive request) = 0;

  // Returns as soon as the run is on its way; again: the run as it is. kUploadIncomplete without an archive.
  virtual Async<WorkspaceRun> Start(std::string run_id) = 0;
  // Stops the run wherever it is and waits a little for its end. A run that has ended stays as it is.
  virtual Async<WorkspaceRun> Cancel(std::string run_id) = 0;

  // Events after `after_seq`, at most `limit`.
  virtual Async<WorkspaceRunEvents> Events(std::string run_id, std::int64_t after_seq,
                                           std::uint32_t limit) = 0;
  // The same, but when there are none waits for the next one, at most `patience`.
  virtual Async<WorkspaceRunEvents> WaitForEvents(std::string run_id, std::int64_t after_seq,
                                                  std::uint32_t limit,
                                                  std::chrono::milliseconds patience) = 0;
};

}  // namespace dormouse::service
