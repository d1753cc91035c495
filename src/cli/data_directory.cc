// SPDX-License-Identifier: Apache-2.0
#include "cli/data_directory.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <cerrno>
#include <cstdlib>

#include "common/file_descriptor.h"

namespace dormouse::cli {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

constexpr std::size_t kMaxSmallFile = 4096;
constexpr const char* kServerRecord = "server.json";

std::string Environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

fs::path Executable() {
  std::error_code ignored;
  return fs::read_symlink("/proc/self/exe", ignored);
}

Result<std::string> ReadSmallFile(const fs::path& file) {
  const FileDescriptor fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return SystemError("opening " + file.string(), errno);
  std::string bytes(kMaxSmallFile, '\0');
  const ssize_t length = ::read(fd.get(), bytes.data(), bytes.size());
  if (length < 0) return SystemError("reading " + file.string(), errno);
  bytes.resize(static_cast<std::size_t>(length));
  return bytes;
}

// A process that is only a number that was used again would be found here too; its server would
// then not answer.
bool IsAlive(int pid) { return pid > 0 && (::kill(pid, 0) == 0 || errno == EPERM); }

std::optional<ServerRecord> ReadServerRecord(const fs::path& data_directory) {
  const auto text = ReadSmallFile(data_directory / kServerRecord);
  if (!text.ok()) return std::nullopt;
  json::error_code failure;
  const json::value value = json::parse(*text, failure);
  if (failure || !value.is_object()) return std::nullopt;
  const json::value* const url = value.get_object().if_contains("url");
  const json::value* const pid = value.get_object().if_contains("pid");
  if (url == nullptr || !url->is_string() || pid == nullptr || !pid->is_int64())
    return std::nullopt;
  ServerRecord record{std::string(url->get_string()), static_cast<int>(pid->get_int64()), ""};
  const json::value* const engines = value.get_object().if_contains("engines");
  if (engines != nullptr && engines->is_string()) record.engines = engines->get_string();
  return record;
}

}  // namespace

fs::path DataDirectory(const CommonArguments& arguments) {
  if (!arguments.data.empty()) return fs::absolute(arguments.data);
  const std::string data_home = Environment("XDG_DATA_HOME");
  if (!data_home.empty()) return fs::path(data_home) / "dormouse";
  return fs::path(Environment("HOME")) / ".local" / "share" / "dormouse";
}

Result<service::Config> ConfigFor(const CommonArguments& arguments) {
  service::Config config;
  config.data_directory = DataDirectory(arguments);
  if (!arguments.config.empty()) {
    DORMOUSE_ASSIGN(config, service::LoadConfig(arguments.config, std::move(config)));
  }
  if (!arguments.data.empty()) config.data_directory = DataDirectory(arguments);
  // Another build of the same program may run the workers: one without a sanitizer, for a server with one.
  const std::string workers = Environment("DORMOUSE_WORKER_EXECUTABLE");
  config.executable = workers.empty() ? Executable() : fs::path(workers);
  if (!arguments.engines.empty()) config.engines_directory = fs::absolute(arguments.engines);
  if (config.engines_directory.empty()) {
    // A build tree has the engines beside the program, an installation under lib.
    const fs::path programs = Executable().parent_path();
    std::error_code ignored;
    config.engines_directory = config.data_directory / "engines";
    for (const fs::path& place :
         {programs.parent_path() / "lib" / "dormouse" / "engines", programs / "engines"}) {
      if (fs::is_directory(place, ignored)) config.engines_directory = place;
    }
  }
  return config;
}

Result<void> WriteServerRecord(const fs::path& data_directory, const ServerRecord& record) {
  const fs::path file = data_directory / kServerRecord;
  const fs::path aside = data_directory / (std::string(kServerRecord) + ".new");
  const std::string text =
      json::serialize(json::object{
          {"url", record.url}, {"pid", record.pid}, {"engines", record.engines}}) +
      "\n";
  {
    const FileDescriptor fd(::open(aside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    if (!fd.valid()) return SystemError("creating " + aside.string(), errno);
    if (::write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
      return SystemError("writing " + aside.string(), errno);
    }
  }
  if (::rename(aside.c_str(), file.c_str()) != 0) {
    return SystemError("renaming " + aside.string(), errno);
  }
  return {};
}

void RemoveServerRecord(const fs::path& data_directory) {
  const auto record = ReadServerRecord(data_directory);
  if (record && record->pid == ::getpid()) ::unlink((data_directory / kServerRecord).c_str());
}

std::optional<ServerRecord> FindRunningServer(const fs::path& data_directory) {
  auto record = ReadServerRecord(data_directory);
  return record && IsAlive(record->pid) ? record : std::nullopt;
}

fs::path KeyFile(const fs::path& data_directory) { return data_directory / "admin.key"; }

Result<std::string> ReadKeyFile(const fs::path& file) {
  DORMOUSE_ASSIGN(std::string text, ReadSmallFile(file));
  text.resize(std::min(text.find_first_of("\r\n"), text.size()));
  if (text.empty()) {
    return Error(ErrorCode::kInvalidRequest, file.string() + " holds no key");
  }
  return text;
}

}  // namespace dormouse::cli
