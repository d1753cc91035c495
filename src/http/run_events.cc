// SPDX-License-Identifier: Apache-2.0
#include "http/run_events.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

#include "http/json.h"

namespace dormouse::http {
namespace {

namespace asio = boost::asio;

// Longer text is cut into several events, between characters.
constexpr std::size_t kTextEventBytes = 32 << 10;
// What one call of Next() returns at most, give or take one event.
constexpr std::size_t kBatchBytes = 128 << 10;

// How many bytes of `text` to take so that no character is cut.
std::size_t WholeCharacters(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return text.size();
  std::size_t length = limit;
  while (length > 0 && (static_cast<unsigned char>(text[length]) & 0xC0) == 0x80) --length;
  return length > 0 ? length : limit;
}

template <typename WriteData>
std::string WireEvent(std::string_view type, WriteData write_data) {
  JsonWriter json(JsonWriter::Charset::kAscii);
  json.BeginObject().Field("type", type).Key("data");
  write_data(json);
  json.EndObject();
  std::string wire = "event: ";
  wire.append(type).append("\ndata: ").append(json.text()).append("\n\n");
  return wire;
}

void AppendText(std::string& wire, std::string_view type, std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = WholeCharacters(text, kTextEventBytes);
    const std::string_view piece = text.substr(0, length);
    wire += WireEvent(type, [piece](JsonWriter& json) { json.Value(piece); });
    text.remove_prefix(length);
  }
}

}  // namespace

RunEvents::RunEvents(asio::any_io_executor reader, std::string request_id)
    : reader_(std::move(reader)), request_id_(std::move(request_id)), timer_(reader_) {}

void RunEvents::OnStart(const std::string& run_id, const std::string& context_id) {
  const std::lock_guard lock(mutex_);
  start_ = Start{run_id, context_id};
  Wake();
}

void RunEvents::OnStdout(std::string_view text) { PushText(Kind::kStdout, text); }
void RunEvents::OnStderr(std::string_view text) { PushText(Kind::kStderr, text); }

void RunEvents::OnOutput(const service::CodeOutput& output) {
  PushWire(WireEvent("output", [&output](JsonWriter& json) { Write(json, output); }));
}

void RunEvents::OnError(const service::CodeError& error) {
  PushWire(WireEvent("error", [&error](JsonWriter& json) { Write(json, error); }));
}

std::string CompleteEvent(const service::RunResult& run) {
  return WireEvent("complete", [&run](JsonWriter& json) { Write(json, run); });
}

void RunEvents::Finish(Result<service::RunResult> result) {
  std::string wire;
  if (result.ok()) {
    wire = CompleteEvent(*result);
  } else {
    const ErrorInfo& info = InfoOf(result.error().code);
    wire = WireEvent("error", [&](JsonWriter& json) {
      json.BeginObject().Field("name", info.api_name).Field("message", result.error().message);
      json.Field("code", info.api_name).Field("requestId", request_id_);
      json.Field("retryable", info.retryable).EndObject();
    });
  }
  const std::lock_guard lock(mutex_);
  if (!result.ok()) failure_ = result.error();
  if (!abandoned_) events_.push_back({Kind::kWire, std::move(wire)});
  finished_ = true;
  Wake();
}

void RunEvents::PushText(Kind kind, std::string_view text) {
  if (text.empty()) return;
  const std::lock_guard lock(mutex_);
  if (abandoned_) return;
  if (!events_.empty() && events_.back().kind == kind) {
    events_.back().content.append(text);
  } else {
    events_.push_back({kind, std::string(text)});
  }
  Wake();
}

void RunEvents::PushWire(std::string wire) {
  const std::lock_guard lock(mutex_);
  if (abandoned_) return;
  events_.push_back({Kind::kWire, std::move(wire)});
  Wake();
}

void RunEvents::Wake() {
  if (!std::exchange(waiting_, false)) return;
  // Posted, because the timer belongs to the reader's strand. The reader marks itself as waiting
  // before it suspends, and suspends before its strand runs anything else, so the cancellation
  // cannot come too early.
  asio::post(reader_, [self = shared_from_this()] { self->timer_.cancel(); });
}

asio::awaitable<void> RunEvents::Wait(std::chrono::milliseconds patience) {
  timer_.expires_after(patience);
  (void)co_await timer_.async_wait(asio::as_tuple(asio::use_awaitable));
  const std::lock_guard lock(mutex_);
  waiting_ = false;
}

asio::awaitable<Result<RunEvents::Start>> RunEvents::WaitForStart(
    std::chrono::milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    {
      const std::lock_guard lock(mutex_);
      if (start_) co_return *start_;
      if (failure_) co_return *failure_;
      if (finished_ || left.count() <= 0) co_return Start{};
      waiting_ = true;
    }
    co_await Wait(left);
  }
}

asio::awaitable<std::optional<std::string>> RunEvents::Next(std::chrono::milliseconds heartbeat) {
  for (bool waited = false;; waited = true) {
    std::deque<Event> taken;
    {
      const std::lock_guard lock(mutex_);
      std::size_t bytes = 0;
      while (!events_.empty() && bytes < kBatchBytes) {
        bytes += events_.front().content.size();
        taken.push_back(std::move(events_.front()));
        events_.pop_front();
      }
      if (taken.empty() && finished_) co_return std::nullopt;
      if (taken.empty() && waited) co_return ": keep-alive\n\n";
      waiting_ = taken.empty();
    }
    if (taken.empty()) {
      co_await Wait(heartbeat);
      continue;
    }
    std::string wire;
    for (Event& event : taken) {
      if (event.kind == Kind::kWire) {
        wire += event.content;
      } else {
        AppendText(wire, event.kind == Kind::kStdout ? "stdout" : "stderr", event.content);
      }
    }
    co_return wire;
  }
}

void RunEvents::Abandon() {
  const std::lock_guard lock(mutex_);
  abandoned_ = true;
  events_.clear();
}

}  // namespace dormouse::http
