// SPDX-License-Identifier: Apache-2.0
// Projects, keys and usage over HTTP, and what a key may do: scopes, projects, rate.
#include "http/test_server.h"

namespace dormouse::http {
namespace {

class AccountsTest : public TestServer {
 protected:
  void Grant(std::vector<std::string> scopes, std::vector<std::string> projects = {}) {
    service_.grants = std::make_shared<const service::Grants>(
        service::Grants{false, std::move(scopes), std::move(projects)});
  }
};

class LimitedTest : public AccountsTest {
 protected:
  void SetUp() override {
    config_.requests_per_minute = 3;
    Start({});
  }
};

TEST_F(AccountsTest, EveryRouteButAFewNamesAScope) {
  std::size_t without = 0;
  for (const Route& route : Routes()) {
    if (route.access == Access::kAnyone) {
      EXPECT_TRUE(route.scope.empty()) << route.pattern;
      continue;
    }
    EXPECT_TRUE(route.pattern.starts_with("/v1/"));
    without += route.scope.empty();
  }
  EXPECT_EQ(without, 4u);  // bindings, engines, capabilities, the list of projects
}

TEST_F(AccountsTest, AMissingScopeIsNamed) {
  Grant({"sandbox:read"});
  EXPECT_EQ(Call("GET", "/v1/sandboxes").status, 200);
  EXPECT_EQ(Call("GET", "/v1/projects").status, 200);
  EXPECT_EQ(Call("GET", "/v1/bindings").status, 200);
  const std::pair<std::pair<const char*, const char*>, const char*> cases[] = {
      {{"POST", "/v1/sandboxes"}, "sandbox:create"},
      {{"DELETE", "/v1/sandboxes/sbx_1"}, "sandbox:kill"},
      {{"POST", "/v1/sandboxes/sbx_1/ttl"}, "sandbox:extend"},
      {{"POST", "/v1/sandboxes/sbx_1/code/runs"}, "code:run"},
      {{"POST", "/v1/sandboxes/sbx_1/code/runs/stream"}, "code:run"},
      {{"GET", "/v1/sandboxes/sbx_1/files"}, "file:read"},
      {{"PUT", "/v1/sandboxes/sbx_1/files"}, "file:write"},
      {{"PUT", "/v1/sandboxes/sbx_1/files/content?path=a"}, "file:write"},
      {{"POST", "/v1/sandboxes/sbx_1/artifacts"}, "artifact:create"},
      {{"GET", "/v1/artifacts/art_1/download"}, "artifact:read"},
      {{"POST", "/v1/api-keys"}, "api_key:create"},
      {{"GET", "/v1/api-keys"}, "api_key:read"},
      {{"DELETE", "/v1/api-keys/key_1"}, "api_key:revoke"},
      {{"POST", "/v1/projects"}, "project:create"},
      {{"GET", "/v1/usage"}, "usage:read"},
  };
  for (const auto& [request, scope] : cases) {
    const RawResponse response = Call(request.first, request.second);
    EXPECT_EQ(response.status, 403) << request.second;
    EXPECT_EQ(response.ErrorCode(), "forbidden");
    const auto envelope = response.Json();
    EXPECT_EQ(envelope.at("error").as_object().at("details").as_object().at("scope"), scope);
  }
}

TEST_F(AccountsTest, WhatIsInOtherProjectsIsNotThere) {
  service_.grants =
      std::make_shared<const service::Grants>(service::Grants{true, {}, {"prj_1"}});
  EXPECT_EQ(Call("GET", "/v1/sandboxes/sbx_1").status, 200);
  EXPECT_EQ(Call("GET", "/v1/artifacts/art_1").status, 200);
  std::size_t tried = 0;
  for (const Route& route : Routes()) {
    if (!NamesSandbox(route) && !NamesArtifact(route)) continue;
    std::string path(route.pattern);
    const std::size_t begin = path.find('{');
    path.replace(begin, path.find('}') + 1 - begin, NamesSandbox(route) ? "sbx_2" : "art_2");
    // An upload is refused before its body is read.
    EXPECT_EQ(Call(route.method, path + "?path=a", "").status, 404) << route.pattern;
    ++tried;
  }
  EXPECT_GT(tried, 20u);
}

TEST_F(AccountsTest, AnArtifactNeedsTheScopeToReadFilesToo) {
  Grant({"artifact:create", "code:run"});
  const RawResponse response =
      Call("POST", "/v1/sandboxes/sbx_1/artifacts", R"({"path":"a"})");
  EXPECT_EQ(response.status, 403);
  const auto envelope = response.Json();
  EXPECT_EQ(envelope.at("error").as_object().at("details").as_object().at("scope"), "file:read");
  Call("POST", "/v1/sandboxes/sbx_1/code/runs", R"({"code":"1","language":"python"})");
  EXPECT_TRUE(service_.last_run.may_create_artifacts);
  Grant({"code:run"});
  Call("POST", "/v1/sandboxes/sbx_1/code/runs", R"({"code":"1","language":"python"})");
  EXPECT_FALSE(service_.last_run.may_create_artifacts);
}

TEST_F(AccountsTest, ListsAndNewSandboxesKnowTheirCaller) {
  Grant({"sandbox:read", "sandbox:create", "project:create"}, {"prj_1"});
  EXPECT_EQ(Call("GET", "/v1/sandboxes").status, 200);
  EXPECT_TRUE(service_.last_list.caller.IsRestricted());
  EXPECT_EQ(Call("POST", "/v1/sandboxes").status, 201);
  EXPECT_EQ(service_.last_create.caller.key_id, "key_1");
  EXPECT_EQ(Call("POST", "/v1/projects", R"({"name":"x"})").status, 403);
}

TEST_F(AccountsTest, ProjectsHaveTheirFields) {
  const RawResponse made = Call("POST", "/v1/projects", R"({"name":"Team A"})");
  EXPECT_EQ(made.status, 201);
  EXPECT_EQ(service_.last_name, "Team A");
  const auto project = made.Json().at("project").as_object();
  for (const char* field : {"id", "orgId", "name", "createdAt"}) {
    EXPECT_TRUE(project.contains(field)) << field;
  }
  EXPECT_EQ(Call("GET", "/v1/projects?limit=2").Json().at("hasMore"), false);
  EXPECT_EQ(Call("POST", "/v1/projects", "{}").ErrorField(), "name");
}

TEST_F(AccountsTest, KeysHaveTheirFields) {
  const RawResponse made = Call(
      "POST", "/v1/api-keys", R"({"name":"ci","scopes":["code:run"],"projectIds":["prj_1"]})");
  EXPECT_EQ(made.status, 201);
  EXPECT_EQ(made.Json().at("secret"), "dm_live_lookup_secret");
  EXPECT_EQ(service_.last_key.caller.key_id, "key_1");
  EXPECT_EQ(service_.last_key.scopes, std::vector<std::string>{"code:run"});
  EXPECT_EQ(service_.last_key.project_ids, std::vector<std::string>{"prj_1"});
  const auto key = Call("GET", "/v1/api-keys/key_1").Json().at("apiKey").as_object();
  for (const char* field :
       {"id", "orgId", "name", "prefix", "last4", "scopes", "createdByUserId", "createdAt"}) {
    EXPECT_TRUE(key.contains(field)) << field;
  }
  EXPECT_FALSE(key.contains("projectIds"));
  EXPECT_FALSE(key.contains("revokedAt"));
  EXPECT_EQ(Call("GET", "/v1/api-keys").Json().at("nextCursor"), "next");
  const RawResponse revoked = Call("DELETE", "/v1/api-keys/key_1");
  EXPECT_EQ(revoked.Json().at("apiKey").as_object().at("revokedAt"), "1970-01-01T00:00:01.500Z");
  EXPECT_EQ(Call("GET", "/v1/api-keys/key_9").status, 404);
}

TEST_F(AccountsTest, BadKeysAreRefusedByField) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"scopes":["code:run"]})", "name"},
      {R"({"name":"x"})", "scopes"},
      {R"({"name":"x","scopes":"code:run"})", "scopes"},
      {R"({"name":"x","scopes":[5]})", "scopes"},
      {R"({"name":"x","scopes":[""]})", "scopes"},
      {R"({"name":"x","scopes":["code:run"],"projectIds":[]})", "projectIds"},
      {R"({"name":"x","scopes":["code:run"],"projectIds":null})", "projectIds"},
      {R"({"name":"x","scopes":["code:run"],"expiresAt":"x"})", "expiresAt"},
  };
  for (const auto& [body, field] : cases) {
    const RawResponse response = Call("POST", "/v1/api-keys", body);
    EXPECT_EQ(response.status, 400) << body;
    EXPECT_EQ(response.ErrorField(), field) << body;
  }
}

TEST_F(AccountsTest, UsageHasTheFieldsThatClientsRequire) {
  const auto usage = Call("GET", "/v1/usage").Json();
  for (const char* field : {"period", "pricingVersion", "computeUnitSecondsPerCredit",
                            "currencyPerCredit", "computeUnitSeconds", "credits", "quotas"}) {
    EXPECT_TRUE(usage.contains(field)) << field;
  }
  EXPECT_EQ(usage.at("credits").as_object().at("used").to_number<double>(), 2.5);
  const auto quotas = usage.at("quotas").as_object();
  EXPECT_EQ(quotas.at("active_sandboxes"),
            (boost::json::object{{"limit", 5}, {"current", 7}, {"remaining", 0}}));
  EXPECT_EQ(quotas.at("requests_per_minute"), (boost::json::object{{"limit", 60}}));
  const auto event = usage.at("events").as_array().at(0).as_object();
  EXPECT_EQ(event.at("metric"), "compute_unit_seconds");
  EXPECT_EQ(event.at("orgId"), "org_1");
}

TEST_F(AccountsTest, ASecretIsNeverAnAnswerToRepeat) {
  const std::string body = R"({"name":"ci","scopes":["code:run"]})";
  EXPECT_EQ(Call("POST", "/v1/api-keys", body, "Idempotency-Key: k\r\n").status, 201);
  EXPECT_TRUE(service_.answers.empty());
}

TEST_F(LimitedTest, RequestsOverTheRateAreRefusedWithTheTime) {
  for (int left = 2; left >= 0; --left) {
    const RawResponse response = Call("GET", left == 1 ? "/v1/nothing" : "/v1/sandboxes");
    EXPECT_NE(response.status, 429);
    EXPECT_EQ(response.Header("x-ratelimit-limit"), "3");
    EXPECT_EQ(response.Header("x-ratelimit-remaining"), std::to_string(left));
    EXPECT_NE(response.Header("x-ratelimit-reset"), "");
  }
  const RawResponse refused = Call("POST", "/v1/sandboxes", "{}");
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.ErrorCode(), "rate_limited");
  EXPECT_EQ(refused.Header("x-ratelimit-remaining"), "0");
  const auto envelope = refused.Json();
  const auto& error = envelope.at("error").as_object();
  EXPECT_EQ(error.at("retryable"), true);
  const std::int64_t wait_ms = error.at("retryAfterMs").as_int64();
  EXPECT_GT(wait_ms, 10'000);
  EXPECT_LE(wait_ms, 20'000);
  EXPECT_EQ(error.at("details").as_object().at("retryAfterMs").as_int64(), wait_ms);
  EXPECT_EQ(refused.Header("retry-after"), std::to_string((wait_ms + 999) / 1000));
  EXPECT_EQ(Call("GET", "/healthz").status, 200);
  EXPECT_EQ(Call("GET", "/healthz").Header("x-ratelimit-limit"), "");
}

TEST_F(LimitedTest, WhoHasNoKeyUsesUpNobodysRequests) {
  for (int i = 0; i < 10; ++i) {
    RawClient client = Connect();
    client.Send("GET /v1/sandboxes HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer x\r\n\r\n");
    EXPECT_EQ(client.Receive().status, 401);
  }
  EXPECT_EQ(Call("GET", "/v1/sandboxes").status, 200);
}

}  // namespace
}  // namespace dormouse::http
