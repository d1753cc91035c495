// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.h"

#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "cli/output.h"

namespace dormouse::cli {
namespace {

constexpr std::uint64_t kShortBytes = 1 << 20;
constexpr std::chrono::milliseconds kShortTime{500};
constexpr std::chrono::milliseconds kRedrawInterval{100};
constexpr std::size_t kUsualColumns = 80;
constexpr std::size_t kMostBarColumns = 40;
constexpr std::size_t kLeastBarColumns = 8;

bool IsFullTerminal() {
  const char* const kind = std::getenv("TERM");
  return ::isatty(STDERR_FILENO) == 1 && (kind == nullptr || std::string_view(kind) != "dumb");
}

std::size_t Columns() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kUsualColumns;
  return size.ws_col;
}

}  // namespace

Progress::Progress(std::string label, Audience audience)
    : label_(std::move(label)), seen_(audience == Audience::kTerminal && IsFullTerminal()) {}

Progress::~Progress() {
  if (drawn_) WriteErr("\r\x1b[K");
}

void Progress::Add(std::uint64_t bytes) {
  done_bytes_ += bytes;
  if (!seen_) return;
  const Clock::time_point now = Clock::now();
  if (!drawn_) {
    const bool is_short = std::max(done_bytes_, total_bytes_.value_or(0)) <= kShortBytes;
    if (is_short && now - begin_ < kShortTime) return;
  } else if (now - *drawn_ < kRedrawInterval && done_bytes_ != total_bytes_) {
    return;
  }
  Draw(now);
}

void Progress::Draw(Clock::time_point now) {
  drawn_ = now;
  const double seconds = std::chrono::duration<double>(now - begin_).count();
  const std::string line = ProgressLine(label_, done_bytes_, total_bytes_, seconds, Columns());
  WriteErr("\r" + Styled(Style::kDim, line) + "\x1b[K");
}

Progress::Audience AudienceOf(const CommonArguments& common) {
  return common.json ? Progress::Audience::kNobody : Progress::Audience::kTerminal;
}

std::string ProgressLine(const std::string& label, std::uint64_t done_bytes,
                         std::optional<std::uint64_t> total_bytes, double seconds,
                         std::size_t columns) {
  const std::string rate =
      seconds > 0 ? "  " + HumanBytes(static_cast<double>(done_bytes) / seconds) + "/s" : "";
  std::string numbers = "  " + HumanBytes(static_cast<double>(done_bytes));
  std::string bar;
  if (total_bytes && *total_bytes > 0) {
    // A file that grows while it is sent is not more than done.
    const double share =
        std::min(1.0, static_cast<double>(done_bytes) / static_cast<double>(*total_bytes));
    const std::string percent = std::to_string(static_cast<int>(share * 100));
    numbers = "  " + std::string(3 - percent.size(), ' ') + percent + "%" + numbers + " of " +
              HumanBytes(static_cast<double>(*total_bytes));
    const std::size_t others = label.size() + numbers.size() + rate.size() + 5;
    const std::size_t room = columns > others ? columns - others : 0;
    if (room >= kLeastBarColumns) {
      const std::size_t length = std::min(room, kMostBarColumns);
      const auto filled = static_cast<std::size_t>(share * static_cast<double>(length));
      bar = "  [" + std::string(filled, '#') + std::string(length - filled, '.') + "]";
    }
  }
  // A line as wide as the terminal could wrap.
  const std::size_t limit = columns > 0 ? columns - 1 : 0;
  return (label + bar + numbers + rate).substr(0, limit);
}

std::optional<std::uint64_t> BytesLeft(int fd) {
  struct stat status{};
  if (::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  const off_t at = ::lseek(fd, 0, SEEK_CUR);
  if (at < 0 || at > status.st_size) return std::nullopt;
  return static_cast<std::uint64_t>(status.st_size - at);
}

}  // namespace dormouse::cli
