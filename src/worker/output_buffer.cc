// SPDX-License-Identifier: Apache-2.0
#include "worker/output_buffer.h"

#include <string>

#include "common/json_members.h"

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

namespace {

std::string TooLargeError(std::size_t bytes) {
  return "{\"name\":\"Error\",\"message\":\"an error of " + std::to_string(bytes) +
         " bytes exceeds the limit of " + std::to_string(protocol::kMaxEmitBytes) + "\",\"traceback\":[]}";
}

// A display that is too large to pass on, without the parts that make it so; their types are named in its `tooLarge`.
std::string WithoutLargeParts(std::string_view json) {
  constexpr std::size_t kLargePart = 1u << 20;
  constexpr std::size_t kSmallPart = 1024;
  constexpr std::size_t kMaxParts = 8;
  const JsonMembers bundle = JsonMembersOf(json);
  std::string data, too_large;
  std::size_t parts = 0;
  for (const auto& [mime, value] : JsonMembersOf(JsonMember(bundle, "data"))) {
    if (++parts > kMaxParts || mime.size() > kLargePart) break;
    const bool fits = value.size() <= kLargePart;
    std::string& list = fits ? data : too_large;
    if (!list.empty()) list += ',';
    list.append("\"").append(mime).append("\"");
    if (fits) list.append(":").append(value);
  }
  std::string rest;
  for (const std::string_view name : {"isResult", "displayId", "update"}) {
    const std::string_view value = JsonMember(bundle, name);
    if (!value.empty() && value.size() <= kSmallPart) rest.append(",\"").append(name).append("\":").append(value);
  }
  return "{\"data\":{" + data + "},\"tooLarge\":[" + too_large + "]" + rest + "}";
}

}  // namespace

void OutputBuffer::Emit(std::uint32_t kind, std::string_view json) {
  if (kind == 2) emitted_.error = true;
  if (kind == 3) emitted_.exit = true;
  protocol::Emit emit{.kind = static_cast<std::uint8_t>(kind), .json = {}};
  if (kind == 0 || kind > 3) return;
  emit.json = json.size() <= protocol::kMaxEmitBytes ? std::string(json)
              : kind == 2                            ? TooLargeError(json.size())
                                                     : WithoutLargeParts(json);
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
