// SPDX-License-Identifier: Apache-2.0
// How commands end: the server's answer or the error, as JSON or for people. Each function returns
// the exit code.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/arguments.h"
#include "common/result.h"

namespace dormouse::cli {

// A kind of object as the rows of a table.
struct Table {
  std::vector<std::string> heading;  // empty: none is printed
  std::function<std::vector<std::string>(const boost::json::object&)> row;
};

using ShowObject = std::function<void(const boost::json::object&)>;

void PrintObjects(const boost::json::array& objects, const Table& table);

int ReportList(const Result<boost::json::array>& objects, const CommonArguments& common,
               const Table& table);

// For an answer `{"<name>": {…}}`, whose inner object `show` prints.
int ReportObject(Result<boost::json::value> answer, std::string_view name,
                 const CommonArguments& common, const ShowObject& show);
int ReportObject(Result<boost::json::value> answer, std::string_view name,
                 const CommonArguments& common, const Table& table);

// For an answer that only says that something was done: prints it when JSON is wanted.
int ReportDone(const Result<boost::json::value>& answer, const CommonArguments& common);

// What commands that make something print of it.
void PrintId(const boost::json::object& made);

}  // namespace dormouse::cli
