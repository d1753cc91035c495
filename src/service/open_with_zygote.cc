// SPDX-License-Identifier: Apache-2.0
// The service over real workers. Apart from open.cc so that tests need no zygote.
#include "scheduler/worker_host.h"
#include "service/service.h"

namespace dormouse::service {

Result<std::unique_ptr<Service>> Service::Open(boost::asio::any_io_executor executor, Config config) {
  scheduler::WorkerHostOptions options;
  options.executable = config.executable;
  DORMOUSE_ASSIGN(options.engines, scheduler::LoadEngines(config.engines_directory));
  options.spares_per_engine = config.spare_workers;
  options.stop_grace = config.stop_grace;
  options.tmp_bytes = config.tmp_bytes;
  options.workspace_bytes = config.workspace_bytes;
  options.workspace_files = config.workspace_files;
  DORMOUSE_ASSIGN(auto host, scheduler::WorkerHost::Create(executor, std::move(options)));
  return OpenWith(std::move(executor), std::move(config), std::move(host));
}

}  // namespace dormouse::service
