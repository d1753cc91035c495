// SPDX-License-Identifier: Apache-2.0
// The rows of the store: plain values. Times are Unix milliseconds unless a name says otherwise.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/sha256.h"
#include "scheduler/worker.h"

namespace dormouse::store {

using StringMap = std::map<std::string, std::string>;
using scheduler::TreeEntry;

struct ApiKeyRow {
  std::string id;      // key_…
  std::string name;
  std::string lookup;  // the part of the key that finds the row
  Sha256Digest secret_sha256;
  std::string last4;
  std::int64_t created_ms = 0;
  std::optional<std::int64_t> revoked_ms;
  bool all_scopes = false;               // also those that later versions add; `scopes` is empty then
  std::vector<std::string> scopes;       // without spaces
  std::vector<std::string> project_ids;  // empty: all projects
  std::string created_by;                // the key that made it; empty: the server
  std::optional<std::int64_t> last_used_ms;
};

// Whom everything belongs to. Made with the store.
struct OrganizationRow {
  std::string id;                  // org_…
  std::string default_project_id;  // prj_…
};

struct ProjectRow {
  std::string id;  // prj_…
  std::string org_id;
  std::string name;
  std::int64_t created_ms = 0;
};

// What was used of one thing in one project on one day: an amount to add, or the sum so far.
struct UsageRow {
  std::int64_t day = 0;  // days since 1970-01-01, in UTC
  std::string project_id;
  std::string metric;
  std::int64_t amount = 0;
};

// An answer that is given again to whoever repeats its request.
struct AnswerRow {
  Sha256Digest scope;        // of everything that tells one request's key from another
  Sha256Digest fingerprint;  // of what was asked
  int status = 200;
  std::string content_type;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  bool body_kept = true;  // false: it was too large, `body` is empty
  std::int64_t completed_ms = 0;
};

// What is known of a stored answer without reading it.
struct AnswerInfo {
  Sha256Digest scope;
  std::uint64_t bytes = 0;  // of headers and body
  std::int64_t completed_ms = 0;
};

struct SandboxRow {
  std::string id;
  std::string org_id;
  std::string project_id;
  std::string template_slug;
  std::int64_t ttl_ms = 0;
  std::optional<std::int64_t> expires_ms;
  StringMap metadata;
  std::int64_t created_ms = 0;
  std::int64_t last_used_ms = 0;
  std::optional<std::int64_t> destroyed_ms;
  std::string destroyed_reason;
};

struct ContextRow {
  std::string id;
  std::string sandbox_id;
  std::string binding;
  std::string language;
  std::string name;
  std::string cwd;
  StringMap env;
  bool is_default = false;
  std::uint64_t executions = 0;
  std::uint64_t generation = 0;  // the newest; 0: none
  bool reseed = false;           // the next start must take fresh randomness
  std::string stale_reason;      // not empty: the newest generation is older than what ran
  std::int64_t created_ms = 0;
  std::int64_t last_used_ms = 0;
};

// A reference to a stored segment, as a generation lists it.
struct SegmentRef {
  std::int64_t id = 0;
  std::uint64_t size_bytes = 0;
};

// A new segment: its bytes, or the name of a placed file.
struct SegmentRow {
  std::int64_t id = 0;  // from Store::NextSegmentId
  std::uint64_t size_bytes = 0;
  std::uint64_t checksum = 0;
  std::string bytes;
  std::string file;
};

struct GenerationRow {
  std::uint64_t number = 0;
  std::uint64_t executions = 0;
  std::string engine_build;
  std::vector<SegmentRef> segments;  // oldest first; the first is a base
  std::uint64_t live_pages = 0;
  std::uint64_t stored_bytes = 0;  // of all its segments
  std::int64_t taken_ms = 0;
};

// How many contexts have a generation of an engine build.
struct EngineUse {
  std::string engine_build;
  std::uint64_t contexts = 0;
};

// A new content: its bytes, or the name of a placed file.
struct ContentRow {
  Sha256Digest digest;
  std::uint64_t size_bytes = 0;
  std::string bytes;
  std::string file;
};

// An artifact: a content that outlives its sandbox. Deleted ones stay as tombstones, without content.
struct ArtifactRow {
  std::string id;  // art_…
  std::string org_id;
  std::string project_id;
  std::string sandbox_id;
  std::string run_id;  // empty: made from a workspace file
  std::string name;
  std::string content_type;
  bool active_content = false;  // a browser would run what is in it
  std::optional<Sha256Digest> digest;  // nothing once deleted
  std::uint64_t size_bytes = 0;
  std::string source_path;  // absolute; empty: made by a run
  std::int64_t created_ms = 0;
  std::optional<std::int64_t> expires_ms;
  std::optional<std::int64_t> deleted_ms;
};

// What an artifact counts against its sandbox's quota: the smallest ones cost a row, too.
inline constexpr std::uint64_t kSmallestArtifactCharge = 4096;
constexpr std::uint64_t ChargeOf(std::uint64_t artifact_bytes) {
  return artifact_bytes < kSmallestArtifactCharge ? kSmallestArtifactCharge : artifact_bytes;
}

struct TreeChange {
  std::string sandbox_id;
  std::vector<std::string> deletions;  // applied first; unknown paths are ignored
  std::vector<TreeEntry> upserts;
};

}  // namespace dormouse::store
