// SPDX-License-Identifier: Apache-2.0
// The things of the product, as the service hands them out: plain values, no I/O formats.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/worker.h"
#include "store/rows.h"

namespace dormouse::service {

using Time = std::chrono::system_clock::time_point;
// Of milliseconds since the epoch, as the store keeps them.
inline Time TimeOf(std::int64_t ms) { return Time(std::chrono::milliseconds(ms)); }
using StringMap = std::map<std::string, std::string>;

struct Page {
  std::uint32_t limit = 50;  // 1 to 500
  std::string cursor;        // opaque; empty: from the start
};

template <typename T>
struct Paged {
  std::vector<T> items;     // newest first
  std::string next_cursor;  // empty on the last page
};

enum class SandboxStatus { kReady, kRunning, kIdle, kDestroyed };

struct Sandbox {
  std::string id;          // sbx_…
  std::string org_id;      // org_…
  std::string project_id;  // prj_…
  SandboxStatus status = SandboxStatus::kReady;
  std::string template_id;          // tpl_…
  std::string template_slug;
  std::string template_version;
  std::string template_version_id;  // tplv_…
  std::int64_t ttl_ms = 0;                // 0: no limit
  std::optional<Time> expires_at;
  StringMap metadata;
  Time created_at;
  Time last_used_at;
  std::optional<Time> destroyed_at;
  std::string destroyed_reason;  // user_killed, ttl_expired, idle_expired
};

// An answer kept for whoever repeats its request.
using StoredAnswer = store::AnswerRow;

// Makes the answer to a request from what its operation is about to return. Called just before the commit, perhaps more
// than once; the last answer is committed together with the effects of the operation. Empty: none is wanted.
template <typename T>
using Answerer = std::function<StoredAnswer(const T&)>;

// What a key may do.
struct Grants {
  bool all_scopes = false;
  std::vector<std::string> scopes;
  std::vector<std::string> project_ids;  // empty: all projects
};

// Who calls.
struct Caller {
  std::string key_id;                    // empty: this process itself
  std::shared_ptr<const Grants> grants;  // nothing: everything is allowed

  bool Has(std::string_view scope) const;
  bool IsRestricted() const { return grants && !grants->project_ids.empty(); }
  bool MaySee(std::string_view project_id) const;
};

struct Project {
  std::string id;  // prj_…
  std::string org_id;
  std::string name;
  Time created_at;
};

struct ApiKey {
  std::string id;  // key_…
  std::string org_id;
  std::string name;
  std::string prefix;  // of the key itself, up to its lookup part
  std::string last4;
  std::vector<std::string> project_ids;  // empty: all
  std::vector<std::string> scopes;
  std::string created_by_key_id;  // empty: the server made it
  Time created_at;
  std::optional<Time> revoked_at;
  std::optional<Time> last_used_at;  // to the minute
};

struct CreateApiKey {
  Caller caller;  // nobody gives away more than they have
  std::string name;
  std::vector<std::string> scopes;
  std::vector<std::string> project_ids;
};

struct NewApiKey {
  ApiKey key;
  std::string secret;  // the whole key; not to be had again
};

// What one project used of one thing on one day.
struct UsageEvent {
  std::string project_id;
  std::string metric;
  double amount = 0;
  Time day;
};

// A bound of the server or, by its name, of each key or sandbox.
struct Quota {
  std::string name;
  std::uint64_t limit = 0;
  std::optional<std::uint64_t> current;  // absent where there is no one count, or none for this caller
};

struct Usage {
  std::string org_id;
  Time period_start;  // the current month, in UTC
  Time period_end;
  double compute_unit_seconds = 0;
  std::vector<Quota> quotas;
  std::vector<UsageEvent> events;  // newest day first
};

struct CreateSandbox {
  Caller caller;
  std::string template_slug;        // empty: the default
  std::string template_version_id;  // empty: whatever the slug says
  std::optional<std::int64_t> ttl_ms;
  StringMap metadata;
  std::string project_id;  // empty: the caller's default
  Answerer<Sandbox> answer;
};

struct ListSandboxes {
  Page page;
  StringMap metadata;  // exact matches
  std::string project_id;
  bool historical = false;  // also destroyed ones
  Caller caller;            // sees those of its projects
};

// A binding offers an engine under a name.
struct Binding {
  std::string name;  // "PYTHON"
  std::string language;
  std::string engine;
  std::string version;
  std::string build_id;
  bool contexts = true;
  bool is_default = false;  // of its language
  bool preloaded = false;   // its image has run code of the operator's
  std::uint64_t memory_bytes = 0;  // default limit of linear memory
  std::uint64_t max_memory_bytes = 0;
  std::uint64_t fuel_us = 0;      // 0: none
  std::uint64_t max_fuel_us = 0;  // 0: no ceiling
  std::uint64_t default_timeout_ms = 0;  // 0: that of the sandbox's template
  std::uint64_t max_timeout_ms = 0;
  std::uint64_t code_bytes = 0;
};

// An installed engine build.
struct Engine {
  std::string name;
  std::string language;
  std::string version;
  std::string build_id;
  bool current = false;    // new contexts get it
  bool preloaded = false;  // made here, of another build and a binding's `preload`
  std::vector<std::string> bindings;      // that give it to new contexts
  std::optional<std::uint64_t> contexts;  // whose state needs it; absent for callers who do not see all projects
};

struct SnapshotInfo {
  std::string engine_build;
  std::uint64_t generation = 0;
  std::uint64_t pages = 0;  // live pages over the boot image, of 4 KiB
  std::uint64_t bytes = 0;  // pages × 4096
  std::uint64_t stored_bytes = 0;
  Time taken_at;
  bool stale = false;
  std::string stale_reason;
};

struct Context {
  std::string id;  // cctx_…
  std::string sandbox_id;
  std::string binding;
  std::string language;
  std::string name;  // empty if it has none
  std::string cwd;
  StringMap env;
  bool is_default = false;
  std::uint64_t executions = 0;
  Time created_at;
  Time last_used_at;
  bool resident = false;
  bool running = false;
  std::optional<SnapshotInfo> snapshot;
};

struct CreateContext {
  std::string sandbox_id;
  std::string language;  // one of language and binding
  std::string binding;
  std::string name;                // unique in the sandbox; empty: none
  std::string cwd = "/workspace";  // inside /workspace
  StringMap env;
  Answerer<Context> answer;
};

// One earlier state of a context that it can be rolled back to.
struct Generation {
  std::uint64_t generation = 0;
  std::uint64_t executions = 0;
  std::uint64_t stored_bytes = 0;
  std::uint64_t live_pages = 0;
  Time taken_at;
};

struct RunResult;

enum class ArtifactPolicy { kInlineOnly, kPromote };

struct RunRequest {
  std::string sandbox_id;
  std::string context_id;    // or context_name, or neither: the default context of language or binding
  std::string context_name;
  std::string language;
  std::string binding;
  std::string code;
  std::string cwd;  // empty: where the context is
  StringMap env;
  std::string stdin_bytes;
  std::optional<std::int64_t> timeout_ms;
  std::optional<std::int64_t> fuel_us;
  std::optional<std::int64_t> memory_bytes;
  ArtifactPolicy artifact_policy = ArtifactPolicy::kInlineOnly;
  bool capture_full_output = false;  // with kPromote: stdout and stderr as artifacts, whole
  bool may_create_artifacts = true;  // whether the caller's key allows it
  Answerer<RunResult> answer;
};

// A run without a sandbox: in a fresh clone of the engine and an empty /workspace, of which nothing is kept.
struct StatelessRun {
  Caller caller;
  std::string project_id;  // whose usage it is; empty: the caller's default
  RunRequest run;          // without sandbox, context and artifacts
};

// A file that outlives its sandbox: made of a workspace file, or of what a run showed or wrote.
struct Artifact {
  std::string id;  // art_…
  std::string org_id;
  std::string project_id;
  std::string sandbox_id;
  std::string run_id;  // empty: made of a workspace file
  std::string name;
  std::string content_type;
  bool active_content = false;   // a browser would run what is in it
  bool may_show_inline = false;  // a browser may show it in place
  std::string sha256;           // of the bytes, in hex; empty once deleted
  std::uint64_t size_bytes = 0;
  std::string source_path;  // absolute; empty: made by a run
  Time created_at;
  std::optional<Time> expires_at;
  std::optional<Time> deleted_at;  // then only this record is left
};

struct CreateArtifact {
  std::string sandbox_id;
  std::string path;
  std::string name;  // empty: the file's
  Answerer<Artifact> answer;
};

struct ListArtifacts {
  std::string sandbox_id;
  Page page;
  bool historical = false;  // also deleted ones
};

struct CodeOutput {
  enum class Kind { kInline, kArtifact, kRejected };
  Kind kind = Kind::kInline;
  std::string format;      // text, markdown, json, data, chart, latex, png, jpeg, svg, html, or a MIME type if rejected
  std::string value_json;  // inline: the value as JSON text
  bool truncated = false;  // text: `size_bytes` says how long the whole is, `artifact_id` where it is, if it was kept
  bool is_result = false;  // the last expression, not a display call
  std::string reason;      // rejected: output_too_large, requires_artifact_promotion, unsupported_format, …
  std::string artifact_id;
  std::string content_type;
  std::uint64_t size_bytes = 0;
  bool active_content = false;  // artifact: a browser would run what is in it
  std::string metadata_json;    // an object as JSON text (width, height, …); may be empty
  std::string display_id;       // of an output that may be shown anew; may be empty
  bool update = false;          // stands for the outputs before it that have its display_id
};

struct CodeError {
  std::string name;
  std::string message;
  std::vector<std::string> traceback;
  std::optional<std::int64_t> line_number;
};

// Captured stream: at most the configured limit; when more was written, head and tail with a line between them.
struct CapturedText {
  std::string text;  // valid UTF-8
  bool truncated = false;
  std::uint64_t total_bytes = 0;
};

struct RunResult {
  std::string run_id;  // run_…
  std::string sandbox_id;
  std::string context_id;
  std::string language;
  std::string binding;
  std::uint64_t execution_count = 0;
  CapturedText out;
  CapturedText err;
  std::vector<CodeOutput> outputs;
  std::optional<CodeError> error;
  scheduler::RunStatus status = scheduler::RunStatus::kOk;
  scheduler::StateOutcome state = scheduler::StateOutcome::kKept;
  bool stateless = false;  // there is no sandbox and no context; `state` and what is below `generation` mean nothing
  std::optional<std::int32_t> exit_code;
  scheduler::Usage usage;
  double duration_ms = 0;
  // Of the context after the run.
  std::uint64_t generation = 0;
  double snapshot_ms = 0;
  std::uint64_t snapshot_bytes = 0;
  bool resumed = false;  // the run had to bring the context back from disk
  double resume_ms = 0;
  bool stale = false;
  std::string stale_reason;
  bool state_lost = false;  // memory is gone: its engine is, it was unsaved, or it was deleted meanwhile
  std::vector<std::string> files_written;  // absolute paths
  std::vector<std::string> files_deleted;
  std::string stdout_artifact_id;  // empty: not asked for, nothing written, or not kept
  std::string stderr_artifact_id;
};

// Events of a run, in order, while it goes on. Called one at a time; must not block: implementations queue.
// The volume is bounded: after the stream limit no more text arrives.
class RunListener {
 public:
  virtual ~RunListener() = default;
  virtual void OnStart(const std::string& run_id, const std::string& context_id) = 0;
  virtual void OnStdout(std::string_view text) = 0;  // whole UTF-8 characters only
  virtual void OnStderr(std::string_view text) = 0;
  // In the order of the result. Once one became an artifact, it and those after it come when the run is saved.
  virtual void OnOutput(const CodeOutput& output) = 0;
  virtual void OnError(const CodeError& error) = 0;
};

enum class FileType { kFile, kDirectory, kSymlink };

struct FileInfo {
  std::string path;  // absolute, "/workspace/…"
  std::string name;
  FileType type = FileType::kFile;
  std::uint64_t size_bytes = 0;
  std::uint32_t mode = 0;
  Time modified_at;
  std::string target;  // symlinks
};

struct SandboxInfo {
  Sandbox sandbox;
  std::vector<Context> contexts;
  std::uint64_t workspace_files = 0;
  std::uint64_t workspace_bytes = 0;
};

}  // namespace dormouse::service
