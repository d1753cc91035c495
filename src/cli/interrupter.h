// SPDX-License-Identifier: Apache-2.0
// Interrupter: while it lives, Ctrl-C stops the run in progress instead of this process. A second
// Ctrl-C ends the process.
#pragma once

#include <functional>
#include <thread>

#include "common/file_descriptor.h"

namespace dormouse::cli {

// Threads: `on_interrupt` is called on a thread of its own. Only one Interrupter may live at a
// time.
class Interrupter {
 public:
  explicit Interrupter(std::function<void()> on_interrupt);
  ~Interrupter();
  Interrupter(const Interrupter&) = delete;
  Interrupter& operator=(const Interrupter&) = delete;

 private:
  void Watch();

  const std::function<void()> on_interrupt_;
  FileDescriptor read_end_;
  FileDescriptor write_end_;
  std::thread watcher_;
};

}  // namespace dormouse::cli
