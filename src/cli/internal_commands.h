// SPDX-License-Identifier: Apache-2.0
// The commands that live in the worker library, and take their arguments raw.
#pragma once

#include <optional>

namespace dormouse::cli {

// Runs `dormouse zygote …` (the server starts it; not for people), `dormouse boot-engine …` or, as
// the same thing, `dormouse engines boot …`. Returns the exit code, or nothing when the command
// line asks for something else.
std::optional<int> RunInternalCommand(int argc, char** argv);

}  // namespace dormouse::cli
