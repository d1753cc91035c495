// SPDX-License-Identifier: Apache-2.0
#include "workspace/draft.h"

namespace dormouse::workspace {
namespace {

const TreeEntry& Root() {
  static const TreeEntry* const root = [] {
    auto* entry = new TreeEntry();
    entry->kind = FileKind::kDirectory;
    entry->mode = 0755;
    return entry;
  }();
  return *root;
}

// The range of everything below a directory: from "path/" to the first string after all of them.
struct Range {
  std::string first, last;
};

Range RangeBelow(std::string_view path) {
  if (path.empty()) return {"", "\xff"};
  return {std::string(path) + "/", std::string(path) + static_cast<char>('/' + 1)};
}

bool SameEntry(const TreeEntry& a, const TreeEntry& b) {
  return a.kind == b.kind && a.digest == b.digest && a.size_bytes == b.size_bytes && a.mode == b.mode &&
         a.mtime_ns == b.mtime_ns && a.target == b.target;
}

}  // namespace

const TreeEntry* Draft::Find(std::string_view path) const {
  if (path.empty()) return &Root();
  const auto it = changes_.find(path);
  if (it != changes_.end()) return it->second ? &*it->second : nullptr;
  return base_.Find(path);
}

template <typename Visit>
void Draft::VisitRange(std::string_view first, std::string_view last, Visit visit) const {
  auto base = base_.entries().lower_bound(first);
  const auto base_end = base_.entries().lower_bound(last);
  auto change = changes_.lower_bound(first);
  const auto change_end = changes_.lower_bound(last);
  while (base != base_end || change != change_end) {
    const bool take_change =
        base == base_end || (change != change_end && change->first <= base->first);
    if (!take_change) {
      if (!visit((base++)->second)) return;
      continue;
    }
    if (base != base_end && base->first == change->first) ++base;
    const auto& entry = (change++)->second;
    if (entry && !visit(*entry)) return;
  }
}

bool Draft::HasChildren(std::string_view path) const {
  const Range range = RangeBelow(path);
  bool found = false;
  VisitRange(range.first, range.last, [&](const TreeEntry&) {
    found = true;
    return false;
  });
  return found;
}

std::vector<TreeEntry> Draft::Descendants(std::string_view path) const {
  const Range range = RangeBelow(path);
  std::vector<TreeEntry> entries;
  VisitRange(range.first, range.last, [&](const TreeEntry& entry) {
    entries.push_back(entry);
    return true;
  });
  return entries;
}

std::vector<TreeEntry> Draft::Children(std::string_view path) const {
  const Range range = RangeBelow(path);
  const std::size_t prefix = path.empty() ? 0 : path.size() + 1;
  std::vector<TreeEntry> entries;
  std::string next = range.first;
  // Skips what lies below a child by starting anew after its range.
  while (true) {
    std::string skip;
    VisitRange(next, range.last, [&](const TreeEntry& entry) {
      const std::size_t slash = entry.path.find('/', prefix);
      if (slash == std::string::npos) {
        entries.push_back(entry);
        return true;
      }
      skip = entry.path.substr(0, slash) + static_cast<char>('/' + 1);
      return false;
    });
    if (skip.empty()) return entries;
    next = std::move(skip);
  }
}

void Draft::Put(TreeEntry entry) {
  if (const TreeEntry* old = Find(entry.path)) totals_.Remove(*old);
  totals_.Add(entry);
  std::string path = entry.path;
  changes_.insert_or_assign(std::move(path), std::move(entry));
}

void Draft::Erase(const std::string& path) {
  const TreeEntry* old = Find(path);
  if (old == nullptr || path.empty()) return;
  totals_.Remove(*old);
  changes_.insert_or_assign(path, std::nullopt);
}

void Draft::EraseAll(const std::string& path) {
  for (const TreeEntry& entry : Descendants(path)) Erase(entry.path);
  Erase(path);
}

store::TreeChange Draft::Change(std::string sandbox_id) const {
  store::TreeChange change;
  change.sandbox_id = std::move(sandbox_id);
  for (const auto& [path, entry] : changes_) {
    const TreeEntry* old = base_.Find(path);
    if (entry && (old == nullptr || !SameEntry(*old, *entry))) change.upserts.push_back(*entry);
  }
  for (auto it = changes_.rbegin(); it != changes_.rend(); ++it) {
    if (!it->second && base_.Find(it->first) != nullptr) change.deletions.push_back(it->first);
  }
  return change;
}

}  // namespace dormouse::workspace
