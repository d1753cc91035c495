// SPDX-License-Identifier: Apache-2.0
// FakeWorkspaceRuns: a WorkspaceRunService for tests of the outer interfaces, with one run in it.
#pragma once

#include <sys/mman.h>

#include "service/workspace_run_types.h"

namespace dormouse::http {

class FakeWorkspaceRuns : public service::WorkspaceRunService {
 public:
  service::WorkspaceRun run = TestRun();
  std::vector<service::WorkspaceRunEvent> events;  // ascending
  std::optional<Error> failure;                    // what every call answers, when set
  service::CreateWorkspaceRun last_create;
  service::ListWorkspaceRuns last_list;
  service::UploadArchive last_upload;
  service::FinalizeArchive last_finalize;
  std::uint64_t upload_limit = 1u << 20;

  static service::WorkspaceRun TestRun() {
    service::WorkspaceRun run;
    run.id = "wsr_1";
    run.org_id = "org_1";
    run.project_id = "prj_1";
    run.status = "running";
    run.command = "TOKEN=x python a.py";
    run.template_slug = "base";
    run.metadata = {{"name", "test"}};
    run.source_metadata = "{\"branch\":\"m\u00e4in\"}";
    run.created_ms = 1'000;
    run.started_ms = 2'000;
    run.archive = store::ArchiveInfo{Sha256("x"), 1, 1'500};
    return run;
  }

  Async<void> CheckAccess(service::Caller, std::string) override { co_return Result<void>(); }
  Async<service::WorkspaceRun> Create(service::CreateWorkspaceRun request) override {
    last_create = std::move(request);
    co_return Answer(run);
  }
  Async<service::WorkspaceRun> Get(std::string run_id) override {
    if (run_id != run.id) co_return Error(ErrorCode::kNotFound, "no such run");
    co_return Answer(run);
  }
  Async<service::Paged<service::WorkspaceRun>> List(service::ListWorkspaceRuns request) override {
    last_list = std::move(request);
    co_return Answer(service::Paged<service::WorkspaceRun>{{run}, "next page"});
  }
  Async<service::WorkspaceRun> Upload(service::UploadArchive request) override {
    last_upload = std::move(request);
    co_return Answer(run);
  }
  Async<service::ArchiveTransfer> CreateTransfer(service::CreateArchiveTransfer request) override {
    service::ArchiveTransfer transfer;
    transfer.id = "upl_1";
    transfer.run_id = std::move(request.run_id);
    transfer.status = "pending";
    co_return Answer(transfer);
  }
  Async<service::TransferTarget> BeginTransfer(std::string, std::string) override {
    if (failure) co_return *failure;
    co_return service::TransferTarget{FileDescriptor(::memfd_create("upload", MFD_CLOEXEC)),
                                      upload_limit};
  }
  Async<void> FinishTransfer(std::string, std::string, FileDescriptor) override {
    if (failure) co_return *failure;
    co_return Result<void>();
  }
  Async<service::WorkspaceRun> Finalize(service::FinalizeArchive request) override {
    last_finalize = std::move(request);
    co_return Answer(run);
  }
  Async<service::WorkspaceRun> Start(std::string) override { co_return Answer(run); }
  Async<service::WorkspaceRun> Cancel(std::string) override { co_return Answer(run); }
  Async<service::WorkspaceRunEvents> Events(std::string, std::int64_t after_seq,
                                            std::uint32_t limit) override {
    service::WorkspaceRunEvents page;
    for (const service::WorkspaceRunEvent& event : events) {
      if (event.seq <= after_seq) continue;
      if (page.items.size() == limit) {
        page.has_more = true;
        break;
      }
      page.items.push_back(event);
    }
    co_return Answer(page);
  }
  Async<service::WorkspaceRunEvents> WaitForEvents(std::string run_id, std::int64_t after_seq,
                                                   std::uint32_t limit,
                                                   std::chrono::milliseconds) override {
    return Events(std::move(run_id), after_seq, limit);
  }

 private:
  template <typename T>
  Result<T> Answer(T value) const {
    if (failure) return *failure;
    return value;
  }
};

}  // namespace dormouse::http
