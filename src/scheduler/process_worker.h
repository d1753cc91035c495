// SPDX-License-Identifier: Apache-2.0
// ProcessWorker: the Worker that is a process, over its channel.
#pragma once

#include <atomic>
#include <boost/asio/any_io_executor.hpp>
#include <memory>

#include "scheduler/channel.h"
#include "scheduler/worker.h"
#include "scheduler/worker_host.h"

namespace dormouse::scheduler {

class ProcessWorker : public Worker {
 public:
  // `process` is a pidfd. `strand` runs all I/O of this worker.
  ProcessWorker(boost::asio::any_io_executor strand, FileDescriptor channel, FileDescriptor process, int pid,
                std::chrono::milliseconds stop_grace);
  ~ProcessWorker() override;

  // Sends Start and waits until the context is resident.
  boost::asio::awaitable<Result<void>> Begin(protocol::Start start, std::vector<FileDescriptor> files);

  boost::asio::awaitable<Result<RunOutcome>> Run(RunSpec spec, RunHost& host) override;
  void Interrupt(StopReason reason) override;
  void Kill() override;
  bool alive() const override;
  int pid() const override;
  std::uint64_t resident_bytes() const override;
  std::uint32_t resume_us() const override;

 private:
  // Outlives the Worker while a coroutine or a posted interrupt still refers to it.
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace dormouse::scheduler
