// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "cli/progress.h"
#include "common/file_descriptor.h"
#include "common/result.h"
#include "common/sha256.h"

namespace dormouse::cli {

struct PackedArchive {
  FileDescriptor file;  // at offset 0
  Sha256Digest digest;
  std::uint64_t size_bytes = 0;
};

// A directory as .tar.gz in a file without a name; `.git` is left out, and what is neither file,
// directory nor link. A file is taken for an archive as it is.
Result<PackedArchive> Pack(const std::string& source, Progress::Audience audience);

}  // namespace dormouse::cli
