// SPDX-License-Identifier: Apache-2.0
// WorkspaceRuns: the one implementation of WorkspaceRunService. Split over files by idea: workspace_runs.cc (making,
// finding, starting, cancelling, events), workspace_run_uploads.cc, workspace_run_upkeep.cc (after a crash, retention).
// What a started run does is in workspace_run_job.h.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "service/service_impl.h"
#include "service/workspace_run_log.h"
#include "service/workspace_run_types.h"

namespace dormouse::service {

class WorkspaceRuns final : public WorkspaceRunService {
 public:
  // Borrows `service`, of which it is a part.
  explicit WorkspaceRuns(ServiceImpl& service) : service_(service) {}
  // Ends what a predecessor left running. Once, before the first call.
  void Recover();
  // From housekeeping: forgets what is old, a bounded number at a time.
  boost::asio::awaitable<void> Sweep();
  // The service stops: who waits for events waits no more.
  void Close();

  Async<void> CheckAccess(Caller caller, std::string run_id) override;
  Async<WorkspaceRun> Create(CreateWorkspaceRun request) override;
  Async<WorkspaceRun> Get(std::string run_id) override;
  Async<Paged<WorkspaceRun>> List(ListWorkspaceRuns request) override;
  Async<WorkspaceRun> Upload(UploadArchive request) override;
  Async<ArchiveTransfer> CreateTransfer(CreateArchiveTransfer request) override;
  Async<TransferTarget> BeginTransfer(std::string run_id, std::string upload_id) override;
  Async<void> FinishTransfer(std::string run_id, std::string upload_id,
                             FileDescriptor file) override;
  Async<WorkspaceRun> Finalize(FinalizeArchive request) override;
  Async<WorkspaceRun> Start(std::string run_id) override;
  Async<WorkspaceRun> Cancel(std::string run_id) override;
  Async<WorkspaceRunEvents> Events(std::string run_id, std::int64_t after_seq,
                                   std::uint32_t limit) override;
  Async<WorkspaceRunEvents> WaitForEvents(std::string run_id, std::int64_t after_seq,
                                          std::uint32_t limit,
                                          std::chrono::milliseconds patience) override;

 private:
  template <typename T>
  using Task = boost::asio::awaitable<Result<T>>;
  using StatePtr = std::shared_ptr<WorkspaceRunState>;
  friend class WorkspaceRunJob;

  StatePtr StateOf(const std::string& run_id);
  // kNotFound.
  Task<WorkspaceRun> Read(std::string run_id);
  std::shared_ptr<WorkspaceRunLog> MakeLog(StatePtr state, WorkspaceRun row);
  bool Spawn(boost::asio::awaitable<void> operation);
  // A transaction that drops the run's archive and uploads.
  Task<store::Transaction> DropArchive(WorkspaceRun& row);

  // ── workspace_runs.cc: each runs detached, and takes the state's lock.
  Task<WorkspaceRun> CreateNow(WorkspaceRun row, Answerer<WorkspaceRun> answer);
  Task<WorkspaceRun> StartNow(std::string run_id, StatePtr state);
  Task<WorkspaceRun> CancelUnstarted(std::string run_id, StatePtr state);
  // Asks a started run to stop.
  void RequestStop(const StatePtr& state);

  // ── the queue: at most `workspace_runs_at_once` have a turn. False: canceled while waiting.
  boost::asio::awaitable<bool> TakeTurn(StatePtr state);
  void ReleaseTurn();
  // One run at a time in a sandbox.
  bool ClaimSandbox(const std::string& sandbox_id);
  void ReleaseSandbox(const std::string& sandbox_id);

  // ── workspace_run_uploads.cc
  Task<WorkspaceRun> UploadNow(UploadArchive request, StatePtr state);
  Task<ArchiveTransfer> CreateTransferNow(store::WorkspaceUploadRow row,
                                          Answerer<ArchiveTransfer> answer, StatePtr state);
  Task<void> FinishTransferNow(store::WorkspaceUploadRow upload, FileDescriptor file, StatePtr state);
  Task<WorkspaceRun> FinalizeNow(FinalizeArchive request, StatePtr state);
  Task<store::WorkspaceUploadRow> ReadUpload(const std::string& run_id, std::string upload_id);
  // Makes the content the run's archive and stores that.
  Task<WorkspaceRun> SetArchive(WorkspaceRun row, StatePtr state, store::ArchiveInfo archive,
                                store::Transaction transaction);
  ArchiveTransfer Describe(const store::WorkspaceUploadRow& row) const;

  // ── workspace_run_upkeep.cc
  boost::asio::awaitable<void> EndAbandoned(WorkspaceRun row);
  boost::asio::awaitable<void> GiveUp(std::string run_id);
  boost::asio::awaitable<void> DropOldRuns();
  boost::asio::awaitable<void> GiveUpForgottenRuns();
  boost::asio::awaitable<void> ExpireUploads();

  ServiceImpl& service_;

  std::mutex mutex_;  // guards all below
  std::unordered_map<std::string, std::weak_ptr<WorkspaceRunState>> states_;
  std::size_t turns_ = 0;
  std::deque<StatePtr> queue_;
  std::set<std::string> busy_sandboxes_;
};

}  // namespace dormouse::service
