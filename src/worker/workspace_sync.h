// SPDX-License-Identifier: Apache-2.0
// WorkspaceSync: between the protocol's manifests and changes, and the mirror of /workspace in this worker.
//
// Threads: the guest thread.
#pragma once

#include <vector>

#include "common/result.h"
#include "common/sha256.h"
#include "protocol/messages.h"
#include "wasi/workspace_mirror.h"
#include "worker/remote_files.h"
#include "worker/server_link.h"

namespace dormouse::worker {

class WorkspaceSync {
 public:
  WorkspaceSync(wasi::WorkspaceMirror& mirror, RemoteFiles& files, ServerLink& link)
      : mirror_(mirror), files_(files), link_(link) {}

  // A part of the manifest for the next run.
  void Gather(protocol::Manifest part);
  // All parts are there: bring the mirror up to date.
  Result<void> Apply();

  // Sends what the guest changed, in as many messages as it takes.
  Result<void> Report();
  // The changes last reported are in the server's tree.
  Result<void> MarkCommitted();

 private:
  Result<protocol::Change> Describe(const wasi::WorkspaceChange& change);

  wasi::WorkspaceMirror& mirror_;
  RemoteFiles& files_;
  ServerLink& link_;
  wasi::WorkspaceManifest manifest_;
  std::vector<Sha256Digest> reported_;  // digests of changed contents, in the order in which they were reported
  bool has_reported_ = false;
};

}  // namespace dormouse::worker
