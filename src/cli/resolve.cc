// SPDX-License-Identifier: Apache-2.0
#include "cli/resolve.h"

#include <boost/json/array.hpp>

#include "http/text.h"

namespace dormouse::cli {
namespace {

namespace json = boost::json;
using http::PercentEncode;
using http::Slash;

// Some API pages hold up to 500 items; a million is where a listing stops making sense in a
// terminal.
constexpr std::size_t kMaxListed = 1'000'000;

Error UnexpectedAnswer() {
  return Error(ErrorCode::kUnavailable, "the server's answer has an unexpected shape");
}

std::string Encode(const std::string& text) { return PercentEncode(text, Slash::kEncode); }

Result<std::string> FindContextId(Backend& backend, const std::string& sandbox_id,
                                  const std::string& name, std::string& language) {
  DORMOUSE_ASSIGN(const json::array contexts,
                  ListAll(backend, SandboxPath(sandbox_id, "/code/contexts")));
  for (const json::value& context : contexts) {
    if (!context.is_object() || TextOf(context.get_object(), "name") != name) continue;
    if (language.empty()) language = TextOf(context.get_object(), "language");
    return TextOf(context.get_object(), "id");
  }
  return std::string();
}

}  // namespace

std::string SandboxPath(const std::string& sandbox_id, const std::string& rest) {
  return "/v1/sandboxes/" + Encode(sandbox_id) + rest;
}

std::string ContextPath(const ResolvedContext& context, const std::string& rest) {
  return SandboxPath(context.sandbox_id, "/code/contexts/" + Encode(context.context_id) + rest);
}

std::string TextOf(const json::object& object, std::string_view name) {
  const json::value* const value = object.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : "";
}

Result<json::object> Unwrap(Result<json::value> answer, std::string_view name) {
  if (!answer.ok()) return std::move(answer).error();
  json::value* const inner = answer->is_object() ? answer->get_object().if_contains(name) : nullptr;
  if (inner == nullptr || !inner->is_object()) return UnexpectedAnswer();
  return std::move(inner->get_object());
}

Result<json::array> ListAll(Backend& backend, const std::string& target,
                            const std::string& filter) {
  json::array items;
  std::string cursor;
  while (items.size() < kMaxListed) {
    std::string page = target + "?limit=500";
    if (!filter.empty()) page += "&" + filter;
    if (!cursor.empty()) page += "&cursor=" + Encode(cursor);
    DORMOUSE_ASSIGN(json::value answer, CallJson(backend, {"GET", page, {}}));
    json::value* const data = answer.get_object().if_contains("data");
    if (data == nullptr || !data->is_array()) return UnexpectedAnswer();
    for (json::value& item : data->get_array()) items.push_back(std::move(item));
    cursor = TextOf(answer.get_object(), "nextCursor");
    if (cursor.empty()) break;
  }
  return items;
}

Result<json::array> ListUnpaged(Backend& backend, const std::string& target) {
  DORMOUSE_ASSIGN(json::value answer, CallJson(backend, {"GET", target, {}}));
  json::value* const data = answer.get_object().if_contains("data");
  if (data == nullptr || !data->is_array()) return UnexpectedAnswer();
  return std::move(data->get_array());
}

Result<std::string> ResolveSandbox(Backend& backend, const std::string& sandbox, Missing missing) {
  if (sandbox.starts_with("sbx_")) return sandbox;
  DORMOUSE_ASSIGN(
      const json::value answer,
      CallJson(backend, {"GET", "/v1/sandboxes?limit=1&metadata.name=" + Encode(sandbox), {}}));
  const json::value* const data = answer.get_object().if_contains("data");
  if (data == nullptr || !data->is_array()) return UnexpectedAnswer();
  const json::array& found = data->get_array();
  if (!found.empty() && found[0].is_object()) return TextOf(found[0].get_object(), "id");
  if (missing == Missing::kFail) {
    return Error(ErrorCode::kNotFound, "there is no sandbox named \"" + sandbox + "\"");
  }
  json::object body{{"metadata", json::object{{"name", sandbox}}}};
  DORMOUSE_ASSIGN(const json::object made,
                  Unwrap(CallJson(backend, {"POST", "/v1/sandboxes", std::move(body)}), "sandbox"));
  return TextOf(made, "id");
}

Result<ResolvedContext> ResolveContext(Backend& backend, const ContextChoice& where,
                                       Missing missing, const std::string& fallback_language) {
  ResolvedContext resolved;
  resolved.language = where.language;
  resolved.binding = where.binding;
  DORMOUSE_ASSIGN(resolved.sandbox_id, ResolveSandbox(backend, where.sandbox, missing));
  const bool by_id = where.context.starts_with("cctx_");
  if (by_id) {
    resolved.context_id = where.context;
  } else if (!where.context.empty()) {
    std::string found_language;
    DORMOUSE_ASSIGN(resolved.context_id,
                    FindContextId(backend, resolved.sandbox_id, where.context, found_language));
    if (resolved.language.empty() && resolved.binding.empty()) resolved.language = found_language;
  }
  if (resolved.language.empty() && resolved.binding.empty() && !by_id) {
    resolved.language = fallback_language;
  }
  if (where.context.empty() || !resolved.context_id.empty()) return resolved;
  if (missing == Missing::kFail) {
    return Error(ErrorCode::kNotFound, "there is no context named \"" + where.context + "\"");
  }
  json::object body{{"name", where.context}};
  if (!resolved.binding.empty()) {
    body["binding"] = resolved.binding;
  } else {
    body["language"] = resolved.language;
  }
  DORMOUSE_ASSIGN(
      const json::object made,
      Unwrap(CallJson(backend, {"POST", SandboxPath(resolved.sandbox_id, "/code/contexts"),
                                std::move(body)}),
             "context"));
  resolved.context_id = TextOf(made, "id");
  return resolved;
}

}  // namespace dormouse::cli
