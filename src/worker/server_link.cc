// SPDX-License-Identifier: Apache-2.0
#include "worker/server_link.h"

#include <fcntl.h>
#include <unistd.h>

namespace dormouse::worker {

using protocol::MessageType;

ServerLink::ServerLink(FileDescriptor socket)
    : socket_(std::move(socket)), reader_(protocol::kMaxServerFrameBytes) {
  ::fcntl(socket_.get(), F_SETFL, ::fcntl(socket_.get(), F_GETFL) | O_NONBLOCK);
}

void ServerLink::Send(MessageType type, std::string_view payload) {
  const std::lock_guard lock(send_mutex_);
  if (!protocol::SendFrame(socket_.get(), static_cast<std::uint16_t>(type), payload).ok()) ::_exit(0);
}

protocol::Frame ServerLink::NextCommand() {
  std::unique_lock lock(mutex_);
  arrived_.wait(lock, [this] { return !commands_.empty(); });
  protocol::Frame frame = std::move(commands_.front());
  commands_.pop_front();
  return frame;
}

Result<FileDescriptor> ServerLink::AskForDescriptor(MessageType question, std::string_view payload) {
  Send(question, payload);
  std::unique_lock lock(mutex_);
  arrived_.wait(lock, [this] { return answer_.has_value(); });
  protocol::Frame frame = std::move(*answer_);
  answer_.reset();
  DORMOUSE_ASSIGN(const protocol::DescriptorReply reply, protocol::DescriptorReply::Decode(frame.payload));
  if (reply.ok == 0 || frame.descriptors.size() != 1) {
    return Error(ErrorCode::kUnavailable, "the server has no such file or no room");
  }
  return std::move(frame.descriptors.front());
}

std::vector<protocol::Interrupt> ServerLink::ReadAvailable() {
  std::vector<protocol::Interrupt> interrupts;
  const Result<bool> received = reader_.Receive(socket_.get());
  if (!received.ok()) ::_exit(0);
  while (true) {
    Result<std::optional<protocol::Frame>> frame = reader_.Next();
    if (!frame.ok()) ::_exit(0);
    if (!frame->has_value()) return interrupts;
    const auto type = static_cast<MessageType>((*frame)->type);
    if (type == MessageType::kInterrupt) {
      const Result<protocol::Interrupt> interrupt = protocol::Interrupt::Decode((*frame)->payload);
      if (interrupt.ok()) interrupts.push_back(*interrupt);
      continue;
    }
    const std::lock_guard lock(mutex_);
    if (type == MessageType::kContent || type == MessageType::kFile) {
      answer_ = std::move(**frame);
    } else {
      commands_.push_back(std::move(**frame));
    }
    arrived_.notify_all();
  }
}

}  // namespace dormouse::worker
