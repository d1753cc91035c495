// SPDX-License-Identifier: Apache-2.0
#include "cli/output.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "cli/arguments.h"

namespace dormouse::cli {
namespace {

namespace json = boost::json;

std::atomic<int> g_output_failure = 0;

bool WriteAll(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

bool ColoursWanted() {
  const char* const no_color = std::getenv("NO_COLOR");
  return (no_color == nullptr || *no_color == '\0') && ::isatty(STDERR_FILENO) == 1;
}

// Characters, not bytes, are what columns are made of.
std::size_t Width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

}  // namespace

bool WriteOut(std::string_view text) {
  if (WriteAll(STDOUT_FILENO, text)) return true;
  int none = 0;
  if (errno != EPIPE) g_output_failure.compare_exchange_strong(none, errno);
  return false;
}
int OutputFailure() { return g_output_failure; }
bool WriteErr(std::string_view text) { return WriteAll(STDERR_FILENO, text); }

std::string Styled(Style style, std::string_view text) {
  static const bool kColours = ColoursWanted();
  if (!kColours) return std::string(text);
  const char* const code = style == Style::kError ? "31" : style == Style::kDim ? "2" : "36";
  return "\x1b[" + std::string(code) + "m" + std::string(text) + "\x1b[0m";
}

int ReportError(const Error& error, bool json_wanted) {
  if (!json_wanted) {
    WriteErr(Styled(Style::kError, "dormouse: " + error.message) + "\n");
    return kExitServerError;
  }
  json::object details;
  for (const auto& [name, value] : error.details) details[name] = value;
  const ErrorInfo& info = InfoOf(error.code);
  const json::object envelope{{"code", info.api_name},
                              {"message", error.message},
                              {"details", std::move(details)},
                              {"retryable", info.retryable},
                              {"status", info.http_status}};
  WriteErr(json::serialize(json::object{{"error", envelope}}) + "\n");
  return kExitServerError;
}

void PrintJson(const json::value& value) { WriteOut(json::serialize(value) + "\n"); }

void PrintTable(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], Width(row[i]));
  }
  std::string text;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      text += row[i];
      if (i + 1 < row.size()) text.append(widths[i] - Width(row[i]) + 2, ' ');
    }
    text += '\n';
  }
  WriteOut(text);
}

std::string Cell(const json::object& object, std::string_view name) {
  const json::value* const value = object.if_contains(name);
  if (value == nullptr || value->is_null()) return "-";
  std::string text =
      value->is_string() ? std::string(value->get_string()) : json::serialize(*value);
  // Names come from others: nothing in a table may move the cursor or end the line.
  std::replace_if(
      text.begin(), text.end(),
      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, '?');
  return text;
}

std::string HumanBytes(double bytes) {
  constexpr std::array<const char*, 5> kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < kUnits.size(); ++unit) bytes /= 1024;
  char text[32];
  std::snprintf(text, sizeof(text), unit == 0 ? "%.0f %s" : "%.1f %s", bytes, kUnits[unit]);
  return text;
}

}  // namespace dormouse::cli
