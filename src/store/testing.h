// SPDX-License-Identifier: Apache-2.0
// What tests of the store and of what lies on it share.
#pragma once

#include <stdlib.h>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <deque>
#include <exception>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace dormouse::store::testing {

// A fresh folder, removed at the end.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "dormouse-test-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// Kept to the end of the process: a store's thread may still be within a post to it when the coroutine that it woke has
// ended.
inline boost::asio::io_context& NewIoContext() {
  static std::mutex mutex;
  static std::deque<boost::asio::io_context> all;
  const std::lock_guard lock(mutex);
  return all.emplace_back();
}

// Runs one coroutine to its end on an executor of its own.
template <typename T>
T Await(boost::asio::awaitable<T> work) {
  boost::asio::io_context& io = NewIoContext();
  std::optional<T> value;
  std::exception_ptr failure;
  boost::asio::co_spawn(
      io,
      [](boost::asio::awaitable<T> moved, std::optional<T>& out) -> boost::asio::awaitable<void> {
        out.emplace(co_await std::move(moved));
      }(std::move(work), value),
      [&](std::exception_ptr thrown) { failure = thrown; });
  io.run();
  if (failure) std::rethrow_exception(failure);
  return std::move(*value);
}

}  // namespace dormouse::store::testing
