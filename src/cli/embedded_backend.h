// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "cli/backend.h"
#include "service/config.h"

namespace dormouse::cli {

// Opens the data directory in this process. Requires: no threads yet (the zygote is forked inside).
// Destroying the backend stops the service in good order.
Result<std::unique_ptr<Backend>> MakeEmbeddedBackend(service::Config config);

}  // namespace dormouse::cli
