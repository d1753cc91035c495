// SPDX-License-Identifier: Apache-2.0
// One handler for each row of the route table. Each validates its input, calls one service function
// and writes JSON.
#pragma once

#include "http/router.h"

namespace dormouse::http {

using HandlerResult = boost::asio::awaitable<Result<Response>>;

// handlers_server.cc
HandlerResult Healthz(const Call& call);
HandlerResult Metrics(const Call& call);
HandlerResult OpenApi(const Call& call);
HandlerResult ListBindings(const Call& call);
HandlerResult ListEngines(const Call& call);
HandlerResult Capabilities(const Call& call);

// handlers_not_enabled.cc: kFeatureNotEnabled
HandlerResult NoCommands(const Call& call);
HandlerResult NoPreviews(const Call& call);

// handlers_accounts.cc
HandlerResult ListProjects(const Call& call);
HandlerResult CreateProject(const Call& call);
HandlerResult ListApiKeys(const Call& call);
HandlerResult CreateApiKey(const Call& call);
HandlerResult GetApiKey(const Call& call);
HandlerResult RevokeApiKey(const Call& call);
HandlerResult GetUsage(const Call& call);

// handlers_sandboxes.cc
HandlerResult CreateSandbox(const Call& call);
HandlerResult ListSandboxes(const Call& call);
HandlerResult GetSandbox(const Call& call);
HandlerResult DeleteSandbox(const Call& call);
HandlerResult SetTtl(const Call& call);
HandlerResult ExtendTtl(const Call& call);
HandlerResult SandboxInfo(const Call& call);

// handlers_contexts.cc
HandlerResult CreateContext(const Call& call);
HandlerResult ListContexts(const Call& call);
HandlerResult GetContext(const Call& call);
HandlerResult DeleteContext(const Call& call);
HandlerResult InterruptContext(const Call& call);
HandlerResult EvictContext(const Call& call);
HandlerResult ForkContext(const Call& call);
HandlerResult RollbackContext(const Call& call);
HandlerResult ListSnapshots(const Call& call);

// handlers_runs.cc
HandlerResult RunCode(const Call& call);
HandlerResult StreamCode(const Call& call);
HandlerResult GetRun(const Call& call);
HandlerResult RunStateless(const Call& call);
HandlerResult StreamStateless(const Call& call);
HandlerResult GetStatelessRun(const Call& call);
HandlerResult InterruptStatelessRun(const Call& call);

// handlers_files.cc
HandlerResult ListFiles(const Call& call);
HandlerResult WriteFile(const Call& call);
HandlerResult DeleteFile(const Call& call);
HandlerResult StatFile(const Call& call);
HandlerResult ReadFile(const Call& call);
HandlerResult MakeDirectory(const Call& call);
HandlerResult MoveFile(const Call& call);
HandlerResult DownloadUrl(const Call& call);

HandlerResult UploadFile(const Call& call);

// handlers_artifacts.cc
HandlerResult CreateArtifact(const Call& call);
HandlerResult ListArtifacts(const Call& call);
HandlerResult GetArtifact(const Call& call);
HandlerResult DeleteArtifact(const Call& call);
HandlerResult ArtifactDownloadUrl(const Call& call);

// handlers_workspace_runs.cc
HandlerResult CreateWorkspaceRun(const Call& call);
HandlerResult ListWorkspaceRuns(const Call& call);
HandlerResult GetWorkspaceRun(const Call& call);
HandlerResult UploadArchive(const Call& call);
HandlerResult CreateArchiveTransfer(const Call& call);
HandlerResult UploadToTransfer(const Call& call);
HandlerResult FinalizeArchive(const Call& call);
HandlerResult StartWorkspaceRun(const Call& call);
HandlerResult CancelWorkspaceRun(const Call& call);
HandlerResult ListWorkspaceRunEvents(const Call& call);
HandlerResult GetWorkspaceRunEvidence(const Call& call);

// download.cc
HandlerResult DownloadFile(const Call& call);
HandlerResult DownloadArtifact(const Call& call);

}  // namespace dormouse::http
