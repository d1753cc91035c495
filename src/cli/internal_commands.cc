// SPDX-License-Identifier: Apache-2.0
#include "cli/internal_commands.h"

#include <string_view>

#include "worker/boot_engine.h"
#include "worker/preload_engine.h"
#include "worker/zygote.h"

namespace dormouse::cli {

std::optional<int> RunInternalCommand(int argc, char** argv) {
  const std::string_view first = argc > 1 ? argv[1] : "";
  const std::string_view second = argc > 2 ? argv[2] : "";
  if (first == "zygote") return worker::ZygoteMain(argc, argv);
  if (first == "preload-engine") return worker::PreloadMain(argc, argv);
  if (first == "boot-engine") return worker::BootMain(argc, argv);
  // The words before the arguments are one name for them, as with the other spelling.
  if (first == "engines" && second == "boot") return worker::BootMain(argc - 1, argv + 1);
  return std::nullopt;
}

}  // namespace dormouse::cli
