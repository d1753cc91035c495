// SPDX-License-Identifier: Apache-2.0
// StreamCapture: one output stream of a run: decodes it, passes it on live up to a limit, and keeps head and tail.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "common/utf8.h"
#include "service/types.h"

namespace dormouse::service {

class StreamCapture {
 public:
  // Keeps and passes on at most `limit_bytes` of text each. Memory stays below about twice that.
  explicit StreamCapture(std::uint64_t limit_bytes) : limit_bytes_(limit_bytes) {}

  // Takes the guest's bytes, cut anywhere. Returns what is to be passed on now: whole characters, and nothing more once
  // the limit is reached. Valid until the next call.
  std::string_view Append(std::string_view bytes);
  // The stream has ended: what is left of an unfinished character.
  std::string_view Finish();

  // When more than the limit was written: its first and its last half with a line between them that tells how much is
  // missing.
  CapturedText Result() const;

 private:
  std::string_view Take();

  const std::uint64_t limit_bytes_;
  Utf8Decoder decoder_;
  std::string decoded_;       // of the last call
  std::string head_;
  std::string tail_;          // what came after the head; cut to size now and then
  std::uint64_t tail_dropped_bytes_ = 0;
  std::uint64_t streamed_bytes_ = 0;
  bool stream_full_ = false;
  std::uint64_t total_bytes_ = 0;  // as the guest wrote them
};

}  // namespace dormouse::service
