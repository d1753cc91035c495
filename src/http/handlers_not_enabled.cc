// SPDX-License-Identifier: Apache-2.0
// Routes of the contract for which this server has no engine yet: the answer is clear, and not that they do not exist.
#include "http/handlers.h"

namespace dormouse::http {

HandlerResult NoCommands(const Call&) {
  co_return Error(ErrorCode::kFeatureNotEnabled,
                  "shell commands are not enabled on this server: run code in a code context instead",
                  {{"feature", "commands"}});
}

HandlerResult NoPreviews(const Call&) {
  co_return Error(ErrorCode::kFeatureNotEnabled,
                  "previews of ports are not enabled on this server: sandboxes have no network",
                  {{"feature", "previews"}});
}

}  // namespace dormouse::http
