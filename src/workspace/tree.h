// SPDX-License-Identifier: Apache-2.0
// Tree: the files of one sandbox in memory, and what changed since when.
//
// Paths are relative to /workspace, without leading or trailing slash; the root is "" and always there. Every entry's
// parent is a directory of the tree. Each applied change makes a new version; ManifestSince tells the difference to an
// earlier one, or everything when that is too long ago.
//
// Threads: const calls may run at once; Apply may not run with anything else.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/sha256.h"
#include "scheduler/worker.h"
#include "store/rows.h"

namespace dormouse::workspace {

using scheduler::FileKind;
using scheduler::Manifest;
using scheduler::TreeEntry;

// Byte-wise order, in which a directory comes before what is in it and all of that is in one range.
using EntryMap = std::map<std::string, TreeEntry, std::less<>>;

struct TreeTotals {
  std::uint64_t entries = 0;  // of every kind
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;  // of files, each counted in full

  void Add(const TreeEntry& entry);
  void Remove(const TreeEntry& entry);
};

class Tree {
 public:
  // The entries as the store has them. Fails with kCorrupt if a parent is missing or not a directory.
  static Result<Tree> Load(std::vector<TreeEntry> entries);

  const TreeEntry* Find(std::string_view path) const;
  const EntryMap& entries() const { return entries_; }
  const TreeTotals& totals() const { return totals_; }
  std::uint64_t version() const { return version_; }
  // Whether some file has this content now.
  bool Has(const Sha256Digest& digest) const { return contents_.contains(digest); }

  // Makes the next version. Returns the contents that no file has any more.
  std::vector<Sha256Digest> Apply(const store::TreeChange& change);

  // What brings a mirror of version `since` (none: an empty one) to this version.
  Manifest ManifestSince(std::optional<std::uint64_t> since) const;

 private:
  void Put(const TreeEntry& entry);
  void Erase(const std::string& path, std::vector<Sha256Digest>& dropped);

  EntryMap entries_;
  TreeTotals totals_;
  std::unordered_map<Sha256Digest, std::uint64_t, Sha256Hash> contents_;  // files that have it
  std::uint64_t version_ = 1;
  // Changed paths by version, ascending; complete after `log_start_`.
  std::deque<std::pair<std::uint64_t, std::string>> log_;
  std::uint64_t log_start_ = 1;
};

}  // namespace dormouse::workspace
