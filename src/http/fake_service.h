// SPDX-License-Identifier: Apache-2.0
// FakeService: a Service for tests of the outer interfaces. It keeps no state but what a test gives
// it, and remembers what it was asked.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <functional>
#include <map>
#include <mutex>

#include "http/fake_workspace_runs.h"
#include "service/service.h"

namespace dormouse::http {

inline constexpr std::string_view kTestKey = "dm_live_test_secret";

// Threads: the members that tests set are set before the first request; `last_*` are read after the
// last answer.
class FakeService : public service::Service {
 public:
  using RunFunction = std::function<boost::asio::awaitable<Result<service::RunResult>>(
      service::RunRequest, std::shared_ptr<service::RunListener>)>;

  RunFunction run = [](service::RunRequest request, std::shared_ptr<service::RunListener> listener)
      -> boost::asio::awaitable<Result<service::RunResult>> {
    if (listener) listener->OnStart("run_1", "cctx_1");
    service::RunResult result = ResultFor(request);
    co_return result;
  };
  std::map<std::string, std::string> files;  // absolute path → content
  std::optional<Error> failure;              // what every call but Run answers, when set
  std::shared_ptr<const service::Grants> grants;  // of the test's key
  std::mutex answers_mutex;
  std::map<Sha256Digest, service::StoredAnswer> answers;
  service::CreateApiKey last_key;
  service::RunRequest last_run;
  service::CreateSandbox last_create;
  service::ListSandboxes last_list;
  service::CreateContext last_context;
  WriteFile last_write;
  UploadTarget last_upload;
  std::uint64_t upload_limit = 1u << 20;
  service::Artifact artifact{.id = "art_1", .sandbox_id = "sbx_1", .name = "a.txt",
                             .content_type = "text/plain", .sha256 = "5ec"};
  std::string artifact_content = "0123456789";
  service::CreateArtifact last_artifact;
  service::ListArtifacts last_artifact_list;
  std::optional<std::uint64_t> last_generation;
  std::string last_project;
  std::string last_name;
  std::string last_path;
  std::int64_t last_ttl_ms = 0;

  static service::RunResult ResultFor(const service::RunRequest& request) {
    service::RunResult result;
    result.run_id = "run_1";
    result.sandbox_id = request.sandbox_id;
    result.context_id = request.context_id.empty() ? "cctx_1" : request.context_id;
    result.language = request.language;
    result.binding = "PYTHON";
    result.execution_count = 1;
    return result;
  }

  static service::Sandbox TestSandbox(std::string id = "sbx_1") {
    service::Sandbox sandbox;
    sandbox.id = std::move(id);
    sandbox.org_id = "org_1";
    sandbox.project_id = "prj_1";
    sandbox.template_id = "tpl_python_node";
    sandbox.template_slug = "python-node";
    sandbox.template_version = "1";
    sandbox.template_version_id = "tplv_python_node_1";
    sandbox.metadata = {{"name", "test"}};
    return sandbox;
  }
  static service::Context TestContext(std::string id = "cctx_1") {
    service::Context context;
    context.id = std::move(id);
    context.sandbox_id = "sbx_1";
    context.binding = "PYTHON";
    context.language = "python";
    context.cwd = "/workspace";
    context.env = {{"TOKEN", "do not show"}};
    return context;
  }

  boost::asio::awaitable<void> Stop() override { co_return; }
  Result<service::Caller> Authenticate(std::string_view secret) const override {
    if (secret != kTestKey) return Error(ErrorCode::kUnauthorized, "unknown key");
    return service::Caller{"key_1", grants};
  }
  Async<void> CheckAccess(service::Caller caller, std::string sandbox_id) override {
    if (!caller.IsRestricted() || sandbox_id == "sbx_1") co_return Result<void>();
    co_return Error(ErrorCode::kNotFound, "no such sandbox");
  }
  Async<void> CheckArtifactAccess(service::Caller caller, std::string artifact_id) override {
    if (!caller.IsRestricted() || artifact_id == "art_1") co_return Result<void>();
    co_return Error(ErrorCode::kNotFound, "no such artifact");
  }
  Async<service::Project> CreateProject(std::string name,
                                        service::Answerer<service::Project> answer) override {
    last_name = std::move(name);
    co_return Stored(TestProject(), answer);
  }
  Async<service::Paged<service::Project>> ListProjects(service::Caller, service::Page) override {
    co_return Answer(service::Paged<service::Project>{{TestProject()}, ""});
  }
  Async<service::NewApiKey> Create(service::CreateApiKey request) override {
    last_key = std::move(request);
    co_return Answer(service::NewApiKey{TestApiKey(), "dm_live_lookup_secret"});
  }
  Async<service::Paged<service::ApiKey>> ListApiKeys(service::Caller, service::Page) override {
    co_return Answer(service::Paged<service::ApiKey>{{TestApiKey()}, "next"});
  }
  Async<service::ApiKey> GetApiKey(service::Caller, std::string key_id) override {
    if (key_id != "key_1") co_return Error(ErrorCode::kNotFound, "no such key");
    co_return Answer(TestApiKey());
  }
  Async<service::ApiKey> RevokeApiKey(service::Caller, std::string) override {
    service::ApiKey key = TestApiKey();
    key.revoked_at = service::Time(std::chrono::milliseconds(1'500));
    co_return Answer(key);
  }
  Async<service::Usage> GetUsage(service::Caller) override {
    service::Usage usage;
    usage.org_id = "org_1";
    usage.compute_unit_seconds = 2'500;
    usage.quotas = {{"active_sandboxes", 5, 7}, {"requests_per_minute", 60, std::nullopt}};
    usage.events = {{"prj_1", "compute_unit_seconds", 2'500, {}}};
    co_return Answer(usage);
  }
  Async<std::optional<service::StoredAnswer>> FindAnswer(Sha256Digest scope) override {
    const std::lock_guard lock(answers_mutex);
    const auto found = answers.find(scope);
    co_return found == answers.end() ? std::nullopt : std::optional(found->second);
  }
  Async<void> StoreAnswer(service::StoredAnswer answer) override {
    const std::lock_guard lock(answers_mutex);
    answers[answer.scope] = std::move(answer);
    co_return Result<void>();
  }

  Async<service::Sandbox> Create(service::CreateSandbox request) override {
    last_create = std::move(request);
    co_return Stored(TestSandbox(), last_create.answer);
  }
  Async<service::Sandbox> GetSandbox(std::string id) override {
    if (id != "sbx_1") co_return Error(ErrorCode::kNotFound, "no such sandbox");
    co_return Answer(TestSandbox(id));
  }
  Async<service::Paged<service::Sandbox>> List(service::ListSandboxes request) override {
    last_list = std::move(request);
    co_return Answer(service::Paged<service::Sandbox>{{TestSandbox()}, "next page"});
  }
  Async<service::Sandbox> DestroySandbox(std::string id) override {
    service::Sandbox sandbox = TestSandbox(std::move(id));
    sandbox.status = service::SandboxStatus::kDestroyed;
    sandbox.destroyed_reason = "user_killed";
    co_return Answer(sandbox);
  }
  Async<service::Sandbox> SetTtl(std::string id, std::int64_t ttl_ms) override {
    last_ttl_ms = ttl_ms;
    service::Sandbox sandbox = TestSandbox(std::move(id));
    sandbox.ttl_ms = ttl_ms;
    sandbox.expires_at = service::Time(std::chrono::milliseconds(1'500));
    co_return Answer(sandbox);
  }
  Async<service::SandboxInfo> Info(std::string id) override {
    service::SandboxInfo info;
    info.sandbox = TestSandbox(std::move(id));
    info.contexts = {TestContext()};
    info.workspace_files = 3;
    info.workspace_bytes = 77;
    co_return Answer(info);
  }
  std::vector<service::Binding> Bindings() const override {
    service::Binding binding;
    binding.name = "PYTHON";
    binding.language = "python";
    return {binding};
  }

  Async<std::vector<service::Engine>> ListEngines(service::Caller) override {
    service::Engine engine;
    engine.name = "python-3.13";
    engine.language = "python";
    engine.bindings = {"PYTHON"};
    engine.contexts = 3;
    co_return Answer(std::vector{engine});
  }
  Async<void> ReloadEngines() override { co_return Result<void>(); }

  Async<service::Context> Create(service::CreateContext request) override {
    last_context = std::move(request);
    co_return Stored(TestContext(), last_context.answer);
  }
  Async<service::Context> GetContext(std::string, std::string id) override {
    co_return Answer(TestContext(std::move(id)));
  }
  Async<service::Paged<service::Context>> ListContexts(std::string, service::Page) override {
    co_return Answer(service::Paged<service::Context>{{TestContext()}, ""});
  }
  Async<service::Context> DeleteContext(std::string, std::string id) override {
    co_return Answer(TestContext(std::move(id)));
  }
  Async<service::Context> InterruptContext(std::string, std::string id) override {
    co_return Answer(TestContext(std::move(id)));
  }
  Async<service::Context> EvictContext(std::string, std::string id) override {
    co_return Answer(TestContext(std::move(id)));
  }
  Async<service::Context> ForkContext(std::string, std::string, std::string name,
                                      std::optional<std::uint64_t> generation,
                                      service::Answerer<service::Context> answer) override {
    last_name = std::move(name);
    last_generation = generation;
    co_return Stored(TestContext("cctx_2"), answer);
  }
  Async<service::Context> RollbackContext(std::string, std::string id,
                                          std::uint64_t generation) override {
    last_generation = generation;
    co_return Answer(TestContext(std::move(id)));
  }
  Async<std::vector<service::Generation>> ListGenerations(std::string, std::string) override {
    co_return Answer(std::vector<service::Generation>(2));
  }

  Async<service::RunResult> Run(service::RunRequest request,
                                std::shared_ptr<service::RunListener> listener) override {
    last_run = request;
    last_run.answer = nullptr;
    service::Answerer<service::RunResult> answer = std::move(request.answer);
    auto result = co_await run(std::move(request), std::move(listener));
    if (result.ok() && answer) (void)co_await StoreAnswer(answer(*result));
    co_return result;
  }
  Async<service::RunResult> GetRun(std::string, std::string run_id) override {
    if (run_id != "run_1") co_return Error(ErrorCode::kNotFound, "no such run");
    co_return Answer(ResultFor(last_run));
  }
  Async<service::RunResult> Run(service::StatelessRun request,
                                std::shared_ptr<service::RunListener> listener) override {
    last_project = request.project_id;
    auto result = co_await Run(std::move(request.run), std::move(listener));
    if (result.ok()) result->stateless = true;
    co_return result;
  }
  Async<service::RunResult> GetStatelessRun(service::Caller, std::string run_id) override {
    if (run_id != "run_1") co_return Error(ErrorCode::kNotFound, "no such run");
    service::RunResult result = ResultFor(last_run);
    result.stateless = true;
    co_return Answer(result);
  }
  Async<bool> InterruptStatelessRun(service::Caller, std::string run_id) override {
    if (run_id != "run_1") co_return Error(ErrorCode::kNotFound, "no such run");
    co_return Answer(true);
  }

  Async<std::vector<service::FileInfo>> ListFiles(std::string, std::string path) override {
    last_path = std::move(path);
    std::vector<service::FileInfo> infos;
    for (const auto& [name, content] : files) infos.push_back(InfoOfFile(name));
    co_return Answer(infos);
  }
  Async<service::FileInfo> StatFile(std::string, std::string path) override {
    last_path = path;
    if (!files.contains(path)) co_return Error(ErrorCode::kFileNotFound, "no such file");
    co_return Answer(InfoOfFile(path));
  }
  Async<OpenedFile> OpenFile(std::string, std::string path) override {
    last_path = path;
    if (!files.contains(path)) co_return Error(ErrorCode::kFileNotFound, "no such file");
    const std::string& content = files.at(path);
    FileDescriptor fd(::memfd_create("content", MFD_CLOEXEC));
    if (::write(fd.get(), content.data(), content.size()) != static_cast<ssize_t>(content.size())) {
      co_return Error(ErrorCode::kInternal, "the test's file could not be written");
    }
    co_return OpenedFile{InfoOfFile(path), std::move(fd)};
  }
  Async<service::FileInfo> Write(WriteFile request) override {
    last_write = std::move(request);
    files[last_write.path] = last_write.content;
    co_return Answer(InfoOfFile(last_write.path));
  }
  Async<service::FileInfo> Make(MakeDirectory request) override {
    service::FileInfo info;
    info.path = request.path;
    info.type = service::FileType::kDirectory;
    co_return Answer(info);
  }
  Async<service::FileInfo> Move(MoveFile request) override {
    files[request.to] = files[request.from];
    co_return Answer(InfoOfFile(request.to));
  }
  Async<void> DeleteFile(std::string, std::string path) override {
    if (files.erase(path) == 0) co_return Error(ErrorCode::kFileNotFound, "no such file");
    co_return Result<void>();
  }
  Async<Upload> BeginUpload(UploadTarget target) override {
    last_upload = std::move(target);
    co_return Answer(Upload{FileDescriptor(::memfd_create("upload", MFD_CLOEXEC)), upload_limit});
  }
  Async<service::FileInfo> FinishUpload(UploadTarget target, FileDescriptor file) override {
    std::string content(65536, '\0');
    std::string& kept = files[target.path];
    kept.clear();
    while (true) {
      const ssize_t got =
          ::pread(file.get(), content.data(), content.size(), static_cast<off_t>(kept.size()));
      if (got <= 0) break;
      kept.append(content, 0, static_cast<std::size_t>(got));
    }
    co_return Answer(InfoOfFile(target.path));
  }

  Async<service::Artifact> Create(service::CreateArtifact request) override {
    last_artifact = std::move(request);
    co_return Stored(artifact, last_artifact.answer);
  }
  Async<service::Paged<service::Artifact>> List(service::ListArtifacts request) override {
    last_artifact_list = std::move(request);
    co_return Answer(service::Paged<service::Artifact>{{artifact}, ""});
  }
  Async<service::Artifact> GetArtifact(std::string) override { co_return Answer(artifact); }
  Async<OpenedArtifact> OpenArtifact(std::string) override {
    FileDescriptor fd(::memfd_create("content", MFD_CLOEXEC));
    if (::write(fd.get(), artifact_content.data(), artifact_content.size()) < 0) {
      co_return Error(ErrorCode::kInternal, "the test's artifact could not be written");
    }
    service::Artifact opened = artifact;
    opened.size_bytes = artifact_content.size();
    co_return OpenedArtifact{opened, std::move(fd)};
  }
  Async<service::Artifact> DeleteArtifact(std::string) override { co_return Answer(artifact); }
  FakeWorkspaceRuns fake_workspace_runs;
  service::WorkspaceRunService& workspace_runs() override { return fake_workspace_runs; }
  std::string Metrics() const override { return "dormouse_runs_total 1\n"; }

  static service::Project TestProject() { return {"prj_1", "org_1", "Default", {}}; }
  static service::ApiKey TestApiKey() {
    service::ApiKey key;
    key.id = "key_1";
    key.org_id = "org_1";
    key.name = "admin";
    key.prefix = "dm_live_lookup";
    key.last4 = "cret";
    key.scopes = {"sandbox:read"};
    return key;
  }

 private:
  template <typename T>
  Result<T> Answer(T value) const {
    if (failure) return *failure;
    return value;
  }
  // As operations do that store their answers.
  template <typename T>
  Result<T> Stored(T value, const service::Answerer<T>& answer) {
    if (failure) return *failure;
    if (answer) {
      service::StoredAnswer stored = answer(value);
      const std::lock_guard lock(answers_mutex);
      answers[stored.scope] = std::move(stored);
    }
    return value;
  }
  service::FileInfo InfoOfFile(const std::string& path) const {
    service::FileInfo info;
    info.path = path;
    info.name = path.substr(path.rfind('/') + 1);
    info.size_bytes = files.at(path).size();
    info.mode = 0644;
    return info;
  }
};

}  // namespace dormouse::http
