// SPDX-License-Identifier: Apache-2.0
// What tests of the store and of what lies on it share.
#pragma once

#include <stdlib.h>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/thread_pool.hpp>
#include <exception>
#include <filesystem>
#include <future>
#include <memory>
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

// Where the tests' coroutines run. It outlives all stores: their threads may still be within a post to it when the
// coroutine that they woke has ended.
inline boost::asio::thread_pool& Pool() {
  static boost::asio::thread_pool pool(1);
  return pool;
}

// Runs one coroutine to its end.
template <typename T>
T Await(boost::asio::awaitable<T> work) {
  const auto promise = std::make_shared<std::promise<T>>();
  boost::asio::co_spawn(
      Pool(),
      [](boost::asio::awaitable<T> moved, std::shared_ptr<std::promise<T>> out) -> boost::asio::awaitable<void> {
        out->set_value(co_await std::move(moved));
      }(std::move(work), promise),
      [promise](std::exception_ptr thrown) {
        if (thrown) promise->set_exception(thrown);
      });
  return promise->get_future().get();
}

}  // namespace dormouse::store::testing
