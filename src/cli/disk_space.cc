// SPDX-License-Identifier: Apache-2.0
#include "cli/disk_space.h"

#include <sys/stat.h>
#include <sys/statvfs.h>

#include "cli/output.h"

namespace dormouse::cli {
namespace {

namespace fs = std::filesystem;

// The uppermost directory of the same file system: where it is mounted.
fs::path MountPoint(fs::path directory) {
  struct stat status{};
  if (::stat(directory.c_str(), &status) != 0) return directory;
  while (directory.has_relative_path()) {
    struct stat above{};
    const fs::path parent = directory.parent_path();
    if (::stat(parent.c_str(), &above) != 0 || above.st_dev != status.st_dev) break;
    directory = parent;
  }
  return directory;
}

}  // namespace

std::string DescribeDisk(const fs::path& data_directory) {
  std::string text = "the data directory is " + data_directory.string();
  std::error_code failure;
  // A directory that could not even be made lies where its parent does.
  fs::path place = fs::absolute(data_directory, failure);
  while (place.has_relative_path() && !fs::exists(place, failure)) place = place.parent_path();
  struct statvfs disk{};
  if (::statvfs(place.c_str(), &disk) != 0) return text;
  const double block = static_cast<double>(disk.f_frsize);
  return text + ", on the file system mounted at " + MountPoint(place).string() + ", which has " +
         HumanBytes(static_cast<double>(disk.f_bavail) * block) + " of " +
         HumanBytes(static_cast<double>(disk.f_blocks) * block) + " left";
}

}  // namespace dormouse::cli
