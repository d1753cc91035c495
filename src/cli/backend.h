// SPDX-License-Identifier: Apache-2.0
// Backend: the REST API, wherever it is: at a server, or in this process. Commands are written
// against it alone, so that both behave alike.
//
// Threads: calls may overlap (an interrupt is sent while a run streams).
// Failure: an API error comes back as the Error that the server sent; kUnavailable when it cannot
// be reached.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "cli/progress.h"
#include "common/result.h"

namespace dormouse::cli {

struct ApiRequest {
  std::string method;  // "GET"
  std::string target;  // "/v1/sandboxes?limit=5", encoded
  std::optional<boost::json::object> body;
  // In place of `body`: what can be read from this descriptor, as it is. Borrowed; -1: none.
  int upload = -1;
  // Learns of each piece of the upload, or else of the answer. Borrowed; nullptr: none.
  Progress* progress = nullptr;
  // Told the id of the run that a stream follows, before its first byte. May be empty.
  std::function<void(const std::string& run_id)> on_run = {};
};

class Backend {
 public:
  // Takes bytes of a body in order; returns false to stop.
  using Sink = std::function<bool(std::string_view bytes)>;

  virtual ~Backend() = default;
  // One line for people: which server or directory is used.
  virtual std::string Description() const = 0;
  // The data directory of a service in this process, which ends with the command: memory that could
  // not be saved there is lost then. Empty: a server holds the contexts.
  virtual std::filesystem::path OwnDirectory() const { return {}; }
  // Hands a successful answer's body to `sink`, as it arrives. An error answer is returned, not
  // handed over.
  virtual Result<void> Send(const ApiRequest& request, const Sink& sink) = 0;
};

// The text of a JSON answer, as the server sent it: numbers keep all their digits.
Result<std::string> CallText(Backend& backend, const ApiRequest& request);

// A call whose answer is a JSON object.
Result<boost::json::value> CallJson(Backend& backend, const ApiRequest& request);

// The object that such a text holds.
Result<boost::json::value> ParseAnswer(std::string_view text);

// A call whose answer is a stream of events, each `{"type", "data"}`.
Result<void> CallEvents(Backend& backend, const ApiRequest& request,
                        const std::function<void(const boost::json::object& event)>& on_event);

// The Error that an error response stands for.
Error ErrorOfResponse(int status, std::string_view body);

}  // namespace dormouse::cli
