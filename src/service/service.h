// SPDX-License-Identifier: Apache-2.0
// Service: the rules of the product behind every outer interface (HTTP, CLI, MCP).
//
// Threads: every call may be made from any thread; coroutines resume on the executor given at creation.
// Failure: an Error leaves everything as it was. A returned value is durable in the configured sense.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/file_descriptor.h"
#include "common/result.h"
#include "service/config.h"
#include "service/types.h"
#include "service/workspace_run_types.h"

namespace dormouse::scheduler {
struct EngineBuild;
class WorkerHost;
}

namespace dormouse::service {

using EngineLoader = std::function<Result<std::vector<scheduler::EngineBuild>>()>;

class Service {
 public:
  template <typename T>
  using Async = boost::asio::awaitable<Result<T>>;

  virtual ~Service() = default;  // after Stop()

  // Opens or makes the data directory, finishes what a crash left half done, starts the zygote.
  static Result<std::unique_ptr<Service>> Open(boost::asio::any_io_executor executor, Config config);
  // The same over workers of the caller's choice.
  // `load_engines`: what is installed now; blocks. Empty: that never changes.
  static Result<std::unique_ptr<Service>> OpenWith(boost::asio::any_io_executor executor,
                                                   Config config,
                                                   std::unique_ptr<scheduler::WorkerHost> host,
                                                   EngineLoader load_engines = nullptr);
  // Refuses new runs, lets running ones end within `config.shutdown_grace`, interrupts the rest, commits, ends workers.
  virtual boost::asio::awaitable<void> Stop() = 0;

  // The key's caller, or kUnauthorized. Constant time in the secret.
  virtual Result<Caller> Authenticate(std::string_view secret) const = 0;
  // kNotFound when there is no such sandbox in the caller's projects. Every route that names a sandbox asks this first.
  virtual Async<void> CheckAccess(Caller caller, std::string sandbox_id) = 0;
  virtual Async<void> CheckArtifactAccess(Caller caller, std::string artifact_id) = 0;

  virtual Async<Project> CreateProject(std::string name, Answerer<Project> answer) = 0;
  virtual Async<Paged<Project>> ListProjects(Caller caller, Page page) = 0;
  // kForbidden for scopes and projects that the caller does not have.
  virtual Async<NewApiKey> Create(CreateApiKey request) = 0;
  // A caller that is restricted to projects sees the keys that are restricted to some of these.
  virtual Async<Paged<ApiKey>> ListApiKeys(Caller caller, Page page) = 0;
  virtual Async<ApiKey> GetApiKey(Caller caller, std::string key_id) = 0;
  // Again: the same answer. kConflict for the last key that can make keys.
  virtual Async<ApiKey> RevokeApiKey(Caller caller, std::string key_id) = 0;
  virtual Async<Usage> GetUsage(Caller caller) = 0;

  // Answers to requests that carry an idempotency key. They are kept for 24 hours within a bound of bytes; bodies over
  // 1 MiB are not kept, only that there was an answer.
  virtual Async<std::optional<StoredAnswer>> FindAnswer(Sha256Digest scope) = 0;
  virtual Async<void> StoreAnswer(StoredAnswer answer) = 0;

  virtual Async<Sandbox> Create(CreateSandbox request) = 0;
  virtual Async<Sandbox> GetSandbox(std::string sandbox_id) = 0;
  virtual Async<Paged<Sandbox>> List(ListSandboxes request) = 0;
  virtual Async<Sandbox> DestroySandbox(std::string sandbox_id) = 0;  // again: the same answer
  virtual Async<Sandbox> SetTtl(std::string sandbox_id, std::int64_t ttl_ms) = 0;
  virtual Async<SandboxInfo> Info(std::string sandbox_id) = 0;

  virtual std::vector<Binding> Bindings() const = 0;
  virtual Async<std::vector<Engine>> ListEngines(Caller caller) = 0;
  // Takes up what was installed or removed since the start, and makes images for bindings that preload code. When that
  // fails everything stays as it is.
  virtual Async<void> ReloadEngines() = 0;

  virtual Async<Context> Create(CreateContext request) = 0;
  virtual Async<Context> GetContext(std::string sandbox_id, std::string context_id) = 0;
  virtual Async<Paged<Context>> ListContexts(std::string sandbox_id, Page page) = 0;
  virtual Async<Context> DeleteContext(std::string sandbox_id, std::string context_id) = 0;
  // Stops the run in progress, if there is one; returns at once.
  virtual Async<Context> InterruptContext(std::string sandbox_id, std::string context_id) = 0;
  // Waits for the run in progress, then makes the context dormant.
  virtual Async<Context> EvictContext(std::string sandbox_id, std::string context_id) = 0;
  // A new context with the memory of `generation` (absent: the latest); the workspace is shared, not copied.
  virtual Async<Context> ForkContext(std::string sandbox_id, std::string context_id, std::string name,
                                     std::optional<std::uint64_t> generation,
                                     Answerer<Context> answer) = 0;
  virtual Async<Context> RollbackContext(std::string sandbox_id, std::string context_id,
                                         std::uint64_t generation) = 0;
  virtual Async<std::vector<Generation>> ListGenerations(std::string sandbox_id,
                                                         std::string context_id) = 0;

  // Runs a cell; runs in one context are queued in order of arrival. `listener` may be null; it is called until the
  // coroutine ends. The run goes on to its own end even when the caller abandons the coroutine's result.
  virtual Async<RunResult> Run(RunRequest request, std::shared_ptr<RunListener> listener) = 0;
  // A run that ended in the last ten minutes, or kNotFound; kConflict while it still runs.
  virtual Async<RunResult> GetRun(std::string sandbox_id, std::string run_id) = 0;

  // The same without a sandbox. Such a run leaves nothing behind but its usage. `listener` is told no context.
  virtual Async<RunResult> Run(StatelessRun request, std::shared_ptr<RunListener> listener) = 0;
  virtual Async<RunResult> GetStatelessRun(Caller caller, std::string run_id) = 0;
  // Stops it if it goes on; returns at once. False when it has ended.
  virtual Async<bool> InterruptStatelessRun(Caller caller, std::string run_id) = 0;

  // Paths are absolute or relative to /workspace, in UTF-8.
  virtual Async<std::vector<FileInfo>> ListFiles(std::string sandbox_id, std::string path) = 0;
  virtual Async<FileInfo> StatFile(std::string sandbox_id, std::string path) = 0;
  // An open descriptor of an immutable content, and its size. Follows symlinks.
  struct OpenedFile {
    FileInfo info;
    FileDescriptor descriptor;
  };
  virtual Async<OpenedFile> OpenFile(std::string sandbox_id, std::string path) = 0;
  struct WriteFile {
    std::string sandbox_id;
    std::string path;
    std::string content;
    bool create_parents = false;
    bool overwrite = true;
  };
  virtual Async<FileInfo> Write(WriteFile request) = 0;
  struct MakeDirectory {
    std::string sandbox_id;
    std::string path;
    bool parents = false;
  };
  virtual Async<FileInfo> Make(MakeDirectory request) = 0;
  struct MoveFile {
    std::string sandbox_id;
    std::string from;
    std::string to;
    bool overwrite = false;
  };
  virtual Async<FileInfo> Move(MoveFile request) = 0;
  virtual Async<void> DeleteFile(std::string sandbox_id, std::string path) = 0;

  // A file of any size that comes in pieces: the caller writes it to `file`, at most `limit_bytes`, and hands it back.
  struct UploadTarget {
    std::string sandbox_id;
    std::string path;
    bool create_parents = false;
    bool overwrite = true;
  };
  struct Upload {
    FileDescriptor file;
    std::uint64_t limit_bytes = 0;
    ErrorCode too_large = ErrorCode::kQuotaExceeded;  // what more bytes than these are called
  };
  // Fails at once for what could not be written anyway. Reserves nothing.
  virtual Async<Upload> BeginUpload(UploadTarget target) = 0;
  virtual Async<FileInfo> FinishUpload(UploadTarget target, FileDescriptor file) = 0;

  // Artifacts outlive their sandbox, until they are deleted or their retention is over.
  virtual Async<Artifact> Create(CreateArtifact request) = 0;
  virtual Async<Paged<Artifact>> List(ListArtifacts request) = 0;
  virtual Async<Artifact> GetArtifact(std::string artifact_id) = 0;  // also a deleted one
  struct OpenedArtifact {
    Artifact artifact;
    FileDescriptor descriptor;  // of an immutable content
  };
  virtual Async<OpenedArtifact> OpenArtifact(std::string artifact_id) = 0;  // kNotFound when deleted
  virtual Async<Artifact> DeleteArtifact(std::string artifact_id) = 0;      // again: the same answer

  // Jobs over whole workspaces.
  virtual WorkspaceRunService& workspace_runs() = 0;

  // Prometheus text format.
  virtual std::string Metrics() const = 0;
};

}  // namespace dormouse::service
