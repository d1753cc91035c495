// SPDX-License-Identifier: Apache-2.0
#include "snapshot/dirty_pages.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <xxhash.h>

#include <cerrno>
#include <unordered_map>

namespace dormouse::snapshot {
namespace {

// From linux/fs.h of 6.7 and linux/userfaultfd.h of 6.7; Debian 12's headers are older than its backported kernels.
constexpr std::uint64_t kUffdFeatureWpAsync = 1u << 15;
constexpr int kUffdUserModeOnly = 1;
constexpr std::uint64_t kPageIsWritten = 1u << 1;
constexpr std::uint64_t kPageIsFile = 1u << 2;
constexpr std::uint64_t kPageIsPfnZero = 1u << 5;
constexpr std::uint64_t kPageIsPresent = 1u << 3;
constexpr std::uint64_t kPageIsSwapped = 1u << 4;
constexpr std::uint64_t kScanWpMatching = 1u << 0;
// Mappings that are not registered are an error instead of being passed over.
constexpr std::uint64_t kScanCheckWpAsync = 1u << 1;

struct PageRegion {
  std::uint64_t start;
  std::uint64_t end;
  std::uint64_t categories;
};

struct ScanArguments {
  std::uint64_t size = sizeof(ScanArguments);
  std::uint64_t flags = 0;
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint64_t walk_end = 0;
  std::uint64_t vec = 0;
  std::uint64_t vec_len = 0;
  std::uint64_t max_pages = 0;
  std::uint64_t category_inverted = 0;
  std::uint64_t category_mask = 0;
  std::uint64_t category_anyof_mask = 0;
  std::uint64_t return_mask = 0;
};
constexpr unsigned long kPagemapScan = _IOWR('f', 16, ScanArguments);

constexpr std::size_t kRegionsPerScan = 512;

// Runs PAGEMAP_SCAN over the memory and lists the pages of all matching regions.
Result<std::vector<PageIndex>> Scan(int pagemap, std::byte* base, std::uint64_t size_bytes,
                                    ScanArguments arguments) {
  std::vector<PageIndex> pages;
  std::vector<PageRegion> regions(kRegionsPerScan);
  const std::uint64_t start = reinterpret_cast<std::uintptr_t>(base);
  arguments.start = start;
  arguments.end = start + size_bytes;
  arguments.vec = reinterpret_cast<std::uintptr_t>(regions.data());
  arguments.vec_len = regions.size();
  while (arguments.start < arguments.end) {
    const int found = ::ioctl(pagemap, kPagemapScan, &arguments);
    if (found < 0) return SystemError("PAGEMAP_SCAN", errno);
    for (int i = 0; i < found; ++i) {
      for (std::uint64_t at = regions[i].start; at < regions[i].end; at += kPageBytes) {
        pages.push_back(static_cast<PageIndex>((at - start) / kPageBytes));
      }
    }
    if (arguments.walk_end <= arguments.start) break;
    arguments.start = arguments.walk_end;
  }
  return pages;
}

class ScanningDirtyPages : public DirtyPages {
 public:
  ScanningDirtyPages(std::byte* base, FileDescriptor pagemap, FileDescriptor userfault)
      : base_(base), pagemap_(std::move(pagemap)), userfault_(std::move(userfault)) {}

  static std::unique_ptr<DirtyPages> TryMake(std::byte* base, FileDescriptor& pagemap) {
    FileDescriptor userfault(static_cast<int>(
        ::syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | kUffdUserModeOnly)));
    if (!userfault.valid()) return nullptr;
    uffdio_api api{};
    api.api = UFFD_API;
    // Without WP_UNPOPULATED: a page that was never touched needs no protection to count as written later.
    api.features = kUffdFeatureWpAsync;
    if (::ioctl(userfault.get(), UFFDIO_API, &api) != 0) return nullptr;
    auto tracker = std::make_unique<ScanningDirtyPages>(base, FileDescriptor(::dup(pagemap.get())),
                                                        std::move(userfault));
    // Proves that the kernel does all of it.
    if (!tracker->Collect(kPageBytes).ok()) return nullptr;
    pagemap.reset();
    return tracker;
  }

  Result<std::vector<PageIndex>> Collect(std::uint64_t size_bytes) override {
    DORMOUSE_TRY(Register(size_bytes));
    ScanArguments arguments;
    arguments.flags = kScanWpMatching | kScanCheckWpAsync;
    // Written, and a private copy: pages of the image that were only read are written too in the kernel's words.
    arguments.category_inverted = kPageIsFile | kPageIsPfnZero;
    arguments.category_mask = kPageIsWritten | kPageIsFile | kPageIsPfnZero;
    arguments.category_anyof_mask = kPageIsPresent | kPageIsSwapped;
    arguments.return_mask = kPageIsWritten;
    return Scan(pagemap_.get(), base_, size_bytes, arguments);
  }

  Result<std::vector<PageIndex>> CollectPrivate(std::uint64_t size_bytes) override {
    ScanArguments arguments;
    arguments.category_inverted = kPageIsFile | kPageIsPfnZero;
    arguments.category_mask = kPageIsFile | kPageIsPfnZero;
    arguments.category_anyof_mask = kPageIsPresent | kPageIsSwapped;
    arguments.return_mask = kPageIsPresent;
    return Scan(pagemap_.get(), base_, size_bytes, arguments);
  }

 private:
  // Memory that grew is a new mapping: what was written to it before it is registered counts as written, for it has no
  // protection yet.
  Result<void> Register(std::uint64_t size_bytes) {
    if (size_bytes <= registered_bytes_) return {};
    uffdio_register range{};
    range.range = {reinterpret_cast<std::uintptr_t>(base_), size_bytes};
    range.mode = UFFDIO_REGISTER_MODE_WP;
    if (::ioctl(userfault_.get(), UFFDIO_REGISTER, &range) != 0) return SystemError("UFFDIO_REGISTER", errno);
    registered_bytes_ = size_bytes;
    return {};
  }

  std::byte* base_;
  FileDescriptor pagemap_;
  FileDescriptor userfault_;
  std::uint64_t registered_bytes_ = 0;
};

class HashingDirtyPages : public DirtyPages {
 public:
  HashingDirtyPages(std::byte* base, FileDescriptor pagemap) : base_(base), pagemap_(std::move(pagemap)) {}

  Result<std::vector<PageIndex>> Collect(std::uint64_t size_bytes) override {
    DORMOUSE_ASSIGN(const std::vector<PageIndex> candidates, CollectPrivate(size_bytes));
    std::vector<PageIndex> changed;
    for (const PageIndex page : candidates) {
      const std::uint64_t hash = XXH3_64bits(base_ + std::uint64_t{page} * kPageBytes, kPageBytes);
      auto [known, added] = hashes_.try_emplace(page, hash);
      if (!added && known->second == hash) continue;
      known->second = hash;
      changed.push_back(page);
    }
    return changed;
  }

  Result<std::vector<PageIndex>> CollectPrivate(std::uint64_t size_bytes) override {
    constexpr std::uint64_t kPresentOrSwapped = 3ull << 62;
    constexpr std::uint64_t kFileOrShared = 1ull << 61;
    const std::uint64_t first = reinterpret_cast<std::uintptr_t>(base_) / kPageBytes;
    const std::uint64_t count = size_bytes / kPageBytes;
    std::vector<PageIndex> pages;
    std::vector<std::uint64_t> entries(4096);
    for (std::uint64_t done = 0; done < count;) {
      const std::size_t batch = std::min<std::uint64_t>(entries.size(), count - done);
      const ssize_t got = ::pread(pagemap_.get(), entries.data(), batch * sizeof(std::uint64_t),
                                  static_cast<off_t>((first + done) * sizeof(std::uint64_t)));
      if (got <= 0) return SystemError("reading pagemap", got == 0 ? EIO : errno);
      const std::size_t read = static_cast<std::size_t>(got) / sizeof(std::uint64_t);
      for (std::size_t i = 0; i < read; ++i) {
        if ((entries[i] & kPresentOrSwapped) != 0 && (entries[i] & kFileOrShared) == 0) {
          pages.push_back(static_cast<PageIndex>(done + i));
        }
      }
      done += read;
    }
    return pages;
  }

 private:
  std::byte* base_;
  FileDescriptor pagemap_;
  std::unordered_map<PageIndex, std::uint64_t> hashes_;
};

}  // namespace

Result<std::unique_ptr<DirtyPages>> DirtyPages::Watch(std::byte* base, Method method) {
  FileDescriptor pagemap(::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC));
  if (!pagemap.valid()) return SystemError("opening /proc/self/pagemap", errno);
  if (method == Method::kBest) {
    if (auto scanning = ScanningDirtyPages::TryMake(base, pagemap)) return scanning;
  }
  return std::unique_ptr<DirtyPages>(
      std::make_unique<HashingDirtyPages>(base, std::move(pagemap)));
}

}  // namespace dormouse::snapshot
