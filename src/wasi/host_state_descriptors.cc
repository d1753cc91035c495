// SPDX-License-Identifier: Apache-2.0
// The descriptors record of HostState.
#include <unordered_map>
#include <utility>
#include <vector>

#include "wasi/state_parts.h"
#include "wasi/wasi.h"
#include "wasi/wasi_support.h"

namespace dormouse::wasi {
namespace {

// How an open file is found again.
enum class Place : std::uint8_t { kPath = 0, kPrivate = 1, kLost = 2 };

constexpr std::int64_t kMaxTime = std::int64_t{1} << 62;

Place PlaceOf(const OpenFile& file) {
  if (!file.inode) return Place::kLost;
  const Inode& inode = *file.inode;
  if (inode.unlinked()) return Place::kPrivate;
  return inode.mount->kind == MountKind::kTmp && !inode.is_mount_root() ? Place::kPrivate
                                                                        : Place::kPath;
}

// By names alone: no symlinks, no "..".
InodePtr FindExactly(FileSystem& files, std::string_view path) {
  Inode* at = &files.root();
  if (path == "/") return at;
  while (!path.empty()) {
    if (path.front() != '/' || !at->is_directory()) return nullptr;
    path.remove_prefix(1);
    const std::string_view name = path.substr(0, path.find('/'));
    const DirectoryEntry* const entry = files.Children(*at).Find(name);
    if (entry == nullptr) return nullptr;
    at = entry->inode.get();
    path.remove_prefix(name.size());
  }
  return at;
}

struct SavedFile {
  Place place = Place::kLost;
  FileType type = FileType::kRegular;
  std::uint64_t inode = 0;
  std::string_view path;
  std::uint64_t offset = 0;
  std::uint16_t flags = 0;
  std::uint64_t rights = 0;
  std::uint64_t inheriting_rights = 0;
  bool preopen = false;
  std::vector<std::uint32_t> descriptors;
};

Result<SavedFile> ReadFile(std::string_view bytes, std::uint32_t max_descriptors) {
  ByteReader reader(bytes);
  SavedFile file;
  const std::uint8_t place = reader.U8();
  file.type = static_cast<FileType>(reader.U8());
  file.inode = reader.U64();
  file.path = reader.String();
  file.offset = reader.U64();
  file.flags = reader.U16();
  file.rights = reader.U64();
  file.inheriting_rights = reader.U64();
  const std::uint8_t preopen = reader.U8();
  const std::uint32_t count = reader.U32();
  if (!reader.CanHold(count, sizeof(std::uint32_t))) return CorruptState("open file is cut short");
  if (place > static_cast<std::uint8_t>(Place::kLost) || preopen > 1 ||
      (file.flags & ~fd_flags::kAll) != 0 || (file.rights & ~rights::kAll) != 0 ||
      (file.inheriting_rights & ~rights::kAll) != 0 || file.offset > kMaxOffset) {
    return CorruptState("open file has impossible values");
  }
  file.place = static_cast<Place>(place);
  file.preopen = preopen != 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t fd = reader.U32();
    if (fd >= max_descriptors) return CorruptState("descriptor number is too high");
    file.descriptors.push_back(fd);
  }
  if (count == 0 || !reader.AtEnd()) return CorruptState("open file is malformed");
  return file;
}

using Listing = std::vector<std::pair<std::string, std::uint32_t>>;

std::string ListingPart(std::uint32_t file_index, const Listing& listing) {
  ByteWriter part;
  part.U32(file_index);
  part.U32(static_cast<std::uint32_t>(listing.size()));
  for (const auto& [name, cookie] : listing) {
    part.String(name);
    part.U32(cookie);
  }
  return StatePart(StateTag::kListing, part);
}

Result<void> RestoreListing(std::string_view bytes, const std::vector<InodePtr>& inodes) {
  ByteReader reader(bytes);
  const std::uint32_t index = reader.U32();
  const std::uint32_t count = reader.U32();
  if (!reader.CanHold(count, 8) || index >= inodes.size()) {
    return CorruptState("listing is malformed");
  }
  Listing listing;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::string_view name = reader.String();
    listing.emplace_back(name, reader.U32());
  }
  if (!reader.AtEnd()) return CorruptState("listing is malformed");
  const InodePtr& directory = inodes[index];
  if (directory && directory->is_directory() && !directory->mount->read_only) {
    directory->directory->SetCookies(listing);
  }
  return {};
}

std::string ClockPart(const GuestClock::Saved& saved) {
  ByteWriter part;
  part.I64(saved.realtime_ns);
  part.I64(saved.monotonic_ns);
  part.I64(saved.cpu_ns);
  return StatePart(StateTag::kClock, part);
}

Result<void> RestoreClock(std::string_view bytes, GuestClock& clock) {
  ByteReader reader(bytes);
  GuestClock::Saved saved;
  saved.realtime_ns = reader.I64();
  saved.monotonic_ns = reader.I64();
  saved.cpu_ns = reader.I64();
  const auto sane = [](std::int64_t time) { return time >= 0 && time <= kMaxTime; };
  if (!reader.AtEnd() || !sane(saved.realtime_ns) || !sane(saved.monotonic_ns) ||
      !sane(saved.cpu_ns)) {
    return CorruptState("clocks are impossible");
  }
  clock.Restore(saved);
  return {};
}

}  // namespace

std::string HostState::SaveDescriptors() {
  std::string record = StateHeader(kDescriptorsMagic) + ClockPart(wasi_.clock().Save());
  std::vector<const OpenFile*> files;
  std::unordered_map<const OpenFile*, std::vector<std::uint32_t>> numbers;
  const auto& all = wasi_.descriptors().all();
  for (std::uint32_t fd = 0; fd < all.size(); ++fd) {
    if (all[fd] == nullptr) continue;
    std::vector<std::uint32_t>& of_file = numbers[all[fd].get()];
    if (of_file.empty()) files.push_back(all[fd].get());
    of_file.push_back(fd);
  }
  for (std::uint32_t i = 0; i < files.size(); ++i) {
    const OpenFile& file = *files[i];
    const Place place = PlaceOf(file);
    ByteWriter part;
    part.U8(static_cast<std::uint8_t>(place));
    part.U8(static_cast<std::uint8_t>(file.inode ? file.inode->type : FileType::kRegular));
    part.U64(file.inode ? file.inode->id : 0);
    part.String(place == Place::kPath ? wasi_.files().PathOf(*file.inode) : std::string());
    part.U64(file.offset);
    part.U16(file.flags);
    part.U64(file.rights);
    part.U64(file.inheriting_rights);
    part.U8(file.preopen ? 1 : 0);
    const std::vector<std::uint32_t>& of_file = numbers[&file];
    part.U32(static_cast<std::uint32_t>(of_file.size()));
    for (const std::uint32_t fd : of_file) part.U32(fd);
    record += StatePart(StateTag::kOpenFile, part);
    if (!file.inode || !file.inode->is_directory() || file.inode->mount->read_only) continue;
    const Listing displaced = file.inode->directory->DisplacedCookies();
    if (!displaced.empty()) record += ListingPart(i, displaced);
  }
  return record + StateEnd();
}

Result<void> HostState::RestoreDescriptors(std::string_view record) {
  StateReader reader(record);
  DORMOUSE_TRY(reader.Header(kDescriptorsMagic));
  DescriptorTable& table = wasi_.descriptors();
  table.Clear();
  std::vector<InodePtr> inodes;  // of the open files, in order
  bool clock_seen = false;
  while (true) {
    DORMOUSE_ASSIGN(const std::optional<StateReader::Part> part, reader.Next());
    if (!part.has_value()) break;
    switch (static_cast<StateTag>(part->tag)) {
      case StateTag::kClock:
        DORMOUSE_TRY(RestoreClock(part->bytes, wasi_.clock()));
        clock_seen = true;
        break;
      case StateTag::kOpenFile: {
        DORMOUSE_ASSIGN(const SavedFile saved, ReadFile(part->bytes, table.max_descriptors()));
        InodePtr inode;
        if (saved.place == Place::kPath) {
          inode = FindExactly(wasi_.files(), saved.path);
        } else if (saved.place == Place::kPrivate) {
          const auto found = restored_.find(saved.inode);
          if (found != restored_.end()) inode = found->second;
        }
        if (inode && inode->type != saved.type) inode = nullptr;
        // A guest may have noted the number while the file was open.
        if (inode && !inode->mount->read_only && !inode->is_mount_root()) inode->id = saved.inode;
        auto file = std::make_shared<OpenFile>(wasi_.files(), inode);
        file->offset = saved.offset;
        file->flags = saved.flags;
        file->rights = saved.rights;
        file->inheriting_rights = saved.inheriting_rights;
        file->preopen = saved.preopen;
        for (const std::uint32_t fd : saved.descriptors) {
          if (table.Get(fd) != nullptr) return CorruptState("descriptor is listed twice");
          (void)table.InsertAt(file, fd);
        }
        inodes.push_back(std::move(inode));
        break;
      }
      case StateTag::kListing:
        DORMOUSE_TRY(RestoreListing(part->bytes, inodes));
        break;
      default:
        if ((part->tag & kSkippableTag) == 0) return CorruptState("unknown part");
    }
  }
  if (!clock_seen) return CorruptState("there are no clocks");
  restored_.clear();
  return {};
}

}  // namespace dormouse::wasi
