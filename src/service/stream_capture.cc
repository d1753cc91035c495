// SPDX-License-Identifier: Apache-2.0
#include "service/stream_capture.h"

namespace dormouse::service {

std::string_view StreamCapture::Append(std::string_view bytes) {
  total_bytes_ += bytes.size();
  decoded_.clear();
  decoder_.Append(bytes, decoded_);
  return Take();
}

std::string_view StreamCapture::Finish() {
  decoded_.clear();
  decoder_.Finish(decoded_);
  return Take();
}

std::string_view StreamCapture::Take() {
  std::string_view rest = decoded_;
  const std::uint64_t head_bytes = limit_bytes_ / 2;
  if (tail_.empty() && tail_dropped_bytes_ == 0 && head_.size() < head_bytes) {
    const std::string_view part = Utf8Prefix(rest, head_bytes - head_.size());
    head_.append(part);
    rest.remove_prefix(part.size());
  }
  if (!rest.empty()) {
    const std::uint64_t tail_bytes = limit_bytes_ - head_bytes;
    if (rest.size() > tail_bytes) {
      const std::string_view kept = Utf8Suffix(rest, tail_bytes);
      tail_dropped_bytes_ += tail_.size() + rest.size() - kept.size();
      tail_ = kept;
    } else {
      tail_.append(rest);
      // Cut only when it has doubled, so that the cost of moving bytes is spread.
      if (tail_.size() > 2 * tail_bytes) {
        const std::string_view kept = Utf8Suffix(tail_, tail_bytes);
        tail_dropped_bytes_ += tail_.size() - kept.size();
        tail_ = std::string(kept);
      }
    }
  }
  if (stream_full_) return {};
  const std::string_view live = Utf8Prefix(decoded_, limit_bytes_ - streamed_bytes_);
  // After a gap nothing may follow, or the text would seem whole.
  if (live.size() < decoded_.size()) stream_full_ = true;
  streamed_bytes_ += live.size();
  return live;
}

CapturedText StreamCapture::Result() const {
  CapturedText result;
  result.total_bytes = total_bytes_;
  const std::uint64_t tail_bytes = limit_bytes_ - limit_bytes_ / 2;
  const std::string_view tail = Utf8Suffix(tail_, tail_bytes);
  const std::uint64_t dropped = tail_dropped_bytes_ + (tail_.size() - tail.size());
  result.text = head_;
  if (dropped > 0) {
    result.truncated = true;
    result.text += "\n[... " + std::to_string(dropped) + " bytes left out ...]\n";
  }
  result.text += tail;
  return result;
}

}  // namespace dormouse::service
