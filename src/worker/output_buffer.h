// SPDX-License-Identifier: Apache-2.0
// OutputBuffer: what the guest writes and emits, on its way to the server.
//
// Writes are gathered for a few milliseconds or kilobytes, so that a flood of small prints does not become a flood of
// messages, and go out in the order in which they were made, over both streams and all emits.
//
// Threads: Write and Emit on the guest thread, FlushIfDue on the control thread, all others on either.
#pragma once

#include <chrono>
#include <mutex>

#include "protocol/messages.h"
#include "wasi/host_interfaces.h"
#include "worker/instance.h"
#include "worker/server_link.h"

namespace dormouse::worker {

class OutputBuffer : public wasi::OutputSink, public EmitSink {
 public:
  static constexpr std::size_t kFlushBytes = 16u << 10;
  static constexpr std::chrono::milliseconds kFlushAfter{10};

  explicit OutputBuffer(ServerLink& link) : link_(link) {}

  wasi::Errno Write(wasi::OutputStream stream, std::span<const std::byte> bytes) override;
  void Emit(std::uint32_t kind, std::string_view json) override;

  void Flush();
  void FlushIfDue();
  // Whether something waits to be flushed.
  bool pending() const;

  // What was emitted since the last call of Forget: an error, an exit.
  struct Emitted {
    bool error = false;
    bool exit = false;
  };
  Emitted emitted() const { return emitted_; }
  void Forget() { emitted_ = {}; }

 private:
  void FlushLocked();

  ServerLink& link_;
  mutable std::mutex mutex_;  // guards what follows, and the order of sends
  std::string bytes_;
  struct Piece {
    std::uint8_t stream;
    std::size_t end;  // in bytes_
  };
  std::vector<Piece> pieces_;
  std::chrono::steady_clock::time_point oldest_;
  std::chrono::steady_clock::time_point last_flush_;
  Emitted emitted_;  // guest thread
};

}  // namespace dormouse::worker
