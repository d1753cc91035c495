// SPDX-License-Identifier: Apache-2.0
#include "workspace/tree.h"

#include <algorithm>
#include <set>

#include "workspace/path.h"

namespace dormouse::workspace {
namespace {

// A longer log would cost more than sending the whole tree.
constexpr std::size_t kMinLogEntries = 4'096;

}  // namespace

void TreeTotals::Add(const TreeEntry& entry) {
  ++entries;
  if (entry.kind != FileKind::kFile) return;
  ++files;
  bytes += entry.size_bytes;
}

void TreeTotals::Remove(const TreeEntry& entry) {
  --entries;
  if (entry.kind != FileKind::kFile) return;
  --files;
  bytes -= entry.size_bytes;
}

Result<Tree> Tree::Load(std::vector<TreeEntry> entries) {
  Tree tree;
  for (const TreeEntry& entry : entries) tree.Put(entry);
  for (const auto& [path, entry] : tree.entries_) {
    const std::string_view parent = ParentOf(path);
    if (parent.empty()) continue;
    const TreeEntry* found = tree.Find(parent);
    if (found == nullptr || found->kind != FileKind::kDirectory) {
      return Error(ErrorCode::kCorrupt, "the stored workspace lacks a directory");
    }
  }
  return tree;
}

const TreeEntry* Tree::Find(std::string_view path) const {
  const auto it = entries_.find(path);
  return it == entries_.end() ? nullptr : &it->second;
}

void Tree::Put(const TreeEntry& entry) {
  totals_.Add(entry);
  if (entry.kind == FileKind::kFile) ++contents_[entry.digest];
  entries_.insert_or_assign(entry.path, entry);
}

void Tree::Erase(const std::string& path, std::vector<Sha256Digest>& dropped) {
  const auto it = entries_.find(path);
  if (it == entries_.end()) return;
  const TreeEntry& entry = it->second;
  totals_.Remove(entry);
  if (entry.kind == FileKind::kFile) {
    const auto content = contents_.find(entry.digest);
    if (--content->second == 0) {
      dropped.push_back(entry.digest);
      contents_.erase(content);
    }
  }
  entries_.erase(it);
}

std::vector<Sha256Digest> Tree::Apply(const store::TreeChange& change) {
  ++version_;
  std::vector<Sha256Digest> dropped;
  for (const std::string& path : change.deletions) {
    Erase(path, dropped);
    log_.emplace_back(version_, path);
  }
  for (const TreeEntry& entry : change.upserts) {
    Erase(entry.path, dropped);
    Put(entry);
    log_.emplace_back(version_, entry.path);
  }
  const std::size_t kept = std::max(kMinLogEntries, entries_.size());
  while (log_.size() > kept) {
    log_start_ = log_.front().first;
    log_.pop_front();
  }
  std::erase_if(dropped, [this](const Sha256Digest& digest) { return contents_.contains(digest); });
  return dropped;
}

Manifest Tree::ManifestSince(std::optional<std::uint64_t> since) const {
  Manifest manifest;
  manifest.full = !since || *since < log_start_;
  if (manifest.full) {
    manifest.upserts.reserve(entries_.size());
    for (const auto& [path, entry] : entries_) manifest.upserts.push_back(entry);
    return manifest;
  }
  std::set<std::string_view> changed;
  const auto first = std::upper_bound(
      log_.begin(), log_.end(), *since,
      [](std::uint64_t version, const auto& item) { return version < item.first; });
  for (auto it = first; it != log_.end(); ++it) changed.insert(it->second);
  for (const std::string_view path : changed) {
    if (const TreeEntry* entry = Find(path)) manifest.upserts.push_back(*entry);
  }
  // Descending, so that children come before their parents.
  for (auto it = changed.rbegin(); it != changed.rend(); ++it) {
    if (Find(*it) == nullptr) manifest.deletions.emplace_back(*it);
  }
  return manifest;
}

}  // namespace dormouse::workspace
