// SPDX-License-Identifier: Apache-2.0
// ServerLink: the worker's end of its channel, shared by its two threads.
//
// The control thread reads all frames: commands go on a queue for the guest thread, answers to the guest thread's questions
// into a slot, and interrupts to whoever watches the run. Both threads send.
//
// Threads: each method says whose it is. When the server is gone the process ends at once: there is nobody to work for.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "common/file_descriptor.h"
#include "common/result.h"
#include "protocol/frame.h"
#include "protocol/messages.h"

namespace dormouse::worker {

class ServerLink {
 public:
  explicit ServerLink(FileDescriptor socket);

  // Any thread. Ends the process when the server does not take it.
  void Send(protocol::MessageType type, std::string_view payload);

  // Guest thread: the next command (Start, Manifest, Run). Blocks.
  protocol::Frame NextCommand();
  // Guest thread: sends a question and waits for its answer's descriptor.
  Result<FileDescriptor> AskForDescriptor(protocol::MessageType question, std::string_view payload);

  // Control thread: reads what is there, and returns the interrupts among it.
  std::vector<protocol::Interrupt> ReadAvailable();
  int socket() const { return socket_.get(); }

 private:
  FileDescriptor socket_;
  protocol::FrameReader reader_;  // control thread
  std::mutex send_mutex_;
  std::mutex mutex_;  // guards the rest
  std::condition_variable arrived_;
  std::deque<protocol::Frame> commands_;
  std::optional<protocol::Frame> answer_;
};

}  // namespace dormouse::worker
