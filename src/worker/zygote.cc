// SPDX-License-Identifier: Apache-2.0
#include "worker/zygote.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "common/sha256.h"
#include "protocol/frame.h"
#include "protocol/messages.h"
#include "worker/confinement.h"
#include "worker/loaded_engine.h"
#include "worker/worker_process.h"

namespace dormouse::worker {
namespace {

using protocol::MessageType;

constexpr std::uint64_t kMaxSpares = 16;

struct EngineArgument {
  std::string directory;
  std::size_t spares = 0;
};

struct ZygoteArguments {
  int control = -1;
  wasi::Limits limits;
  std::vector<EngineArgument> engines;
};

ZygoteArguments ParseZygote(int argc, char** argv) {
  ZygoteArguments arguments;
  std::size_t spares = 0;  // of the engines that follow
  for (int i = 2; i + 1 < argc; i += 2) {
    const std::string_view option = argv[i];
    const std::uint64_t number = std::strtoull(argv[i + 1], nullptr, 10);
    if (option == "--control") arguments.control = static_cast<int>(number);
    if (option == "--spares") spares = std::min(number, kMaxSpares);
    if (option == "--tmp-bytes") arguments.limits.max_tmp_bytes = number;
    if (option == "--workspace-bytes") arguments.limits.max_workspace_bytes = number;
    if (option == "--workspace-files") arguments.limits.max_files = number;
    if (option == "--engine") arguments.engines.push_back({argv[i + 1], spares});
  }
  return arguments;
}

// A worker that nobody has asked for yet.
struct Spare {
  FileDescriptor channel;  // the server's end
  FileDescriptor process;  // pidfd
  pid_t pid = 0;
};

class Zygote {
 public:
  Zygote(FileDescriptor control, const ZygoteArguments& arguments)
      : control_(std::move(control)),
        limits_(arguments.limits),
        reader_(protocol::kMaxServerFrameBytes) {}

  Result<void> Load(const std::vector<EngineArgument>& arguments) {
    for (const auto& [directory, spares] : arguments) {
      DORMOUSE_ASSIGN(Engine engine, LoadOne(directory, spares));
      engines_.push_back(std::move(engine));
    }
    return {};
  }

  int Serve() {
    while (true) {
      // Spares are made when nobody waits.
      if (!InputWaits(0) && MakeOneSpare()) continue;
      if (!InputWaits(-1)) continue;
      const Result<bool> received = reader_.Receive(control_.get());
      if (!received.ok()) return 0;
      while (true) {
        Result<std::optional<protocol::Frame>> frame = reader_.Next();
        if (!frame.ok()) return 1;
        if (!frame->has_value()) break;
        if (!Answer(**frame)) return 1;
      }
    }
  }

 private:
  struct Engine {
    LoadedEngine loaded;
    std::size_t spares_wanted;
    std::deque<Spare> spares;
  };

  static Result<Engine> LoadOne(const std::string& directory, std::size_t spares) {
    Result<LoadedEngine> engine = LoadedEngine::Open(directory);
    if (!engine.ok()) return Error(engine.error().code, directory + ": " + engine.error().message);
    return Engine{std::move(*engine), spares, {}};
  }

  // Everything is loaded before anything changes.
  Result<void> Replace(const protocol::SetEngines& wanted) {
    std::vector<Engine> loaded;
    for (const protocol::SetEngines::Engine& want : wanted.engines) {
      if (Find(want.build_id) != nullptr) continue;
      DORMOUSE_ASSIGN(Engine engine, LoadOne(want.directory, 0));
      if (engine.loaded.manifest.build_id != want.build_id) {
        return Error(ErrorCode::kCorrupt, want.directory + ": is another build than it was");
      }
      loaded.push_back(std::move(engine));
    }
    for (Engine& engine : loaded) engines_.push_back(std::move(engine));
    std::erase_if(engines_, [&](const Engine& engine) {
      return std::none_of(wanted.engines.begin(), wanted.engines.end(), [&](const auto& want) {
        return want.build_id == engine.loaded.manifest.build_id;
      });
    });
    for (const protocol::SetEngines::Engine& want : wanted.engines) {
      Engine& engine = *Find(want.build_id);
      engine.spares_wanted = std::min<std::uint64_t>(want.spares, kMaxSpares);
      while (engine.spares.size() > engine.spares_wanted) engine.spares.pop_back();
    }
    return {};
  }

  Engine* Find(std::string_view build_id) {
    for (Engine& engine : engines_) {
      if (engine.loaded.manifest.build_id == build_id) return &engine;
    }
    return nullptr;
  }

  bool InputWaits(int timeout_ms) {
    pollfd event{control_.get(), POLLIN, 0};
    return ::poll(&event, 1, timeout_ms) > 0;
  }

  bool MakeOneSpare() {
    for (Engine& engine : engines_) {
      if (engine.spares.size() >= engine.spares_wanted) continue;
      Result<Spare> spare = ForkWorker(engine);
      if (!spare.ok()) return false;
      engine.spares.push_back(std::move(*spare));
      return true;
    }
    return false;
  }

  Result<Spare> TakeWorker(const std::string& build_id) {
    Engine* const engine = Find(build_id);
    if (engine == nullptr) return Error(ErrorCode::kNotFound, "no such engine build");
    while (!engine->spares.empty()) {
      Spare spare = std::move(engine->spares.front());
      engine->spares.pop_front();
      // A spare may have been killed while it waited.
      if (::syscall(SYS_pidfd_send_signal, spare.process.get(), 0, nullptr, 0) == 0) return spare;
    }
    return ForkWorker(*engine);
  }

  // False when the server cannot be understood or answered.
  bool Answer(const protocol::Frame& frame) {
    if (frame.type == static_cast<std::uint16_t>(MessageType::kSetEngines)) {
      const Result<protocol::SetEngines> wanted = protocol::SetEngines::Decode(frame.payload);
      return wanted.ok() && AnswerSetEngines(*wanted);
    }
    const Result<protocol::Fork> fork = protocol::Fork::Decode(frame.payload);
    return fork.ok() && AnswerFork(fork->build_id);
  }

  bool AnswerSetEngines(const protocol::SetEngines& wanted) {
    const Result<void> replaced = Replace(wanted);
    protocol::EnginesSet set;
    set.ok = replaced.ok() ? 1 : 0;
    if (!replaced.ok()) set.message = replaced.error().message;
    return protocol::SendFrame(control_.get(), static_cast<std::uint16_t>(MessageType::kEnginesSet),
                               set.Encode(), {})
        .ok();
  }

  bool AnswerFork(const std::string& build_id) {
    Result<Spare> worker = TakeWorker(build_id);
    protocol::Forked forked;
    std::vector<int> descriptors;
    if (worker.ok()) {
      forked.ok = 1;
      forked.pid = worker->pid;
      descriptors = {worker->channel.get(), worker->process.get()};
    } else {
      forked.message = worker.error().message;
    }
    return protocol::SendFrame(control_.get(), static_cast<std::uint16_t>(MessageType::kForked),
                               forked.Encode(), descriptors)
        .ok();
  }

  Result<Spare> ForkWorker(Engine& engine) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
      return SystemError("socketpair", errno);
    }
    FileDescriptor ours(ends[0]);
    FileDescriptor theirs(ends[1]);
    const pid_t parent = ::getpid();
    const pid_t pid = ::fork();
    if (pid < 0) return SystemError("fork", errno);
    if (pid == 0) {
      ::prctl(PR_SET_NAME, "dormouse-worker");
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      // The zygote may have died before that.
      if (::getppid() != parent) ::_exit(0);
      if (!KeepOnly({theirs.get(), engine.loaded.boot_file.get()}).ok()) ::_exit(1);
      RunWorker(engine.loaded, limits_, std::move(theirs));
    }
    FileDescriptor process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    if (!process.valid()) {
      const int error = errno;
      ::kill(pid, SIGKILL);
      return SystemError("pidfd_open", error);
    }
    return Spare{.channel = std::move(ours), .process = std::move(process), .pid = pid};
  }

  FileDescriptor control_;
  wasi::Limits limits_;
  protocol::FrameReader reader_;
  std::vector<Engine> engines_;
};

}  // namespace

int ZygoteMain(int argc, char** argv) {
  const ZygoteArguments arguments = ParseZygote(argc, argv);
  if (arguments.control < 0) {
    std::fprintf(stderr, "dormouse zygote: started by the server only\n");
    return 2;
  }
  ::prctl(PR_SET_NAME, "dormouse-zygote");
  ::fcntl(arguments.control, F_SETFD, FD_CLOEXEC);
  ::signal(SIGPIPE, SIG_IGN);
  // Nobody asks how workers ended: the kernel need not keep it.
  ::signal(SIGCHLD, SIG_IGN);
  // Ctrl-C in the server's terminal is for the server alone: it lets runs end before it stops their workers.
  ::setsid();
  // OpenSSL reads its configuration at the first use, which a confined worker cannot.
  Sha256({});
  // Guests and their host code see nothing of the server's environment.
  ::clearenv();
  IsolateNamespaces();
  Zygote zygote(FileDescriptor(arguments.control), arguments);
  const Result<void> loaded = zygote.Load(arguments.engines);
  if (!loaded.ok()) {
    std::fprintf(stderr, "dormouse zygote: %s\n", loaded.error().message.c_str());
    return 1;
  }
  return zygote.Serve();
}

}  // namespace dormouse::worker
