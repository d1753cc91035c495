// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "common/file_descriptor.h"
#include "wasi/names.h"
#include "wasi/rootfs_image.h"
#include "wasi/rootfs_layout.h"

namespace dormouse::wasi {
namespace {

using rootfs_layout::Header;
using rootfs_layout::RawNode;

// Where the entries of a packed tree come from.
struct Sources {
  const RootfsImage* base = nullptr;  // nothing: the whole tree is on the host
  std::string host_directory;
  std::string_view at;  // where in `base` it goes, "usr/lib/x"; with a base only
};

struct PackedNode {
  std::string name;
  std::string path;                    // on the host
  std::optional<std::uint32_t> in_base;  // in place of `path`: its number in the base image
  SharedBytes data;                    // of a file of the base
  FileType type = FileType::kRegular;
  std::uint32_t mode = 0644;
  std::uint32_t parent = 0;
  std::uint32_t first_child = 0;
  std::uint32_t child_count = 0;
  std::string target;
  std::uint64_t size = 0;
  std::uint64_t offset = 0;
};

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

Error Refused(const std::string& path, const char* why) {
  return Error(ErrorCode::kInvalidRequest, "cannot pack " + path + ": " + why);
}

Result<std::vector<std::string>> NamesIn(const std::string& path) {
  const std::unique_ptr<DIR, CloseDirectory> directory(::opendir(path.c_str()));
  if (!directory) return SystemError("opendir " + path, errno);
  std::vector<std::string> names;
  while (true) {
    errno = 0;
    const dirent* const entry = ::readdir(directory.get());
    if (entry == nullptr) {
      if (errno != 0) return SystemError("readdir " + path, errno);
      break;
    }
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (!IsStorableName(name)) return Refused(path + "/" + entry->d_name, "name is not UTF-8");
    names.emplace_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

Result<PackedNode> Describe(const std::string& directory, const std::string& name) {
  PackedNode node;
  node.name = name;
  node.path = directory + "/" + name;
  struct stat status;
  if (::lstat(node.path.c_str(), &status) != 0) return SystemError("lstat " + node.path, errno);
  if (S_ISDIR(status.st_mode)) {
    node.type = FileType::kDirectory;
    node.mode = 0755;
  } else if (S_ISREG(status.st_mode)) {
    node.mode = (status.st_mode & 0111) != 0 ? 0755 : 0644;
    node.size = static_cast<std::uint64_t>(status.st_size);
  } else if (S_ISLNK(status.st_mode)) {
    node.type = FileType::kSymlink;
    node.mode = 0777;
    char target[kMaxPathBytes + 1];
    const ssize_t length = ::readlink(node.path.c_str(), target, sizeof target);
    if (length < 0) return SystemError("readlink " + node.path, errno);
    node.target.assign(target, static_cast<std::size_t>(length));
    if (!IsStorableTarget(node.target)) return Refused(node.path, "bad link target");
    node.size = node.target.size();
  } else {
    return Refused(node.path, "neither file, directory nor symlink");
  }
  return node;
}

Result<std::vector<PackedNode>> HostChildren(const std::string& directory, bool is_root) {
  DORMOUSE_ASSIGN(const std::vector<std::string> names, NamesIn(directory));
  std::vector<PackedNode> children;
  for (const std::string& name : names) {
    if (is_root && (name == "workspace" || name == "tmp" || name == "dev")) {
      return Refused(directory + "/" + name, "the name belongs to a mount");
    }
    DORMOUSE_ASSIGN(PackedNode node, Describe(directory, name));
    children.push_back(std::move(node));
  }
  return children;
}

std::vector<PackedNode> BaseChildren(const RootfsImage& base, std::uint32_t directory) {
  const RootfsImage::Node parent = base.At(directory);
  std::vector<PackedNode> children;
  for (std::uint32_t i = 0; i < parent.child_count; ++i) {
    const RootfsImage::Node child = base.At(parent.first_child + i);
    PackedNode node;
    node.name = std::string(child.name);
    node.in_base = parent.first_child + i;
    node.type = child.type;
    node.mode = child.mode;
    if (child.type == FileType::kSymlink) node.target = std::string(child.data.view());
    if (child.type != FileType::kDirectory) {
      node.data = child.data;
      node.size = child.data.size();
    }
    children.push_back(std::move(node));
  }
  return children;
}

// The number of the directory `path` in the image.
Result<std::uint32_t> FindDirectory(const RootfsImage& image, std::string_view path) {
  std::uint32_t at = 0;
  while (!path.empty()) {
    const std::string_view name = path.substr(0, path.find('/'));
    path.remove_prefix(std::min(name.size() + 1, path.size()));
    const RootfsImage::Node parent = image.At(at);
    std::optional<std::uint32_t> found;
    for (std::uint32_t i = 0; i < parent.child_count && !found; ++i) {
      const RootfsImage::Node child = image.At(parent.first_child + i);
      if (child.name == name && child.type == FileType::kDirectory) found = parent.first_child + i;
    }
    if (!found) return Error(ErrorCode::kNotFound, "the engine's files have no directory for packages");
    at = *found;
  }
  return at;
}

Result<std::vector<PackedNode>> Scan(const Sources& from) {
  std::vector<PackedNode> nodes(1);
  nodes[0].type = FileType::kDirectory;
  nodes[0].mode = 0755;
  std::optional<std::uint32_t> replaced;
  if (from.base != nullptr) {
    DORMOUSE_ASSIGN(replaced, FindDirectory(*from.base, from.at));
    nodes[0].in_base = 0;
  } else {
    nodes[0].path = from.host_directory;
  }
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].type != FileType::kDirectory) continue;
    if (replaced && nodes[i].in_base == replaced) {
      nodes[i].in_base.reset();
      nodes[i].path = from.host_directory;
    }
    std::vector<PackedNode> children;
    if (nodes[i].in_base) {
      children = BaseChildren(*from.base, *nodes[i].in_base);
    } else {
      DORMOUSE_ASSIGN(children, HostChildren(nodes[i].path, i == 0));
    }
    nodes[i].first_child = static_cast<std::uint32_t>(nodes.size());
    nodes[i].child_count = static_cast<std::uint32_t>(children.size());
    if (nodes.size() + children.size() >= UINT32_MAX) {
      return Refused(from.host_directory, "too many files");
    }
    for (PackedNode& node : children) {
      node.parent = i;
      nodes.push_back(std::move(node));
    }
  }
  return nodes;
}

Result<void> CopyFile(const PackedNode& node, char* to) {
  if (node.in_base) {
    if (node.size > 0) std::memcpy(to, node.data.bytes().data(), node.size);
    return {};
  }
  const FileDescriptor file(::open(node.path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file.valid()) return SystemError("open " + node.path, errno);
  std::uint64_t done = 0;
  while (done < node.size) {
    const ssize_t got = ::read(file.get(), to + done, node.size - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return SystemError("read " + node.path, errno);
    if (got == 0) return Refused(node.path, "it shrank meanwhile");
    done += static_cast<std::uint64_t>(got);
  }
  return {};
}

std::uint64_t AlignUp(std::uint64_t value, std::uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

Result<std::string> Pack(const Sources& from) {
  DORMOUSE_ASSIGN(std::vector<PackedNode> nodes, Scan(from));
  std::string names;
  std::vector<RawNode> index;
  index.reserve(nodes.size());
  for (const PackedNode& node : nodes) {
    RawNode raw{};
    raw.name_offset = static_cast<std::uint32_t>(names.size());
    raw.name_length = static_cast<std::uint16_t>(node.name.size());
    raw.type = static_cast<std::uint8_t>(node.type);
    raw.mode = node.mode;
    raw.parent = node.parent;
    raw.mtime_ns = kRootfsMtimeNs;
    names += node.name;
    if (names.size() > UINT32_MAX) return Refused(from.host_directory, "too many names");
    index.push_back(raw);
  }
  Header header{};
  std::memcpy(header.magic, rootfs_layout::kMagic, sizeof header.magic);
  header.version = rootfs_layout::kVersion;
  header.node_count = static_cast<std::uint32_t>(nodes.size());
  header.index_offset = sizeof(Header);
  header.names_offset = header.index_offset + index.size() * sizeof(RawNode);
  header.names_size = names.size();
  std::uint64_t end = header.names_offset + header.names_size;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    PackedNode& node = nodes[i];
    if (node.type == FileType::kDirectory) {
      index[i].data_offset = node.first_child;
      index[i].data_size = node.child_count;
      continue;
    }
    const bool large = node.size >= rootfs_layout::kPageBytes;
    node.offset = AlignUp(end, large ? rootfs_layout::kPageBytes : rootfs_layout::kAlignment);
    index[i].data_offset = node.offset;
    index[i].data_size = node.size;
    end = node.offset + node.size;
  }
  header.total_size = end;
  std::string image(end, '\0');
  std::memcpy(image.data(), &header, sizeof header);
  std::memcpy(image.data() + header.index_offset, index.data(), index.size() * sizeof(RawNode));
  std::memcpy(image.data() + header.names_offset, names.data(), names.size());
  for (const PackedNode& node : nodes) {
    if (node.type == FileType::kSymlink) {
      std::memcpy(image.data() + node.offset, node.target.data(), node.target.size());
    } else if (node.type == FileType::kRegular) {
      DORMOUSE_TRY(CopyFile(node, image.data() + node.offset));
    }
  }
  return image;
}

}  // namespace

Result<std::string> PackRootfs(const std::string& host_directory) {
  return Pack({.host_directory = host_directory});
}

Result<std::string> PackRootfsOver(const RootfsImage& base, std::string_view at,
                                   const std::string& host_directory) {
  return Pack({.base = &base, .host_directory = host_directory, .at = at});
}

}  // namespace dormouse::wasi
