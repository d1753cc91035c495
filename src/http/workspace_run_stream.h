// SPDX-License-Identifier: Apache-2.0
// WorkspaceRunStream: the events of a workspace run as server-sent events, from a given one to the end of the run.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "http/json_writer.h"
#include "http/message.h"
#include "service/workspace_run_types.h"

namespace dormouse::http {

// One event as a JSON value. `run` is what a terminal event carries.
void WriteEvent(JsonWriter& json, const service::WorkspaceRunEvent& event,
                const service::WorkspaceRun& run);

class WorkspaceRunStream : public BodyStream {
 public:
  // Borrows `runs`, which must outlive it.
  WorkspaceRunStream(service::WorkspaceRunService& runs, std::string run_id, std::int64_t after_seq,
                     std::string request_id)
      : runs_(runs),
        run_id_(std::move(run_id)),
        after_seq_(after_seq),
        request_id_(std::move(request_id)) {}

  boost::asio::awaitable<std::optional<std::string>> Next() override;

 private:
  boost::asio::awaitable<Result<std::string>> NextEvents();
  std::string Wire(const service::WorkspaceRunEvent& event, const service::WorkspaceRun& run) const;

  service::WorkspaceRunService& runs_;
  const std::string run_id_;
  std::int64_t after_seq_;
  const std::string request_id_;
  bool ended_ = false;
};

}  // namespace dormouse::http
