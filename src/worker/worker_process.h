// SPDX-License-Identifier: Apache-2.0
// WorkerProcess: the life of one worker, from the fork to its end.
#pragma once

#include "common/file_descriptor.h"
#include "wasi/limits.h"
#include "worker/loaded_engine.h"

namespace dormouse::worker {

// Called in a fresh child of the zygote. Confines the process, makes the instance ready, waits for Start on `channel`, and
// runs cells until the server closes the channel.
[[noreturn]] void RunWorker(LoadedEngine& engine, const wasi::Limits& limits, FileDescriptor channel);

}  // namespace dormouse::worker
