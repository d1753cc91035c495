// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "service/scopes.h"
#include "service/service_fixture.h"

namespace dormouse::service {
namespace {

class AccountsTest : public testing::ServiceTest {
 protected:
  Caller CallerOf(const std::string& secret) {
    const auto caller = service().Authenticate(secret);
    EXPECT_TRUE(caller.ok());
    return caller.ok() ? *caller : Caller{"nobody", std::make_shared<const Grants>()};
  }
  NewApiKey NewKey(std::vector<std::string> scopes, std::vector<std::string> projects = {},
                   Caller caller = {}) {
    const auto made = Await(service().Create(
        CreateApiKey{std::move(caller), "test", std::move(scopes), std::move(projects)}));
    EXPECT_TRUE(made.ok()) << made.error().message;
    return made.ok() ? *made : NewApiKey();
  }
  Project NewProject(const std::string& name = "other") {
    const auto made = Await(service().CreateProject(name, nullptr));
    EXPECT_TRUE(made.ok());
    return made.ok() ? *made : Project();
  }
  static StoredAnswer AnswerFor(const std::string& scope, const std::string& body = "body") {
    StoredAnswer answer;
    answer.scope = Sha256(scope);
    answer.fingerprint = Sha256("request");
    answer.content_type = "application/json";
    answer.headers = {{"a", "b"}};
    answer.body = body;
    return answer;
  }
  std::optional<StoredAnswer> Find(const std::string& scope) {
    const auto found = Await(service().FindAnswer(Sha256(scope)));
    EXPECT_TRUE(found.ok());
    return found.ok() ? *found : std::nullopt;
  }
};

TEST_F(AccountsTest, OneOrganisationWithADefaultProjectFromTheStart) {
  const auto projects = Await(service().ListProjects({}, {}));
  ASSERT_TRUE(projects.ok());
  ASSERT_EQ(projects->items.size(), 1u);
  EXPECT_EQ(projects->items[0].name, "Default");
  const auto sandbox = Await(service().Create(CreateSandbox()));
  EXPECT_EQ(sandbox->project_id, projects->items[0].id);
  EXPECT_EQ(sandbox->org_id, projects->items[0].org_id);
  const std::string org_id = sandbox->org_id;
  Close();
  EXPECT_EQ(Await(service().GetSandbox(sandbox->id))->org_id, org_id);
}

TEST_F(AccountsTest, AKeyIsShownOnceAndKnownAfterARestart) {
  const NewApiKey made = NewKey({"file:read", "code:run"});
  EXPECT_TRUE(made.secret.starts_with(made.key.prefix + "_"));
  EXPECT_TRUE(made.secret.ends_with(made.key.last4));
  EXPECT_EQ(made.key.scopes, (std::vector<std::string>{"code:run", "file:read"}));
  Close();
  const Caller caller = CallerOf(made.secret);
  EXPECT_EQ(caller.key_id, made.key.id);
  EXPECT_TRUE(caller.Has("code:run"));
  EXPECT_FALSE(caller.Has("sandbox:create"));
  const auto found = Await(service().GetApiKey({}, made.key.id));
  EXPECT_EQ(found->name, "test");
  EXPECT_TRUE(found->last_used_at.has_value());
}

TEST_F(AccountsTest, TheFirstKeyMayDoEverything) {
  const auto keys = Await(service().ListApiKeys({}, {}));
  ASSERT_EQ(keys->items.size(), 1u);
  EXPECT_EQ(keys->items[0].scopes.size(), AllScopes().size());
  EXPECT_FALSE(keys->items[0].last_used_at.has_value());
}

TEST_F(AccountsTest, NobodyGivesAwayMoreThanTheyHave) {
  const Project mine = NewProject();
  const Caller caller = CallerOf(NewKey({"api_key:create", "code:run"}, {mine.id}).secret);
  const auto try_to = [&](std::vector<std::string> scopes, std::vector<std::string> projects) {
    const auto made = Await(service().Create(CreateApiKey{caller, "x", scopes, projects}));
    return made.ok() ? ErrorCode() : made.error().code;
  };
  EXPECT_EQ(try_to({"code:run"}, {mine.id}), ErrorCode());
  EXPECT_EQ(try_to({"file:read"}, {mine.id}), ErrorCode::kForbidden);
  EXPECT_EQ(try_to({"code:run"}, {}), ErrorCode::kForbidden);
  EXPECT_EQ(try_to({"code:run"}, {NewProject().id}), ErrorCode::kNotFound);
  EXPECT_EQ(try_to({"code:runs"}, {mine.id}), ErrorCode::kInvalidRequest);
  EXPECT_EQ(try_to({}, {mine.id}), ErrorCode::kInvalidRequest);
}

TEST_F(AccountsTest, ARevokedKeyIsUselessAndStaysListed) {
  const NewApiKey made = NewKey({"code:run"});
  const auto first = Await(service().RevokeApiKey({}, made.key.id));
  ASSERT_TRUE(first.ok() && first->revoked_at);
  EXPECT_EQ(service().Authenticate(made.secret).error().code, ErrorCode::kUnauthorized);
  EXPECT_EQ(Await(service().RevokeApiKey({}, made.key.id))->revoked_at, first->revoked_at);
  Close();
  EXPECT_FALSE(service().Authenticate(made.secret).ok());
  EXPECT_EQ(Await(service().ListApiKeys({}, {}))->items.size(), 2u);
}

TEST_F(AccountsTest, TheLastKeyThatMakesKeysStays) {
  const std::string admin = Await(service().ListApiKeys({}, {}))->items[0].id;
  EXPECT_EQ(Await(service().RevokeApiKey({}, admin)).error().code, ErrorCode::kConflict);
  // One that can make keys for some projects only is no way out.
  NewKey({"api_key:create"}, {NewProject().id});
  EXPECT_EQ(Await(service().RevokeApiKey({}, admin)).error().code, ErrorCode::kConflict);
  const NewApiKey second = NewKey({"api_key:create", "api_key:revoke"});
  EXPECT_TRUE(Await(service().RevokeApiKey({}, admin)).ok());
  EXPECT_EQ(Await(service().RevokeApiKey(CallerOf(second.secret), second.key.id)).error().code,
            ErrorCode::kConflict);
}

TEST_F(AccountsTest, ARestrictedCallerSeesItsProjectsOnly) {
  const Project mine = NewProject();
  const NewApiKey key = NewKey({"sandbox:read", "api_key:read"}, {mine.id});
  const Caller caller = CallerOf(key.secret);
  const std::string hidden = NewSandbox();
  CreateSandbox request;
  request.caller = caller;
  const auto own = Await(service().Create(request));
  ASSERT_TRUE(own.ok());
  EXPECT_EQ(own->project_id, mine.id);
  request.project_id = Await(service().GetSandbox(hidden))->project_id;
  EXPECT_EQ(Await(service().Create(request)).error().code, ErrorCode::kNotFound);
  ListSandboxes list;
  list.caller = caller;
  const auto listed = Await(service().List(list));
  ASSERT_EQ(listed->items.size(), 1u);
  EXPECT_EQ(listed->items[0].id, own->id);
  EXPECT_TRUE(Await(service().CheckAccess(caller, own->id)).ok());
  EXPECT_EQ(Await(service().CheckAccess(caller, hidden)).error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(Await(service().CheckAccess({}, hidden)).ok());
  EXPECT_EQ(Await(service().ListProjects(caller, {}))->items.size(), 1u);
  const auto keys = Await(service().ListApiKeys(caller, {}));
  ASSERT_EQ(keys->items.size(), 1u);
  EXPECT_EQ(keys->items[0].id, key.key.id);
}

TEST_F(AccountsTest, UsageIsCountedPerProjectAndDay) {
  const Project project = NewProject();
  CreateSandbox request;
  request.project_id = project.id;
  const std::string sandbox = NewSandbox(request);
  Run(sandbox, "", "one");
  Run(sandbox, "", "two");
  Service::WriteFile write;
  write.sandbox_id = sandbox;
  write.path = "a";
  write.content = "12345";
  ASSERT_TRUE(Await(service().Write(write)).ok());
  Close();
  const auto usage = Await(service().GetUsage({}));
  ASSERT_TRUE(usage.ok());
  std::map<std::string, double> amounts;
  for (const UsageEvent& event : usage->events) {
    EXPECT_EQ(event.project_id, project.id);
    EXPECT_TRUE(amounts.emplace(event.metric, event.amount).second);
  }
  EXPECT_EQ(amounts["sandbox_creates"], 1);
  EXPECT_EQ(amounts["code_run_invocations"], 2);
  EXPECT_EQ(amounts["file_bytes_written"], 5);
  EXPECT_TRUE(amounts.contains("compute_unit_seconds"));
  EXPECT_LT(usage->period_start, usage->period_end);
  const Caller other = CallerOf(NewKey({"usage:read"}, {NewProject().id}).secret);
  EXPECT_TRUE(Await(service().GetUsage(other))->events.empty());
}

TEST_F(AccountsTest, SandboxesHaveAQuotaWhenOneIsSet) {
  config.active_sandboxes = 2;
  const auto quota = [this](const Caller& caller) {
    const auto usage = Await(service().GetUsage(caller));
    const auto found = std::find_if(usage->quotas.begin(), usage->quotas.end(),
                                    [](const Quota& one) { return one.name == "active_sandboxes"; });
    return found == usage->quotas.end() ? Quota() : *found;
  };
  const std::string first = NewSandbox();
  NewSandbox();
  EXPECT_EQ(Await(service().Create(CreateSandbox())).error().code, ErrorCode::kQuotaExceeded);
  EXPECT_EQ(quota({}).limit, 2u);
  EXPECT_EQ(quota({}).current, 2u);
  const Caller restricted = CallerOf(NewKey({"usage:read"}, {NewProject().id}).secret);
  EXPECT_EQ(quota(restricted).current, std::nullopt);
  Close();
  EXPECT_EQ(Await(service().Create(CreateSandbox())).error().code, ErrorCode::kQuotaExceeded);
  ASSERT_TRUE(Await(service().DestroySandbox(first)).ok());
  EXPECT_EQ(quota({}).current, 1u);
  EXPECT_TRUE(Await(service().Create(CreateSandbox())).ok());
}

TEST_F(AccountsTest, AnswersAreKeptOverARestart) {
  EXPECT_FALSE(Find("a").has_value());
  ASSERT_TRUE(Await(service().StoreAnswer(AnswerFor("a"))).ok());
  Close();
  const auto found = Find("a");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->body, "body");
  EXPECT_EQ(found->headers, AnswerFor("a").headers);
  EXPECT_EQ(found->fingerprint, Sha256("request"));
  EXPECT_FALSE(Find("b").has_value());
}

TEST_F(AccountsTest, LargeAnswersAreRememberedWithoutTheirBody) {
  ASSERT_TRUE(Await(service().StoreAnswer(AnswerFor("a", std::string((1u << 20) + 1, 'x')))).ok());
  const auto found = Find("a");
  ASSERT_TRUE(found.has_value());
  EXPECT_FALSE(found->body_kept);
  EXPECT_TRUE(found->body.empty());
}

TEST_F(AccountsTest, TheOldestAnswersMakeRoom) {
  config.idempotency_bytes = (3u << 20) + (64u << 10);  // three, and what each has beside its body
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(Await(service().StoreAnswer(AnswerFor(std::to_string(i),
                                                      std::string(1u << 20, 'x')))).ok());
  }
  EXPECT_FALSE(Find("1").has_value());
  EXPECT_TRUE(Find("2").has_value());
  Close();
  EXPECT_FALSE(Find("1").has_value());
  EXPECT_TRUE(Find("4").has_value());
}

TEST_F(AccountsTest, ARunsAnswerIsStoredWithItsEffects) {
  const std::string sandbox = NewSandbox();
  int rendered = 0;
  RunRequest request = Request(sandbox, "", "one");
  request.answer = [&](const RunResult& run) {
    ++rendered;
    StoredAnswer answer = AnswerFor("run", run.run_id + " " + std::to_string(run.generation));
    return answer;
  };
  const auto run = Await(service().Run(request, nullptr));
  ASSERT_TRUE(run.ok());
  Close();
  EXPECT_EQ(rendered, 1);
  const auto found = Find("run");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->body, run->run_id + " " + std::to_string(run->generation));
}

TEST_F(AccountsTest, WhatIsMadeIsStoredWithItsAnswer) {
  CreateSandbox request;
  request.answer = [](const Sandbox& sandbox) { return AnswerFor("sandbox", sandbox.id); };
  const std::string sandbox = NewSandbox(request);
  EXPECT_EQ(Find("sandbox")->body, sandbox);
  CreateContext context;
  context.sandbox_id = sandbox;
  context.language = "python";
  context.answer = [](const Context& made) { return AnswerFor("context", made.id); };
  const auto made = Await(service().Create(context));
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(Find("context")->body, made->id);
  const auto fork = Await(service().ForkContext(
      sandbox, made->id, "", std::nullopt,
      [](const Context& forked) { return AnswerFor("fork", forked.id); }));
  ASSERT_TRUE(fork.ok());
  EXPECT_EQ(Find("fork")->body, fork->id);
  const auto project = Await(service().CreateProject(
      "p", [](const Project& one) { return AnswerFor("project", one.id); }));
  EXPECT_EQ(Find("project")->body, project->id);
}

TEST_F(AccountsTest, ARefusedRequestLeavesNoAnswer) {
  RunRequest request = Request(NewSandbox(), "cctx_none", "one");
  request.answer = [](const RunResult&) { return AnswerFor("run"); };
  EXPECT_FALSE(Await(service().Run(request, nullptr)).ok());
  EXPECT_FALSE(Find("run").has_value());
}

TEST_F(AccountsTest, MetadataHasACodeForEachLimit) {
  const auto code_of = [&](StringMap metadata) {
    CreateSandbox request;
    request.metadata = std::move(metadata);
    const auto made = Await(service().Create(request));
    return made.ok() ? ErrorCode() : made.error().code;
  };
  StringMap many;
  for (int i = 0; i < 17; ++i) many["k" + std::to_string(i)] = "v";
  StringMap large;
  for (int i = 0; i < 9; ++i) large["k" + std::to_string(i)] = std::string(500, 'v');
  std::string wide;  // 64 characters of two bytes each
  for (int i = 0; i < 64; ++i) wide += "ж";
  EXPECT_EQ(code_of({{wide, "v"}}), ErrorCode());
  EXPECT_EQ(code_of({{wide + "x", "v"}}), ErrorCode::kInvalidMetadataKey);
  EXPECT_EQ(code_of({{"", "v"}}), ErrorCode::kInvalidMetadataKey);
  EXPECT_EQ(code_of({{"a\nb", "v"}}), ErrorCode::kInvalidMetadataKey);
  EXPECT_EQ(code_of({{"k", std::string(513, 'v')}}), ErrorCode::kInvalidMetadataValue);
  EXPECT_EQ(code_of({{"k", "\xFF"}}), ErrorCode::kInvalidMetadataValue);
  EXPECT_EQ(code_of(many), ErrorCode::kMetadataTooManyKeys);
  EXPECT_EQ(code_of(large), ErrorCode::kMetadataTooLarge);
}

TEST_F(AccountsTest, TemplatesPresetSandboxes) {
  TemplateConfig preset;
  preset.version = "2026-07-01";
  preset.default_ttl_ms = 60'000;
  preset.max_ttl_ms = 120'000;
  preset.contexts_per_sandbox = 1;
  preset.default_language = "python";
  preset.env = {{"A", "template"}, {"B", "template"}};
  config.templates["small-one"] = preset;
  CreateSandbox request;
  request.template_slug = "small-one";
  const auto made = Await(service().Create(request));
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_EQ(made->ttl_ms, 60'000);
  EXPECT_EQ(made->template_id, "tpl_small_one");
  EXPECT_EQ(made->template_version, "2026-07-01");
  EXPECT_EQ(made->template_version_id, "tplv_small_one_2026-07-01");
  CreateContext context;
  context.sandbox_id = made->id;
  context.env = {{"A", "request"}};
  const auto first = Await(service().Create(context));
  ASSERT_TRUE(first.ok()) << first.error().message;
  EXPECT_EQ(first->language, "python");
  EXPECT_EQ(first->env, (StringMap{{"A", "request"}, {"B", "template"}}));
  EXPECT_EQ(Await(service().Create(context)).error().code, ErrorCode::kQuotaExceeded);
  EXPECT_EQ(Await(service().SetTtl(made->id, 120'001)).error().code, ErrorCode::kSandboxTtlExceeded);
  request.ttl_ms = 120'001;
  EXPECT_EQ(Await(service().Create(request)).error().code, ErrorCode::kSandboxTtlExceeded);
}

TEST_F(AccountsTest, TemplatesAreChosenBySlugOrVersion) {
  const auto choose = [&](const std::string& slug, const std::string& version_id) {
    CreateSandbox request;
    request.template_slug = slug;
    request.template_version_id = version_id;
    const auto made = Await(service().Create(request));
    return made.ok() ? made->template_slug : std::string(InfoOf(made.error().code).api_name);
  };
  EXPECT_EQ(choose("", ""), "base");
  EXPECT_EQ(choose("python-node", ""), "python-node");
  EXPECT_EQ(choose("", "tplv_node_1"), "node");
  EXPECT_EQ(choose("node", "tplv_node_1"), "node");
  EXPECT_EQ(choose("python", "tplv_node_1"), "invalid_request");
  EXPECT_EQ(choose("perl", ""), "not_found");
  EXPECT_EQ(choose("", "tplv_none"), "not_found");
}

TEST_F(AccountsTest, ARunMayLeaveTheLanguageToTheTemplate) {
  CreateSandbox request;
  request.template_slug = "python";
  RunRequest run;
  run.sandbox_id = NewSandbox(request);
  run.code = "one";
  EXPECT_EQ(Await(service().Run(run, nullptr))->language, "python");
  run.sandbox_id = NewSandbox();
  EXPECT_EQ(Await(service().Run(run, nullptr)).error().code, ErrorCode::kInvalidRequest);
}

TEST_F(AccountsTest, IdleSandboxesGo) {
  config.templates["python"].idle_expiry_ms = 1;
  CreateSandbox request;
  request.template_slug = "python";
  const std::string idle = NewSandbox(request);
  const std::string kept = NewSandbox();
  EXPECT_TRUE(Eventually([&] {
    return Await(service().GetSandbox(idle))->destroyed_reason == "idle_expired";
  }));
  EXPECT_TRUE(Await(service().GetSandbox(kept))->destroyed_reason.empty());
}

}  // namespace
}  // namespace dormouse::service
