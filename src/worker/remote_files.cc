// SPDX-License-Identifier: Apache-2.0
#include "worker/remote_files.h"

namespace dormouse::worker {

Result<wasi::SharedBytes> RemoteFiles::Load(const Sha256Digest& digest, std::uint64_t size) {
  const protocol::NeedContent need{.digest = digest};
  DORMOUSE_ASSIGN(const FileDescriptor file,
                  link_.AskForDescriptor(protocol::MessageType::kNeedContent, need.Encode()));
  return wasi::SharedBytes::FromFile(file, size);
}

Result<RemoteFiles::NewFile> RemoteFiles::Create() {
  DORMOUSE_ASSIGN(FileDescriptor file, link_.AskForDescriptor(protocol::MessageType::kNeedFile, {}));
  return NewFile{.descriptor = std::move(file), .number = created_++};
}

}  // namespace dormouse::worker
