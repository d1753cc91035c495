// SPDX-License-Identifier: Apache-2.0
#include "service/config.h"

#include <fstream>
#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <toml++/toml.h>

#include "common/utf8.h"
#include "service/usage.h"
#include "service/validation.h"

namespace dormouse::service {
namespace {

constexpr std::int64_t kKiB = 1024;
constexpr std::int64_t kMiB = 1024 * kKiB;
constexpr std::int64_t kTiB = 1024 * 1024 * kMiB;
constexpr std::size_t kMaxPreloadBytes = 1u << 20;
// A worker passes on displays of up to 16 MiB, in which bytes are base64.
constexpr std::int64_t kMaxPromotedBytes = 12 * kMiB;

// Reads one table. Collects the first error; remembers which keys were asked for, so that others can be refused.
class TableReader {
 public:
  TableReader(const toml::table& table, std::string prefix, std::string file)
      : table_(table), prefix_(std::move(prefix)), file_(std::move(file)) {}

  template <typename Integer>
  TableReader& Int(std::string_view key, Integer& value, std::int64_t low, std::int64_t high) {
    const toml::node* node = Take(key);
    if (node == nullptr) return *this;
    const auto found = node->value_exact<std::int64_t>();
    if (!found) return Fail(key, *node, "must be an integer");
    if (*found < low || *found > high) {
      return Fail(key, *node, "is " + std::to_string(*found) + ", allowed are " +
                                  std::to_string(low) + " to " + std::to_string(high));
    }
    value = static_cast<Integer>(*found);
    return *this;
  }
  template <typename Integer>
  TableReader& Int(std::string_view key, std::optional<Integer>& value, std::int64_t low,
                   std::int64_t high) {
    Integer found = value.value_or(Integer());
    if (!table_.contains(key)) return *this;
    Int(key, found, low, high);
    value = found;
    return *this;
  }
  TableReader& Milliseconds(std::string_view key, std::chrono::milliseconds& value,
                            std::int64_t low, std::int64_t high) {
    std::int64_t count = value.count();
    Int(key, count, low, high);
    value = std::chrono::milliseconds(count);
    return *this;
  }
  TableReader& Bool(std::string_view key, bool& value) {
    const toml::node* node = Take(key);
    if (node == nullptr) return *this;
    const auto found = node->value_exact<bool>();
    if (!found) return Fail(key, *node, "must be true or false");
    value = *found;
    return *this;
  }
  TableReader& Text(std::string_view key, const std::function<std::string(const std::string&)>& take) {
    const toml::node* node = Take(key);
    if (node == nullptr) return *this;
    const auto found = node->value_exact<std::string>();
    if (!found) return Fail(key, *node, "must be a string");
    // `take` says what is wrong with the value, if anything.
    const std::string wrong = take(*found);
    if (!wrong.empty()) return Fail(key, *node, wrong);
    return *this;
  }
  // Reads a table of its own, if it is there.
  TableReader& Table(std::string_view key, const std::function<Result<void>(TableReader&)>& read) {
    const toml::node* node = Take(key);
    if (node == nullptr) return *this;
    if (!node->is_table()) return Fail(key, *node, "must be a table");
    TableReader reader(*node->as_table(), prefix_ + std::string(key) + ".", file_);
    const Result<void> done = read(reader);
    if (!done.ok() && error_.ok()) error_ = done;
    return *this;
  }
  const toml::table& table() const { return table_; }

  // The first error, or that of the first key nobody asked for.
  Result<void> Finish() {
    if (!error_.ok()) return error_;
    for (const auto& [key, node] : table_) {
      if (!known_.contains(key.str())) Fail(key.str(), node, "is not a known key");
    }
    return error_;
  }
  TableReader& Fail(std::string_view key, const toml::node& node, const std::string& what) {
    if (error_.ok()) {
      const std::string line = std::to_string(node.source().begin.line);
      error_ = Error(ErrorCode::kInvalidRequest,
                     file_ + ":" + line + ": " + prefix_ + std::string(key) + " " + what,
                     {{"field", prefix_ + std::string(key)}, {"line", line}});
    }
    return *this;
  }

 private:
  const toml::node* Take(std::string_view key) {
    known_.emplace(key);
    return error_.ok() ? table_.get(key) : nullptr;
  }

  const toml::table& table_;
  const std::string prefix_;
  const std::string file_;
  std::set<std::string, std::less<>> known_;
  Result<void> error_;
};

Result<void> ReadResidency(TableReader& table, Config& config) {
  return table.Int("memory_bytes", config.resident_memory_bytes, 16 * kMiB, 1024 * kTiB)
      .Milliseconds("idle_eviction_ms", config.idle_eviction, 0, 365 * kDayMs)
      .Int("spare_workers", config.spare_workers, 0, 64)
      .Finish();
}

Result<void> ReadLimits(TableReader& table, Config& config) {
  return table.Int("active_sandboxes", config.active_sandboxes, 0, 100'000'000)
      .Int("contexts_per_sandbox", config.contexts_per_sandbox, 1, 1'000)
      .Milliseconds("stop_grace_ms", config.stop_grace, 0, 60'000)
      .Milliseconds("shutdown_grace_ms", config.shutdown_grace, 0, 3'600'000)
      .Milliseconds("default_timeout_ms", config.default_timeout, 1, kDayMs)
      .Milliseconds("max_timeout_ms", config.max_timeout, 1, kDayMs)
      .Int("code_bytes", config.code_bytes, 1 * kKiB, 64 * kMiB)
      .Int("stdin_bytes", config.stdin_bytes, 0, 48 * kMiB)
      .Int("request_bytes", config.request_bytes, 64 * kKiB, 1024 * kMiB)
      .Int("stream_bytes", config.stream_bytes, 1 * kKiB, 1024 * kMiB)
      .Int("inline_output_bytes", config.inline_output_bytes, 1 * kKiB, 64 * kMiB)
      .Int("inline_run_bytes", config.inline_run_bytes, 1 * kKiB, 256 * kMiB)
      .Int("outputs_per_run", config.outputs_per_run, 1, 1'000'000)
      .Int("stateless_runs", config.stateless_runs, 1, 100'000)
      .Int("direct_file_bytes", config.direct_file_bytes, 1 * kKiB, 1024 * kMiB)
      .Int("workspace_bytes", config.workspace_bytes, 1 * kMiB, 1024 * kTiB)
      .Int("workspace_files", config.workspace_files, 1, 10'000'000)
      .Int("tmp_bytes", config.tmp_bytes, 0, kTiB)
      .Int("generations_kept", config.generations_kept, 1, 10'000)
      .Int("default_ttl_ms", config.default_ttl_ms, 0, 36'500 * kDayMs)
      .Int("max_ttl_ms", config.max_ttl_ms, 0, 36'500 * kDayMs)
      .Int("requests_per_minute", config.requests_per_minute, 0, 1'000'000)
      .Int("idempotency_bytes", config.idempotency_bytes, 1 * kMiB, kTiB)
      .Finish();
}

Result<void> ReadHttp(TableReader& table, ConnectionLimits& limits) {
  return table.Int("max_connections", limits.max_connections, 1, 1'000'000)
      .Int("header_bytes", limits.header_bytes, 1 * kKiB, 1 * kMiB)
      .Milliseconds("idle_timeout_ms", limits.idle_timeout, 1, kDayMs)
      .Milliseconds("header_timeout_ms", limits.header_timeout, 1, kDayMs)
      .Milliseconds("body_timeout_ms", limits.body_timeout, 1, kDayMs)
      .Milliseconds("body_deadline_ms", limits.body_deadline, 1, kDayMs)
      .Milliseconds("upload_deadline_ms", limits.upload_deadline, 1, kDayMs)
      .Milliseconds("write_timeout_ms", limits.write_timeout, 1, kDayMs)
      .Finish();
}

Result<void> ReadArtifacts(TableReader& table, Config& config) {
  std::int64_t days = config.artifact_retention.count() / kDayMs;
  table.Int("retention_days", days, 0, 36'500)
      .Int("max_bytes", config.artifact_bytes, 1 * kKiB, kTiB)
      .Int("sandbox_bytes", config.artifact_sandbox_bytes, 0, 1024 * kTiB)
      .Int("output_bytes", config.promoted_output_bytes, 1 * kKiB, kMaxPromotedBytes)
      .Int("run_bytes", config.promoted_run_bytes, 1 * kKiB, kTiB)
      .Int("stream_bytes", config.captured_stream_bytes, 1 * kKiB, kTiB);
  if (table.table().contains("retention_days")) {
    config.artifact_retention = std::chrono::milliseconds(days * kDayMs);
  }
  return table.Finish();
}

Result<void> ReadWorkspaceRuns(TableReader& table, Config& config) {
  return table.Int("at_once", config.workspace_runs_at_once, 1, 1'000)
      .Int("output_bytes", config.workspace_run_output_bytes, 1 * kKiB, 64 * kMiB)
      .Int("direct_archive_bytes", config.direct_archive_bytes, 1 * kKiB, 64 * kMiB)
      .Int("staged_archive_bytes", config.staged_archive_bytes, 1 * kKiB, kTiB)
      .Milliseconds("upload_kept_ms", config.upload_kept, 1, 30 * kDayMs)
      .Milliseconds("kept_ms", config.workspace_run_kept, 1, 36'500 * kDayMs)
      .Finish();
}

std::string CheckBindingName(std::string_view name) {
  if (name.empty() || name.size() > 64) return "must be 1 to 64 characters long";
  for (const char c : name) {
    if ((c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_') {
      return "must be made of capital letters, digits and underscores";
    }
  }
  return {};
}

Result<std::string> ReadPreloadFile(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return Error(ErrorCode::kNotFound, "names " + file.string() + ", which cannot be read");
  std::string code(kMaxPreloadBytes + 1, '\0');
  stream.read(code.data(), static_cast<std::streamsize>(code.size()));
  code.resize(static_cast<std::size_t>(stream.gcount()));
  return code;
}

// `directory` is where the file of the configuration lies.
Result<void> ReadBinding(TableReader& table, const std::filesystem::path& directory,
                         BindingConfig& binding) {
  const auto take_preload = [&binding](const std::string& code) -> std::string {
    if (code.empty()) return "is empty";
    if (code.size() > kMaxPreloadBytes) return "is larger than 1 MiB";
    if (!IsValidUtf8(code)) return "is not UTF-8";
    binding.preload = code;
    return {};
  };
  return table
      .Text("engine",
            [&](const std::string& value) {
              binding.engine = value;
              return std::string(value.empty() ? "must not be empty" : "");
            })
      .Bool("contexts", binding.contexts)
      .Int("memory_bytes", binding.memory_bytes, 1 * kMiB, 4096 * kMiB)
      .Int("max_memory_bytes", binding.max_memory_bytes, 1 * kMiB, 4096 * kMiB)
      .Int("fuel_us", binding.fuel_us, 0, kDayMs * 1000)
      .Int("max_fuel_us", binding.max_fuel_us, 0, kDayMs * 1000)
      .Milliseconds("default_timeout_ms", binding.default_timeout, 1, kDayMs)
      .Milliseconds("max_timeout_ms", binding.max_timeout, 1, kDayMs)
      .Int("code_bytes", binding.code_bytes, 1 * kKiB, 64 * kMiB)
      .Bool("default", binding.is_default)
      .Bool("packages", binding.packages)
      .Text("preload", take_preload)
      .Text("preload_file",
            [&](const std::string& value) {
              if (!binding.preload.empty()) return std::string("and preload exclude each other");
              const Result<std::string> code = ReadPreloadFile(directory / value);
              return code.ok() ? take_preload(*code) : code.error().message;
            })
      .Finish();
}

Result<void> ReadBindings(TableReader& table, const std::filesystem::path& directory,
                          Config& config) {
  config.bindings.clear();
  for (const auto& [key, node] : table.table()) {
    const std::string name(key.str());
    if (const std::string wrong = CheckBindingName(name); !wrong.empty()) {
      return table.Fail(name, node, wrong).Finish();
    }
    table.Table(name, [&](TableReader& inner) -> Result<void> {
      BindingConfig binding;
      DORMOUSE_TRY(ReadBinding(inner, directory, binding));
      if (binding.engine.empty()) return table.Fail(name, node, "needs an engine").Finish();
      config.bindings.emplace(name, std::move(binding));
      return {};
    });
  }
  return table.Finish();
}

// Both go into ids.
std::string CheckPlainName(std::string_view name, bool capitals) {
  if (name.empty() || name.size() > 32) return "must be 1 to 32 characters long";
  for (const char c : name) {
    const bool letter = (c >= 'a' && c <= 'z') || (capitals && c >= 'A' && c <= 'Z');
    if (!letter && (c < '0' || c > '9') && c != '-') {
      return capitals ? "must be made of letters, digits and hyphens"
                      : "must be made of small letters, digits and hyphens";
    }
  }
  return name.front() == '-' ? "must not begin with a hyphen" : "";
}

Result<void> ReadTemplateEnv(TableReader& table, TemplateConfig& preset) {
  preset.env.clear();
  for (const auto& [key, node] : table.table()) {
    const std::string name(key.str());
    table.Text(name, [&](const std::string& value) {
      const Result<void> legal = CheckEnvironment({{name, value}});
      if (!legal.ok()) return legal.error().message;
      preset.env.emplace(name, value);
      return std::string();
    });
  }
  return table.Finish();
}

Result<void> ReadTemplate(TableReader& table, TemplateConfig& preset) {
  std::optional<std::int64_t> timeout_ms;
  table
      .Text("version",
            [&](const std::string& value) {
              preset.version = value;
              return CheckPlainName(value, true);
            })
      .Text("default_language",
            [&](const std::string& value) {
              preset.default_language = value;
              return std::string(value.size() > 64 ? "is too long" : "");
            })
      .Int("default_ttl_ms", preset.default_ttl_ms, 0, 36'500 * kDayMs)
      .Int("max_ttl_ms", preset.max_ttl_ms, 0, 36'500 * kDayMs)
      .Int("idle_expiry_ms", preset.idle_expiry_ms, 0, 36'500 * kDayMs)
      .Int("contexts_per_sandbox", preset.contexts_per_sandbox, 1, 1'000)
      .Int("default_timeout_ms", timeout_ms, 1, kDayMs)
      .Table("env", [&](TableReader& inner) { return ReadTemplateEnv(inner, preset); });
  if (timeout_ms) preset.default_timeout = std::chrono::milliseconds(*timeout_ms);
  return table.Finish();
}

// Adds to the templates that are always there, and changes them.
Result<void> ReadTemplates(TableReader& table, Config& config) {
  for (const auto& [key, node] : table.table()) {
    const std::string slug(key.str());
    if (const std::string wrong = CheckPlainName(slug, false); !wrong.empty()) {
      return table.Fail(slug, node, wrong).Finish();
    }
    table.Table(slug, [&](TableReader& inner) {
      return ReadTemplate(inner, config.templates[slug]);
    });
  }
  return table.Finish();
}

Result<void> ReadRoot(TableReader& root, const std::filesystem::path& directory, Config& config) {
  const auto path_into = [](std::filesystem::path& target) {
    return [&target](const std::string& value) {
      target = value;
      return std::string(value.empty() ? "must not be empty" : "");
    };
  };
  return root
      .Text("listen",
            [&](const std::string& value) {
              config.listen = value;
              return std::string(value.rfind(':') == std::string::npos ? "must be address:port" : "");
            })
      .Text("data_directory", path_into(config.data_directory))
      .Text("engines_directory", path_into(config.engines_directory))
      .Text("durability",
            [&](const std::string& value) {
              if (value == "process") config.durability = Durability::kProcess;
              if (value == "power") config.durability = Durability::kPower;
              const bool known = value == "process" || value == "power";
              return std::string(known ? "" : "must be \"process\" or \"power\"");
            })
      .Table("residency", [&](TableReader& table) { return ReadResidency(table, config); })
      .Table("http", [&](TableReader& table) { return ReadHttp(table, config.connections); })
      .Table("limits", [&](TableReader& table) { return ReadLimits(table, config); })
      .Text("default_template",
            [&](const std::string& value) {
              config.default_template = value;
              return std::string();
            })
      .Table("templates", [&](TableReader& table) { return ReadTemplates(table, config); })
      .Table("artifacts", [&](TableReader& table) { return ReadArtifacts(table, config); })
      .Table("workspace_runs",
             [&](TableReader& table) { return ReadWorkspaceRuns(table, config); })
      .Table("bindings",
             [&](TableReader& table) { return ReadBindings(table, directory, config); })
      .Finish();
}

// `refuse` makes the error for a key.
template <typename Refuse>
Result<void> CheckBinding(const Config& config, const std::string& name,
                          const BindingConfig& binding, const Refuse& refuse) {
  const std::string prefix = "bindings." + name + ".";
  if (binding.max_memory_bytes != 0 && binding.max_memory_bytes < binding.memory_bytes) {
    return refuse(prefix + "max_memory_bytes", "is less than memory_bytes");
  }
  if (binding.max_fuel_us != 0 && binding.max_fuel_us < binding.fuel_us) {
    return refuse(prefix + "max_fuel_us", "is less than fuel_us");
  }
  if (binding.max_timeout > config.max_timeout) {
    return refuse(prefix + "max_timeout_ms", "is more than limits.max_timeout_ms");
  }
  const auto most = binding.max_timeout.count() == 0 ? config.max_timeout : binding.max_timeout;
  if (binding.default_timeout > most) {
    return refuse(prefix + "default_timeout_ms", "is more than max_timeout_ms");
  }
  if (binding.code_bytes > config.code_bytes) {
    return refuse(prefix + "code_bytes", "is more than limits.code_bytes");
  }
  return {};
}

// What single values cannot tell.
Result<void> CheckTogether(const Config& config, const std::string& file) {
  const auto refuse = [&](const std::string& key, const std::string& what) -> Result<void> {
    return Error(ErrorCode::kInvalidRequest, file + ": " + key + " " + what, {{"field", key}});
  };
  if (config.default_timeout > config.max_timeout) {
    return refuse("limits.default_timeout_ms", "is more than limits.max_timeout_ms");
  }
  if (config.max_ttl_ms > 0 && config.default_ttl_ms > config.max_ttl_ms) {
    return refuse("limits.default_ttl_ms", "is more than limits.max_ttl_ms");
  }
  if (config.max_ttl_ms > 0 && config.default_ttl_ms == 0) {
    return refuse("limits.default_ttl_ms", "must be set when limits.max_ttl_ms is");
  }
  if (!config.templates.contains(config.default_template)) {
    return refuse("default_template", "names no template");
  }
  for (const auto& [slug, preset] : config.templates) {
    const std::int64_t max_ttl_ms = preset.max_ttl_ms.value_or(config.max_ttl_ms);
    const std::int64_t ttl_ms = preset.default_ttl_ms.value_or(config.default_ttl_ms);
    if (max_ttl_ms > 0 && (ttl_ms == 0 || ttl_ms > max_ttl_ms)) {
      return refuse("templates." + slug + ".default_ttl_ms", "must be set and at most max_ttl_ms");
    }
    if (preset.default_timeout && *preset.default_timeout > config.max_timeout) {
      return refuse("templates." + slug + ".default_timeout_ms",
                    "is more than limits.max_timeout_ms");
    }
  }
  for (const auto& [name, binding] : config.bindings) {
    DORMOUSE_TRY(CheckBinding(config, name, binding, refuse));
  }
  if (config.inline_output_bytes > config.inline_run_bytes) {
    return refuse("limits.inline_output_bytes", "is more than limits.inline_run_bytes");
  }
  return {};
}

}  // namespace

Result<Config> LoadConfig(const std::filesystem::path& file, Config defaults) {
  const std::string name = file.string();
  try {
    const toml::table root = toml::parse_file(name);
    TableReader reader(root, "", name);
    DORMOUSE_TRY(ReadRoot(reader, file.parent_path(), defaults));
  } catch (const toml::parse_error& error) {
    const std::string line = std::to_string(error.source().begin.line);
    return Error(ErrorCode::kInvalidRequest,
                 name + ":" + line + ": " + std::string(error.description()), {{"line", line}});
  }
  DORMOUSE_TRY(CheckTogether(defaults, name));
  return defaults;
}

}  // namespace dormouse::service
