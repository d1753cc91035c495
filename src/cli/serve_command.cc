// SPDX-License-Identifier: Apache-2.0
#include "cli/serve_command.h"

#include <signal.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <filesystem>
#include <thread>
#include <vector>

#include "cli/data_directory.h"
#include "cli/output.h"
#include "http/server.h"
#include "service/service.h"

namespace dormouse::cli {
namespace {

namespace asio = boost::asio;

// How long clients have to take their last response after the service has stopped.
constexpr std::chrono::seconds kDrainGrace{2};
constexpr int kExitAfterSecondSignal = 130;
// Descriptors for anything but connections: workers, files, the store.
constexpr rlim_t kOtherDescriptors = 512;

// Raises the process's limit of descriptors as far as it may go. Where that is not enough, fewer connections are
// taken: one too many must be answered, and not take away what the others need.
void MakeRoomForConnections(service::ConnectionLimits& limits) {
  rlimit descriptors{};
  if (::getrlimit(RLIMIT_NOFILE, &descriptors) != 0) return;
  descriptors.rlim_cur = descriptors.rlim_max;
  if (::setrlimit(RLIMIT_NOFILE, &descriptors) != 0) return;
  if (descriptors.rlim_max == RLIM_INFINITY) return;
  const rlim_t room = descriptors.rlim_max > 2 * kOtherDescriptors
                          ? descriptors.rlim_max - kOtherDescriptors
                          : descriptors.rlim_max / 2;
  if (limits.max_connections <= room) return;
  spdlog::warn("only {} connections are taken: the process may open no more than {} files", room,
               descriptors.rlim_max);
  limits.max_connections = std::max(1u, static_cast<std::uint32_t>(room));
}

asio::awaitable<void> StopInOrder(http::Server& server, service::Service& service,
                                  asio::io_context& context) {
  server.StopAccepting();
  co_await service.Stop();
  co_await server.Stop(kDrainGrace);
  context.stop();
}

asio::awaitable<void> WaitForSignal(asio::signal_set& signals, http::Server& server,
                                    service::Service& service, asio::io_context& context) {
  const int first = co_await signals.async_wait(asio::use_awaitable);
  spdlog::info("stopping ({})", ::strsignal(first));
  asio::co_spawn(context, StopInOrder(server, service, context), asio::detached);
  (void)co_await signals.async_wait(asio::use_awaitable);
  spdlog::warn("stopping at once");
  ::_exit(kExitAfterSecondSignal);
}

// SIGHUP: engines were added or removed.
asio::awaitable<void> ReloadOnSignal(asio::signal_set& signals, service::Service& service) {
  while (true) {
    boost::system::error_code failure;
    co_await signals.async_wait(asio::redirect_error(asio::use_awaitable, failure));
    if (failure) co_return;
    spdlog::info("looking for engines");
    const Result<void> reloaded = co_await service.ReloadEngines();
    if (!reloaded.ok()) spdlog::error("the engines stay as they were: {}", reloaded.error().message);
  }
}

void Announce(const http::Server& server, const service::Config& config) {
  WriteOut("dormouse " DORMOUSE_VERSION " listens on " + server.url() + "\n" + "API key: in " +
           KeyFile(config.data_directory).string() + "\n");
}

int Serve(asio::io_context& context, service::Service& service, const service::Config& config) {
  const http::Api api(service, config, context.get_executor());
  http::ServerOptions options;
  options.address = config.listen;
  options.limits = config.connections;
  auto server = http::Server::Listen(context.get_executor(), api, options);
  if (!server.ok()) return ReportError(server.error(), false);
  // Whoever finds the record may send it.
  asio::signal_set reload(context, SIGHUP);
  asio::co_spawn(context, ReloadOnSignal(reload, service), asio::detached);
  const auto recorded =
      WriteServerRecord(config.data_directory, {(*server)->url(), static_cast<int>(::getpid()),
                                                std::filesystem::absolute(config.engines_directory)});
  if (!recorded.ok()) return ReportError(recorded.error(), false);
  asio::signal_set signals(context, SIGINT, SIGTERM);
  asio::co_spawn(context, WaitForSignal(signals, **server, service, context), asio::detached);
  Announce(**server, config);
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < std::max(2u, std::thread::hardware_concurrency()); ++i) {
    threads.emplace_back([&context] { context.run(); });
  }
  context.run();
  for (std::thread& thread : threads) thread.join();
  RemoveServerRecord(config.data_directory);
  return kExitOk;
}

}  // namespace

int ServeCommand(const CommonArguments& common, const ServeArguments& arguments) {
  spdlog::set_level(spdlog::level::info);
  auto config = ConfigFor(common);
  if (!config.ok()) {
    ReportError(config.error(), false);
    return kExitUsage;
  }
  if (!arguments.listen.empty()) config->listen = arguments.listen;
  MakeRoomForConnections(config->connections);
  asio::io_context context;
  // Before any thread: the zygote is forked in here.
  auto service = service::Service::Open(context.get_executor(), *config);
  if (!service.ok()) return ReportError(service.error(), false);
  return Serve(context, **service, *config);
}

}  // namespace dormouse::cli
