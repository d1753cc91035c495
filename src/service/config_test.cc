// SPDX-License-Identifier: Apache-2.0
#include "service/config.h"

#include <gtest/gtest.h>

#include <fstream>

#include "service/bindings.h"
#include "store/testing.h"

namespace dormouse::service {
namespace {

Result<Config> Load(const std::string& text) {
  store::testing::TemporaryDirectory directory;
  const auto file = directory.path() / "dormouse.toml";
  std::ofstream(file) << text;
  return LoadConfig(file, Config{});
}

std::string ErrorOf(const std::string& text) {
  const auto config = Load(text);
  if (config.ok()) return "no error";
  const std::string& message = config.error().message;
  return message.substr(message.find("dormouse.toml") + 13);
}

TEST(Config, WhatIsSetReplacesTheDefault) {
  const auto config = Load(R"(
listen = "0.0.0.0:80"
data_directory = "/srv/data"
durability = "power"
[residency]
memory_bytes = 1073741824
idle_eviction_ms = 1000
[http]
max_connections = 7
write_timeout_ms = 250
[limits]
active_sandboxes = 9
contexts_per_sandbox = 3
max_timeout_ms = 120000
[artifacts]
retention_days = 2
sandbox_bytes = 5000
[bindings.PY]
engine = "python-3.13"
contexts = false
memory_bytes = 134217728
default = false
)");
  ASSERT_TRUE(config.ok()) << config.error().message;
  EXPECT_EQ(config->listen, "0.0.0.0:80");
  EXPECT_EQ(config->data_directory, "/srv/data");
  EXPECT_EQ(config->durability, Durability::kPower);
  EXPECT_EQ(config->resident_memory_bytes, 1ull << 30);
  EXPECT_EQ(config->idle_eviction.count(), 1000);
  EXPECT_EQ(config->connections.max_connections, 7u);
  EXPECT_EQ(config->connections.write_timeout.count(), 250);
  EXPECT_EQ(config->connections.idle_timeout, ConnectionLimits{}.idle_timeout);
  EXPECT_EQ(config->active_sandboxes, 9u);
  EXPECT_EQ(config->contexts_per_sandbox, 3u);
  EXPECT_EQ(config->max_timeout.count(), 120'000);
  EXPECT_EQ(config->artifact_retention, std::chrono::hours(48));
  EXPECT_EQ(config->artifact_sandbox_bytes, 5'000u);
  EXPECT_EQ(config->artifact_bytes, Config{}.artifact_bytes);
  EXPECT_EQ(config->bindings.at("PY").engine, "python-3.13");
  EXPECT_FALSE(config->bindings.at("PY").contexts);
  EXPECT_FALSE(config->bindings.at("PY").is_default);
  EXPECT_EQ(config->code_bytes, Config{}.code_bytes);
}

TEST(Config, TemplatesAddToThoseThatAreAlwaysThere) {
  const auto config = Load(R"(
default_template = "mine"
[limits]
requests_per_minute = 0
[templates.mine]
default_ttl_ms = 5000
max_ttl_ms = 6000
idle_expiry_ms = 7000
contexts_per_sandbox = 2
default_timeout_ms = 900
env = { A = "b" }
[templates.python]
version = "2"
)");
  ASSERT_TRUE(config.ok()) << config.error().message;
  EXPECT_EQ(config->requests_per_minute, 0u);
  EXPECT_EQ(config->templates.size(), 5u);
  const TemplateConfig& mine = config->templates.at("mine");
  EXPECT_EQ(mine.default_ttl_ms, 5'000);
  EXPECT_EQ(mine.max_ttl_ms, 6'000);
  EXPECT_EQ(mine.idle_expiry_ms, 7'000);
  EXPECT_EQ(mine.contexts_per_sandbox, 2u);
  EXPECT_EQ(mine.default_timeout, std::chrono::milliseconds(900));
  EXPECT_EQ(mine.env.at("A"), "b");
  EXPECT_EQ(config->templates.at("python").version, "2");
  EXPECT_EQ(config->templates.at("python").default_language, "python");
}

TEST(Config, TemplatesThatCannotBeAreRefused) {
  EXPECT_EQ(ErrorOf("[templates.Mine]"),
            ":1: templates.Mine must be made of small letters, digits and hyphens");
  EXPECT_EQ(ErrorOf("[templates.a]\nttl = 5"), ":2: templates.a.ttl is not a known key");
  EXPECT_EQ(ErrorOf("[templates.a.env]\nDORMOUSE_X = \"1\""),
            ":2: templates.a.env.DORMOUSE_X the environment variable DORMOUSE_X is reserved");
  EXPECT_EQ(ErrorOf("[templates.a]\nmax_ttl_ms = 5"),
            ": templates.a.default_ttl_ms must be set and at most max_ttl_ms");
  EXPECT_EQ(ErrorOf("default_template = \"b\""), ": default_template names no template");
  EXPECT_EQ(ErrorOf("[templates.a]\ndefault_timeout_ms = 700000"),
            ": templates.a.default_timeout_ms is more than limits.max_timeout_ms");
}

TEST(Config, ErrorsNameKeyAndLine) {
  EXPECT_EQ(ErrorOf("\nlisten_on = \"x\""), ":2: listen_on is not a known key");
  EXPECT_EQ(ErrorOf("[limits]\n\ncode_byte = 5"), ":3: limits.code_byte is not a known key");
  EXPECT_EQ(ErrorOf("listen = 5"), ":1: listen must be a string");
  EXPECT_EQ(ErrorOf("limits = 5"), ":1: limits must be a table");
  EXPECT_EQ(ErrorOf("[limits]\ncode_bytes = \"5\""), ":2: limits.code_bytes must be an integer");
  EXPECT_EQ(ErrorOf("[limits]\ncode_bytes = 5.5"), ":2: limits.code_bytes must be an integer");
  EXPECT_EQ(ErrorOf("[limits]\ncontexts_per_sandbox = 0"),
            ":2: limits.contexts_per_sandbox is 0, allowed are 1 to 1000");
  EXPECT_EQ(ErrorOf("durability = \"maybe\""), ":1: durability must be \"process\" or \"power\"");
  EXPECT_EQ(ErrorOf("[bindings.py]\nengine = \"x\""),
            ":1: bindings.py must be made of capital letters, digits and underscores");
  EXPECT_EQ(ErrorOf("[bindings.PY]\ncontexts = true"), ":1: bindings.PY needs an engine");
  EXPECT_EQ(ErrorOf("[bindings.PY]\nengine = \"x\"\nmemory = 5"), ":3: bindings.PY.memory is not a known key");
  EXPECT_TRUE(ErrorOf("a = = b").starts_with(":1: "));
  EXPECT_EQ(ErrorOf("[limits]\ndefault_timeout_ms = 700000"),
            ": limits.default_timeout_ms is more than limits.max_timeout_ms");
  EXPECT_NE(ErrorOf("[limits]\nmax_ttl_ms = 5"), "no error");
}

TEST(Config, MissingFileIsAnError) {
  EXPECT_FALSE(LoadConfig("/nonexistent/dormouse.toml", Config{}).ok());
}

scheduler::EngineBuild Engine(const std::string& name, const std::string& language, char build) {
  scheduler::EngineBuild engine;
  engine.name = name;
  engine.language = language;
  engine.build_id = std::string(64, build);
  engine.boot_memory_bytes = 64u << 20;
  engine.max_memory_bytes = 1u << 30;
  return engine;
}

TEST(Bindings, DefaultsFollowWhatIsInstalled) {
  auto newer = Engine("python-3.13", "python", 'b');
  newer.current = true;
  const auto table = BindingTable::Make(
      Config{}, {newer, Engine("python-3.13", "python", 'a'), Engine("quickjs", "javascript", 'c')});
  ASSERT_TRUE(table.ok());
  ASSERT_EQ(table->All().size(), 2u);
  EXPECT_EQ((*table->ByName("PYTHON"))->info.build_id, std::string(64, 'b'));
  EXPECT_EQ((*table->ByLanguage("javascript"))->info.name, "JAVASCRIPT");
  EXPECT_EQ(table->ByLanguage("Python").error().code, ErrorCode::kUnsupportedCodeLanguage);
  EXPECT_TRUE(table->IsInstalled(std::string(64, 'a')));
  EXPECT_FALSE(table->IsInstalled(std::string(64, 'd')));
}

TEST(Bindings, FurtherEnginesOfALanguageAreOfferedByTheirNames) {
  const auto table = BindingTable::Make(
      Config{}, {Engine("python-data-3.13", "python", 'a'), Engine("python-3.13", "python", 'b'),
                 Engine("python-3.14", "python", 'c'), Engine("other-ruby", "ruby", 'd')});
  ASSERT_TRUE(table.ok()) << table.error().message;
  ASSERT_EQ(table->All().size(), 3u);
  EXPECT_EQ((*table->ByLanguage("python"))->info.name, "PYTHON");
  EXPECT_EQ((*table->ByName("PYTHON"))->info.build_id, std::string(64, 'c'));
  EXPECT_EQ((*table->ByName("PYTHON_DATA"))->info.build_id, std::string(64, 'a'));
  EXPECT_FALSE((*table->ByName("PYTHON_DATA"))->info.is_default);
  EXPECT_EQ((*table->ByName("RUBY"))->info.engine, "other-ruby");
}

TEST(Bindings, AnEngineThatExtendsAnotherTakesItsPlace) {
  auto data = Engine("python-data-3.13", "python", 'a');
  data.extends = "python";
  const auto both = BindingTable::Make(Config{}, {Engine("python-3.13", "python", 'b'), data});
  ASSERT_TRUE(both.ok()) << both.error().message;
  ASSERT_EQ(both->All().size(), 2u);
  EXPECT_EQ((*both->ByLanguage("python"))->info.build_id, std::string(64, 'a'));
  EXPECT_EQ((*both->ByName("PYTHON"))->info.build_id, std::string(64, 'a'));
  EXPECT_EQ((*both->ByName("PYTHON_CORE"))->info.build_id, std::string(64, 'b'));
  const auto alone = BindingTable::Make(Config{}, {data});
  ASSERT_TRUE(alone.ok()) << alone.error().message;
  EXPECT_EQ((*alone->ByName("PYTHON"))->info.build_id, std::string(64, 'a'));
}

TEST(Bindings, LimitsAreTheirOwnOrTheGeneralOnes) {
  Config config;
  config.bindings["PY"].engine = "python";
  BindingConfig& small = config.bindings["SMALL"];
  small.engine = "python";
  small.is_default = false;
  small.memory_bytes = 100u << 20;
  small.max_memory_bytes = 4ull << 30;
  small.max_fuel_us = 7;
  small.max_timeout = std::chrono::seconds(3);
  small.code_bytes = 1024;
  const auto table = BindingTable::Make(config, {Engine("python", "python", 'a')});
  ASSERT_TRUE(table.ok()) << table.error().message;
  const Binding general = (*table->ByName("PY"))->info;
  EXPECT_EQ(general.max_memory_bytes, general.memory_bytes);
  EXPECT_EQ(general.max_timeout_ms, 600'000u);
  EXPECT_EQ(general.code_bytes, config.code_bytes);
  const Binding own = (*table->ByName("SMALL"))->info;
  EXPECT_EQ(own.memory_bytes, 100u << 20);
  EXPECT_EQ(own.max_memory_bytes, 1u << 30);  // the engine's own
  EXPECT_EQ(own.fuel_us, 7u);
  EXPECT_EQ(own.max_timeout_ms, 3'000u);
  EXPECT_EQ(own.code_bytes, 1024u);
  EXPECT_EQ((*table->ByLanguage("python"))->info.name, "PY");
}

TEST(Bindings, PreloadedImagesServeTheirBindingOnly) {
  Config config;
  config.bindings["PLUS"].engine = "python";
  config.bindings["PLUS"].preload = "x = 1";
  const auto base = Engine("python", "python", 'a');
  EXPECT_FALSE(BindingTable::Make(config, {base}).ok());
  auto image = Engine("python", "python", 'b');
  image.preload = ImageKey(config, config.bindings.at("PLUS"), base);
  image.current = true;
  const auto table = BindingTable::Make(config, {base, image});
  ASSERT_TRUE(table.ok()) << table.error().message;
  EXPECT_EQ((*table->ByName("PLUS"))->info.build_id, image.build_id);
  EXPECT_TRUE((*table->ByName("PLUS"))->info.preloaded);
  const auto defaults = BindingTable::Make(Config{}, {base, image});
  ASSERT_TRUE(defaults.ok());
  EXPECT_EQ((*defaults->ByName("PYTHON"))->info.build_id, base.build_id);
}

TEST(Bindings, WrongOnesAreRefused) {
  Config config;
  config.bindings["PY"].engine = "python-9";
  EXPECT_FALSE(BindingTable::Make(config, {}).ok());
  const auto python = Engine("python", "python", 'a');
  config.bindings["PY"].engine = "python";
  config.bindings["PY2"].engine = "python";
  EXPECT_FALSE(BindingTable::Make(config, {python}).ok());
  config.bindings["PY2"].is_default = false;
  EXPECT_TRUE(BindingTable::Make(config, {python}).ok());
  config.bindings["PY2"].memory_bytes = 1u << 20;
  EXPECT_FALSE(BindingTable::Make(config, {python}).ok());
}

}  // namespace
}  // namespace dormouse::service
