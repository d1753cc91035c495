// SPDX-License-Identifier: Apache-2.0
#include "wasi/wasi.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <utility>

#include "wasi/wasi_support.h"

namespace dormouse::wasi {

Wasi::Wasi(WasiOptions options)
    : memory_(options.memory),
      entropy_(options.entropy),
      on_exit_(options.on_exit),
      on_exit_context_(options.on_exit_context),
      clock_(*options.time, options.monotonic_start_ns),
      streams_(*options.output),
      files_(options.limits, options.contents, *options.time, *options.entropy,
             std::move(options.rootfs)),
      descriptors_(options.limits.max_open_descriptors),
      workspace_(files_),
      state_(*this) {
  Directory& devices = files_.Children(files_.mount_root(MountKind::kDev));
  // As terminals are told apart by not being seekable, the streams claim that they are.
  const char* const names[] = {"stdin", "stdout", "stderr"};
  for (std::uint32_t fd = 0; fd < 3; ++fd) {
    auto file = std::make_shared<OpenFile>(files_, devices.Find(names[fd])->inode);
    file->rights =
        rights::kAll & ~rights::kDirectoryOnly &
        ~(fd == 0 ? rights::kWrite | rights::kAllocate | rights::kSetSize : rights::kRead);
    (void)descriptors_.InsertAt(std::move(file), fd);
  }
  auto root = std::make_shared<OpenFile>(files_, InodePtr(&files_.root()));
  root->rights = rights::kAll & ~rights::kWrite;
  root->inheriting_rights = rights::kAll;
  root->preopen = true;
  (void)descriptors_.InsertAt(std::move(root), 3);
}

Wasi::~Wasi() = default;

void Wasi::BeginRun(std::string stdin_bytes) {
  streams_.SetStdin(std::move(stdin_bytes));
  exit_code_.reset();
  interrupt_word_.store(0, std::memory_order_relaxed);
}

void Wasi::Interrupt() noexcept {
  interrupt_word_.store(1, std::memory_order_release);
  ::syscall(SYS_futex, &interrupt_word_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

}  // namespace dormouse::wasi
