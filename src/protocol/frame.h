// SPDX-License-Identifier: Apache-2.0
// Frames on the stream socket between server and worker (and server and zygote).
//
// A frame is {u32 payload length, u16 type, u16 descriptor count}, then the payload. Descriptors ride with the first byte of
// the frame (SCM_RIGHTS) and are claimed in order, as in the Wayland protocol. Both ends bound lengths before allocating.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/file_descriptor.h"
#include "common/result.h"

namespace dormouse::protocol {

inline constexpr std::size_t kFrameHeaderBytes = 8;
inline constexpr std::size_t kMaxDescriptorsPerFrame = 64;
// From the server, which is trusted to chunk sensibly; and from a worker, which is not trusted at all.
inline constexpr std::uint32_t kMaxServerFrameBytes = 64u << 20;
inline constexpr std::uint32_t kMaxWorkerFrameBytes = 20u << 20;

struct Frame {
  std::uint16_t type = 0;
  std::string payload;
  std::vector<FileDescriptor> descriptors;
};

// Collects received bytes and descriptors and cuts them into frames. Not thread-safe.
class FrameReader {
 public:
  explicit FrameReader(std::uint32_t max_payload_bytes) : max_payload_bytes_(max_payload_bytes) {}

  // One recvmsg on `socket`: true if bytes came, false if it would block. An orderly end of stream, a system error or
  // a malformed stream is an error; after it the reader is of no further use.
  Result<bool> Receive(int socket);
  // The next whole frame, if there is one.
  Result<std::optional<Frame>> Next();

 private:
  std::uint32_t max_payload_bytes_;
  std::string buffer_;
  std::size_t consumed_ = 0;
  std::deque<FileDescriptor> descriptors_;
};

std::string EncodeFrameHeader(std::uint16_t type, std::size_t payload_bytes, std::size_t descriptors);

// Blocks until the whole frame is sent, polling if the socket is non-blocking. `descriptors` are borrowed.
Result<void> SendFrame(int socket, std::uint16_t type, std::string_view payload,
                       const std::vector<int>& descriptors = {});

}  // namespace dormouse::protocol
