// SPDX-License-Identifier: Apache-2.0
// WorkspaceRunLog: one run's row and events on their way into the store.
//
// Output is joined and stored a little later; whatever else is added waits for the next Flush. What is kept of the output
// is bounded in bytes and in events; after the bound there is one event that says so, and nothing more.
//
// Threads: every call may be made from any thread. Owner: shared with the store operations it begins.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "service/async.h"
#include "service/types.h"
#include "store/store.h"

namespace dormouse::service {

// What all that touches one run shares while somebody does.
struct WorkspaceRunState {
  FifoMutex lock;  // whose turn it is to change the stored run; held by its job from start to end
  Signal changed;  // events were stored

  std::mutex mutex;  // guards all below
  bool cancel_requested = false;
  std::shared_ptr<Event> waiting;  // set: the job waits for its turn
  // What the job is at, for a cancellation to stop.
  std::string sandbox_id;
  std::string context_id;

  bool IsCanceled() {
    const std::lock_guard guard(mutex);
    return cancel_requested;
  }
};

class WorkspaceRunLog : public RunListener, public std::enable_shared_from_this<WorkspaceRunLog> {
 public:
  struct Options {
    std::uint64_t output_bytes = 0;
    // Runs a coroutine on its own; false if the service is closing.
    std::function<bool(boost::asio::awaitable<void>)> spawn;
    std::function<std::int64_t()> now_ms;
  };
  WorkspaceRunLog(store::Store& store, std::shared_ptr<WorkspaceRunState> state,
                  store::WorkspaceRunRow row, Options options);

  store::WorkspaceRunRow row() const;
  // Changes the row; stored by the next Flush.
  void Update(const std::function<void(store::WorkspaceRunRow&)>& change);
  void SetStatus(std::string_view status);
  void Add(store::WorkspaceRunEventRow event);
  void AddText(std::string_view type, std::string_view text);
  // Stores what waits, together with `rest`. After an error it still waits.
  boost::asio::awaitable<Result<void>> Flush(store::Transaction rest = {});

  void OnStart(const std::string&, const std::string&) override {}
  void OnStdout(std::string_view text) override { AddText("stdout", text); }
  void OnStderr(std::string_view text) override { AddText("stderr", text); }
  void OnOutput(const CodeOutput&) override {}
  void OnError(const CodeError&) override {}

 private:
  boost::asio::awaitable<void> FlushLater();

  store::Store& store_;
  const std::shared_ptr<WorkspaceRunState> state_;
  const Options options_;
  FifoMutex flush_lock_;

  mutable std::mutex mutex_;  // guards all below
  store::WorkspaceRunRow row_;
  std::vector<store::WorkspaceRunEventRow> pending_;
  std::uint64_t output_bytes_ = 0;
  std::size_t output_events_ = 0;
  bool truncated_ = false;
  bool flush_begun_ = false;
};

}  // namespace dormouse::service
