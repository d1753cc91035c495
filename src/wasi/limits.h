// SPDX-License-Identifier: Apache-2.0
// Limits of one context's file system. Holes in /tmp cost nothing; bytes are counted as written.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dormouse::wasi {

inline constexpr std::size_t kMaxNameBytes = 255;
inline constexpr std::size_t kMaxPathBytes = 4095;  // PATH_MAX without its NUL
inline constexpr int kMaxSymlinkHops = 40;

struct Limits {
  // Contents in /workspace, those of the manifest included: EDQUOT beyond. Also the sizes of all
  // its files, holes included and once for each name, as the server counts them: EDQUOT, or EFBIG
  // for a file that could never fit.
  std::uint64_t max_workspace_bytes = std::uint64_t{2} << 30;
  // Contents in /tmp: ENOSPC beyond.
  std::uint64_t max_tmp_bytes = std::uint64_t{512} << 20;
  // Files, directories, symlinks and further names of files, each mount on its own: EDQUOT
  // (/workspace) or ENOSPC (/tmp).
  std::uint64_t max_files = 200'000;
  // One file, holes included: EFBIG.
  std::uint64_t max_file_bytes = std::uint64_t{1} << 40;
  // EMFILE.
  std::uint32_t max_open_descriptors = 1024;
};

}  // namespace dormouse::wasi
