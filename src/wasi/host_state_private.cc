// SPDX-License-Identifier: Apache-2.0
// The private files record of HostState: /tmp, and unlinked files that are open.
#include <algorithm>
#include <unordered_set>
#include <utility>
#include <vector>

#include "wasi/names.h"
#include "wasi/state_parts.h"
#include "wasi/wasi.h"

namespace dormouse::wasi {
namespace {

constexpr std::uint64_t kNodeBytes = 128;  // about what a node needs besides its contents
constexpr std::size_t kPieceBytes = 1 << 20;

// A run of bytes that are there, between holes.
struct Run {
  std::uint64_t offset;
  std::uint64_t length;
};

std::vector<Run> RunsOf(const FileContent& content) {
  std::vector<Run> runs;
  for (const FileContent::Extent& extent : content.Extents()) {
    if (extent.kind == FileContent::Extent::Kind::kHole) continue;
    if (!runs.empty() && runs.back().offset + runs.back().length == extent.offset) {
      runs.back().length += extent.length;
    } else {
      runs.push_back({extent.offset, extent.length});
    }
  }
  return runs;
}

// All inodes of a tree but its top, parents before children. Files with several names come once.
struct TreeScan {
  std::vector<Inode*> nodes;
  std::vector<const DirectoryEntry*> entries;
};

TreeScan Scan(Inode& top) {
  TreeScan scan;
  std::unordered_set<const Inode*> seen;
  std::vector<Inode*> directories = {&top};
  for (std::size_t i = 0; i < directories.size(); ++i) {
    for (const auto& [cookie, entry] : directories[i]->directory->entries()) {
      Inode* const inode = entry.inode.get();
      scan.entries.push_back(&entry);
      if (inode->is_directory()) directories.push_back(inode);
      if (inode->more_entries.empty() || seen.insert(inode).second) scan.nodes.push_back(inode);
    }
  }
  return scan;
}

std::vector<Inode*> Orphans(const DescriptorTable& table) {
  std::vector<Inode*> orphans;
  for (const auto& file : table.all()) {
    if (file == nullptr || !file->inode || !file->inode->unlinked()) continue;
    Inode* const inode = file->inode.get();
    if (std::find(orphans.begin(), orphans.end(), inode) == orphans.end()) {
      orphans.push_back(inode);
    }
  }
  return orphans;
}

void PutTimes(ByteWriter& part, const Inode& inode) {
  part.U32(inode.mode);
  part.I64(inode.atime_ns);
  part.I64(inode.mtime_ns);
  part.I64(inode.ctime_ns);
}

Result<void> SaveContent(FileSystem& files, FileContent& content, const std::vector<Run>& runs,
                         const HostState::Sink& sink) {
  std::string piece;
  for (const Run& run : runs) {
    for (std::uint64_t done = 0; done < run.length;) {
      piece.resize(std::min<std::uint64_t>(run.length - done, kPieceBytes));
      std::uint64_t got = 0;
      const Errno error =
          content.Read(files.contents(), run.offset + done,
                       std::as_writable_bytes(std::span(piece.data(), piece.size())), got);
      if (error != Errno::kSuccess || got != piece.size()) {
        return Error(ErrorCode::kUnavailable, "a content could not be read");
      }
      DORMOUSE_TRY(sink(piece));
      done += got;
    }
  }
  return {};
}

Result<void> SaveNode(FileSystem& files, Inode& inode, const HostState::Sink& sink) {
  if (inode.content && inode.content->EnsureLoaded(files.contents()) != Errno::kSuccess) {
    // An unlinked file that the store has lost cannot be saved: its descriptor will answer ESTALE.
    if (inode.unlinked()) return {};
    return Error(ErrorCode::kUnavailable, "a content could not be read");
  }
  ByteWriter part;
  part.U64(inode.id);
  part.U8(static_cast<std::uint8_t>(inode.mount->kind));
  part.U8(static_cast<std::uint8_t>(inode.type));
  PutTimes(part, inode);
  part.String(inode.target);
  std::vector<Run> runs;
  std::uint64_t bytes = 0;
  if (inode.content) runs = RunsOf(*inode.content);
  part.U64(inode.content ? inode.content->size() : 0);
  part.U32(static_cast<std::uint32_t>(runs.size()));
  for (const Run& run : runs) {
    part.U64(run.offset);
    part.U64(run.length);
    bytes += run.length;
  }
  DORMOUSE_TRY(sink(StatePart(StateTag::kNode, part, bytes)));
  if (inode.content) DORMOUSE_TRY(SaveContent(files, *inode.content, runs, sink));
  return {};
}

bool ReadTimes(ByteReader& reader, Inode& inode) {
  inode.mode = reader.U32() & 07777;
  inode.atime_ns = reader.I64();
  inode.mtime_ns = reader.I64();
  inode.ctime_ns = reader.I64();
  return reader.ok();
}

// `data` is what follows the runs; `record` keeps it alive.
Result<void> RestoreContent(FileContent& content, std::uint64_t size, const std::vector<Run>& runs,
                            std::string_view data, const SharedBytes& record) {
  std::uint64_t used = 0;
  for (const Run& run : runs) {
    if (run.length > data.size() - used) return CorruptState("content is cut short");
    const auto start = static_cast<std::uint64_t>(data.data() - record.view().data()) + used;
    const SharedBytes bytes = record.Slice(start, run.length);
    if (run.offset == 0) {
      content.SetBytes(bytes);
    } else {
      std::uint64_t put = 0;
      const Errno error = content.Write(nullptr, run.offset, bytes.bytes(), put);
      if (error != Errno::kSuccess || put != run.length) {
        return Error(ErrorCode::kUnavailable, "no memory for a saved file");
      }
    }
    used += run.length;
  }
  if (used != data.size()) return CorruptState("content is too long");
  content.Resize(size);
  return {};
}

Result<std::vector<Run>> ReadRuns(ByteReader& reader, std::uint64_t size, std::uint64_t limit) {
  const std::uint32_t count = reader.U32();
  if (size > limit || !reader.CanHold(count, 16)) return CorruptState("content is malformed");
  std::vector<Run> runs;
  std::uint64_t end = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint64_t offset = reader.U64();
    const std::uint64_t length = reader.U64();
    if (offset < end || offset > size || length == 0 || length > size - offset) {
      return CorruptState("content is malformed");
    }
    end = offset + length;
    runs.push_back({offset, length});
  }
  return runs;
}

Result<InodePtr> RestoreNode(FileSystem& files, std::string_view bytes, const SharedBytes& record) {
  ByteReader reader(bytes);
  const std::uint64_t id = reader.U64();
  const std::uint8_t mount = reader.U8();
  const auto type = static_cast<FileType>(reader.U8());
  if (!reader.ok() || id == 0 ||
      (mount != static_cast<std::uint8_t>(MountKind::kTmp) &&
       mount != static_cast<std::uint8_t>(MountKind::kWorkspace)) ||
      (type != FileType::kRegular && type != FileType::kDirectory && type != FileType::kSymlink)) {
    return CorruptState("node is malformed");
  }
  InodePtr inode = files.NewInode(static_cast<MountKind>(mount), type, 0);
  inode->id = id;
  if (!ReadTimes(reader, *inode)) return CorruptState("node is cut short");
  const std::string_view target = reader.String();
  const std::uint64_t size = reader.U64();
  DORMOUSE_ASSIGN(const std::vector<Run> runs, ReadRuns(reader, size, std::uint64_t{1} << 62));
  if (!reader.ok()) return CorruptState("node is cut short");
  if (type == FileType::kSymlink) {
    if (!IsStorableTarget(target)) return CorruptState("link target is malformed");
    inode->SetTarget(target);
  }
  const std::string_view data = reader.Raw(reader.remaining());
  if (type == FileType::kRegular) {
    DORMOUSE_TRY(RestoreContent(*inode->content, size, runs, data, record));
  } else if (!data.empty()) {
    return CorruptState("node has stray content");
  }
  return inode;
}

// Parents come first, so that what is attached always hangs on /tmp and nothing goes in circles.
Result<void> RestoreEntry(FileSystem& files, std::string_view bytes,
                          const std::unordered_map<std::uint64_t, InodePtr>& nodes) {
  ByteReader reader(bytes);
  const std::uint64_t parent_id = reader.U64();
  const std::string_view name = reader.String();
  const std::uint64_t node_id = reader.U64();
  Inode& top = files.mount_root(MountKind::kTmp);
  Inode* parent = &top;
  if (parent_id != 0) {
    const auto found = nodes.find(parent_id);
    parent = found != nodes.end() ? found->second.get() : nullptr;
  }
  const auto node = nodes.find(node_id);
  if (!reader.AtEnd() || !IsStorableName(name) || node == nodes.end() || parent == nullptr ||
      !parent->is_directory() || (parent != &top && parent->entry == nullptr) ||
      node->second->mount != top.mount || parent->directory->Find(name) != nullptr ||
      (node->second->is_directory() && node->second->entry != nullptr)) {
    return CorruptState("entry is malformed");
  }
  std::size_t depth = 0;
  for (const Inode* at = parent; at != &top; at = at->entry->parent) {
    if (++depth > kMaxPathBytes / 2) return CorruptState("tree is too deep");
  }
  files.Attach(*parent, name, node->second);
  return {};
}

}  // namespace

bool HostState::private_files_dirty() const {
  return wasi_.files().private_version() != saved_version_;
}

std::uint64_t HostState::PrivateFilesBytes() const {
  const Mount& tmp = wasi_.files().mount(MountKind::kTmp);
  std::uint64_t bytes = tmp.bytes.used() + tmp.files.used() * kNodeBytes;
  for (const Inode* const inode : Orphans(wasi_.descriptors())) {
    bytes += kNodeBytes;
    if (inode->content && inode->mount != &tmp) {
      for (const Run& run : RunsOf(*inode->content)) bytes += run.length;
    }
  }
  return bytes;
}

Result<void> HostState::SavePrivateFiles(const Sink& sink) {
  FileSystem& files = wasi_.files();
  saving_version_ = files.private_version();
  Inode& top = files.mount_root(MountKind::kTmp);
  ByteWriter root;
  root.U64(top.id);
  PutTimes(root, top);
  DORMOUSE_TRY(sink(StateHeader(kPrivateMagic) + StatePart(StateTag::kTmpRoot, root)));
  const TreeScan scan = Scan(top);
  for (Inode* const inode : scan.nodes) DORMOUSE_TRY(SaveNode(files, *inode, sink));
  for (Inode* const inode : Orphans(wasi_.descriptors())) {
    DORMOUSE_TRY(SaveNode(files, *inode, sink));
  }
  for (const DirectoryEntry* const entry : scan.entries) {
    ByteWriter part;
    part.U64(entry->parent == &top ? 0 : entry->parent->id);
    part.String(entry->name);
    part.U64(entry->inode->id);
    DORMOUSE_TRY(sink(StatePart(StateTag::kEntry, part)));
  }
  return sink(StateEnd());
}

Result<std::string> HostState::SavePrivateFiles() {
  std::string record;
  DORMOUSE_TRY(SavePrivateFiles([&record](std::string_view piece) {
    record.append(piece);
    return Result<void>();
  }));
  return record;
}

void HostState::MarkPrivateFilesSaved() { saved_version_ = saving_version_; }

Result<void> HostState::RestorePrivateFiles(SharedBytes record) {
  FileSystem& files = wasi_.files();
  StateReader reader(record.view());
  DORMOUSE_TRY(reader.Header(kPrivateMagic));
  restored_.clear();
  Mount& tmp = files.mount(MountKind::kTmp);
  Mount& workspace = files.mount(MountKind::kWorkspace);
  if (!tmp.root->directory->empty()) return Error(ErrorCode::kConflict, "/tmp is not empty");
  // What fitted when it was saved is taken back, whatever the limits are now.
  tmp.bytes.Suspend(true);
  workspace.bytes.Suspend(true);
  const auto restore = [&]() -> Result<void> {
    while (true) {
      DORMOUSE_ASSIGN(const std::optional<StateReader::Part> part, reader.Next());
      if (!part.has_value()) return {};
      switch (static_cast<StateTag>(part->tag)) {
        case StateTag::kTmpRoot: {
          ByteReader root(part->bytes);
          tmp.root->id = root.U64();
          if (!ReadTimes(root, *tmp.root) || !root.AtEnd()) {
            return CorruptState("root is malformed");
          }
          break;
        }
        case StateTag::kNode: {
          DORMOUSE_ASSIGN(InodePtr inode, RestoreNode(files, part->bytes, record));
          const std::uint64_t id = inode->id;
          if (!restored_.emplace(id, std::move(inode)).second) {
            return CorruptState("node is listed twice");
          }
          break;
        }
        case StateTag::kEntry:
          DORMOUSE_TRY(RestoreEntry(files, part->bytes, restored_));
          break;
        default:
          if ((part->tag & kSkippableTag) == 0) return CorruptState("unknown part");
      }
    }
  };
  Result<void> result = restore();
  tmp.bytes.Suspend(false);
  workspace.bytes.Suspend(false);
  saved_version_ = files.private_version();
  return result;
}

}  // namespace dormouse::wasi
