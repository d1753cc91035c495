// SPDX-License-Identifier: Apache-2.0
#include "wasi/path_walk.h"

#include <utility>

namespace dormouse::wasi {

bool FileSystem::Follows(Last last, bool slash) {
  switch (last) {
    case Last::kKeep:
      return false;
    case Last::kFollowSlash:
      return slash;
    case Last::kFollow:
      return true;
    case Last::kFollowUnlessSlash:
      return !slash;
  }
  return false;
}

Errno FileSystem::Walk(Inode& start, std::string_view path, Last last, Location& location) {
  if (path.empty()) return Errno::kNotFound;
  if (path.size() > kMaxPathBytes) return Errno::kNameTooLong;
  if (!start.is_directory()) return Errno::kNotDirectory;
  Inode* directory = path.front() == '/' ? &root() : &start;
  std::string_view rest = path;
  int hops = 0;
  while (true) {
    const std::size_t begin = rest.find_first_not_of('/');
    if (begin == std::string_view::npos) {
      location.kind = Location::Kind::kRoot;
      location.directory = directory;
      location.inode = directory;
      return Errno::kSuccess;
    }
    rest.remove_prefix(begin);
    const std::string_view name = rest.substr(0, rest.find('/'));
    const std::string_view after = rest.substr(name.size());
    const bool is_last = after.find_first_not_of('/') == std::string_view::npos;
    if (name.size() > kMaxNameBytes) return Errno::kNameTooLong;
    if (name == "." || name == "..") {
      Inode* const there = name.size() == 1 ? directory : ParentOf(*directory);
      if (there == nullptr) return Errno::kNotFound;
      if (is_last) {
        location.kind = name.size() == 1 ? Location::Kind::kDot : Location::Kind::kDotDot;
        location.trailing_slash = !after.empty();
        location.directory = directory;
        location.inode = there;
        return Errno::kSuccess;
      }
      directory = there;
      rest = after;
      continue;
    }
    DirectoryEntry* const entry = Children(*directory).Find(name);
    Inode* const inode = entry != nullptr ? entry->inode.get() : nullptr;
    const bool follow = inode != nullptr && inode->type == FileType::kSymlink &&
                        (!is_last || Follows(last, !after.empty()));
    if (follow) {
      if (++hops > kMaxSymlinkHops) return Errno::kLoop;
      std::string next;
      next.reserve(inode->target.size() + after.size());
      next.append(inode->target).append(after);
      location.storage.swap(next);
      rest = location.storage;
      if (rest.front() == '/') directory = &root();
      continue;
    }
    if (is_last) {
      location.kind = Location::Kind::kName;
      location.trailing_slash = !after.empty();
      location.directory = directory;
      location.last = name;
      location.entry = entry;
      location.inode = inode;
      return Errno::kSuccess;
    }
    if (inode == nullptr) return Errno::kNotFound;
    if (!inode->is_directory()) return Errno::kNotDirectory;
    directory = inode;
    rest = after;
  }
}

Errno FileSystem::Lookup(Inode& start, std::string_view path, Follow follow, InodePtr& found) {
  Location location;
  const Errno error =
      Walk(start, path, follow == Follow::kYes ? Last::kFollow : Last::kFollowSlash, location);
  if (error != Errno::kSuccess) return error;
  if (location.inode == nullptr) return Errno::kNotFound;
  if (location.trailing_slash && !location.inode->is_directory()) return Errno::kNotDirectory;
  found = location.inode;
  return Errno::kSuccess;
}

Errno FileSystem::Stat(Inode& start, std::string_view path, Follow follow, FileStat& stat) {
  InodePtr inode;
  const Errno error = Lookup(start, path, follow, inode);
  if (error == Errno::kSuccess) stat = StatOf(*inode);
  return error;
}

Errno FileSystem::ReadLink(Inode& start, std::string_view path, std::string_view& target) {
  InodePtr inode;
  const Errno error = Lookup(start, path, Follow::kNo, inode);
  if (error != Errno::kSuccess) return error;
  if (inode->type != FileType::kSymlink) return Errno::kInvalid;
  target = inode->target;
  return Errno::kSuccess;
}

}  // namespace dormouse::wasi
