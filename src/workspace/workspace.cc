// SPDX-License-Identifier: Apache-2.0
#include "workspace/workspace.h"

#include <algorithm>

namespace dormouse::workspace {

Mirror::Mirror(std::shared_ptr<Workspace> workspace) : workspace_(std::move(workspace)) {
  const std::lock_guard lock(workspace_->mutex_);
  workspace_->mirrors_.insert(this);
}

Mirror::~Mirror() {
  const std::lock_guard lock(workspace_->mutex_);
  workspace_->mirrors_.erase(this);
  workspace_->ReleaseHeld();
}

Manifest Mirror::NextManifest() {
  const std::lock_guard lock(workspace_->mutex_);
  Manifest manifest = workspace_->tree_.ManifestSince(last_version_);
  last_version_ = workspace_->tree_.version();
  if (!first_version_) first_version_ = last_version_;
  return manifest;
}

bool Mirror::MayRead(const Sha256Digest& digest) const {
  const std::lock_guard lock(workspace_->mutex_);
  if (workspace_->tree_.Has(digest)) return true;
  return first_version_ && std::any_of(workspace_->held_.begin(), workspace_->held_.end(),
                                       [&](const Workspace::Held& held) {
                                         return held.dropped_at > *first_version_ &&
                                                held.digest == digest;
                                       });
}

std::vector<store::ContentPin> Workspace::PinsFor(const store::TreeChange& change) const {
  std::vector<store::ContentPin> pins;
  const auto add = [&](const std::string& path) {
    const TreeEntry* entry = tree_.Find(path);
    if (entry != nullptr && entry->kind == FileKind::kFile) {
      pins.push_back(pins_.Acquire(entry->digest).pin);
    }
  };
  const std::lock_guard lock(mutex_);
  for (const std::string& path : change.deletions) add(path);
  for (const TreeEntry& entry : change.upserts) add(entry.path);
  return pins;
}

void Workspace::Applied(const store::TreeChange& change) {
  const std::lock_guard lock(mutex_);
  const std::vector<Sha256Digest> dropped = tree_.Apply(change);
  if (mirrors_.empty()) return;
  for (const Sha256Digest& digest : dropped) {
    held_.push_back(Held{digest, tree_.version(), pins_.Acquire(digest).pin});
  }
  ReleaseHeld();
}

void Workspace::ReleaseHeld() {
  const auto wanted = [this](const Held& held, bool only_untold) {
    return std::any_of(mirrors_.begin(), mirrors_.end(), [&](const Mirror* mirror) {
      const auto& since = only_untold ? mirror->last_version_ : mirror->first_version_;
      return since && *since < held.dropped_at;
    });
  };
  std::erase_if(held_, [&](const Held& held) { return !wanted(held, false); });
  if (held_.size() > kHeldContents) {
    std::erase_if(held_, [&](const Held& held) { return !wanted(held, true); });
  }
}

}  // namespace dormouse::workspace
