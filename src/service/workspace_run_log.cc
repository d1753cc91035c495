// SPDX-License-Identifier: Apache-2.0
#include "service/workspace_run_log.h"

#include <spdlog/spdlog.h>

#include <algorithm>

namespace dormouse::service {
namespace {

namespace asio = boost::asio;

constexpr std::chrono::milliseconds kFlushDelay{40};
// Text of one stream is joined up to this size.
constexpr std::size_t kEventBytes = 32u << 10;
constexpr std::size_t kMaxOutputEvents = 10'000;

// How many bytes of `text` to take so that no character is cut.
std::size_t WholeCharacters(std::string_view text, std::uint64_t limit) {
  if (text.size() <= limit) return text.size();
  auto length = static_cast<std::size_t>(limit);
  while (length > 0 && (static_cast<unsigned char>(text[length]) & 0xC0) == 0x80) --length;
  return length;
}

}  // namespace

WorkspaceRunLog::WorkspaceRunLog(store::Store& store, std::shared_ptr<WorkspaceRunState> state,
                                 store::WorkspaceRunRow row, Options options)
    : store_(store), state_(std::move(state)), options_(std::move(options)), row_(std::move(row)) {}

store::WorkspaceRunRow WorkspaceRunLog::row() const {
  const std::lock_guard lock(mutex_);
  return row_;
}

void WorkspaceRunLog::Update(const std::function<void(store::WorkspaceRunRow&)>& change) {
  const std::lock_guard lock(mutex_);
  change(row_);
}

void WorkspaceRunLog::SetStatus(std::string_view status) {
  store::WorkspaceRunEventRow event;
  event.type = "status";
  event.data = std::string(status);
  Update([&](store::WorkspaceRunRow& row) { row.status = std::string(status); });
  Add(std::move(event));
}

void WorkspaceRunLog::Add(store::WorkspaceRunEventRow event) {
  event.created_ms = options_.now_ms();
  const std::lock_guard lock(mutex_);
  event.run_id = row_.id;
  pending_.push_back(std::move(event));
}

void WorkspaceRunLog::AddText(std::string_view type, std::string_view text) {
  const std::int64_t now_ms = options_.now_ms();
  {
    const std::lock_guard lock(mutex_);
    if (truncated_) return;
    const std::uint64_t room = options_.output_bytes - std::min(options_.output_bytes, output_bytes_);
    const std::size_t kept = output_events_ < kMaxOutputEvents ? WholeCharacters(text, room) : 0;
    truncated_ = kept < text.size();
    text = text.substr(0, kept);
    output_bytes_ += kept;
    const auto push = [&](std::string_view kind, std::string_view data, std::string_view code) {
      store::WorkspaceRunEventRow event;
      event.run_id = row_.id;
      event.type = std::string(kind);
      event.created_ms = now_ms;
      event.data = std::string(data);
      event.code = std::string(code);
      pending_.push_back(std::move(event));
      ++output_events_;
    };
    while (!text.empty()) {
      const bool joins = !pending_.empty() && pending_.back().type == type &&
                         pending_.back().data.size() < kEventBytes;
      const std::size_t length = WholeCharacters(text, kEventBytes);
      if (joins) {
        pending_.back().data.append(text.substr(0, length));
      } else {
        push(type, text.substr(0, length), "");
      }
      text.remove_prefix(length);
    }
    if (truncated_) {
      push("stderr", "\n[output beyond " + std::to_string(output_bytes_) + " bytes is not kept]\n", "truncated");
    }
    if (flush_begun_) return;
    flush_begun_ = true;
  }
  if (!options_.spawn(FlushLater())) {
    const std::lock_guard lock(mutex_);
    flush_begun_ = false;
  }
}

asio::awaitable<void> WorkspaceRunLog::FlushLater() {
  const auto self = shared_from_this();
  co_await Sleep(kFlushDelay);
  {
    const std::lock_guard lock(mutex_);
    flush_begun_ = false;
  }
  const Result<void> flushed = co_await Flush();
  if (!flushed.ok()) spdlog::warn("output of a workspace run could not be stored: {}", flushed.error().message);
}

asio::awaitable<Result<void>> WorkspaceRunLog::Flush(store::Transaction rest) {
  const FifoMutex::Guard turn = co_await flush_lock_.Lock();
  std::vector<store::WorkspaceRunEventRow> events;
  std::int64_t last_seq = 0;
  {
    const std::lock_guard lock(mutex_);
    events.swap(pending_);
    last_seq = row_.last_seq;
    for (store::WorkspaceRunEventRow& event : events) event.seq = ++row_.last_seq;
    rest.workspace_runs.push_back(row_);
  }
  rest.workspace_run_events = events;
  const Result<void> committed = co_await store_.Commit(std::move(rest));
  if (!committed.ok()) {
    const std::lock_guard lock(mutex_);
    row_.last_seq = last_seq;
    pending_.insert(pending_.begin(), std::make_move_iterator(events.begin()),
                    std::make_move_iterator(events.end()));
    co_return committed.error();
  }
  state_->changed.Notify();
  co_return Result<void>();
}

}  // namespace dormouse::service
