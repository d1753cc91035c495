// SPDX-License-Identifier: Apache-2.0
#include "service/residency.h"

#include <algorithm>

namespace dormouse::service {

void Residency::Use(const std::shared_ptr<ContextState>& context, std::uint64_t bytes,
                    Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  Entry& entry = entries_[context.get()];
  bytes_ += bytes - entry.bytes;
  entry = Entry{context, bytes, now};
}

void Residency::Remove(const ContextState* context) {
  // The last reference may go with the entry; not under the lock.
  Entry removed;
  const std::lock_guard lock(mutex_);
  const auto it = entries_.find(context);
  if (it == entries_.end()) return;
  bytes_ -= it->second.bytes;
  removed = std::move(it->second);
  entries_.erase(it);
}

std::size_t Residency::count() const {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

std::uint64_t Residency::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

std::vector<Residency::Entry> Residency::Sorted() const {
  std::vector<Entry> entries;
  {
    const std::lock_guard lock(mutex_);
    entries.reserve(entries_.size());
    for (const auto& [context, entry] : entries_) entries.push_back(entry);
  }
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.used < b.used; });
  return entries;
}

std::vector<std::shared_ptr<ContextState>> Residency::Oldest() const {
  std::vector<std::shared_ptr<ContextState>> contexts;
  for (Entry& entry : Sorted()) contexts.push_back(std::move(entry.context));
  return contexts;
}

std::vector<std::shared_ptr<ContextState>> Residency::IdleSince(Clock::time_point then) const {
  std::vector<std::shared_ptr<ContextState>> contexts;
  for (Entry& entry : Sorted()) {
    if (entry.used <= then) contexts.push_back(std::move(entry.context));
  }
  return contexts;
}

}  // namespace dormouse::service
