// SPDX-License-Identifier: Apache-2.0
// Making the image of a binding: from an engine directory, packages and code that it has run to another
// engine directory.
#pragma once

namespace dormouse::worker {

// `dormouse preload-engine --base DIR --key KEY --memory-bytes N --output DIR [--code FILE] [--packages DIR]`; argv[1]
// is "preload-engine". The packages are put where the engine looks for them (docs/engine-abi.md §6). The code runs in the main namespace of the interpreter, with an empty
// /workspace and /tmp whose files are not kept. An uncaught error, an exit, and files that stay
// open are failures. What the code prints, its traceback, and what else is wrong go to standard
// error; then it returns 1.
int PreloadMain(int argc, char** argv);

}  // namespace dormouse::worker
