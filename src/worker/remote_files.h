// SPDX-License-Identifier: Apache-2.0
// RemoteFiles: the files that the server opens for this worker: contents to read, and new files to fill.
//
// Threads: the guest thread.
#pragma once

#include <cstdint>

#include "common/result.h"
#include "wasi/host_interfaces.h"
#include "worker/server_link.h"

namespace dormouse::worker {

class RemoteFiles : public wasi::ContentSource {
 public:
  explicit RemoteFiles(ServerLink& link) : link_(link) {}

  Result<wasi::SharedBytes> Load(const Sha256Digest& digest, std::uint64_t size) override;

  // A new file of this run, and its number in the run.
  struct NewFile {
    FileDescriptor descriptor;
    std::uint32_t number = 0;
  };
  Result<NewFile> Create();
  // Numbers start anew with each run.
  void BeginRun() { created_ = 0; }

 private:
  ServerLink& link_;
  std::uint32_t created_ = 0;
};

}  // namespace dormouse::worker
