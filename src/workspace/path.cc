// SPDX-License-Identifier: Apache-2.0
#include "workspace/path.h"

#include <algorithm>
#include <deque>
#include <vector>

#include "common/utf8.h"

namespace dormouse::workspace {
namespace {

Error Malformed(std::string message) {
  return Error(ErrorCode::kInvalidRequest, std::move(message), {{"field", "path"}});
}

Error Outside() {
  return Error(ErrorCode::kPathOutsideWorkspace, "the path leads out of /workspace", {{"field", "path"}});
}

Result<void> CheckText(std::string_view path) {
  if (path.size() > kMaxPathBytes + kRoot.size() + 1) {
    return Malformed("the path is " + std::to_string(path.size()) + " bytes, limit " +
                     std::to_string(kMaxPathBytes));
  }
  if (path.find('\0') != std::string_view::npos) return Malformed("the path holds a NUL");
  if (!IsValidUtf8(path)) return Malformed("the path is not valid UTF-8");
  return {};
}

Result<void> CheckName(std::string_view name) {
  if (name.size() <= kMaxNameBytes) return {};
  return Malformed("a name of the path is " + std::to_string(name.size()) + " bytes, limit " +
                   std::to_string(kMaxNameBytes));
}

// Puts the names of `path` before what is left to walk.
void PrependNames(std::string_view path, std::deque<std::string>& rest) {
  std::vector<std::string> names;
  std::size_t start = 0;
  while (start <= path.size()) {
    const std::size_t slash = std::min(path.find('/', start), path.size());
    if (slash > start) names.emplace_back(path.substr(start, slash - start));
    start = slash + 1;
  }
  rest.insert(rest.begin(), names.begin(), names.end());
}

// Where a walk stands: nowhere ("/"), or at a path of the workspace.
class Walk {
 public:
  explicit Walk(const Draft& tree) : tree_(tree) {}

  void ToTop() { inside_ = false; }
  void ToRoot() {
    inside_ = true;
    path_.clear();
  }
  bool inside() const { return inside_; }
  const std::string& path() const { return path_; }

  void Up() {
    if (!inside_) return;
    if (path_.empty()) {
      inside_ = false;
    } else {
      path_ = std::string(ParentOf(path_));
    }
  }
  // Whether `name` can be entered from here; at "/" only "workspace" can.
  Result<std::string> Join(std::string_view name) const {
    if (!inside_) {
      if (name != kRoot.substr(1)) return Outside();
      return std::string();
    }
    std::string joined = path_.empty() ? std::string(name) : path_ + "/" + std::string(name);
    if (joined.size() > kMaxPathBytes) return Malformed("the path is too long");
    return joined;
  }
  void To(std::string path) {
    inside_ = true;
    path_ = std::move(path);
  }
  const TreeEntry* Find(std::string_view path) const { return tree_.Find(path); }

 private:
  const Draft& tree_;
  bool inside_ = true;
  std::string path_;
};

bool EndsAsDirectory(std::string_view path) {
  return path.ends_with('/') || path == "." || path == ".." || path.ends_with("/.") ||
         path.ends_with("/..");
}

}  // namespace

std::string_view ParentOf(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

std::string_view NameOf(std::string_view path) {
  if (path.empty()) return kRoot.substr(1);
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::string AbsolutePath(std::string_view path) {
  std::string absolute(kRoot);
  if (!path.empty()) absolute.append("/").append(path);
  return absolute;
}

Result<void> CheckEntryPath(std::string_view path) {
  DORMOUSE_TRY(CheckText(path));
  if (path.empty() || path.size() > kMaxPathBytes) return Malformed("the path is empty or too long");
  std::size_t start = 0;
  while (start <= path.size()) {
    const std::size_t slash = std::min(path.find('/', start), path.size());
    const std::string_view name = path.substr(start, slash - start);
    if (name.empty() || name == "." || name == "..") return Malformed("the path is not normalised");
    DORMOUSE_TRY(CheckName(name));
    start = slash + 1;
  }
  return {};
}

Result<void> CheckLinkTarget(std::string_view target) {
  if (target.empty() || target.size() > kMaxTargetBytes ||
      target.find('\0') != std::string_view::npos || !IsValidUtf8(target)) {
    return Malformed("the target of a link is malformed");
  }
  return {};
}

namespace {

// `make_parent` makes a missing directory, or returns false.
template <typename MakeParent>
Result<Resolved> WalkPath(const Draft& tree, std::string_view path, LastLink last_link,
                          const MakeParent& make_parent) {
  if (path.empty()) return Malformed("the path is empty");
  DORMOUSE_TRY(CheckText(path));
  Walk walk(tree);
  if (path.starts_with('/')) walk.ToTop();
  std::deque<std::string> rest;
  PrependNames(path, rest);
  bool directory_wanted = EndsAsDirectory(path);
  int hops = 0;
  while (!rest.empty()) {
    const std::string name = std::move(rest.front());
    rest.pop_front();
    if (name == ".") continue;
    if (name == "..") {
      walk.Up();
      continue;
    }
    DORMOUSE_TRY(CheckName(name));
    DORMOUSE_ASSIGN(std::string next, walk.Join(name));
    const bool last = rest.empty();
    const TreeEntry* entry = walk.Find(next);
    if (entry == nullptr) {
      if (last) return Resolved{std::move(next), nullptr, directory_wanted};
      if (!make_parent(next)) {
        return Error(ErrorCode::kParentDirectoryNotFound,
                     "the directory " + AbsolutePath(next) + " does not exist", {{"field", "path"}});
      }
      walk.To(std::move(next));
      continue;
    }
    if (entry->kind == FileKind::kSymlink &&
        (!last || directory_wanted || last_link == LastLink::kFollow)) {
      if (++hops > kMaxLinkHops) return Malformed("the path goes through too many symbolic links");
      if (entry->target.starts_with('/')) walk.ToTop();
      if (last && EndsAsDirectory(entry->target)) directory_wanted = true;
      PrependNames(entry->target, rest);
      continue;
    }
    if (entry->kind != FileKind::kDirectory && (!last || directory_wanted)) {
      return Error(ErrorCode::kPathNotDirectory, AbsolutePath(next) + " is not a directory",
                   {{"field", "path"}});
    }
    walk.To(std::move(next));
  }
  if (!walk.inside()) return Outside();
  return Resolved{walk.path(), walk.Find(walk.path()), directory_wanted};
}

}  // namespace

Result<Resolved> Resolve(const Draft& tree, std::string_view path, LastLink last_link) {
  return WalkPath(tree, path, last_link, [](const std::string&) { return false; });
}

Result<Resolved> ResolveMakingParents(Draft& tree, std::string_view path, LastLink last_link,
                                      std::int64_t now_ns) {
  return WalkPath(tree, path, last_link, [&](const std::string& missing) {
    tree.Put(NewDirectory(missing, now_ns));
    return true;
  });
}

TreeEntry NewDirectory(std::string path, std::int64_t now_ns) {
  TreeEntry entry;
  entry.path = std::move(path);
  entry.kind = FileKind::kDirectory;
  entry.mode = 0755;
  entry.mtime_ns = now_ns;
  return entry;
}

}  // namespace dormouse::workspace
