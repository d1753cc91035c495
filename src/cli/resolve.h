// SPDX-License-Identifier: Apache-2.0
// From the names that people use to the ids that the API uses.
#pragma once

#include <string>

#include "cli/arguments.h"
#include "cli/backend.h"

namespace dormouse::cli {

enum class Missing { kCreate, kFail };

// The id of the sandbox whose metadata has `name` = `sandbox`; an id (sbx_…) is returned as it is.
Result<std::string> ResolveSandbox(Backend& backend, const std::string& sandbox, Missing missing);

struct ResolvedContext {
  std::string sandbox_id;  // empty: a run without a sandbox
  std::string context_id;  // empty: the default context of the language
  std::string language;
  std::string binding;
};
// Finds or makes sandbox and context. The language is the given one, else the context's, else
// `fallback_language`.
Result<ResolvedContext> ResolveContext(Backend& backend, const ContextChoice& where,
                                       Missing missing, const std::string& fallback_language);

// "/v1/sandboxes/<id>" and what follows, the segments encoded.
std::string SandboxPath(const std::string& sandbox_id, const std::string& rest = "");
std::string ContextPath(const ResolvedContext& context, const std::string& rest = "");

// A string member, or empty.
std::string TextOf(const boost::json::object& object, std::string_view name);
// The object in a `{"<name>": {…}}` answer, or an error when the answer has another shape.
Result<boost::json::object> Unwrap(Result<boost::json::value> answer, std::string_view name);
// All items of a listing, page by page; `target` has no query.
Result<boost::json::array> ListAll(Backend& backend, const std::string& target,
                                   const std::string& filter = "");
// The items of a listing that has no pages; `target` may have a query.
Result<boost::json::array> ListUnpaged(Backend& backend, const std::string& target);

}  // namespace dormouse::cli
