// SPDX-License-Identifier: Apache-2.0
#include "http/router.h"

#include <algorithm>
#include <optional>

#include "http/handlers.h"
#include "http/text.h"

namespace dormouse::http {
namespace {

constexpr std::string_view kNoScope;
constexpr std::size_t kShownMethod = 32;  // characters of a method, in messages

constexpr Route Open(std::string_view pattern, Handler handler) {
  return {"GET", pattern, handler, kNoScope, Access::kAnyone};
}
constexpr Route Plain(std::string_view method, std::string_view pattern, std::string_view scope,
                      Handler handler, BodySize body = BodySize::kSmall) {
  return {method, pattern, handler, scope, Access::kKey, body};
}
constexpr Route Keyed(std::string_view pattern, std::string_view scope, Handler handler,
                      BodySize body = BodySize::kSmall) {
  return {"POST", pattern, handler, scope, Access::kKey, body, Repeat::kKeyed};
}

constexpr Route KeyedPut(std::string_view pattern, std::string_view scope, Handler handler,
                         BodySize body) {
  return {"PUT", pattern, handler, scope, Access::kKey, body, Repeat::kKeyed};
}

constexpr Route AlsoNeeds(std::string_view scope, Route route) {
  route.also_scope = scope;
  return route;
}

// Of two patterns that fit one path the first counts, with all its methods: words come before values.
constexpr Route kRoutes[] = {
    Open("/healthz", Healthz),
    Open("/metrics", Metrics),
    Open("/openapi.json", OpenApi),
    Plain("GET", "/v1/bindings", kNoScope, ListBindings),
    Plain("GET", "/v1/engines", kNoScope, ListEngines),
    Plain("GET", "/v1/capabilities", kNoScope, Capabilities),

    Plain("GET", "/v1/projects", kNoScope, ListProjects),
    Keyed("/v1/projects", "project:create", CreateProject),
    Plain("GET", "/v1/api-keys", "api_key:read", ListApiKeys),
    Plain("POST", "/v1/api-keys", "api_key:create", CreateApiKey),
    Plain("GET", "/v1/api-keys/{apiKeyId}", "api_key:read", GetApiKey),
    Plain("DELETE", "/v1/api-keys/{apiKeyId}", "api_key:revoke", RevokeApiKey),
    Plain("GET", "/v1/usage", "usage:read", GetUsage),

    Keyed("/v1/sandboxes", "sandbox:create", CreateSandbox),
    Plain("GET", "/v1/sandboxes", "sandbox:read", ListSandboxes),
    Plain("GET", "/v1/sandboxes/{sandboxId}", "sandbox:read", GetSandbox),
    Plain("DELETE", "/v1/sandboxes/{sandboxId}", "sandbox:kill", DeleteSandbox),
    Keyed("/v1/sandboxes/{sandboxId}/ttl", "sandbox:extend", SetTtl),
    Keyed("/v1/sandboxes/{sandboxId}/extend", "sandbox:extend", ExtendTtl),
    Plain("GET", "/v1/sandboxes/{sandboxId}/info", "sandbox:read", SandboxInfo),

    Keyed("/v1/sandboxes/{sandboxId}/code/contexts", "code:run", CreateContext),
    Plain("GET", "/v1/sandboxes/{sandboxId}/code/contexts", "code:run", ListContexts),
    Plain("GET", "/v1/sandboxes/{sandboxId}/code/contexts/{contextId}", "code:run", GetContext),
    Plain("DELETE", "/v1/sandboxes/{sandboxId}/code/contexts/{contextId}", "code:run",
          DeleteContext),
    Plain("POST", "/v1/sandboxes/{sandboxId}/code/contexts/{contextId}/interrupt", "code:run",
          InterruptContext),
    Plain("POST", "/v1/sandboxes/{sandboxId}/code/contexts/{contextId}/evict", "code:run",
          EvictContext),
    Keyed("/v1/sandboxes/{sandboxId}/code/contexts/{contextId}/fork", "code:run", ForkContext),
    Keyed("/v1/sandboxes/{sandboxId}/code/contexts/{contextId}/rollback", "code:run",
          RollbackContext),
    Plain("GET", "/v1/sandboxes/{sandboxId}/code/contexts/{contextId}/snapshots", "code:run",
          ListSnapshots),

    Keyed("/v1/sandboxes/{sandboxId}/code/runs", "code:run", RunCode, BodySize::kRun),
    Keyed("/v1/sandboxes/{sandboxId}/code/runs/stream", "code:run", StreamCode, BodySize::kRun),
    Plain("GET", "/v1/sandboxes/{sandboxId}/code/runs/{runId}", "code:run", GetRun),

    Keyed("/v1/runs", "code:run", RunStateless, BodySize::kRun),
    Keyed("/v1/runs/stream", "code:run", StreamStateless, BodySize::kRun),
    Plain("GET", "/v1/runs/{runId}", "code:run", GetStatelessRun),
    Plain("POST", "/v1/runs/{runId}/interrupt", "code:run", InterruptStatelessRun),

    Plain("GET", "/v1/sandboxes/{sandboxId}/files", "file:read", ListFiles),
    Plain("PUT", "/v1/sandboxes/{sandboxId}/files", "file:write", WriteFile, BodySize::kFile),
    Plain("DELETE", "/v1/sandboxes/{sandboxId}/files", "file:write", DeleteFile),
    Plain("PUT", "/v1/sandboxes/{sandboxId}/files/content", "file:write", UploadFile,
          BodySize::kUpload),
    Plain("GET", "/v1/sandboxes/{sandboxId}/files/stat", "file:read", StatFile),
    Plain("GET", "/v1/sandboxes/{sandboxId}/files/read", "file:read", ReadFile),
    Plain("POST", "/v1/sandboxes/{sandboxId}/files/mkdir", "file:write", MakeDirectory),
    Plain("POST", "/v1/sandboxes/{sandboxId}/files/move", "file:write", MoveFile),
    Plain("POST", "/v1/sandboxes/{sandboxId}/files/download-url", "file:read", DownloadUrl),
    Plain("GET", "/v1/sandboxes/{sandboxId}/files/download", "file:read", DownloadFile),

    AlsoNeeds("file:read",
              Keyed("/v1/sandboxes/{sandboxId}/artifacts", "artifact:create", CreateArtifact)),
    Plain("GET", "/v1/sandboxes/{sandboxId}/artifacts", "artifact:read", ListArtifacts),
    Plain("GET", "/v1/artifacts/{artifactId}", "artifact:read", GetArtifact),
    Plain("DELETE", "/v1/artifacts/{artifactId}", "artifact:delete", DeleteArtifact),
    Plain("POST", "/v1/artifacts/{artifactId}/download-url", "artifact:read", ArtifactDownloadUrl),
    Plain("GET", "/v1/artifacts/{artifactId}/download", "artifact:read", DownloadArtifact),

    Plain("POST", "/v1/sandboxes/{sandboxId}/commands", "command:run", NoCommands),
    Plain("POST", "/v1/sandboxes/{sandboxId}/commands/run", "command:run", NoCommands),
    Plain("POST", "/v1/sandboxes/{sandboxId}/commands/start", "command:run", NoCommands),
    Plain("GET", "/v1/commands/{commandId}", "command:read", NoCommands),
    Plain("POST", "/v1/commands/{commandId}/cancel", "command:cancel", NoCommands),
    Plain("GET", "/v1/commands/{commandId}/logs", "command:read", NoCommands),
    Plain("GET", "/v1/commands/{commandId}/stream", "command:read", NoCommands),
    Plain("POST", "/v1/commands/{commandId}/logs/download-url", "command:read", NoCommands),
    Plain("POST", "/v1/sandboxes/{sandboxId}/previews", "preview:create", NoPreviews),
    Plain("GET", "/v1/sandboxes/{sandboxId}/previews", "preview:read", NoPreviews),
    Plain("GET", "/v1/previews/{previewId}", "preview:read", NoPreviews),
    Plain("DELETE", "/v1/previews/{previewId}", "preview:revoke", NoPreviews),

    Keyed("/v1/workspace-runs", "workspace_run:create", CreateWorkspaceRun),
    Plain("GET", "/v1/workspace-runs", "workspace_run:read", ListWorkspaceRuns),
    Plain("GET", "/v1/workspace-runs/{workspaceRunId}", "workspace_run:read", GetWorkspaceRun),
    KeyedPut("/v1/workspace-runs/{workspaceRunId}/archive", "workspace_run:create", UploadArchive,
             BodySize::kArchive),
    Keyed("/v1/workspace-runs/{workspaceRunId}/archive-transfer", "workspace_run:create",
          CreateArchiveTransfer),
    Plain("PUT", "/v1/workspace-runs/{workspaceRunId}/archive-transfer/{uploadId}",
          "workspace_run:create", UploadToTransfer, BodySize::kUpload),
    Keyed("/v1/workspace-runs/{workspaceRunId}/archive/finalize", "workspace_run:create",
          FinalizeArchive),
    Keyed("/v1/workspace-runs/{workspaceRunId}/start", "workspace_run:create", StartWorkspaceRun),
    Plain("POST", "/v1/workspace-runs/{workspaceRunId}/cancel", "workspace_run:cancel",
          CancelWorkspaceRun),
    Plain("GET", "/v1/workspace-runs/{workspaceRunId}/events", "workspace_run:read",
          ListWorkspaceRunEvents),
    Plain("GET", "/v1/workspace-runs/{workspaceRunId}/evidence", "workspace_run:read",
          GetWorkspaceRunEvidence),
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

bool NamesSandbox(const Route& route) {
  return route.pattern.starts_with("/v1/sandboxes/{sandboxId}");
}

bool NamesArtifact(const Route& route) {
  return route.pattern.starts_with("/v1/artifacts/{artifactId}");
}

bool NamesWorkspaceRun(const Route& route) {
  return route.pattern.starts_with("/v1/workspace-runs/{workspaceRunId}");
}

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
  std::string_view pattern;  // the first that fits: a word in the path is not a value that another pattern would take
  if (raw_path.starts_with('/')) {
    for (const Route& route : kRoutes) {
      if (!pattern.empty() && route.pattern != pattern) continue;
      auto values = MatchPattern(route.pattern, raw_path);
      if (!values) continue;
      pattern = route.pattern;
      if (route.method == wanted) return RouteMatch{&route, *std::move(values)};
      allowed += (allowed.empty() ? "" : ", ") + std::string(route.method);
      if (route.method == "GET") allowed += ", HEAD";
    }
  }
  if (allowed.empty()) return Error(ErrorCode::kNotFound, "there is nothing at this path");
  return Error(ErrorCode::kMethodNotAllowed, "this path does not take " + std::string(method.substr(0, kShownMethod)),
               {{"allow", allowed}});
}

}  // namespace dormouse::http
