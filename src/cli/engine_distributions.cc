// SPDX-License-Identifier: Apache-2.0
#include "cli/engine_distributions.h"

#include <algorithm>
#include <cctype>

#include "worker/loaded_engine.h"

namespace dormouse::cli {
namespace {

namespace fs = std::filesystem;

// A local version: `numpy==2.2.6` takes it, before 2.2.6 itself.
constexpr const char* kLocalVersion = "+dormouse";

// Arguments: the directory, and NAME VERSION of each.
constexpr const char* kWriteStandIns = R"(
import os, sys, zipfile
directory, items = sys.argv[1], sys.argv[2:]
wheels = os.path.join(directory, "wheels")
os.makedirs(wheels)
with open(os.path.join(directory, "constraints"), "w") as constraints:
    for name, version in zip(items[::2], items[1::2]):
        constraints.write(f"{name}=={version}\n")
        info = f"{name}-{version}.dist-info"
        with zipfile.ZipFile(os.path.join(wheels, f"{name}-{version}-py3-none-any.whl"), "w") as wheel:
            wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
            wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            wheel.writestr(f"{info}/RECORD", "".join(f"{info}/{file},,\n" for file in ("METADATA", "WHEEL", "RECORD")))
)";

}  // namespace

std::string NormalName(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) {
    return c == '-' || c == '.' ? '_' : static_cast<char>(std::tolower(c));
  });
  return name;
}

Distribution DistributionOfDirectory(const fs::path& name) {
  const std::string stem = name.stem().string();
  const std::size_t dash = stem.find('-');
  if (name.extension() != ".dist-info" || dash == std::string::npos) return {};
  return {stem.substr(0, dash), stem.substr(dash + 1)};
}

Result<std::vector<Distribution>> DistributionsOfEngine(const fs::path& directory) {
  std::vector<Distribution> found;
  std::error_code none;
  if (!fs::exists(directory / "rootfs.img", none)) return found;
  DORMOUSE_ASSIGN(const wasi::RootfsImage image, worker::OpenRootfs(directory / "rootfs.img"));
  for (std::uint32_t i = 0; i < image.node_count(); ++i) {
    const wasi::RootfsImage::Node node = image.At(i);
    if (node.type != wasi::FileType::kDirectory || node.name != "site-packages") continue;
    for (std::uint32_t child = 0; child < node.child_count; ++child) {
      Distribution distribution = DistributionOfDirectory(image.At(node.first_child + child).name);
      if (!distribution.name.empty()) found.push_back(std::move(distribution));
    }
  }
  return found;
}

std::vector<std::string> CommandForStandIns(const fs::path& directory,
                                            const std::vector<Distribution>& distributions) {
  std::vector<std::string> command = {"python3", "-c", kWriteStandIns, directory.string()};
  for (const Distribution& distribution : distributions) {
    command.push_back(distribution.name);
    command.push_back(distribution.version + kLocalVersion);
  }
  return command;
}

StandIns StandInsIn(const fs::path& directory) {
  return {directory / "wheels", directory / "constraints"};
}

bool IsStandIn(const std::string& version) { return version.ends_with(kLocalVersion); }

}  // namespace dormouse::cli
