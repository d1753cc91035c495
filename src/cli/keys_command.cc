// SPDX-License-Identifier: Apache-2.0
#include "cli/keys_command.h"

#include <boost/json/array.hpp>

#include "cli/output.h"
#include "cli/resolve.h"
#include "http/text.h"

namespace dormouse::cli {
namespace {

namespace json = boost::json;

// What a key for a program that runs code needs, and no more.
constexpr std::string_view kUsualScopes[] = {
    "sandbox:create", "sandbox:read",    "sandbox:kill",    "sandbox:extend",
    "command:run",    "command:read",    "command:cancel",  "code:run",
    "file:read",      "file:write",      "artifact:create", "artifact:read",
    "artifact:delete", "preview:create", "preview:read",    "preview:revoke",
    "workspace_run:create", "workspace_run:read", "workspace_run:cancel", "usage:read",
};

std::string Joined(const json::object& object, std::string_view name) {
  const json::value* const value = object.if_contains(name);
  if (value == nullptr || !value->is_array()) return "-";
  std::string text;
  for (const json::value& item : value->get_array()) {
    if (!item.is_string()) continue;
    if (!text.empty()) text.push_back(',');
    text.append(item.get_string());
  }
  return text;
}

// Prints a listing, as JSON or as the rows that `row` makes of its items.
template <typename Row>
int PrintList(const Result<json::array>& items, const CommonArguments& common,
              std::vector<std::string> heading, Row row) {
  if (!items.ok()) return ReportError(items.error(), common.json);
  if (common.json) {
    PrintJson(json::object{{"data", *items}});
    return kExitOk;
  }
  std::vector<std::vector<std::string>> rows = {std::move(heading)};
  for (const json::value& item : *items) {
    if (item.is_object()) rows.push_back(row(item.get_object()));
  }
  PrintTable(rows);
  return kExitOk;
}

json::array ToArray(const std::vector<std::string>& items) {
  json::array array;
  for (const std::string& item : items) array.emplace_back(item);
  return array;
}

int CreateKey(Backend& backend, const CommonArguments& common, const KeysArguments& arguments) {
  json::object body{{"name", arguments.name}};
  std::vector<std::string> scopes = arguments.scopes;
  if (scopes.empty()) scopes.assign(std::begin(kUsualScopes), std::end(kUsualScopes));
  body["scopes"] = ToArray(scopes);
  if (!arguments.projects.empty()) body["projectIds"] = ToArray(arguments.projects);
  const auto answer = CallJson(backend, {"POST", "/v1/api-keys", std::move(body)});
  if (!answer.ok()) return ReportError(answer.error(), common.json);
  if (common.json) {
    PrintJson(*answer);
    return kExitOk;
  }
  const json::object& made = answer->get_object();
  const json::value* const key = made.if_contains("apiKey");
  if (key != nullptr && key->is_object()) {
    WriteErr("made " + TextOf(key->get_object(), "id") + "; the key is shown this once:\n");
  }
  WriteOut(TextOf(made, "secret") + "\n");
  return kExitOk;
}

}  // namespace

int KeysCommand(Backend& backend, const CommonArguments& common, const KeysArguments& arguments) {
  using KeysAction = KeysArguments::Action;
  if (arguments.action == KeysAction::kCreate) return CreateKey(backend, common, arguments);
  if (arguments.action == KeysAction::kList) {
    return PrintList(ListAll(backend, "/v1/api-keys"), common,
                     {"ID", "NAME", "KEY", "CREATED", "LAST USED", "REVOKED", "PROJECTS", "SCOPES"},
                     [](const json::object& key) -> std::vector<std::string> {
                       return {Cell(key, "id"),
                               Cell(key, "name"),
                               Cell(key, "prefix") + "_..." + Cell(key, "last4"),
                               Cell(key, "createdAt"),
                               Cell(key, "lastUsedAt"),
                               Cell(key, "revokedAt"),
                               Joined(key, "projectIds"),
                               Joined(key, "scopes")};
                     });
  }
  const std::string id = http::PercentEncode(arguments.key_id, http::Slash::kEncode);
  const auto answer = CallJson(backend, {"DELETE", "/v1/api-keys/" + id, {}});
  if (!answer.ok()) return ReportError(answer.error(), common.json);
  if (common.json) PrintJson(*answer);
  return kExitOk;
}

int ProjectsCommand(Backend& backend, const CommonArguments& common,
                    const ProjectsArguments& arguments) {
  if (arguments.action == ProjectsArguments::Action::kList) {
    return PrintList(ListAll(backend, "/v1/projects"), common, {"ID", "NAME", "CREATED"},
                     [](const json::object& project) -> std::vector<std::string> {
                       return {Cell(project, "id"), Cell(project, "name"),
                               Cell(project, "createdAt")};
                     });
  }
  auto answer =
      CallJson(backend, {"POST", "/v1/projects", json::object{{"name", arguments.name}}});
  if (!answer.ok()) return ReportError(answer.error(), common.json);
  if (common.json) {
    PrintJson(*answer);
    return kExitOk;
  }
  const auto project = Unwrap(std::move(answer), "project");
  if (!project.ok()) return ReportError(project.error(), common.json);
  WriteOut(TextOf(*project, "id") + "\n");
  return kExitOk;
}

}  // namespace dormouse::cli
