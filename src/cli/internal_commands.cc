// SPDX-License-Identifier: Apache-2.0
#include "cli/internal_commands.h"

#include <algorithm>
#include <string_view>

#include "cli/arguments.h"
#include "cli/output.h"
#include "worker/boot_engine.h"
#include "worker/engine_check.h"
#include "worker/preload_engine.h"
#include "worker/zygote.h"

namespace dormouse::cli {

namespace {

constexpr std::string_view kBootHelp =
    "Boot a compiled engine and save its image: a step of `scripts/engines`\n"
    "Usage: dormouse engines boot OPTIONS\n"
    "\n"
    "Options:\n"
    "  --module FILE       The engine as `dormouse-aot` and the compiler made it\n"
    "  --memory FILE       Its initial memory, which `dormouse-aot` made beside it\n"
    "  --rootfs DIR        What the guest finds at / (default: nothing)\n"
    "  --name NAME --language NAME --version TEXT\n"
    "                      What its manifest says\n"
    "  --extends NAME      The engine, named without its version, whose place it takes where both are\n"
    "  --warm-up FILE      Code to run, to learn which pages every run writes; may be repeated\n"
    "  --output DIR        Where the engine's files are put\n";

bool AsksForHelp(int argc, char** argv) {
  return std::any_of(argv + 2, argv + argc, [](const char* word) {
    return std::string_view(word) == "--help" || std::string_view(word) == "-h";
  });
}

int Boot(int argc, char** argv) {
  if (!AsksForHelp(argc, argv)) return worker::BootMain(argc, argv);
  WriteOut(kBootHelp);
  return kExitOk;
}

}  // namespace

std::optional<int> RunInternalCommand(int argc, char** argv) {
  const std::string_view first = argc > 1 ? argv[1] : "";
  const std::string_view second = argc > 2 ? argv[2] : "";
  if (first == "zygote") return worker::ZygoteMain(argc, argv);
  if (first == "preload-engine") return worker::PreloadMain(argc, argv);
  if (first == "try-engine") return worker::TryEngineMain(argc, argv);
  if (first == "boot-engine") return Boot(argc, argv);
  // The words before the arguments are one name for them, as with the other spelling.
  if (first == "engines" && second == "boot") return Boot(argc - 1, argv + 1);
  return std::nullopt;
}

}  // namespace dormouse::cli
