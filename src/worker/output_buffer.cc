// SPDX-License-Identifier: Apache-2.0
#include "worker/output_buffer.h"

#include <string>

namespace dormouse::worker {

using protocol::MessageType;

wasi::Errno OutputBuffer::Write(wasi::OutputStream stream, std::span<const std::byte> bytes) {
  const std::lock_guard lock(mutex_);
  const char* data = reinterpret_cast<const char*>(bytes.data());
  const auto now = std::chrono::steady_clock::now();
  std::size_t left = bytes.size();
  while (left > 0) {
    const std::size_t take = std::min(left, kFlushBytes);
    if (bytes_.empty()) oldest_ = now;
    bytes_.append(data, take);
    data += take;
    left -= take;
    if (!pieces_.empty() && pieces_.back().stream == static_cast<std::uint8_t>(stream)) {
      pieces_.back().end = bytes_.size();
    } else {
      pieces_.push_back({static_cast<std::uint8_t>(stream), bytes_.size()});
    }
    // The first line after a pause goes out at once: that is what somebody watches for. What does not end a line
    // waits a moment for the rest of it.
    const bool line_ended = left == 0 && bytes_.back() == '\n';
    if (bytes_.size() >= kFlushBytes || (line_ended && now - last_flush_ >= kFlushAfter)) FlushLocked();
  }
  return wasi::Errno::kSuccess;
}

void OutputBuffer::Emit(std::uint32_t kind, std::string_view json) {
  if (kind == 2) emitted_.error = true;
  if (kind == 3) emitted_.exit = true;
  protocol::Emit emit{.kind = static_cast<std::uint8_t>(kind), .json = {}};
  if (kind == 0 || kind > 3) return;
  if (json.size() > protocol::kMaxEmitBytes) {
    // Too large to pass on; say so in its place, in the same form.
    const std::string reason = "an output of " + std::to_string(json.size()) + " bytes exceeds the limit of " +
                               std::to_string(protocol::kMaxEmitBytes);
    emit.json = kind == 2 ? "{\"name\":\"Error\",\"message\":\"" + reason + "\",\"traceback\":[]}"
                          : "{\"data\":{},\"rejected\":\"" + reason + "\"}";
  } else {
    emit.json = std::string(json);
  }
  const std::string payload = emit.Encode();
  const std::lock_guard lock(mutex_);
  FlushLocked();
  link_.Send(MessageType::kEmit, payload);
}

void OutputBuffer::Flush() {
  const std::lock_guard lock(mutex_);
  FlushLocked();
}

void OutputBuffer::FlushIfDue() {
  const std::lock_guard lock(mutex_);
  if (!bytes_.empty() && std::chrono::steady_clock::now() - oldest_ >= kFlushAfter) FlushLocked();
}

bool OutputBuffer::pending() const {
  const std::lock_guard lock(mutex_);
  return !bytes_.empty();
}

void OutputBuffer::FlushLocked() {
  if (bytes_.empty()) return;
  protocol::Output output;
  std::size_t start = 0;
  for (const Piece& piece : pieces_) {
    output.pieces.push_back({piece.stream, std::string_view(bytes_).substr(start, piece.end - start)});
    start = piece.end;
  }
  link_.Send(MessageType::kOutput, output.Encode());
  bytes_.clear();
  pieces_.clear();
  last_flush_ = std::chrono::steady_clock::now();
}

}  // namespace dormouse::worker
