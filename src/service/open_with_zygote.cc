// SPDX-License-Identifier: Apache-2.0
// The service over real workers. Apart from open.cc so that tests need no zygote.
#include "scheduler/worker_host.h"
#include "service/preloads.h"
#include "service/service.h"

namespace dormouse::service {
namespace {

// What is installed, and what is made of it here.
Result<std::vector<scheduler::EngineBuild>> LoadAllEngines(const Config& config) {
  DORMOUSE_ASSIGN(std::vector<scheduler::EngineBuild> engines,
                  scheduler::LoadEngines(config.engines_directory));
  DORMOUSE_TRY(AddPreloads(config, engines));
  return engines;
}

}  // namespace

Result<std::unique_ptr<Service>> Service::Open(boost::asio::any_io_executor executor, Config config) {
  scheduler::WorkerHostOptions options;
  options.executable = config.executable;
  DORMOUSE_ASSIGN(options.engines, LoadAllEngines(config));
  options.spares_per_engine = config.spare_workers;
  options.stop_grace = config.stop_grace;
  options.tmp_bytes = config.tmp_bytes;
  options.workspace_bytes = config.workspace_bytes;
  options.workspace_files = config.workspace_files;
  DORMOUSE_ASSIGN(auto host, scheduler::WorkerHost::Create(executor, std::move(options)));
  EngineLoader load_engines = [config] { return LoadAllEngines(config); };
  return OpenWith(std::move(executor), std::move(config), std::move(host), std::move(load_engines));
}

}  // namespace dormouse::service
