// SPDX-License-Identifier: Apache-2.0
// SpillFile: the beginning of a stream, kept in a temporary file of the data directory and not in memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "common/file_descriptor.h"
#include "common/result.h"
#include "store/data_files.h"

namespace dormouse::service {

class SpillFile {
 public:
  // Keeps at most `limit_bytes`. Borrows `files`.
  SpillFile(store::DataFiles& files, std::uint64_t limit_bytes)
      : files_(files), limit_bytes_(limit_bytes) {}

  // Never fails: after the first fault nothing more is kept, and TakeFile() tells.
  void Append(std::string_view bytes);
  std::uint64_t size_bytes() const { return size_bytes_; }
  // The file, or why it is not whole. Requires: something was appended. Once.
  Result<FileDescriptor> TakeFile();

 private:
  store::DataFiles& files_;
  const std::uint64_t limit_bytes_;
  FileDescriptor file_;
  std::uint64_t size_bytes_ = 0;
  std::optional<Error> fault_;
};

}  // namespace dormouse::service
