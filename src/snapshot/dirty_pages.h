// SPDX-License-Identifier: Apache-2.0
// DirtyPages: finds the pages of linear memory that were written since the last time it was asked.
//
// Two ways, chosen once by what the kernel offers:
//   * kernel 6.7 and later: PAGEMAP_SCAN with asynchronous write protection of userfaultfd; costs a soft fault per
//     page written and a walk over the page tables;
//   * otherwise: pagemap tells which pages are private copies, and a hash per page (XXH3) tells which of them changed.
// Both report a superset of the changed pages: equal content is for the caller to find. Never misses one, as long as
// all writes come from this process.
//
// Threads: one thread, while no guest code runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "common/file_descriptor.h"
#include "common/result.h"
#include "snapshot/page.h"

namespace dormouse::snapshot {

class DirtyPages {
 public:
  enum class Method { kBest, kHash };

  virtual ~DirtyPages() = default;
  // Watches the memory at `base`, which is mapped already and may grow. Opens /proc/self/pagemap, so it
  // must be called before file access is given up, and in the process that will use it.
  static Result<std::unique_ptr<DirtyPages>> Watch(std::byte* base, Method method = Method::kBest);

  // The pages within the first `size_bytes` written since Watch or the last Collect, in ascending order.
  virtual Result<std::vector<PageIndex>> Collect(std::uint64_t size_bytes) = 0;
  // All pages that are private copies (written at any time since the mapping was made), ascending.
  virtual Result<std::vector<PageIndex>> CollectPrivate(std::uint64_t size_bytes) = 0;
};

}  // namespace dormouse::snapshot
