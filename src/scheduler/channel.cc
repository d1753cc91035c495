// SPDX-License-Identifier: Apache-2.0
#include "scheduler/channel.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <cstring>

namespace dormouse::scheduler {

namespace asio = boost::asio;

Channel::Channel(asio::any_io_executor strand, FileDescriptor socket, std::uint32_t max_payload_bytes)
    : socket_(strand), reader_(max_payload_bytes) {
  const int fd = socket.release();
  ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
  socket_.assign(fd);
}

void Channel::Send(protocol::MessageType type, std::string payload,
                   std::vector<FileDescriptor> descriptors) {
  if (closed_) return;
  Outgoing frame;
  frame.bytes = protocol::EncodeFrameHeader(static_cast<std::uint16_t>(type), payload.size(),
                                            descriptors.size());
  frame.bytes += payload;
  frame.descriptors = std::move(descriptors);
  outgoing_.push_back(std::move(frame));
  Pump();
}

void Channel::Pump() {
  if (waiting_to_write_) return;
  while (!outgoing_.empty() && !closed_) {
    if (!SendSome(outgoing_.front())) {
      waiting_to_write_ = true;
      socket_.async_wait(asio::posix::stream_descriptor::wait_write,
                         [self = shared_from_this()](const boost::system::error_code& error) {
                           self->waiting_to_write_ = false;
                           if (!error) self->Pump();
                         });
      return;
    }
    if (outgoing_.front().sent == outgoing_.front().bytes.size()) outgoing_.pop_front();
  }
}

bool Channel::SendSome(Outgoing& frame) {
  iovec part{frame.bytes.data() + frame.sent, frame.bytes.size() - frame.sent};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * protocol::kMaxDescriptorsPerFrame)];
  if (frame.sent == 0 && !frame.descriptors.empty()) {
    const std::size_t bytes = sizeof(int) * frame.descriptors.size();
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(bytes);
    cmsghdr* rights = CMSG_FIRSTHDR(&message);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(bytes);
    for (std::size_t i = 0; i < frame.descriptors.size(); ++i) {
      const int fd = frame.descriptors[i].get();
      std::memcpy(CMSG_DATA(rights) + i * sizeof(int), &fd, sizeof fd);
    }
  }
  const ssize_t put = ::sendmsg(socket_.native_handle(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (put >= 0) {
    frame.sent += static_cast<std::size_t>(put);
    frame.descriptors.clear();
    return true;
  }
  if (errno == EINTR) return true;
  if (errno == EAGAIN || errno == EWOULDBLOCK) return false;
  // The peer is gone; Receive reports it.
  outgoing_.clear();
  outgoing_.emplace_back();
  return true;
}

asio::awaitable<Result<protocol::Frame>> Channel::Receive() {
  const auto self = shared_from_this();
  while (true) {
    if (closed_) co_return Error(ErrorCode::kUnavailable, "the channel was closed");
    Result<std::optional<protocol::Frame>> frame = reader_.Next();
    if (!frame.ok()) co_return std::move(frame).error();
    if (frame->has_value()) co_return std::move(**frame);
    Result<bool> received = reader_.Receive(socket_.native_handle());
    if (!received.ok()) co_return std::move(received).error();
    if (*received) continue;
    const auto [error] = co_await socket_.async_wait(asio::posix::stream_descriptor::wait_read,
                                                     asio::as_tuple(asio::use_awaitable));
    if (error) co_return Error(ErrorCode::kUnavailable, "the channel was closed");
  }
}

void Channel::Close() {
  if (closed_) return;
  closed_ = true;
  boost::system::error_code ignored;
  socket_.close(ignored);
}

}  // namespace dormouse::scheduler
