// SPDX-License-Identifier: Apache-2.0
// What commands print: tables, colours, errors.
#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "common/error.h"

namespace dormouse::cli {

// Writes all of `text` to a standard stream, past our own buffers. False when the reader is gone.
bool WriteOut(std::string_view text);
bool WriteErr(std::string_view text);
// The first failure of WriteOut, an errno value; 0: none. A reader that has read enough is no failure.
int OutputFailure();

enum class Style { kError, kDim, kPrompt };
// `text` in colour if standard error is a terminal and NO_COLOR is not set.
std::string Styled(Style style, std::string_view text);

// Reports a failure on standard error, as `{"error": …}` when `json`, and returns the exit code.
int ReportError(const Error& error, bool json);

// Prints a value on one line.
void PrintJson(const boost::json::value& value);

// Columns as wide as their widest cell; the first row is the heading.
void PrintTable(const std::vector<std::vector<std::string>>& rows);

// `object[name]` as text for people: strings bare, absent members and null as "-".
std::string Cell(const boost::json::object& object, std::string_view name);
// 1536 as "1.5 KiB"
std::string HumanBytes(double bytes);

}  // namespace dormouse::cli
