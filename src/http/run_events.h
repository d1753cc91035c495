// SPDX-License-Identifier: Apache-2.0
// RunEvents: the events of one run on their way from the service to one reader, as server-sent
// events.
//
// Text that the reader has not taken yet is joined, so that a run which prints one character at a
// time costs no more than one that prints lines. What waits is bounded by the run's own output
// limits; after Abandon() nothing is kept.
//
// Threads: the listener calls and Finish() come from any thread, one at a time; WaitForStart(),
// Next() and Abandon() from the reader's strand, one at a time.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "common/result.h"
#include "service/types.h"

namespace dormouse::http {

// The last event of a run's stream, in wire form.
std::string CompleteEvent(const service::RunResult& run);

class RunEvents : public service::RunListener, public std::enable_shared_from_this<RunEvents> {
 public:
  // `reader` is the strand of the reader.
  RunEvents(boost::asio::any_io_executor reader, std::string request_id);

  void OnStart(const std::string& run_id, const std::string& context_id) override;
  void OnStdout(std::string_view text) override;
  void OnStderr(std::string_view text) override;
  void OnOutput(const service::CodeOutput& output) override;
  void OnError(const service::CodeError& error) override;
  // The last call: the run's result, or why there is none.
  void Finish(Result<service::RunResult> result);

  struct Start {
    std::string run_id;  // empty when it is not known yet
    std::string context_id;
  };
  // Waits until the run starts or `patience` is over; the error if it ended without a start.
  boost::asio::awaitable<Result<Start>> WaitForStart(std::chrono::milliseconds patience);

  // The next events in wire form, or a comment after `heartbeat` of silence; nothing after the last
  // event.
  boost::asio::awaitable<std::optional<std::string>> Next(std::chrono::milliseconds heartbeat);

  // The reader is gone.
  void Abandon();

 private:
  enum class Kind { kStdout, kStderr, kWire };
  struct Event {
    Kind kind;
    std::string content;  // text of a stream, or a whole event in wire form
  };

  void PushText(Kind kind, std::string_view text);
  void PushWire(std::string wire);
  // Wakes the reader if it waits. Requires mutex_.
  void Wake();
  boost::asio::awaitable<void> Wait(std::chrono::milliseconds patience);

  const boost::asio::any_io_executor reader_;
  const std::string request_id_;
  boost::asio::steady_timer timer_;  // touched on the reader's strand only

  std::mutex mutex_;  // guards all below
  std::deque<Event> events_;
  std::optional<Start> start_;
  std::optional<Error> failure_;  // the run never started
  bool waiting_ = false;
  bool finished_ = false;
  bool abandoned_ = false;
};

}  // namespace dormouse::http
