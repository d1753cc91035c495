// SPDX-License-Identifier: Apache-2.0
// The rows of workspace runs: jobs that unpack an archive, run a command and collect files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/sha256.h"
#include "store/rows.h"

namespace dormouse::store {

// A file that the run is to collect.
struct WantedArtifact {
  std::string path;
  std::string name;  // empty: that of the file
};

struct ArtifactFailure {
  std::string path;
  std::string code;
  std::string message;
};

// The archive as it was uploaded. It stays when the bytes themselves are gone.
struct ArchiveInfo {
  Sha256Digest digest;
  std::uint64_t size_bytes = 0;
  std::int64_t uploaded_ms = 0;
};

struct WorkspaceRunRow {
  std::string id;  // wsr_…
  std::string org_id;
  std::string project_id;
  std::string status;  // as clients see it
  std::string command;
  std::string template_id;
  std::string template_slug;
  std::string template_version;
  std::string template_version_id;
  std::string sandbox_id;     // asked for, or made; empty: none yet
  bool owns_sandbox = true;   // made for this run
  bool keep_sandbox = false;
  StringMap metadata;
  std::string source_metadata;  // a JSON object as text; empty: none
  std::vector<WantedArtifact> artifacts;
  std::optional<std::int64_t> timeout_ms;
  std::optional<ArchiveInfo> archive;
  bool archive_stored = false;  // the content `archive->digest` is referred to
  std::int64_t created_ms = 0;
  std::optional<std::int64_t> started_ms;
  std::optional<std::int64_t> finished_ms;
  std::optional<std::int64_t> exit_code;
  std::string failure_reason;
  std::string failure_class;
  std::string cleanup_status;
  std::vector<std::string> artifact_ids;
  std::vector<ArtifactFailure> artifact_errors;
  std::int64_t last_seq = 0;  // of its events
};

struct WorkspaceRunEventRow {
  std::string run_id;
  std::int64_t seq = 0;
  std::string type;  // as clients see it
  std::int64_t created_ms = 0;
  std::string data;   // text, status, message or artifact id
  std::string path;   // artifacts
  std::string code;   // errors
  std::uint64_t size_bytes = 0;  // received bytes of an archive; dropped bytes of output
};

// A staged upload: its bytes come before, or without, the archive of the run.
struct WorkspaceUploadRow {
  std::string id;  // upl_…
  std::string run_id;
  std::string status;  // pending, uploaded, finalized, expired
  Sha256Digest digest;
  std::uint64_t size_bytes = 0;
  std::int64_t created_ms = 0;
  std::int64_t expires_ms = 0;
};

// Up to `limit` runs, newest first.
struct WorkspaceRunQuery {
  std::string project_id;  // empty: all
  std::string status;      // empty: all
  StringMap metadata;      // exact matches
  std::uint32_t limit = 50;
  std::optional<std::pair<std::int64_t, std::string>> after;  // created_ms, id
  std::vector<std::string> project_ids;                       // any of them; empty: all
};

}  // namespace dormouse::store
