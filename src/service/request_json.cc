// SPDX-License-Identifier: Apache-2.0
#include "service/request_json.h"

#include <boost/json.hpp>

namespace dormouse::service {
namespace {

namespace json = boost::json;

json::string Text(std::string_view text) { return json::string(text.data(), text.size()); }

json::object Map(const StringMap& map) {
  json::object object;
  for (const auto& [key, value] : map) object[key] = Text(value);
  return object;
}

}  // namespace

std::string ToJson(const GuestRequest& request) {
  json::object object;
  object["code"] = Text(request.code);
  object["language"] = Text(request.language);
  object["filename"] = "cell-" + std::to_string(request.execution);
  if (request.context_env != nullptr) object["contextEnv"] = Map(*request.context_env);
  if (request.context_cwd) object["contextCwd"] = Text(*request.context_cwd);
  if (request.env != nullptr && !request.env->empty()) object["env"] = Map(*request.env);
  if (!request.cwd.empty()) object["cwd"] = Text(request.cwd);
  return json::serialize(object);
}

}  // namespace dormouse::service
