// SPDX-License-Identifier: Apache-2.0
// Package libraries: what `dormouse packages` has installed for a language, a directory tree below
// the data directory:
//
//   packages/LANGUAGE/ID       a library; ID is a hash of its paths and contents
//   packages/LANGUAGE/current  a link to the one that images of bindings are made with
//
// A library never changes: a change makes another one. Images hold a copy of theirs.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace dormouse::service {

struct PackageLibrary {
  std::string id;
  std::filesystem::path directory;
};

// The language in whose library a language's packages are: JavaScript's for TypeScript. Empty for a
// language that has none.
std::string_view LibraryLanguage(std::string_view language);

// packages/LANGUAGE, for the languages that LibraryLanguage names.
std::filesystem::path LibraryRoot(const std::filesystem::path& data_directory,
                                  std::string_view library_language);

// What is installed for a language; nothing when that is none. Reads the file system.
std::optional<PackageLibrary> InstalledLibrary(const std::filesystem::path& data_directory,
                                               std::string_view language);

}  // namespace dormouse::service
