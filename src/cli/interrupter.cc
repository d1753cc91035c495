// SPDX-License-Identifier: Apache-2.0
#include "cli/interrupter.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

namespace dormouse::cli {
namespace {

constexpr int kExitAfterInterrupt = 130;
constexpr char kInterrupted = 'i';
constexpr char kEnded = 'e';

// Read by the signal handler.
std::atomic<int> g_write_fd = -1;
std::atomic<int> g_count = 0;
static_assert(std::atomic<int>::is_always_lock_free);

// SAFETY: calls only write() and _exit(), which are async-signal-safe, and keeps errno.
void OnSignal(int) {
  const int saved_errno = errno;
  if (g_count.fetch_add(1) > 0) ::_exit(kExitAfterInterrupt);
  const int fd = g_write_fd.load();
  if (fd >= 0) (void)!::write(fd, &kInterrupted, 1);
  errno = saved_errno;
}

struct sigaction g_previous;

}  // namespace

Interrupter::Interrupter(std::function<void()> on_interrupt)
    : on_interrupt_(std::move(on_interrupt)) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return;  // Ctrl-C then ends the process, as ever
  read_end_ = FileDescriptor(ends[0]);
  write_end_ = FileDescriptor(ends[1]);
  g_count = 0;
  g_write_fd = write_end_.get();
  watcher_ = std::thread([this] { Watch(); });
  struct sigaction action{};
  action.sa_handler = OnSignal;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGINT, &action, &g_previous);
}

Interrupter::~Interrupter() {
  if (!watcher_.joinable()) return;
  ::sigaction(SIGINT, &g_previous, nullptr);
  g_write_fd = -1;
  (void)!::write(write_end_.get(), &kEnded, 1);
  watcher_.join();
}

void Interrupter::Watch() {
  char what = kEnded;
  while (true) {
    const ssize_t length = ::read(read_end_.get(), &what, 1);
    if (length < 0 && errno == EINTR) continue;
    if (length != 1 || what == kEnded) return;
    on_interrupt_();
  }
}

}  // namespace dormouse::cli
