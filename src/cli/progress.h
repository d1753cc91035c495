// SPDX-License-Identifier: Apache-2.0
// Progress: one line on standard error that shows how far a transfer is.
//
// Only a terminal sees it, and only for what takes a while: more than 1 MiB, or half a second. The
// end erases it, so it must come before anything else is printed.
//
// Threads: one.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "cli/arguments.h"

namespace dormouse::cli {

class Progress {
 public:
  enum class Audience { kTerminal, kNobody };

  // `label` says what is going on: "uploading".
  Progress(std::string label, Audience audience);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // How many bytes it will be. Without it there is no percentage.
  void Expect(std::uint64_t total_bytes) { total_bytes_ = total_bytes; }
  void Add(std::uint64_t bytes);

 private:
  using Clock = std::chrono::steady_clock;

  void Draw(Clock::time_point now);

  const std::string label_;
  const bool seen_;
  const Clock::time_point begin_ = Clock::now();
  std::optional<std::uint64_t> total_bytes_;
  std::uint64_t done_bytes_ = 0;
  std::optional<Clock::time_point> drawn_;
};

// Nobody where results are JSON: programs read both streams then.
Progress::Audience AudienceOf(const CommonArguments& common);

// What is shown on a terminal with `columns`; less of it where it is narrow.
std::string ProgressLine(const std::string& label, std::uint64_t done_bytes,
                         std::optional<std::uint64_t> total_bytes, double seconds,
                         std::size_t columns);

// How much of a regular file is still to be read; nothing for pipes and the like.
std::optional<std::uint64_t> BytesLeft(int fd);

}  // namespace dormouse::cli
