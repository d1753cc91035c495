// SPDX-License-Identifier: Apache-2.0
// Channel: the server's asynchronous end of a frame socket.
//
// Frames to send are queued and written as the socket takes them, so Send never blocks; what is queued is bounded by what
// the server itself decides to send. Receiving is one frame at a time.
//
// Threads: all calls on the strand given at construction.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "common/file_descriptor.h"
#include "common/result.h"
#include "protocol/frame.h"
#include "protocol/messages.h"

namespace dormouse::scheduler {

class Channel : public std::enable_shared_from_this<Channel> {
 public:
  Channel(boost::asio::any_io_executor strand, FileDescriptor socket, std::uint32_t max_payload_bytes);

  void Send(protocol::MessageType type, std::string payload, std::vector<FileDescriptor> descriptors = {});
  // The next frame. An error is final: the peer is gone or broke the protocol, or Close was called.
  boost::asio::awaitable<Result<protocol::Frame>> Receive();
  void Close();
  bool closed() const { return closed_; }

 private:
  struct Outgoing {
    std::string bytes;
    std::size_t sent = 0;
    std::vector<FileDescriptor> descriptors;
  };
  void Pump();
  // False when the socket would block.
  bool SendSome(Outgoing& frame);

  boost::asio::posix::stream_descriptor socket_;
  protocol::FrameReader reader_;
  std::deque<Outgoing> outgoing_;
  bool waiting_to_write_ = false;
  bool closed_ = false;
};

}  // namespace dormouse::scheduler
