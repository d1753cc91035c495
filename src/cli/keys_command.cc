// SPDX-License-Identifier: Apache-2.0
#include "cli/keys_command.h"

#include "cli/output.h"
#include "cli/report.h"
#include "cli/resolve.h"
#include "http/text.h"

namespace dormouse::cli {
namespace {

namespace json = boost::json;

// What a key for a program that runs code needs, and no more.
constexpr std::string_view kUsualScopes[] = {
    "sandbox:create",
    "sandbox:read",
    "sandbox:kill",
    "sandbox:extend",
    "command:run",
    "command:read",
    "command:cancel",
    "code:run",
    "file:read",
    "file:write",
    "artifact:create",
    "artifact:read",
    "artifact:delete",
    "preview:create",
    "preview:read",
    "preview:revoke",
    "workspace_run:create",
    "workspace_run:read",
    "workspace_run:cancel",
    "usage:read",
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

std::vector<std::string> KeyRow(const json::object& key) {
  return {Cell(key, "id"),
          Cell(key, "name"),
          Cell(key, "prefix") + "_..." + Cell(key, "last4"),
          Cell(key, "createdAt"),
          Cell(key, "lastUsedAt"),
          Cell(key, "revokedAt"),
          Joined(key, "projectIds"),
          Joined(key, "scopes")};
}

std::vector<std::string> ProjectRow(const json::object& project) {
  return {Cell(project, "id"), Cell(project, "name"), Cell(project, "createdAt")};
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
    return ReportList(
        ListAll(backend, "/v1/api-keys"), common,
        {{"ID", "NAME", "KEY", "CREATED", "LAST USED", "REVOKED", "PROJECTS", "SCOPES"}, KeyRow});
  }
  const std::string id = http::PercentEncode(arguments.key_id, http::Slash::kEncode);
  return ReportDone(CallJson(backend, {"DELETE", "/v1/api-keys/" + id, {}}), common);
}

int ProjectsCommand(Backend& backend, const CommonArguments& common,
                    const ProjectsArguments& arguments) {
  if (arguments.action == ProjectsArguments::Action::kList) {
    return ReportList(ListAll(backend, "/v1/projects"), common,
                      {{"ID", "NAME", "CREATED"}, ProjectRow});
  }
  json::object body{{"name", arguments.name}};
  return ReportObject(CallJson(backend, {"POST", "/v1/projects", std::move(body)}), "project",
                      common, PrintId);
}

}  // namespace dormouse::cli
