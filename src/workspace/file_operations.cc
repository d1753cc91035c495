// SPDX-License-Identifier: Apache-2.0
#include "workspace/file_operations.h"

#include <string>

#include "workspace/path.h"

namespace dormouse::workspace {
namespace {

Error AboutPath(ErrorCode code, std::string_view path, std::string_view what) {
  return Error(code, AbsolutePath(path) + " " + std::string(what), {{"field", "path"}});
}

Error NotFound(std::string_view path) {
  return AboutPath(ErrorCode::kFileNotFound, path, "does not exist");
}

// For readers a missing directory on the way is a missing file.
Result<Resolved> ResolveExisting(const Draft& tree, std::string_view path, LastLink last_link) {
  Result<Resolved> resolved = Resolve(tree, path, last_link);
  if (!resolved.ok()) {
    Error error = std::move(resolved).error();
    if (error.code == ErrorCode::kParentDirectoryNotFound) error.code = ErrorCode::kFileNotFound;
    return error;
  }
  if (resolved->entry == nullptr) return NotFound(resolved->path);
  return resolved;
}

TreeEntry At(const Resolved& resolved) {
  TreeEntry entry = *resolved.entry;
  entry.path = resolved.path;
  return entry;
}

// As on any POSIX system, a directory's time tells that an entry came or went: importers cache by it.
void TouchParent(Draft& tree, std::string_view path, std::int64_t now_ns) {
  const std::string_view parent = ParentOf(path);
  if (parent.empty()) return;
  TreeEntry directory = *tree.Find(parent);
  directory.path = parent;
  directory.mtime_ns = now_ns;
  tree.Put(std::move(directory));
}

// Whether the rules of rename(2) let `source` take the place of `target`.
Result<void> CheckReplace(const Draft& tree, const TreeEntry& source, const TreeEntry& target) {
  const bool source_is_directory = source.kind == FileKind::kDirectory;
  const bool target_is_directory = target.kind == FileKind::kDirectory;
  if (target_is_directory && !source_is_directory) {
    return AboutPath(ErrorCode::kPathIsDirectory, target.path, "is a directory");
  }
  if (source_is_directory && !target_is_directory) {
    return AboutPath(ErrorCode::kPathNotDirectory, target.path, "is not a directory");
  }
  if (target_is_directory && tree.HasChildren(target.path)) {
    return AboutPath(ErrorCode::kDirectoryNotEmpty, target.path, "is not empty");
  }
  return {};
}

}  // namespace

Result<TreeEntry> StatEntry(const Draft& tree, std::string_view path) {
  // A link that leads nowhere is described itself.
  Result<Resolved> followed = ResolveExisting(tree, path, LastLink::kFollow);
  if (followed.ok()) return At(*followed);
  DORMOUSE_ASSIGN(const Resolved kept, ResolveExisting(tree, path, LastLink::kKeep));
  if (kept.entry->kind != FileKind::kSymlink) return followed.error();
  return At(kept);
}

Result<TreeEntry> FindFile(const Draft& tree, std::string_view path) {
  DORMOUSE_ASSIGN(const Resolved resolved, ResolveExisting(tree, path, LastLink::kFollow));
  if (resolved.entry->kind == FileKind::kDirectory) {
    return AboutPath(ErrorCode::kPathIsDirectory, resolved.path, "is a directory");
  }
  return At(resolved);
}

Result<std::vector<TreeEntry>> ListDirectory(const Draft& tree, std::string_view path) {
  DORMOUSE_ASSIGN(const Resolved resolved, ResolveExisting(tree, path, LastLink::kFollow));
  if (resolved.entry->kind != FileKind::kDirectory) {
    return AboutPath(ErrorCode::kPathNotDirectory, resolved.path, "is not a directory");
  }
  return tree.Children(resolved.path);
}

Result<TreeEntry> WriteFile(Draft& tree, std::string_view path, const Sha256Digest& digest,
                            std::uint64_t size_bytes, WriteOptions options, std::int64_t now_ns) {
  DORMOUSE_ASSIGN(const Resolved resolved,
                  options.create_parents
                      ? ResolveMakingParents(tree, path, LastLink::kFollow, now_ns)
                      : Resolve(tree, path, LastLink::kFollow));
  if (resolved.directory_wanted ||
      (resolved.entry != nullptr && resolved.entry->kind == FileKind::kDirectory)) {
    return AboutPath(ErrorCode::kPathIsDirectory, resolved.path, "is a directory");
  }
  if (resolved.entry != nullptr && !options.overwrite) {
    return AboutPath(ErrorCode::kFileAlreadyExists, resolved.path, "exists");
  }
  TreeEntry entry;
  entry.path = resolved.path;
  entry.digest = digest;
  entry.size_bytes = size_bytes;
  entry.mode = resolved.entry != nullptr ? resolved.entry->mode : 0644;
  entry.mtime_ns = now_ns;
  if (resolved.entry == nullptr) TouchParent(tree, entry.path, now_ns);
  tree.Put(entry);
  return entry;
}

Result<TreeEntry> MakeDirectory(Draft& tree, std::string_view path, Parents parents,
                                std::int64_t now_ns) {
  // With parents, links to directories are as good as directories.
  DORMOUSE_ASSIGN(const Resolved resolved,
                  parents == Parents::kMake
                      ? ResolveMakingParents(tree, path, LastLink::kFollow, now_ns)
                      : Resolve(tree, path, LastLink::kKeep));
  if (resolved.entry != nullptr) {
    if (parents == Parents::kMake && resolved.entry->kind == FileKind::kDirectory) return At(resolved);
    return AboutPath(ErrorCode::kFileAlreadyExists, resolved.path, "exists");
  }
  TreeEntry entry = NewDirectory(resolved.path, now_ns);
  TouchParent(tree, entry.path, now_ns);
  tree.Put(entry);
  return entry;
}

Result<TreeEntry> Move(Draft& tree, std::string_view from, std::string_view to, Overwrite overwrite,
                       std::int64_t now_ns) {
  DORMOUSE_ASSIGN(const Resolved source, ResolveExisting(tree, from, LastLink::kKeep));
  DORMOUSE_ASSIGN(const Resolved target, Resolve(tree, to, LastLink::kKeep));
  if (source.path.empty() || target.path.empty()) {
    return Error(ErrorCode::kInvalidRequest, "/workspace itself cannot be moved", {{"field", "from"}});
  }
  TreeEntry moved = At(source);
  if (source.path == target.path) return moved;
  if (target.path.starts_with(source.path + "/")) {
    return Error(ErrorCode::kInvalidRequest, "a directory cannot be moved into itself",
                 {{"field", "to"}});
  }
  if (target.directory_wanted && moved.kind != FileKind::kDirectory) {
    return AboutPath(ErrorCode::kPathNotDirectory, source.path, "is not a directory");
  }
  if (target.entry != nullptr) {
    if (overwrite == Overwrite::kNo) {
      return AboutPath(ErrorCode::kFileAlreadyExists, target.path, "exists");
    }
    DORMOUSE_TRY(CheckReplace(tree, moved, At(target)));
  }
  const std::vector<TreeEntry> below =
      moved.kind == FileKind::kDirectory ? tree.Descendants(source.path) : std::vector<TreeEntry>();
  for (const TreeEntry& entry : below) {
    const std::string path = target.path + entry.path.substr(source.path.size());
    DORMOUSE_TRY(CheckEntryPath(path));
  }
  const std::string new_path = target.path;
  const std::string old_path = source.path;
  tree.EraseAll(old_path);
  moved.path = new_path;
  tree.Put(moved);
  for (TreeEntry entry : below) {
    entry.path = new_path + entry.path.substr(old_path.size());
    tree.Put(std::move(entry));
  }
  TouchParent(tree, old_path, now_ns);
  TouchParent(tree, new_path, now_ns);
  return moved;
}

Result<void> Delete(Draft& tree, std::string_view path, std::int64_t now_ns) {
  DORMOUSE_ASSIGN(const Resolved resolved, ResolveExisting(tree, path, LastLink::kKeep));
  if (resolved.path.empty()) {
    return Error(ErrorCode::kInvalidRequest, "/workspace itself cannot be deleted", {{"field", "path"}});
  }
  if (resolved.entry->kind == FileKind::kDirectory && tree.HasChildren(resolved.path)) {
    return AboutPath(ErrorCode::kDirectoryNotEmpty, resolved.path, "is not empty");
  }
  const std::string erased = resolved.path;
  tree.Erase(erased);
  TouchParent(tree, erased, now_ns);
  return {};
}

Result<void> CheckQuota(const TreeTotals& before, const TreeTotals& after, const Quota& quota) {
  if (after.bytes > quota.bytes && after.bytes > before.bytes) {
    return Error(ErrorCode::kQuotaExceeded,
                 "the workspace would hold " + std::to_string(after.bytes) + " bytes, limit " +
                     std::to_string(quota.bytes),
                 {{"field", "workspace_bytes"}, {"limit", std::to_string(quota.bytes)}});
  }
  if (after.entries > quota.entries && after.entries > before.entries) {
    return Error(ErrorCode::kQuotaExceeded,
                 "the workspace would hold " + std::to_string(after.entries) +
                     " files and directories, limit " + std::to_string(quota.entries),
                 {{"field", "workspace_files"}, {"limit", std::to_string(quota.entries)}});
  }
  return {};
}

}  // namespace dormouse::workspace
