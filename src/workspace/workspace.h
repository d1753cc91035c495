// SPDX-License-Identifier: Apache-2.0
// Workspace: a sandbox's tree, the mirrors of it that workers hold, and the contents that these may still ask for.
//
// A change goes in three steps: a Draft of Current() is made into a TreeChange, the store commits it, Applied() makes it
// visible. Callers see to it that only one change is between the first and the last step.
//
// Threads: every call may be made from any thread. Owner: shared by the sandbox and its mirrors.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "store/content_pins.h"
#include "workspace/tree.h"

namespace dormouse::workspace {

class Workspace;

// What one worker has been told. A content named to it stays until the mirror is gone, within limits: see Applied.
class Mirror {
 public:
  explicit Mirror(std::shared_ptr<Workspace> workspace);
  ~Mirror();
  Mirror(const Mirror&) = delete;
  Mirror& operator=(const Mirror&) = delete;

  // What brings the worker's mirror to the present tree.
  Manifest NextManifest();
  // Whether the worker may read this content: some version of the tree since its first manifest has or had it.
  bool MayRead(const Sha256Digest& digest) const;

 private:
  friend class Workspace;
  const std::shared_ptr<Workspace> workspace_;
  // Guarded by the workspace's mutex.
  std::optional<std::uint64_t> first_version_;
  std::optional<std::uint64_t> last_version_;
};

class Workspace {
 public:
  // `pins` must outlive it.
  Workspace(Tree tree, store::ContentPins& pins) : pins_(pins), tree_(std::move(tree)) {}

  // The tree as of now, for one who holds the right to change it (see above): nobody else changes it meanwhile.
  const Tree& Current() const { return tree_; }
  // Calls `read` with the tree, which does not change during the call. Keep it short.
  template <typename Reader>
  auto Read(Reader read) const {
    const std::lock_guard lock(mutex_);
    return read(tree_);
  }

  // Pins for what `change` takes out of the tree, to be made before the commit: a sweep right after it must not win.
  std::vector<store::ContentPin> PinsFor(const store::TreeChange& change) const;
  // The change is committed. Contents that left the tree stay readable for mirrors that were told of them; when these
  // hold more than kHeldContents, only for mirrors that have not been told of the change.
  void Applied(const store::TreeChange& change);

 private:
  friend class Mirror;
  struct Held {
    Sha256Digest digest;
    std::uint64_t dropped_at = 0;  // the first version without it
    store::ContentPin pin;
  };
  static constexpr std::size_t kHeldContents = 10'000;
  void ReleaseHeld();

  store::ContentPins& pins_;
  mutable std::mutex mutex_;
  Tree tree_;  // changed under the mutex
  std::set<Mirror*> mirrors_;
  std::deque<Held> held_;
};

}  // namespace dormouse::workspace
