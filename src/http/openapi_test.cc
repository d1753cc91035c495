// SPDX-License-Identifier: Apache-2.0
#include "http/openapi.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <map>
#include <set>

#include "http/router.h"

namespace dormouse::http {
namespace {

namespace json = boost::json;

json::object Document() { return json::parse(OpenApiDocument()).as_object(); }

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(c));
  return lower;
}

std::map<std::string, json::object> DocumentedOperations() {
  std::map<std::string, json::object> operations;
  const json::object document = Document();
  for (const auto& [path, item] : document.at("paths").as_object()) {
    for (const auto& [method, operation] : item.as_object()) {
      operations[std::string(method) + " " + std::string(path)] = operation.as_object();
    }
  }
  return operations;
}

TEST(OpenApi, EveryRouteIsDocumentedAndNothingElse) {
  std::set<std::string> routes;
  for (const Route& route : Routes()) {
    routes.insert(LowerCase(route.method) + " " + std::string(route.pattern));
  }
  std::set<std::string> documented;
  for (const auto& [name, operation] : DocumentedOperations()) documented.insert(name);
  EXPECT_EQ(routes, documented);
}

TEST(OpenApi, SaysWhichRoutesNeedNoKey) {
  auto operations = DocumentedOperations();
  for (const Route& route : Routes()) {
    const auto& operation = operations[LowerCase(route.method) + " " + std::string(route.pattern)];
    EXPECT_EQ(operation.contains("security"), route.access == Access::kAnyone) << route.pattern;
  }
}

TEST(OpenApi, SaysWhichScopeEachRouteNeeds) {
  auto operations = DocumentedOperations();
  for (const Route& route : Routes()) {
    const auto& operation = operations[LowerCase(route.method) + " " + std::string(route.pattern)];
    const json::value* const scope = operation.if_contains("x-dormouse-scope");
    EXPECT_EQ(scope ? std::string_view(scope->as_string()) : std::string_view(), route.scope)
        << route.pattern;
    const json::object& responses = operation.at("responses").as_object();
    EXPECT_TRUE(route.scope.empty() || responses.contains("403")) << route.pattern;
    EXPECT_EQ(responses.contains("429"), route.access == Access::kKey) << route.pattern;
    EXPECT_EQ(responses.contains("400"), route.access == Access::kKey) << route.pattern;
  }
}

TEST(OpenApi, DeclaresTheParametersOfEachPath) {
  const json::object document = Document();
  const json::object& shared = document.at("components").as_object().at("parameters").as_object();
  for (const auto& [name, operation] : DocumentedOperations()) {
    std::string in_path = name;
    const json::value* const parameters = operation.if_contains("parameters");
    for (const json::value& parameter : parameters ? parameters->as_array() : json::array()) {
      const json::value* const reference = parameter.as_object().if_contains("$ref");
      if (reference == nullptr) continue;
      const std::string key(
          reference->as_string().subview(std::string_view("#/components/parameters/").size()));
      ASSERT_TRUE(shared.contains(key)) << key;
      const std::size_t at = in_path.find("{" + key + "}");
      if (at != std::string::npos) in_path.erase(at, key.size() + 2);
    }
    EXPECT_EQ(in_path.find('{'), std::string::npos) << name;
  }
}

TEST(OpenApi, OperationIdsAreUnique) {
  std::set<std::string> ids;
  for (const auto& [name, operation] : DocumentedOperations()) {
    EXPECT_TRUE(ids.insert(std::string(operation.at("operationId").as_string())).second) << name;
  }
}

}  // namespace
}  // namespace dormouse::http
