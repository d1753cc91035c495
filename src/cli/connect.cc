// SPDX-License-Identifier: Apache-2.0
#include "cli/connect.h"

#include <cstdlib>

#include "cli/data_directory.h"
#include "cli/embedded_backend.h"
#include "cli/http_backend.h"

namespace dormouse::cli {
namespace {

// The key that the user named, or nothing.
Result<std::string> GivenKey(const CommonArguments& arguments) {
  if (!arguments.key_file.empty()) return ReadKeyFile(arguments.key_file);
  const char* const key = std::getenv("DORMOUSE_API_KEY");
  return std::string(key == nullptr ? "" : key);
}

}  // namespace

Result<std::unique_ptr<Backend>> Connect(const CommonArguments& arguments) {
  DORMOUSE_ASSIGN(std::string key, GivenKey(arguments));
  if (!arguments.url.empty()) return MakeHttpBackend(arguments.url, std::move(key));
  DORMOUSE_ASSIGN(service::Config config, ConfigFor(arguments));
  if (const auto server = FindRunningServer(config.data_directory)) {
    if (key.empty()) {
      DORMOUSE_ASSIGN(key, ReadKeyFile(KeyFile(config.data_directory)));
    }
    return MakeHttpBackend(server->url, std::move(key));
  }
  return MakeEmbeddedBackend(std::move(config));
}

}  // namespace dormouse::cli
