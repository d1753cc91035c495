// SPDX-License-Identifier: Apache-2.0
// ContentStore: brings contents into the store by the hash that the server itself computes.
//
// A file that a worker wrote is copied while it is hashed, never taken over: the worker may still hold a descriptor and
// change it later, and a content with a false hash would reach every sandbox that stores the same bytes.
//
// Threads: calls block on disk reads and writes; any thread may make them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/result.h"
#include "store/store.h"

namespace dormouse::workspace {

// A content that a transaction may name once AddTo was called on it.
struct StagedContent {
  Sha256Digest digest;
  std::uint64_t size_bytes = 0;
  store::ContentPin pin;
  // Nothing when the store has the content already.
  std::optional<store::ContentRow> row;
  std::optional<store::PlacedFile> file;

  // Makes `transaction` store the content.
  void AddTo(store::Transaction& transaction) &&;
};

class ContentStore {
 public:
  // Borrows `store`, which must outlive it.
  explicit ContentStore(store::Store& store) : store_(store) {}

  Result<StagedContent> Stage(std::string_view bytes);
  // All of the file from offset 0. kFileTooLarge over `limit_bytes`.
  Result<StagedContent> StageFile(int fd, std::uint64_t limit_bytes);
  // The same for a file of DataFiles::CreateTemporary that nobody else can write to: it is taken, not copied.
  Result<StagedContent> StageOwned(FileDescriptor file);

 private:
  // Whether the store has the content and will keep it while the pin lives.
  Result<bool> Pin(StagedContent& content);

  store::Store& store_;
};

}  // namespace dormouse::workspace
