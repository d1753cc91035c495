// SPDX-License-Identifier: Apache-2.0
#include "protocol/frame.h"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "common/byte_io.h"

namespace dormouse::protocol {
namespace {

constexpr std::size_t kReceiveBytes = 64u << 10;
constexpr std::size_t kMaxQueuedDescriptors = 4 * kMaxDescriptorsPerFrame;

}  // namespace

Result<bool> FrameReader::Receive(int socket) {
  if (consumed_ > 0) {
    buffer_.erase(0, consumed_);
    consumed_ = 0;
  }
  const std::size_t old_size = buffer_.size();
  buffer_.resize(old_size + kReceiveBytes);

  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * kMaxDescriptorsPerFrame)];
  iovec part{buffer_.data() + old_size, kReceiveBytes};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t got;
  do {
    got = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  const int error = errno;
  buffer_.resize(old_size + static_cast<std::size_t>(got > 0 ? got : 0));
  if (got < 0) {
    if (error == EAGAIN || error == EWOULDBLOCK) return false;
    return SystemError("recvmsg", error);
  }
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd;
      std::memcpy(&fd, CMSG_DATA(header) + i * sizeof(int), sizeof fd);
      descriptors_.emplace_back(fd);
    }
  }
  if (got == 0) return Error(ErrorCode::kUnavailable, "the peer closed the channel");
  if ((message.msg_flags & MSG_CTRUNC) != 0 || descriptors_.size() > kMaxQueuedDescriptors) {
    return Error(ErrorCode::kInternal, "the peer sent more descriptors than a frame may carry");
  }
  return true;
}

Result<std::optional<Frame>> FrameReader::Next() {
  const std::string_view rest = std::string_view(buffer_).substr(consumed_);
  if (rest.size() < kFrameHeaderBytes) return std::optional<Frame>();
  ByteReader reader(rest);
  const std::uint32_t length = reader.U32();
  const std::uint16_t type = reader.U16();
  const std::uint16_t descriptors = reader.U16();
  if (length > max_payload_bytes_ || descriptors > kMaxDescriptorsPerFrame) {
    return Error(ErrorCode::kInternal,
                 "a frame of " + std::to_string(length) + " bytes and " + std::to_string(descriptors) +
                     " descriptors exceeds the limits");
  }
  if (reader.remaining() < length) return std::optional<Frame>();
  if (descriptors_.size() < descriptors) {
    return Error(ErrorCode::kInternal, "a frame lacks descriptors that its header names");
  }
  Frame frame;
  frame.type = type;
  frame.payload = std::string(reader.Raw(length));
  for (std::uint16_t i = 0; i < descriptors; ++i) {
    frame.descriptors.push_back(std::move(descriptors_.front()));
    descriptors_.pop_front();
  }
  consumed_ += kFrameHeaderBytes + length;
  return std::optional<Frame>(std::move(frame));
}

std::string EncodeFrameHeader(std::uint16_t type, std::size_t payload_bytes,
                              std::size_t descriptors) {
  ByteWriter writer;
  writer.U32(static_cast<std::uint32_t>(payload_bytes));
  writer.U16(type);
  writer.U16(static_cast<std::uint16_t>(descriptors));
  return std::move(writer).bytes();
}

Result<void> SendFrame(int socket, std::uint16_t type, std::string_view payload,
                       const std::vector<int>& descriptors) {
  const std::string header = EncodeFrameHeader(type, payload.size(), descriptors.size());
  std::size_t sent = 0;
  const std::size_t total = header.size() + payload.size();
  while (sent < total) {
    iovec parts[2];
    int part_count = 0;
    if (sent < header.size()) {
      parts[part_count++] = {const_cast<char*>(header.data()) + sent, header.size() - sent};
    }
    const std::size_t payload_sent = sent > header.size() ? sent - header.size() : 0;
    if (payload_sent < payload.size()) {
      parts[part_count++] = {const_cast<char*>(payload.data()) + payload_sent,
                             payload.size() - payload_sent};
    }
    msghdr message{};
    message.msg_iov = parts;
    message.msg_iovlen = static_cast<std::size_t>(part_count);
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * kMaxDescriptorsPerFrame)];
    if (sent == 0 && !descriptors.empty()) {
      const std::size_t bytes = sizeof(int) * descriptors.size();
      message.msg_control = control;
      message.msg_controllen = CMSG_SPACE(bytes);
      cmsghdr* rights = CMSG_FIRSTHDR(&message);
      rights->cmsg_level = SOL_SOCKET;
      rights->cmsg_type = SCM_RIGHTS;
      rights->cmsg_len = CMSG_LEN(bytes);
      std::memcpy(CMSG_DATA(rights), descriptors.data(), bytes);
    }
    const ssize_t put = ::sendmsg(socket, &message, MSG_NOSIGNAL);
    if (put >= 0) {
      sent += static_cast<std::size_t>(put);
      continue;
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) return SystemError("sendmsg", errno);
    pollfd ready{socket, POLLOUT, 0};
    ::poll(&ready, 1, -1);
  }
  return {};
}

}  // namespace dormouse::protocol
