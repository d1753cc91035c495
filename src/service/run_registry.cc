// SPDX-License-Identifier: Apache-2.0
#include "service/run_registry.h"

namespace dormouse::service {
namespace {

constexpr std::chrono::minutes kKept{10};
constexpr std::size_t kMaxResults = 10'000;
constexpr std::uint64_t kMaxBytes = 256ull << 20;

std::uint64_t SizeOf(const Result<RunResult>& result) {
  std::uint64_t bytes = 1024;
  if (!result.ok()) return bytes + result.error().message.size();
  const RunResult& run = result.value();
  bytes += run.out.text.size() + run.err.text.size();
  for (const CodeOutput& output : run.outputs) bytes += output.value_json.size() + 256;
  if (run.error) {
    bytes += run.error->message.size();
    for (const std::string& line : run.error->traceback) bytes += line.size() + 32;
  }
  for (const std::string& path : run.files_written) bytes += path.size() + 32;
  for (const std::string& path : run.files_deleted) bytes += path.size() + 32;
  return bytes;
}

}  // namespace

void RunRegistry::Begin(const std::string& run_id, const std::string& owner_id) {
  const std::lock_guard lock(mutex_);
  records_[run_id].owner_id = owner_id;
}

std::string RunRegistry::OwnerOf(const std::string& run_id) const {
  const std::lock_guard lock(mutex_);
  const auto it = records_.find(run_id);
  return it == records_.end() ? std::string() : it->second.owner_id;
}

void RunRegistry::End(const std::string& run_id, std::shared_ptr<const Result<RunResult>> result,
                      Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  const auto it = records_.find(run_id);
  if (it == records_.end() || it->second.result) return;
  it->second.bytes = SizeOf(*result);
  it->second.result = std::move(result);
  bytes_ += it->second.bytes;
  ended_.emplace_back(now, run_id);
  while (ended_.size() > kMaxResults || (bytes_ > kMaxBytes && ended_.size() > 1)) ForgetOldest();
}

void RunRegistry::ForgetOldest() {
  const auto it = records_.find(ended_.front().second);
  if (it != records_.end()) {
    bytes_ -= it->second.bytes;
    records_.erase(it);
  }
  ended_.pop_front();
}

Result<RunResult> RunRegistry::Find(const std::string& run_id, const std::string& owner_id) const {
  std::shared_ptr<const Result<RunResult>> result;
  {
    const std::lock_guard lock(mutex_);
    const auto it = records_.find(run_id);
    if (it == records_.end() || it->second.owner_id != owner_id) {
      return Error(ErrorCode::kNotFound, "there is no such run, or it ended too long ago");
    }
    result = it->second.result;
  }
  if (!result) return Error(ErrorCode::kConflict, "the run is still going on");
  return *result;
}

void RunRegistry::Expire(Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  while (!ended_.empty() && ended_.front().first + kKept <= now) ForgetOldest();
}

}  // namespace dormouse::service
