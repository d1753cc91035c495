// SPDX-License-Identifier: Apache-2.0
// Booting an engine: from compiled code, initial memory and files to an engine directory (docs/engine-abi.md §6).
#pragma once

namespace dormouse::worker {

// `dormouse boot-engine --module engine.so --memory memory.img --name N --language L --version V --output DIR
// [--extends NAME] [--rootfs DIR] [--warm-up FILE]…`; argv[1] is "boot-engine". A warm-up file is a cell that is run in a clone of the booted
// engine, only to learn which pages small runs write to. Prints what is wrong to standard error and returns 1.
int BootMain(int argc, char** argv);

}  // namespace dormouse::worker
