// SPDX-License-Identifier: Apache-2.0
// The fake workers of service_test.cc and its like.
#include <unistd.h>
#include <xxhash.h>

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json.hpp>
#include <map>
#include <optional>
#include <sstream>

#include "service/fake_worker.h"

namespace dormouse::service::testing {
namespace {

namespace asio = boost::asio;
namespace json = boost::json;
using namespace scheduler;  // NOLINT: a test's helper that implements all of it

std::string ReadAll(int fd) {
  std::string text;
  char chunk[4096];
  ssize_t got = 0;
  while ((got = ::pread(fd, chunk, sizeof(chunk), static_cast<off_t>(text.size()))) > 0) {
    text.append(chunk, static_cast<std::size_t>(got));
  }
  return text;
}

std::string Unhex(const std::string& digits) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    bytes.push_back(static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

struct MirrorFile {
  TreeEntry entry;
  std::optional<std::string> bytes;  // nothing: to be asked for
};

class FakeWorker final : public Worker {
 public:
  FakeWorker(asio::any_io_executor executor, std::shared_ptr<FakeWorld> world, StartSpec spec)
      : executor_(executor), world_(std::move(world)), timer_(executor), reseed_(spec.reseed) {
    if (!spec.segments.empty()) Restore(spec.segments.back());
    const std::lock_guard lock(world_->mutex);
    world_->living.insert(this);
    world_->last_reseed = spec.reseed;
    world_->last_segments = spec.segments.size();
    if (reseed_) variables_["#random"] = std::to_string(world_->next_random += 1000);
  }
  ~FakeWorker() override {
    const std::lock_guard lock(world_->mutex);
    world_->living.erase(this);
  }

  asio::awaitable<Result<RunOutcome>> Run(RunSpec spec, RunHost& host) override {
    {
      const std::lock_guard lock(world_->mutex);
      if (world_->kill_before_run > 0) {
        --world_->kill_before_run;
        alive_ = false;
      }
      world_->last_compact = spec.compact;
      world_->last_full_manifest = spec.manifest.full;
      world_->last_upserts = spec.manifest.upserts.size();
      world_->last_previous_committed = spec.previous_committed;
    }
    if (!alive_) co_return Error(ErrorCode::kUnavailable, "the worker is dead");
    {
      const std::lock_guard lock(world_->mutex);
      world_->most_running = std::max(world_->most_running, ++world_->running);
    }
    if (spec.previous_committed) unsaved_.clear();
    ApplyManifest(spec.manifest);
    stop_.reset();
    stoppable_ = true;
    RunOutcome outcome;
    outcome.status = RunStatus::kOk;
    outcome.state = StateOutcome::kKept;
    co_await RunLines(spec, host, outcome);
    stoppable_ = false;
    if (outcome.state == StateOutcome::kKept) Report(spec, host, outcome);
    if (outcome.state == StateOutcome::kRolledBack || die_) alive_ = false;
    const std::lock_guard lock(world_->mutex);
    --world_->running;
    co_return outcome;
  }

  void Interrupt(StopReason reason) override { Stop(reason); }
  void Kill() override {
    alive_ = false;
    Stop(std::nullopt);
  }
  bool alive() const override { return alive_; }
  int pid() const override { return 0; }
  std::uint64_t resident_bytes() const override {
    const std::lock_guard lock(world_->mutex);
    return world_->worker_bytes;
  }
  std::uint32_t resume_us() const override { return 5; }

 private:
  void Stop(std::optional<StopReason> reason) {
    asio::post(executor_, [this, reason] {
      if (!stoppable_) return;
      if (!stop_) stop_ = reason.value_or(StopReason::kInterrupt);
      if (!reason || !hanging_) timer_.cancel();
    });
  }

  void Restore(const Segment& segment) {
    const std::string text = segment.file.valid() ? ReadAll(segment.file.get()) : segment.bytes;
    std::istringstream stream(text);
    std::string line;
    while (std::getline(stream, line)) {
      const std::size_t space = line.find('=');
      if (space != std::string::npos) variables_[line.substr(0, space)] = line.substr(space + 1);
    }
  }

  void ApplyManifest(const Manifest& manifest) {
    if (manifest.full) {
      std::erase_if(files_, [this](const auto& item) { return !unsaved_.contains(item.first); });
    }
    for (const std::string& path : manifest.deletions) files_.erase(path);
    for (const TreeEntry& entry : manifest.upserts) files_[entry.path] = MirrorFile{entry, std::nullopt};
  }

  std::string Cat(const std::string& path, RunHost& host) {
    const auto it = files_.find(path);
    if (it == files_.end()) return "no such file";
    if (!it->second.bytes) {
      const auto content = host.OpenContent(it->second.entry.digest);
      if (!content.ok()) return "cannot open: " + content.error().message;
      it->second.bytes = ReadAll(content->get());
    }
    return *it->second.bytes;
  }

  void Put(const std::string& path, std::string text) {
    MirrorFile file;
    file.entry.path = path;
    file.entry.mtime_ns = 1;
    file.entry.size_bytes = text.size();
    file.bytes = std::move(text);
    files_[path] = std::move(file);
    unsaved_.insert(path);
  }

  asio::awaitable<void> RunLines(const RunSpec& spec, RunHost& host, RunOutcome& outcome) {
    const json::object request = json::parse(spec.request_json).as_object();
    std::istringstream lines(std::string(request.at("code").as_string()));
    std::string line;
    while (std::getline(lines, line)) {
      std::istringstream words(line);
      std::string command, first, rest;
      words >> command >> first;
      std::getline(words >> std::ws, rest);
      const std::string all = line.size() > command.size() ? line.substr(command.size() + 1) : "";
      if (command == "sleep" || command == "hang") {
        hanging_ = command == "hang";
        timer_.expires_after(spec.timeout);
        boost::system::error_code cancelled;
        co_await timer_.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
        hanging_ = false;
        if (!alive_) {
          outcome.status = RunStatus::kCrashed;
          outcome.state = StateOutcome::kRolledBack;
        } else {
          outcome.status = stop_ ? RunStatus::kInterrupted : RunStatus::kTimeout;
          host.OnError(R"({"name":"KeyboardInterrupt","message":"","traceback":["line 1"]})");
        }
        co_return;
      }
      if (!Execute(command, first, rest, all, spec, host, outcome)) co_return;
    }
  }

  // False ends the run.
  bool Execute(const std::string& command, const std::string& first, const std::string& rest,
               const std::string& all, const RunSpec& spec, RunHost& host, RunOutcome& outcome) {
    if (command == "set") variables_[first] = rest;
    if (command == "get") {
      const auto it = variables_.find(first);
      host.OnStdout(it == variables_.end() ? "undefined" : it->second);
    }
    if (command == "print") host.OnStdout(all);
    if (command == "err") host.OnStderr(all);
    if (command == "hex") host.OnStdout(Unhex(first));
    if (command == "request") host.OnStdout(spec.request_json);
    if (command == "write") Put(first, rest);
    if (command == "append") Put(first, Cat(first, host) + rest);
    if (command == "big") Put(first, std::string(std::stoul(rest), 'x'));
    if (command == "copy") Put(rest, Cat(first, host));
    if (command == "cat") host.OnStdout(Cat(first, host));
    if (command == "mkdir") {
      files_[first].entry.path = first;
      files_[first].entry.kind = FileKind::kDirectory;
      files_[first].entry.mode = 0755;
      unsaved_.insert(first);
    }
    if (command == "link") {
      files_[first].entry.path = first;
      files_[first].entry.kind = FileKind::kSymlink;
      files_[first].entry.target = rest;
      unsaved_.insert(first);
    }
    if (command == "remove") {
      files_.erase(first);
      unsaved_.insert(first);
    }
    if (command == "ls") {
      for (const auto& [path, file] : files_) host.OnStdout(path + "\n");
    }
    if (command == "random") {
      std::string& value = variables_["#random"];
      value = std::to_string(std::stoull(value) + 1);
      host.OnStdout(value);
    }
    if (command == "display") host.OnOutput(all);
    if (command == "nosnapshot") fail_snapshot_ = true;
    if (command == "die") die_ = true;
    if (command == "steal") stolen_ = first;
    if (command == "badpath") bad_path_ = true;
    if (command == "fail") {
      host.OnError(json::serialize(json::object{{"name", first}, {"message", rest}, {"traceback", json::array{"cell"}}}));
      outcome.status = RunStatus::kError;
      return false;
    }
    if (command == "exit") {
      host.OnExit(json::serialize(json::object{{"code", std::stoi(first)}, {"message", rest}}));
      outcome.status = RunStatus::kExited;
      outcome.exit_code = std::stoi(first);
      return false;
    }
    if (command == "crash") {
      outcome.status = RunStatus::kCrashed;
      outcome.state = StateOutcome::kRolledBack;
      outcome.message = "unreachable";
      return false;
    }
    return true;
  }

  void Report(const RunSpec& spec, RunHost& host, RunOutcome& outcome) {
    for (const std::string& path : unsaved_) {
      const auto it = files_.find(path);
      if (it == files_.end()) {
        outcome.deletions.push_back(path);
        continue;
      }
      FileChange change;
      change.entry = it->second.entry;
      if (change.entry.kind == FileKind::kFile) {
        const std::string& bytes = *it->second.bytes;
        change.content = FileChange::Content::kBytes;
        if (bytes.size() > 64u << 10) {
          auto file = host.CreateFile();
          if (file.ok() && ::pwrite(file->get(), bytes.data(), bytes.size(), 0) > 0) {
            change.content = FileChange::Content::kFile;
            change.file = std::move(*file);
          }
        } else {
          change.bytes = bytes;
        }
      }
      outcome.changes.push_back(std::move(change));
    }
    if (!stolen_.empty()) {
      FileChange change;
      change.entry.path = "stolen";
      change.entry.digest = *Sha256Digest::FromHex(stolen_);
      change.content = FileChange::Content::kUnchanged;
      outcome.changes.push_back(std::move(change));
    }
    if (bad_path_) {
      FileChange change;
      change.entry.path = "../escape";
      change.content = FileChange::Content::kBytes;
      outcome.changes.push_back(std::move(change));
    }
    if (fail_snapshot_) {
      fail_snapshot_ = false;
      outcome.snapshot_error = "asked to fail";
      return;
    }
    std::string text;
    for (const auto& [name, value] : variables_) text += name + "=" + value + "\n";
    SnapshotDelta delta;
    {
      const std::lock_guard lock(world_->mutex);
      text.append(world_->segment_padding, '\n');
    }
    delta.base = spec.compact;
    delta.live_pages = 3;
    delta.segment.size_bytes = text.size();
    delta.segment.checksum = XXH3_64bits(text.data(), text.size());
    if (text.size() > 64u << 10) {
      auto file = host.CreateFile();
      if (file.ok() && ::pwrite(file->get(), text.data(), text.size(), 0) > 0) {
        delta.segment.file = std::move(*file);
      }
    } else {
      delta.segment.bytes = std::move(text);
    }
    outcome.snapshot = std::move(delta);
  }

  const asio::any_io_executor executor_;
  const std::shared_ptr<FakeWorld> world_;
  asio::steady_timer timer_;
  const bool reseed_;
  std::atomic<bool> alive_{true};
  bool stoppable_ = false;
  bool hanging_ = false;
  std::optional<StopReason> stop_;
  std::map<std::string, std::string> variables_;
  std::map<std::string, MirrorFile> files_;
  std::set<std::string> unsaved_;
  bool fail_snapshot_ = false;
  bool die_ = false;
  bool bad_path_ = false;
  std::string stolen_;
};

class FakeWorkerHost final : public WorkerHost {
 public:
  FakeWorkerHost(asio::any_io_executor executor, std::shared_ptr<FakeWorld> world)
      : executor_(std::move(executor)), world_(std::move(world)), engines_(world_->engines) {}

  asio::awaitable<Result<std::unique_ptr<Worker>>> Start(StartSpec spec) override {
    {
      const std::lock_guard lock(world_->mutex);
      ++world_->started;
      if (world_->fail_starts > 0) {
        --world_->fail_starts;
        co_return Error(ErrorCode::kUnavailable, "the worker ended before it started");
      }
    }
    for (const Segment& segment : spec.segments) {
      const std::string text = segment.file.valid() ? ReadAll(segment.file.get()) : segment.bytes;
      if (XXH3_64bits(text.data(), text.size()) != segment.checksum) {
        co_return Error(ErrorCode::kCorrupt, "a segment fails its checksum");
      }
    }
    co_return std::unique_ptr<Worker>(new FakeWorker(executor_, world_, std::move(spec)));
  }
  const std::vector<EngineBuild>& engines() const override { return engines_; }
  asio::awaitable<Result<void>> SetEngines(std::vector<EngineBuild> engines) override {
    engines_ = std::move(engines);
    co_return Result<void>();
  }

 private:
  const asio::any_io_executor executor_;
  const std::shared_ptr<FakeWorld> world_;
  std::vector<EngineBuild> engines_;
};

}  // namespace

FakeWorld::FakeWorld() {
  scheduler::EngineBuild python;
  python.name = "fake-python";
  python.language = "python";
  python.version = "1";
  python.build_id = std::string(64, 'a');
  python.boot_memory_bytes = 1u << 20;
  python.max_memory_bytes = 1u << 30;
  python.current = true;
  scheduler::EngineBuild javascript = python;
  javascript.name = "fake-javascript";
  javascript.language = "javascript";
  javascript.build_id = std::string(64, 'b');
  engines = {python, javascript};
}

std::unique_ptr<scheduler::WorkerHost> MakeFakeWorkerHost(asio::any_io_executor executor,
                                                          std::shared_ptr<FakeWorld> world) {
  return std::make_unique<FakeWorkerHost>(std::move(executor), std::move(world));
}

}  // namespace dormouse::service::testing
