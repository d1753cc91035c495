// SPDX-License-Identifier: Apache-2.0
// FakeWorkerHost: workers inside the test's process, which understand a small language, one command a line:
//
//   set NAME VALUE        a variable of the context
//   get NAME              prints it, or "undefined"
//   print TEXT · err TEXT · hex DIGITS       standard output, standard error, any bytes on standard output
//   write PATH TEXT · append PATH TEXT · remove PATH · mkdir PATH · link PATH TARGET · copy FROM TO
//   cat PATH              prints a file of the mirror
//   ls                    prints the mirror's paths
//   display JSON          a rich output         fail NAME TEXT       an uncaught error
//   exit CODE             ends the run          random               prints a number that a reseed changes
//   sleep                 until it is stopped; the state is kept
//   hang                  until it is killed    crash                a trap: the state is lost
//   nosnapshot            this run's snapshot fails                  die   the worker ends after the run, saved
//   steal HEX             reports a file with a content of that digest
//   badpath               reports a change outside the workspace
//   request               prints the request's JSON
//
// Its snapshot is the whole of its variables; each segment replaces the one before.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "scheduler/worker_host.h"

namespace dormouse::service::testing {

// What tests look at and set. Threads: any.
struct FakeWorld {
  std::mutex mutex;
  std::vector<scheduler::EngineBuild> engines;
  int started = 0;
  int running = 0;      // runs now
  int most_running = 0;
  std::set<const void*> living;  // workers
  bool last_reseed = false;
  bool last_compact = false;
  bool last_full_manifest = false;
  bool last_previous_committed = true;
  std::size_t last_segments = 0;
  std::size_t last_upserts = 0;
  std::uint64_t segment_padding = 0;  // bytes added to each segment
  std::uint64_t worker_bytes = 10u << 20;
  int fail_starts = 0;      // so many workers die while they start
  int kill_before_run = 0;  // so many workers die before their next run
  std::uint64_t next_random = 1000;

  FakeWorld();
};

std::unique_ptr<scheduler::WorkerHost> MakeFakeWorkerHost(boost::asio::any_io_executor executor,
                                                          std::shared_ptr<FakeWorld> world);

}  // namespace dormouse::service::testing
