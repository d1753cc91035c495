// SPDX-License-Identifier: Apache-2.0
// Config: everything an operator can set, with its default. Read from TOML by LoadConfig; see docs/operations.md.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/result.h"

namespace dormouse::service {

enum class Durability {
  kProcess,  // acknowledged runs survive the death of any process; synced within a second
  kPower,    // synced before the acknowledgement
};

struct BindingConfig {
  std::string engine;                        // an engine's name, "python-3.13"
  bool contexts = true;                      // false: stateless runs only
  std::uint64_t memory_bytes = 512ull << 20; // default of a run's linear memory
  std::uint64_t max_memory_bytes = 0;        // what a run may ask for; 0: memory_bytes
  std::uint64_t fuel_us = 0;                 // default CPU budget of a run; 0: none
  std::uint64_t max_fuel_us = 0;             // what a run may ask for, and gets without asking; 0: no ceiling
  std::chrono::milliseconds default_timeout{0};  // 0: that of the sandbox's template
  std::chrono::milliseconds max_timeout{0};      // 0: the general one
  std::uint64_t code_bytes = 0;                  // 0: the general limit
  bool is_default = true;                        // for its language
  std::string preload;    // code that the image of its contexts has run; empty: none
  bool packages = true;   // the installed packages of its language are in that image
};

// A named preset of sandboxes. What is absent is as in the general limits.
struct TemplateConfig {
  std::string version = "1";
  std::optional<std::int64_t> default_ttl_ms;
  std::optional<std::int64_t> max_ttl_ms;
  std::int64_t idle_expiry_ms = 0;  // destroyed when unused for so long; 0: never
  std::optional<std::uint32_t> contexts_per_sandbox;
  std::optional<std::chrono::milliseconds> default_timeout;
  std::string default_language;            // of runs and contexts that name none; empty: they must
  std::map<std::string, std::string> env;  // of every context
};

// What the server grants to connections; see docs/api.md, section 1.
struct ConnectionLimits {
  std::uint32_t max_connections = 1'024;  // more are answered 503 and closed
  std::uint32_t header_bytes = 32u << 10;
  std::chrono::milliseconds idle_timeout{75'000};    // between requests
  std::chrono::milliseconds header_timeout{15'000};  // from a request's first byte to the end of its head
  std::chrono::milliseconds body_timeout{20'000};    // between two pieces of a body
  std::chrono::milliseconds body_deadline{300'000};  // for a whole body
  std::chrono::milliseconds upload_deadline{3'600'000};  // for a whole body that is a file
  std::chrono::milliseconds write_timeout{30'000};  // for the client to take one piece of a response
};

struct Config {
  std::filesystem::path data_directory;
  std::filesystem::path engines_directory;
  std::filesystem::path executable;  // the dormouse binary
  std::string listen = "127.0.0.1:8787";
  ConnectionLimits connections;
  Durability durability = Durability::kProcess;
  // Empty: one for each language of the installed engines, under its name in capitals, and one for
  // each further engine of the language.
  std::map<std::string, BindingConfig> bindings;

  std::uint32_t active_sandboxes = 0;  // that are not destroyed; 0: no limit
  std::uint32_t contexts_per_sandbox = 8;
  std::uint64_t resident_memory_bytes = 4ull << 30;  // all workers together; over it the least recently used goes
  std::chrono::milliseconds idle_eviction{300'000};  // a context unused for so long becomes dormant
  int spare_workers = 1;
  std::chrono::milliseconds stop_grace{300};
  std::chrono::milliseconds shutdown_grace{5'000};

  std::chrono::milliseconds default_timeout{60'000};
  std::chrono::milliseconds max_timeout{600'000};
  std::uint64_t code_bytes = 2ull << 20;
  std::uint64_t stdin_bytes = 8ull << 20;
  std::uint64_t request_bytes = 16ull << 20;
  std::uint64_t stream_bytes = 1ull << 20;        // stdout and stderr each
  std::uint64_t inline_output_bytes = 64ull << 10; // one output
  std::uint64_t inline_run_bytes = 256ull << 10;   // all outputs of a run
  std::uint32_t outputs_per_run = 100;
  std::uint32_t stateless_runs = 64;  // at once

  std::uint64_t direct_file_bytes = 256ull << 10;  // files read and written through JSON
  std::uint64_t workspace_bytes = 4ull << 30;      // per sandbox
  std::uint32_t workspace_files = 100'000;
  std::uint64_t tmp_bytes = 256ull << 20;          // per context
  std::uint32_t generations_kept = 16;             // per context, for rollback
  std::uint32_t workspace_runs_at_once = 16;            // others wait
  std::uint64_t workspace_run_output_bytes = 1ull << 20;  // kept of one run, both streams together
  std::uint64_t direct_archive_bytes = 8ull << 20;      // an archive in one request
  std::uint64_t staged_archive_bytes = 1ull << 30;      // an archive by a transfer
  std::chrono::milliseconds upload_kept{3'600'000};     // until a transfer expires
  std::chrono::milliseconds workspace_run_kept{30ll * 24 * 3'600'000};  // after its end
  std::int64_t default_ttl_ms = 0;                 // 0: sandboxes do not expire
  std::int64_t max_ttl_ms = 0;                     // 0: no ceiling

  std::chrono::milliseconds artifact_retention{30ll * 24 * 3600 * 1000};  // 0: until they are deleted
  std::uint64_t artifact_bytes = 256ull << 20;          // one artifact
  std::uint64_t artifact_sandbox_bytes = 1ull << 30;    // all artifacts of a sandbox
  std::uint64_t promoted_output_bytes = 12ull << 20;    // one output that becomes an artifact
  std::uint64_t promoted_run_bytes = 64ull << 20;       // all such outputs of a run
  std::uint64_t captured_stream_bytes = 64ull << 20;    // the full stdout or stderr of a run
  std::uint32_t requests_per_minute = 6'000;       // of one API key; 0: no limit
  std::uint64_t idempotency_bytes = 256ull << 20;  // answers kept for requests that are repeated

  std::string default_template = "base";
  std::map<std::string, TemplateConfig> templates = {
      {"base", {}},
      {"python", {.default_language = "python"}},
      {"node", {.default_language = "javascript"}},
      {"python-node", {.default_language = "python"}},
  };
};

// Reads `file` over the defaults. Unknown keys, wrong types and values out of range are errors that name key and line.
Result<Config> LoadConfig(const std::filesystem::path& file, Config defaults);

}  // namespace dormouse::service
