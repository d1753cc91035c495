// SPDX-License-Identifier: Apache-2.0
// The WorkerHost over a zygote process.
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <algorithm>

#include "scheduler/channel.h"
#include "scheduler/fifo_mutex.h"
#include "scheduler/process_worker.h"
#include "scheduler/worker_host.h"

extern char** environ;

namespace dormouse::scheduler {

namespace asio = boost::asio;
using protocol::MessageType;

namespace {

// The descriptor number on which the zygote finds its control socket.
constexpr int kControlFd = 3;

class ZygoteWorkerHost : public WorkerHost {
 public:
  ZygoteWorkerHost(asio::any_io_executor executor, WorkerHostOptions options)
      : shared_(std::make_shared<Shared>(executor, std::move(options))) {}
  ~ZygoteWorkerHost() override { shared_->EndZygote(); }

  Result<void> Begin() { return shared_->SpawnZygote(); }

  asio::awaitable<Result<std::unique_ptr<Worker>>> Start(StartSpec spec) override {
    return asio::co_spawn(shared_->strand, shared_->Start(std::move(spec)), asio::use_awaitable);
  }
  asio::awaitable<Result<void>> SetEngines(std::vector<EngineBuild> engines) override {
    return asio::co_spawn(shared_->strand, shared_->SetEngines(std::move(engines)),
                          asio::use_awaitable);
  }
  const std::vector<EngineBuild>& engines() const override { return shared_->options.engines; }

 private:
  struct Shared : std::enable_shared_from_this<Shared> {
    Shared(asio::any_io_executor executor_in, WorkerHostOptions options_in)
        : executor(executor_in),
          strand(asio::make_strand(executor_in)),
          options(std::move(options_in)),
          turn(strand) {}

    asio::any_io_executor executor;
    asio::any_io_executor strand;
    WorkerHostOptions options;
    FifoMutex turn;  // one question to the zygote at a time
    std::shared_ptr<Channel> control;
    pid_t zygote = -1;

    Result<void> SpawnZygote();
    void EndZygote();
    asio::awaitable<Result<protocol::Frame>> AskForWorker(std::string build_id);
    asio::awaitable<Result<std::unique_ptr<Worker>>> Start(StartSpec spec);
    asio::awaitable<Result<void>> SetEngines(std::vector<EngineBuild> engines);
    // Few contexts are of a build that is no longer current: no process waits for them.
    int SparesOf(const EngineBuild& engine) const {
      return engine.current ? options.spares_per_engine : 0;
    }
  };
  std::shared_ptr<Shared> shared_;
};

Result<void> ZygoteWorkerHost::Shared::SpawnZygote() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return SystemError("socketpair", errno);
  }
  FileDescriptor ours(ends[0]);
  // Above kControlFd, so that dup2 onto it makes a copy without close-on-exec in every case.
  FileDescriptor theirs(::fcntl(ends[1], F_DUPFD_CLOEXEC, kControlFd + 1));
  ::close(ends[1]);

  std::vector<std::string> arguments = {options.executable.string(), "zygote", "--control",
                                        std::to_string(kControlFd), "--tmp-bytes",
                                        std::to_string(options.tmp_bytes), "--workspace-bytes",
                                        std::to_string(options.workspace_bytes), "--workspace-files",
                                        std::to_string(options.workspace_files)};
  for (const EngineBuild& engine : options.engines) {
    arguments.insert(arguments.end(), {"--spares", std::to_string(SparesOf(engine)), "--engine",
                                       engine.directory.string()});
  }
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, theirs.get(), kControlFd);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  // A group of its own: a Ctrl-C at the terminal is the server's to handle.
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
  const int error = ::posix_spawn(&zygote, argv[0], &actions, &attributes, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) {
    zygote = -1;
    return SystemError("starting " + options.executable.string(), error);
  }
  control = std::make_shared<Channel>(strand, std::move(ours), protocol::kMaxServerFrameBytes);
  return {};
}

void ZygoteWorkerHost::Shared::EndZygote() {
  if (zygote <= 0) return;
  // Its workers have a parent-death signal, so this ends them too.
  ::kill(zygote, SIGKILL);
  int status;
  while (::waitpid(zygote, &status, 0) < 0 && errno == EINTR) {
  }
  zygote = -1;
}

asio::awaitable<Result<protocol::Frame>> ZygoteWorkerHost::Shared::AskForWorker(std::string build_id) {
  const FifoMutex::Guard guard = co_await turn.Lock();
  Result<protocol::Frame> frame = Error(ErrorCode::kUnavailable, "no zygote");
  for (int attempt = 0; attempt < 2; ++attempt) {
    control->Send(MessageType::kFork, protocol::Fork{.build_id = build_id}.Encode());
    frame = co_await control->Receive();
    if (frame.ok()) break;
    // The zygote died; its workers died with it, and each says so to whoever holds it.
    control->Close();
    EndZygote();
    DORMOUSE_CO_TRY(SpawnZygote());
  }
  co_return frame;
}

asio::awaitable<Result<std::unique_ptr<Worker>>> ZygoteWorkerHost::Shared::Start(StartSpec spec) {
  const auto self = shared_from_this();
  const bool installed = std::any_of(options.engines.begin(), options.engines.end(),
                                     [&](const EngineBuild& e) { return e.build_id == spec.build_id; });
  if (!installed) {
    co_return Error(ErrorCode::kNotFound, "engine build " + spec.build_id + " is not installed");
  }
  DORMOUSE_CO_ASSIGN(protocol::Frame frame, co_await AskForWorker(spec.build_id));
  DORMOUSE_CO_ASSIGN(const protocol::Forked forked, protocol::Forked::Decode(frame.payload));
  if (forked.ok == 0 || frame.descriptors.size() != 2) {
    co_return Error(ErrorCode::kUnavailable, "no worker can be started: " + forked.message);
  }
  auto worker = std::make_unique<ProcessWorker>(
      asio::make_strand(executor), std::move(frame.descriptors[0]), std::move(frame.descriptors[1]),
      static_cast<int>(forked.pid), options.stop_grace);

  protocol::Start start;
  start.memory_bytes = spec.memory_bytes;
  start.stop_grace_ms = static_cast<std::uint32_t>(options.stop_grace.count());
  start.reseed = spec.reseed ? 1 : 0;
  std::vector<FileDescriptor> files;
  for (Segment& segment : spec.segments) {
    start.segments.push_back({.bytes = std::move(segment.bytes),
                              .size_bytes = segment.size_bytes,
                              .checksum = segment.checksum});
    if (segment.file.valid()) files.push_back(std::move(segment.file));
  }
  if (files.size() > protocol::kMaxDescriptorsPerFrame) {
    co_return Error(ErrorCode::kInternal, "a snapshot of more segment files than a message carries");
  }
  DORMOUSE_CO_TRY(co_await worker->Begin(std::move(start), std::move(files)));
  co_return std::unique_ptr<Worker>(std::move(worker));
}

asio::awaitable<Result<void>> ZygoteWorkerHost::Shared::SetEngines(
    std::vector<EngineBuild> engines) {
  const auto self = shared_from_this();
  const FifoMutex::Guard guard = co_await turn.Lock();
  protocol::SetEngines wanted;
  for (const EngineBuild& engine : engines) {
    wanted.engines.push_back({.build_id = engine.build_id,
                              .directory = engine.directory.string(),
                              .spares = static_cast<std::uint32_t>(SparesOf(engine))});
  }
  control->Send(MessageType::kSetEngines, wanted.Encode());
  const Result<protocol::Frame> frame = co_await control->Receive();
  if (!frame.ok()) {
    control->Close();
    EndZygote();
    DORMOUSE_CO_TRY(SpawnZygote());
    co_return Error(ErrorCode::kUnavailable, "the process that loads engines ended while it loaded them");
  }
  DORMOUSE_CO_ASSIGN(const protocol::EnginesSet set, protocol::EnginesSet::Decode(frame->payload));
  if (set.ok == 0) co_return Error(ErrorCode::kCorrupt, set.message);
  options.engines = std::move(engines);
  co_return Result<void>();
}

}  // namespace

Result<std::unique_ptr<WorkerHost>> WorkerHost::Create(asio::any_io_executor executor,
                                                       WorkerHostOptions options) {
  auto host = std::make_unique<ZygoteWorkerHost>(std::move(executor), std::move(options));
  DORMOUSE_TRY(host->Begin());
  return std::unique_ptr<WorkerHost>(std::move(host));
}

}  // namespace dormouse::scheduler
