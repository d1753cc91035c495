// SPDX-License-Identifier: Apache-2.0
#include "http/api.h"

#include "http/test_server.h"

namespace dormouse::http {
namespace {

class ApiTest : public TestServer {};

TEST_F(ApiTest, PublicRoutesNeedNoKey) {
  for (const char* path : {"/healthz", "/metrics", "/openapi.json"}) {
    RawClient client = Connect();
    client.Send("GET " + std::string(path) + " HTTP/1.1\r\nHost: x\r\n\r\n");
    const RawResponse response = client.Receive();
    EXPECT_EQ(response.status, 200) << path;
    EXPECT_TRUE(response.Header("x-request-id").starts_with("req_"));
  }
  EXPECT_EQ(Call("GET", "/openapi.json").Header("content-type"),
            "application/vnd.oai.openapi+json; charset=utf-8");
}

TEST_F(ApiTest, WithoutAValidKeyNothingBelowV1IsSaid) {
  for (const char* authorization :
       {"", "Authorization: Bearer wrong\r\n", "Authorization: Basic eA==\r\n",
        "Authorization: Bearer\r\n", "Authorization: \r\n"}) {
    for (const char* path : {"/v1/sandboxes", "/v1/nothing"}) {
      RawClient client = Connect();
      client.Send("GET " + std::string(path) + " HTTP/1.1\r\nHost: x\r\n" + authorization + "\r\n");
      const RawResponse response = client.Receive();
      EXPECT_EQ(response.status, 401) << path << authorization;
      EXPECT_EQ(response.ErrorCode(), "unauthorized");
      EXPECT_TRUE(response.Header("www-authenticate").starts_with("Bearer"));
    }
  }
}

TEST_F(ApiTest, ErrorsHaveOneEnvelope) {
  service_.failure = Error(ErrorCode::kNotFound, "gone", {{"field", "x"}, {"limit", "12"}});
  const RawResponse response = Call("GET", "/v1/sandboxes");
  EXPECT_EQ(response.status, 404);
  const auto error = response.Json().at("error").as_object();
  EXPECT_EQ(error.at("code"), "not_found");
  EXPECT_EQ(error.at("message"), "gone");
  EXPECT_EQ(error.at("details").as_object().at("field"), "x");
  EXPECT_EQ(error.at("details").as_object().at("limit"), 12);
  EXPECT_EQ(error.at("retryable"), false);
  EXPECT_EQ(std::string(error.at("requestId").as_string()), response.Header("x-request-id"));
}

TEST_F(ApiTest, OverloadSaysWhenToComeAgain) {
  service_.failure = Error(ErrorCode::kRateLimited, "slow down", {{"retryAfterMs", "2500"}});
  const RawResponse limited = Call("GET", "/v1/sandboxes");
  EXPECT_EQ(limited.status, 429);
  EXPECT_EQ(limited.Header("retry-after"), "3");
  service_.failure = Error(ErrorCode::kUnavailable, "stopping");
  const RawResponse busy = Call("GET", "/v1/sandboxes");
  EXPECT_EQ(busy.status, 503);
  EXPECT_EQ(busy.Header("retry-after"), "1");
}

TEST_F(ApiTest, UnknownPathsAreNotFoundAndNeverRedirected) {
  for (const char* path :
       {"/", "/v1", "/v1/", "/v1/sandboxes/", "/v1//sandboxes", "/v1/sandboxes/sbx_1/",
        "/v1/sandboxes/sbx_1/nothing", "/v2/sandboxes", "/healthz/", "/V1/sandboxes"}) {
    EXPECT_EQ(Call("GET", path).status, 404) << path;
  }
}

TEST_F(ApiTest, OtherMethodsAreNamedAsSuch) {
  const RawResponse response = Call("DELETE", "/v1/sandboxes");
  EXPECT_EQ(response.status, 405);
  EXPECT_EQ(response.ErrorCode(), "invalid_request");
  EXPECT_EQ(response.Header("allow"), "POST, GET, HEAD");
  EXPECT_EQ(Call("BREW", "/v1/sandboxes").status, 405);
  // A word in the path is not a value that another pattern would take.
  EXPECT_EQ(Call("GET", "/v1/sandboxes/sbx_1/code/runs/stream").Header("allow"), "POST");
  EXPECT_EQ(Call("POST", "/healthz").status, 405);
}

TEST_F(ApiTest, HeadIsGetWithoutABody) {
  RawClient client = Connect();
  client.Send(Message("HEAD", "/v1/sandboxes/sbx_1"));
  const RawResponse head = client.Receive(true);
  EXPECT_EQ(head.status, 200);
  EXPECT_NE(head.Header("content-length"), "0");
  client.Send(Message("GET", "/v1/sandboxes/sbx_1"));
  EXPECT_EQ(client.Receive().Header("content-length"), head.Header("content-length"));
}

TEST_F(ApiTest, CreatesWithAnEmptyBodyOrAnEmptyObject) {
  EXPECT_EQ(Call("POST", "/v1/sandboxes").status, 201);
  EXPECT_EQ(Call("POST", "/v1/sandboxes", "{}").status, 201);
  const RawResponse full =
      Call("POST", "/v1/sandboxes", R"({"ttlMs":60000,"template":"python","metadata":{"a":"b"}})",
           "Content-Type: application/json; charset=UTF-8\r\n");
  EXPECT_EQ(full.status, 201);
  EXPECT_EQ(full.Json().at("sandbox").as_object().at("id"), "sbx_1");
  EXPECT_EQ(service_.last_create.ttl_ms, 60'000);
  EXPECT_EQ(service_.last_create.template_slug, "python");
  EXPECT_EQ(service_.last_create.metadata.at("a"), "b");
}

TEST_F(ApiTest, SandboxHasTheFieldsThatClientsRequire) {
  const auto sandbox = Call("GET", "/v1/sandboxes/sbx_1").Json().at("sandbox").as_object();
  for (const char* field :
       {"id", "orgId", "projectId", "status", "templateId", "templateSlug", "templateVersion",
        "templateVersionId", "ttlMs", "expiresAt", "metadata", "createdAt"}) {
    EXPECT_TRUE(sandbox.contains(field)) << field;
  }
  EXPECT_EQ(sandbox.at("expiresAt"), "9999-12-31T23:59:59.999Z");
  EXPECT_EQ(sandbox.at("templateId"), "tpl_python_node");
}

TEST_F(ApiTest, ListsTakePagesAndFilters) {
  const RawResponse response = Call(
      "GET",
      "/v1/"
      "sandboxes?limit=7&cursor=a%2Fb+c&metadata.team=x%2By&include=historical&projectId=prj_9");
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.Json().at("hasMore"), true);
  EXPECT_EQ(response.Json().at("nextCursor"), "next page");
  EXPECT_EQ(service_.last_list.page.limit, 7u);
  EXPECT_EQ(service_.last_list.page.cursor, "a/b c");
  EXPECT_EQ(service_.last_list.metadata.at("team"), "x+y");
  EXPECT_EQ(service_.last_list.project_id, "prj_9");
  EXPECT_TRUE(service_.last_list.historical);
}

TEST_F(ApiTest, BadQueriesNameTheParameter) {
  const std::pair<const char*, const char*> cases[] = {
      {"limit=0", "limit"},       {"limit=501", "limit"},   {"limit=-1", "limit"},
      {"limit=5x", "limit"},      {"limit=", "limit"},      {"limit=1&limit=2", "limit"},
      {"include=all", "include"}, {"colour=red", "colour"}, {"limit=99999999999999999999", "limit"},
  };
  for (const auto& [query, field] : cases) {
    const RawResponse response = Call("GET", "/v1/sandboxes?" + std::string(query));
    EXPECT_EQ(response.status, 400) << query;
    EXPECT_EQ(response.ErrorField(), field) << query;
  }
  EXPECT_EQ(Call("GET", "/v1/sandboxes?metadata.a=%ff").status, 400);
  EXPECT_EQ(Call("GET", "/v1/sandboxes?metadata.a=%").status, 400);
}

TEST_F(ApiTest, ExtendIsADeprecatedNameOfTtl) {
  const RawResponse plain = Call("POST", "/v1/sandboxes/sbx_1/ttl", R"({"ttlMs":5})");
  EXPECT_EQ(plain.Header("deprecation"), "");
  EXPECT_EQ(plain.Json().at("sandbox").as_object().at("expiresAt"), "1970-01-01T00:00:01.500Z");
  const RawResponse alias = Call("POST", "/v1/sandboxes/sbx_1/extend", R"({"ttlMs":5})");
  EXPECT_EQ(alias.status, 200);
  EXPECT_NE(alias.Header("deprecation"), "");
  EXPECT_NE(alias.Header("sunset"), "");
  EXPECT_EQ(alias.Header("link"), "</v1/sandboxes/sbx_1/ttl>; rel=\"successor-version\"");
}

TEST_F(ApiTest, WrongTypesAndUnknownFieldsAreNamed) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"ttlMs":"5"})", "ttlMs"},
      {R"({"ttlMs":null})", "ttlMs"},
      {R"({"ttlMs":0})", "ttlMs"},
      {R"({"ttlMs":-1})", "ttlMs"},
      {R"({"ttlMs":1.5})", "ttlMs"},
      {R"({"ttlMs":1e300})", "ttlMs"},
      {R"({"ttlMs":true})", "ttlMs"},
      {R"({"metadata":[]})", "metadata"},
      {R"({"metadata":{"a":1}})", "metadata.a"},
      {R"({"template":""})", "template"},
      {R"({"TtlMs":5})", "TtlMs"},
      {R"({"restoreFrom":"bkp_1"})", "restoreFrom"},
  };
  for (const auto& [body, field] : cases) {
    const RawResponse response = Call("POST", "/v1/sandboxes", body);
    EXPECT_EQ(response.status, 400) << body;
    EXPECT_EQ(response.ErrorCode(), "invalid_request") << body;
    EXPECT_EQ(response.ErrorField(), field) << body;
  }
  EXPECT_EQ(Call("POST", "/v1/sandboxes", R"({"ttlMs":1000.0})").status, 201);
}

TEST_F(ApiTest, WhatIsNotAJsonObjectIsRefused) {
  for (const char* body :
       {"{", "[]", "5", "null", "\"x\"", "{} {}", "{}x", "{\"a\":1,}", "{'a':1}", "{\"a\":NaN}",
        "{\"template\":\"\xFF\"}", "{\"template\":\"\\ud83d\"}", "{\"template\":\"a\nb\"}"}) {
    const RawResponse response = Call("POST", "/v1/sandboxes", body);
    EXPECT_EQ(response.status, 400) << body;
    EXPECT_EQ(response.ErrorCode(), "invalid_request") << body;
  }
  EXPECT_NE(Call("POST", "/v1/sandboxes", "{\"template\" 5}").body.find("at byte 12"), std::string::npos);
  std::string deep = "{\"a\":" + std::string(5'000, '[') + std::string(5'000, ']') + "}";
  EXPECT_EQ(Call("POST", "/v1/sandboxes", deep).status, 400);
}

TEST_F(ApiTest, OtherContentTypesAreRefused) {
  for (const char* type :
       {"text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin1",
        "application/jsonx", "multipart/form-data; boundary=x"}) {
    const RawResponse response =
        Call("POST", "/v1/sandboxes", "{}", "Content-Type: " + std::string(type) + "\r\n");
    EXPECT_EQ(response.status, 415) << type;
  }
}

TEST_F(ApiTest, ContextsShowTheNamesOfVariablesButNotTheirValues) {
  const RawResponse response =
      Call("POST", "/v1/sandboxes/sbx_1/code/contexts",
           R"({"language":"python","name":"a","env":{"K":"v"},"timeoutMs":30000})");
  EXPECT_EQ(response.status, 201);
  EXPECT_EQ(response.body.find("do not show"), std::string::npos);
  const auto context = response.Json().at("context").as_object();
  EXPECT_EQ(context.at("envKeys").as_array().at(0), "TOKEN");
  EXPECT_TRUE(context.at("snapshot").is_null());
  EXPECT_EQ(service_.last_context.sandbox_id, "sbx_1");
  EXPECT_EQ(service_.last_context.cwd, "/workspace");
  EXPECT_EQ(service_.last_context.env.at("K"), "v");
}

TEST_F(ApiTest, AContextMayLeaveTheLanguageToTheTemplate) {
  EXPECT_EQ(Call("POST", "/v1/sandboxes/sbx_1/code/contexts", "{}").status, 201);
  EXPECT_EQ(service_.last_context.language, "");
  EXPECT_EQ(Call("POST", "/v1/sandboxes/sbx_1/code/contexts", R"({"binding":"PERL"})").status, 201);
  EXPECT_EQ(Call("POST", "/v1/sandboxes/sbx_1/code/contexts", R"({"language":""})").status, 400);
}

TEST_F(ApiTest, ForkAndRollbackPassTheGenerationOn) {
  const std::string context = "/v1/sandboxes/sbx_1/code/contexts/cctx_1";
  EXPECT_EQ(Call("POST", context + "/fork").status, 201);
  EXPECT_FALSE(service_.last_generation.has_value());
  EXPECT_EQ(Call("POST", context + "/fork", R"({"name":"b","generation":4})").status, 201);
  EXPECT_EQ(service_.last_generation, 4u);
  EXPECT_EQ(service_.last_name, "b");
  EXPECT_EQ(Call("POST", context + "/rollback", R"({"generation":2})").status, 200);
  EXPECT_EQ(service_.last_generation, 2u);
  EXPECT_EQ(Call("POST", context + "/rollback", "{}").ErrorField(), "generation");
  EXPECT_EQ(Call("POST", context + "/evict", "{}").status, 200);
  EXPECT_EQ(Call("POST", context + "/interrupt").status, 200);
  EXPECT_EQ(Call("POST", context + "/interrupt", R"({"x":1})").ErrorField(), "x");
  EXPECT_EQ(Call("GET", context + "/snapshots").Json().at("data").as_array().size(), 2u);
}

TEST_F(ApiTest, AnIdempotencyKeyGivesTheFirstAnswerAgain) {
  const std::string key = "Idempotency-Key: k1\r\n";
  const std::string body = R"({"ttlMs":5})";
  const RawResponse first = Call("POST", "/v1/sandboxes", body, key);
  EXPECT_EQ(first.Header("idempotency-replayed"), "");
  service_.failure = Error(ErrorCode::kInternal, "must not be reached");
  const RawResponse again = Call("POST", "/v1/sandboxes", body, key);
  EXPECT_EQ(again.status, 201);
  EXPECT_EQ(again.body, first.body);
  EXPECT_EQ(again.Header("idempotency-replayed"), "true");
  EXPECT_NE(again.Header("x-request-id"), first.Header("x-request-id"));
  const RawResponse other = Call("POST", "/v1/sandboxes", R"({"ttlMs":6})", key);
  EXPECT_EQ(other.status, 409);
  EXPECT_EQ(other.ErrorCode(), "idempotency_key_reused");
  EXPECT_EQ(Call("POST", "/v1/sandboxes/sbx_1/ttl", body, key).status,
            500);                                                // another route, another key
  EXPECT_EQ(Call("GET", "/v1/sandboxes", "", key).status, 500);  // nothing to repeat
}

TEST_F(ApiTest, FailuresDoNotUseAnIdempotencyKeyUp) {
  const std::string key = "Idempotency-Key: k2\r\n";
  service_.failure = Error(ErrorCode::kUnavailable, "busy");
  EXPECT_EQ(Call("POST", "/v1/sandboxes", "{}", key).status, 503);
  service_.failure.reset();
  EXPECT_EQ(Call("POST", "/v1/sandboxes", "{}", key).status, 201);
  EXPECT_EQ(Call("POST", "/v1/sandboxes", "{}", "Idempotency-Key: \r\n").status, 400);
  EXPECT_EQ(
      Call("POST", "/v1/sandboxes", "{}", "Idempotency-Key: " + std::string(256, 'k') + "\r\n")
          .status,
      400);
}

TEST_F(ApiTest, EscapedSegmentsReachTheServiceDecoded) {
  EXPECT_EQ(Call("GET", "/v1/sandboxes/sbx%5F1").status, 200);
  EXPECT_EQ(Call("GET", "/v1/sandboxes/sbx_1%2f..").status, 404);
  EXPECT_EQ(Call("GET", "/v1/sandboxes/%").status, 404);
}

}  // namespace
}  // namespace dormouse::http
