// SPDX-License-Identifier: Apache-2.0
#include "workspace/merge.h"

#include <algorithm>
#include <unordered_set>

#include "workspace/path.h"

namespace dormouse::workspace {
namespace {

constexpr std::uint32_t kPermissionBits = 07777;

// Makes `path` a directory, and whatever leads to it.
void EnsureDirectory(Draft& tree, std::string_view path, std::int64_t now_ns) {
  std::size_t end = 0;
  while (end < path.size()) {
    end = std::min(path.find('/', end + 1), path.size());
    const std::string prefix(path.substr(0, end));
    const TreeEntry* entry = tree.Find(prefix);
    if (entry != nullptr && entry->kind == FileKind::kDirectory) continue;
    tree.Put(NewDirectory(prefix, now_ns));
  }
}

}  // namespace

Result<void> CheckRunChanges(const RunChanges& changes) {
  std::unordered_set<std::string_view> seen;
  for (const TreeEntry& entry : changes.upserts) {
    DORMOUSE_TRY(CheckEntryPath(entry.path));
    if (!seen.insert(entry.path).second) {
      return Error(ErrorCode::kInvalidRequest, "a changed path is listed twice");
    }
    if (entry.kind > FileKind::kSymlink || (entry.mode & ~kPermissionBits) != 0) {
      return Error(ErrorCode::kInvalidRequest, "a changed path has no legal kind or mode");
    }
    if (entry.kind == FileKind::kSymlink) DORMOUSE_TRY(CheckLinkTarget(entry.target));
  }
  for (const std::string& path : changes.deletions) {
    DORMOUSE_TRY(CheckEntryPath(path));
    if (!seen.insert(path).second) {
      return Error(ErrorCode::kInvalidRequest, "a changed path is listed twice");
    }
  }
  return {};
}

void MergeRun(Draft& tree, RunChanges changes, std::int64_t now_ns) {
  // Descending order has children before their parents.
  std::sort(changes.deletions.begin(), changes.deletions.end(), std::greater<>());
  for (const std::string& path : changes.deletions) {
    const TreeEntry* entry = tree.Find(path);
    if (entry == nullptr) continue;
    if (entry->kind == FileKind::kDirectory && tree.HasChildren(path)) continue;
    tree.Erase(path);
  }
  std::sort(changes.upserts.begin(), changes.upserts.end(),
            [](const TreeEntry& a, const TreeEntry& b) { return a.path < b.path; });
  for (TreeEntry& entry : changes.upserts) {
    if (entry.kind != FileKind::kFile) {
      entry.digest = Sha256Digest();
      entry.size_bytes = 0;
    }
    if (entry.kind != FileKind::kSymlink) entry.target.clear();
    EnsureDirectory(tree, ParentOf(entry.path), now_ns);
    const TreeEntry* old = tree.Find(entry.path);
    if (old != nullptr && old->kind == FileKind::kDirectory && entry.kind != FileKind::kDirectory) {
      tree.EraseAll(entry.path);
    }
    tree.Put(std::move(entry));
  }
}

}  // namespace dormouse::workspace
