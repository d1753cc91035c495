// SPDX-License-Identifier: Apache-2.0
#include "cli/report.h"

#include "cli/output.h"
#include "cli/resolve.h"

namespace dormouse::cli {

namespace json = boost::json;

void PrintObjects(const json::array& objects, const Table& table) {
  std::vector<std::vector<std::string>> rows;
  if (!table.heading.empty()) rows.push_back(table.heading);
  for (const json::value& object : objects) {
    if (object.is_object()) rows.push_back(table.row(object.get_object()));
  }
  PrintTable(rows);
}

int ReportList(const Result<json::array>& objects, const CommonArguments& common,
               const Table& table) {
  if (!objects.ok()) return ReportError(objects.error(), common.json);
  if (common.json) {
    PrintJson(json::object{{"data", *objects}});
  } else {
    PrintObjects(*objects, table);
  }
  return kExitOk;
}

int ReportObject(Result<json::value> answer, std::string_view name, const CommonArguments& common,
                 const ShowObject& show) {
  if (common.json) return ReportDone(answer, common);
  const auto object = Unwrap(std::move(answer), name);
  if (!object.ok()) return ReportError(object.error(), common.json);
  show(*object);
  return kExitOk;
}

int ReportObject(Result<json::value> answer, std::string_view name, const CommonArguments& common,
                 const Table& table) {
  return ReportObject(std::move(answer), name, common, [&table](const json::object& object) {
    PrintObjects(json::array{object}, table);
  });
}

int ReportDone(const Result<json::value>& answer, const CommonArguments& common) {
  if (!answer.ok()) return ReportError(answer.error(), common.json);
  if (common.json) PrintJson(*answer);
  return kExitOk;
}

void PrintId(const json::object& made) { WriteOut(TextOf(made, "id") + "\n"); }

}  // namespace dormouse::cli
