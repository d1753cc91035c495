// SPDX-License-Identifier: Apache-2.0
#include "http/router.h"

#include <algorithm>
#include <optional>

#include "http/handlers.h"
#include "http/text.h"

namespace dormouse::http {
namespace {

constexpr Route kRoutes[] = {
    {"GET", "/healthz", Healthz, Access::kAnyone},
    {"GET", "/metrics", Metrics, Access::kAnyone},
    {"GET", "/openapi.json", OpenApi, Access::kAnyone},
    {"GET", "/v1/bindings", ListBindings},
    {"GET", "/v1/capabilities", Capabilities},

    {"POST", "/v1/sandboxes", CreateSandbox, Access::kKey, BodySize::kSmall, Repeat::kKeyed},
    {"GET", "/v1/sandboxes", ListSandboxes},
    {"GET", "/v1/sandboxes/{sandboxId}", GetSandbox},
    {"DELETE", "/v1/sandboxes/{sandboxId}", DeleteSandbox},
    {"POST", "/v1/sandboxes/{sandboxId}/ttl", SetTtl, Access::kKey, BodySize::kSmall,
     Repeat::kKeyed},
    {"POST", "/v1/sandboxes/{sandboxId}/extend", ExtendTtl, Access::kKey, BodySize::kSmall,
     Repeat::kKeyed},
    {"GET", "/v1/sandboxes/{sandboxId}/info", SandboxInfo},

    {"POST", "/v1/sandboxes/{sandboxId}/code/contexts", CreateContext, Access::kKey,
     BodySize::kSmall, Repeat::kKeyed},
    {"GET", "/v1/sandboxes/{sandboxId}/code/contexts", ListContexts},
    {"GET", "/v1/sandboxes/{sandboxId}/code/contexts/{contextId}", GetContext},
    {"DELETE", "/v1/sandboxes/{sandboxId}/code/contexts/{contextId}", DeleteContext},
    {"POST", "/v1/sandboxes/{sandboxId}/code/contexts/{contextId}/interrupt", InterruptContext},
    {"POST", "/v1/sandboxes/{sandboxId}/code/contexts/{contextId}/evict", EvictContext},
    {"POST", "/v1/sandboxes/{sandboxId}/code/contexts/{contextId}/fork", ForkContext, Access::kKey,
     BodySize::kSmall, Repeat::kKeyed},
    {"POST", "/v1/sandboxes/{sandboxId}/code/contexts/{contextId}/rollback", RollbackContext,
     Access::kKey, BodySize::kSmall, Repeat::kKeyed},
    {"GET", "/v1/sandboxes/{sandboxId}/code/contexts/{contextId}/snapshots", ListSnapshots},

    {"POST", "/v1/sandboxes/{sandboxId}/code/runs", RunCode, Access::kKey, BodySize::kRun,
     Repeat::kKeyed},
    {"POST", "/v1/sandboxes/{sandboxId}/code/runs/stream", StreamCode, Access::kKey, BodySize::kRun,
     Repeat::kKeyed},
    {"GET", "/v1/sandboxes/{sandboxId}/code/runs/{runId}", GetRun},

    {"GET", "/v1/sandboxes/{sandboxId}/files", ListFiles},
    {"PUT", "/v1/sandboxes/{sandboxId}/files", WriteFile, Access::kKey, BodySize::kFile},
    {"DELETE", "/v1/sandboxes/{sandboxId}/files", DeleteFile},
    {"PUT", "/v1/sandboxes/{sandboxId}/files/content", UploadFile, Access::kKey, BodySize::kUpload},
    {"GET", "/v1/sandboxes/{sandboxId}/files/stat", StatFile},
    {"GET", "/v1/sandboxes/{sandboxId}/files/read", ReadFile},
    {"POST", "/v1/sandboxes/{sandboxId}/files/mkdir", MakeDirectory},
    {"POST", "/v1/sandboxes/{sandboxId}/files/move", MoveFile},
    {"POST", "/v1/sandboxes/{sandboxId}/files/download-url", DownloadUrl},
    {"GET", "/v1/sandboxes/{sandboxId}/files/download", DownloadFile},

    {"POST", "/v1/sandboxes/{sandboxId}/artifacts", CreateArtifact, Access::kKey, BodySize::kSmall,
     Repeat::kKeyed},
    {"GET", "/v1/sandboxes/{sandboxId}/artifacts", ListArtifacts},
    {"GET", "/v1/artifacts/{artifactId}", GetArtifact},
    {"DELETE", "/v1/artifacts/{artifactId}", DeleteArtifact},
    {"POST", "/v1/artifacts/{artifactId}/download-url", ArtifactDownloadUrl},
    {"GET", "/v1/artifacts/{artifactId}/download", DownloadArtifact},

    {"POST", "/v1/workspace-runs", CreateWorkspaceRun, Access::kKey, BodySize::kSmall,
     Repeat::kKeyed},
    {"GET", "/v1/workspace-runs", ListWorkspaceRuns},
    {"GET", "/v1/workspace-runs/{workspaceRunId}", GetWorkspaceRun},
    {"PUT", "/v1/workspace-runs/{workspaceRunId}/archive", UploadArchive, Access::kKey,
     BodySize::kArchive, Repeat::kKeyed},
    {"POST", "/v1/workspace-runs/{workspaceRunId}/archive-transfer", CreateArchiveTransfer,
     Access::kKey, BodySize::kSmall, Repeat::kKeyed},
    {"PUT", "/v1/workspace-runs/{workspaceRunId}/archive-transfer/{uploadId}", UploadToTransfer,
     Access::kKey, BodySize::kUpload},
    {"POST", "/v1/workspace-runs/{workspaceRunId}/archive/finalize", FinalizeArchive, Access::kKey,
     BodySize::kSmall, Repeat::kKeyed},
    {"POST", "/v1/workspace-runs/{workspaceRunId}/start", StartWorkspaceRun, Access::kKey,
     BodySize::kSmall, Repeat::kKeyed},
    {"POST", "/v1/workspace-runs/{workspaceRunId}/cancel", CancelWorkspaceRun},
    {"GET", "/v1/workspace-runs/{workspaceRunId}/events", ListWorkspaceRunEvents},
    {"GET", "/v1/workspace-runs/{workspaceRunId}/evidence", GetWorkspaceRunEvidence},
};

// Splits off the first segment, without its leading slash.
std::string_view NextSegment(std::string_view& path) {
  path.remove_prefix(1);
  const std::size_t end = std::min(path.find('/'), path.size());
  const std::string_view segment = path.substr(0, end);
  path.remove_prefix(end);
  return segment;
}

std::optional<std::vector<std::string>> MatchPattern(std::string_view pattern,
                                                     std::string_view path) {
  std::vector<std::string> values;
  while (!pattern.empty() && !path.empty()) {
    const std::string_view expected = NextSegment(pattern);
    const std::string_view raw = NextSegment(path);
    if (!expected.starts_with('{')) {
      if (raw != expected) return std::nullopt;
      continue;
    }
    std::optional<std::string> value = PercentDecode(raw, PlusSign::kLiteral);
    if (!value || value->empty()) return std::nullopt;
    values.push_back(*std::move(value));
  }
  if (!pattern.empty() || !path.empty()) return std::nullopt;
  return values;
}

}  // namespace

std::span<const Route> Routes() { return kRoutes; }

std::uint64_t BodyLimit(BodySize size, const service::Config& config) {
  constexpr std::uint64_t kFields = 64u << 10;
  switch (size) {
    case BodySize::kSmall:
      return kFields;
    case BodySize::kRun:
      return config.request_bytes;
    case BodySize::kFile:
      // In JSON a byte may take six characters (\u0000).
      return config.direct_file_bytes * 6 + kFields;
    case BodySize::kArchive:
      return config.direct_archive_bytes;
    case BodySize::kUpload:
      return config.workspace_bytes;
  }
  return kFields;
}

Result<RouteMatch> FindRoute(std::string_view method, std::string_view raw_path) {
  const std::string_view wanted = method == "HEAD" ? "GET" : method;
  std::string allowed;
  if (raw_path.starts_with('/')) {
    for (const Route& route : kRoutes) {
      auto values = MatchPattern(route.pattern, raw_path);
      if (!values) continue;
      if (route.method == wanted) return RouteMatch{&route, *std::move(values)};
      allowed += (allowed.empty() ? "" : ", ") + std::string(route.method);
      if (route.method == "GET") allowed += ", HEAD";
    }
  }
  if (allowed.empty()) return Error(ErrorCode::kNotFound, "there is nothing at this path");
  return Error(ErrorCode::kMethodNotAllowed, "this path does not take " + std::string(method),
               {{"allow", allowed}});
}

}  // namespace dormouse::http
