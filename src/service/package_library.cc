// SPDX-License-Identifier: Apache-2.0
#include "service/package_library.h"

namespace dormouse::service {

namespace fs = std::filesystem;

std::string_view LibraryLanguage(std::string_view language) {
  if (language == "python") return "python";
  if (language == "javascript" || language == "typescript") return "javascript";
  return "";
}

fs::path LibraryRoot(const fs::path& data_directory, std::string_view library_language) {
  return data_directory / "packages" / library_language;
}

std::optional<PackageLibrary> InstalledLibrary(const fs::path& data_directory,
                                               std::string_view language) {
  const std::string_view library_language = LibraryLanguage(language);
  if (library_language.empty()) return std::nullopt;
  const fs::path root = LibraryRoot(data_directory, library_language);
  std::error_code none;
  const fs::path id = fs::read_symlink(root / "current", none);
  if (id.empty() || !fs::is_directory(root / id, none)) return std::nullopt;
  return PackageLibrary{id.string(), root / id};
}

}  // namespace dormouse::service
