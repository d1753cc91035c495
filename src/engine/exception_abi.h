// SPDX-License-Identifier: Apache-2.0
// An addition to engine_abi.h for engines whose modules throw exceptions. In a file of its own, so
// that the code of all others stays as it is.
#pragma once

#include "engine_abi.h"

// The guest threw and nothing caught it.
#define DORMOUSE_TRAP_EXCEPTION ((enum DormouseTrap)11)
