// SPDX-License-Identifier: Apache-2.0
// Making an engine image that has run code: from an engine directory and a source text to another
// engine directory.
#pragma once

namespace dormouse::worker {

// `dormouse preload-engine --base DIR --code FILE --key KEY --memory-bytes N --output DIR`; argv[1]
// is "preload-engine". The code runs in the main namespace of the interpreter, with an empty
// /workspace and /tmp whose files are not kept. An uncaught error, an exit, and files that stay
// open are failures. What the code prints, its traceback, and what else is wrong go to standard
// error; then it returns 1.
int PreloadMain(int argc, char** argv);

}  // namespace dormouse::worker
