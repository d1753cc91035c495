// SPDX-License-Identifier: Apache-2.0
// Merging what a run did into the tree, which may have moved on since the run began.
//
// The last commit to a path wins, with its kind. In particular:
//   * A deletion removes a file or link whatever another run made of it meanwhile. A directory is removed if it is empty
//     then; what others put into it stays, and so does the directory.
//   * A change re-creates parents that others deleted, and turns a parent that others made a file back into a directory.
//   * A file or link replaces a directory with all that is in it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/result.h"
#include "workspace/draft.h"

namespace dormouse::workspace {

// A run's changes with the digests of their contents known.
struct RunChanges {
  std::vector<TreeEntry> upserts;
  std::vector<std::string> deletions;

  bool empty() const { return upserts.empty() && deletions.empty(); }
};

// Whether paths, link targets and modes are legal and no path is listed twice. Workers are not to be trusted.
Result<void> CheckRunChanges(const RunChanges& changes);

// Requires: CheckRunChanges succeeded.
void MergeRun(Draft& tree, RunChanges changes, std::int64_t now_ns);

}  // namespace dormouse::workspace
