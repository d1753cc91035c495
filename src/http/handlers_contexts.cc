// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "http/body_reader.h"
#include "http/handlers.h"
#include "http/json.h"

namespace dormouse::http {
namespace {

constexpr std::int64_t kMaxGeneration = std::numeric_limits<std::int64_t>::max();

// For routes whose body has no fields.
Result<void> ParseNothing(const Call& call) {
  DORMOUSE_TRY(call.query.RefuseOthers({}));
  DORMOUSE_ASSIGN(BodyReader body, BodyReader::Parse(call.request));
  return body.Finish();
}

Result<service::CreateContext> ParseCreateContext(const Call& call) {
  DORMOUSE_TRY(call.query.RefuseOthers({}));
  DORMOUSE_ASSIGN(BodyReader body, BodyReader::Parse(call.request));
  service::CreateContext request;
  request.sandbox_id = call.path[0];
  request.language = body.Name("language");
  request.binding = body.Name("binding");
  request.name = body.Name("name");
  request.cwd = body.String("cwd").value_or("/workspace");
  request.env = body.Strings("env");
  // Creating a context starts nothing, so there is nothing that could time out.
  (void)body.Integer("timeoutMs", 1, call.config.max_timeout.count());
  DORMOUSE_TRY(body.Finish());
  return request;
}

Response RenderNew(const service::Context& context) {
  return ThingResponse(201, "context", context);
}

struct Fork {
  std::string name;
  std::optional<std::uint64_t> generation;
};

Result<Fork> ParseFork(const Call& call) {
  DORMOUSE_TRY(call.query.RefuseOthers({}));
  DORMOUSE_ASSIGN(BodyReader body, BodyReader::Parse(call.request));
  Fork fork;
  fork.name = body.Name("name");
  if (const auto generation = body.Integer("generation", 0, kMaxGeneration)) {
    fork.generation = static_cast<std::uint64_t>(*generation);
  }
  DORMOUSE_TRY(body.Finish());
  return fork;
}

Result<std::uint64_t> ParseRollback(const Call& call) {
  DORMOUSE_TRY(call.query.RefuseOthers({}));
  DORMOUSE_ASSIGN(BodyReader body, BodyReader::Parse(call.request));
  const std::int64_t generation = body.RequiredInteger("generation", 0, kMaxGeneration);
  DORMOUSE_TRY(body.Finish());
  return static_cast<std::uint64_t>(generation);
}

}  // namespace

HandlerResult CreateContext(const Call& call) {
  DORMOUSE_CO_ASSIGN(auto request, ParseCreateContext(call));
  request.answer = AnswererFor<service::Context>(call, RenderNew);
  DORMOUSE_CO_ASSIGN(const auto context, co_await call.service.Create(std::move(request)));
  co_return RenderNew(context);
}

HandlerResult ListContexts(const Call& call) {
  DORMOUSE_CO_TRY(call.query.RefuseOthers({"limit", "cursor"}));
  DORMOUSE_CO_ASSIGN(auto page, call.query.GetPage());
  DORMOUSE_CO_ASSIGN(const auto contexts,
                     co_await call.service.ListContexts(call.path[0], std::move(page)));
  co_return PageResponse(contexts);
}

HandlerResult GetContext(const Call& call) {
  DORMOUSE_CO_TRY(call.query.RefuseOthers({}));
  DORMOUSE_CO_ASSIGN(const auto context,
                     co_await call.service.GetContext(call.path[0], call.path[1]));
  co_return ThingResponse(200, "context", context);
}

HandlerResult DeleteContext(const Call& call) {
  DORMOUSE_CO_TRY(call.query.RefuseOthers({}));
  DORMOUSE_CO_ASSIGN(const auto context,
                     co_await call.service.DeleteContext(call.path[0], call.path[1]));
  co_return ThingResponse(200, "context", context);
}

HandlerResult InterruptContext(const Call& call) {
  DORMOUSE_CO_TRY(ParseNothing(call));
  DORMOUSE_CO_ASSIGN(const auto context,
                     co_await call.service.InterruptContext(call.path[0], call.path[1]));
  co_return ThingResponse(200, "context", context);
}

HandlerResult EvictContext(const Call& call) {
  DORMOUSE_CO_TRY(ParseNothing(call));
  DORMOUSE_CO_ASSIGN(const auto context,
                     co_await call.service.EvictContext(call.path[0], call.path[1]));
  co_return ThingResponse(200, "context", context);
}

HandlerResult ForkContext(const Call& call) {
  DORMOUSE_CO_ASSIGN(auto fork, ParseFork(call));
  DORMOUSE_CO_ASSIGN(const auto context,
                     co_await call.service.ForkContext(call.path[0], call.path[1],
                                                       std::move(fork.name), fork.generation,
                                                       AnswererFor<service::Context>(call, RenderNew)));
  co_return RenderNew(context);
}

HandlerResult RollbackContext(const Call& call) {
  DORMOUSE_CO_ASSIGN(const std::uint64_t generation, ParseRollback(call));
  DORMOUSE_CO_ASSIGN(const auto context,
                     co_await call.service.RollbackContext(call.path[0], call.path[1], generation));
  co_return ThingResponse(200, "context", context);
}

HandlerResult ListSnapshots(const Call& call) {
  DORMOUSE_CO_TRY(call.query.RefuseOthers({}));
  DORMOUSE_CO_ASSIGN(auto generations,
                     co_await call.service.ListGenerations(call.path[0], call.path[1]));
  co_return PageResponse(service::Paged<service::Generation>{std::move(generations), ""});
}

}  // namespace dormouse::http
