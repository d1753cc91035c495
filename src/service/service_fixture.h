// SPDX-License-Identifier: Apache-2.0
// A service over fake workers, on threads of its own, that tests may close and open again.
#pragma once

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "service/fake_worker.h"
#include "service/service.h"
#include "store/testing.h"

namespace dormouse::service::testing {

class Recorder final : public RunListener {
 public:
  void OnStart(const std::string& run_id, const std::string&) override { Add("start", run_id); }
  void OnStdout(std::string_view text) override { Add("stdout", text); }
  void OnStderr(std::string_view text) override { Add("stderr", text); }
  void OnOutput(const CodeOutput& output) override { Add("output", output.format); }
  void OnError(const CodeError& error) override { Add("error", error.name); }

  std::vector<std::pair<std::string, std::string>> events() const {
    const std::lock_guard lock(mutex_);
    return events_;
  }

 private:
  void Add(std::string kind, std::string_view text) {
    const std::lock_guard lock(mutex_);
    events_.emplace_back(std::move(kind), text);
  }
  mutable std::mutex mutex_;
  std::vector<std::pair<std::string, std::string>> events_;
};

class ServiceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    config.data_directory = directory_.path();
    config.stop_grace = std::chrono::milliseconds(50);
    config.shutdown_grace = std::chrono::milliseconds(200);
  }
  void TearDown() override { Close(); }

  // Opened at the first use, with `config` and `world` as they are then.
  Service& service() {
    if (!service_) Open();
    return *service_;
  }
  void Open() {
    io_ = std::make_unique<boost::asio::io_context>();
    work_.emplace(io_->get_executor());
    for (int i = 0; i < 2; ++i) threads_.emplace_back([this] { io_->run(); });
    auto opened = Service::OpenWith(io_->get_executor(), config,
                                    MakeFakeWorkerHost(io_->get_executor(), world));
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    service_ = std::move(*opened);
  }
  void Close() {
    if (!io_) return;
    if (service_) {
      std::promise<void> stopped;
      boost::asio::co_spawn(*io_, service_->Stop(), [&](std::exception_ptr) { stopped.set_value(); });
      stopped.get_future().wait();
    }
    service_.reset();
    work_.reset();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
    io_.reset();
  }

  template <typename T>
  std::future<Result<T>> Begin(boost::asio::awaitable<Result<T>> operation) {
    auto promise = std::make_shared<std::promise<Result<T>>>();
    boost::asio::co_spawn(
        *io_,
        [](boost::asio::awaitable<Result<T>> moved,
           std::shared_ptr<std::promise<Result<T>>> out) -> boost::asio::awaitable<void> {
          out->set_value(co_await std::move(moved));
        }(std::move(operation), promise),
        boost::asio::detached);
    return promise->get_future();
  }
  template <typename T>
  Result<T> Await(boost::asio::awaitable<Result<T>> operation) {
    return Begin(std::move(operation)).get();
  }

  std::string NewSandbox(CreateSandbox request = {}) {
    const auto sandbox = Await(service().Create(std::move(request)));
    EXPECT_TRUE(sandbox.ok()) << sandbox.error().message;
    return sandbox.ok() ? sandbox->id : "";
  }
  std::string NewContext(const std::string& sandbox, const std::string& name = "") {
    CreateContext request;
    request.sandbox_id = sandbox;
    request.language = "python";
    request.name = name;
    const auto context = Await(service().Create(std::move(request)));
    EXPECT_TRUE(context.ok()) << context.error().message;
    return context.ok() ? context->id : "";
  }
  static RunRequest Request(const std::string& sandbox, const std::string& context,
                            const std::string& code) {
    RunRequest request;
    request.sandbox_id = sandbox;
    request.context_id = context;
    if (context.empty()) request.language = "python";
    request.code = code;
    return request;
  }
  Result<RunResult> Try(const std::string& sandbox, const std::string& context,
                        const std::string& code) {
    return Await(service().Run(Request(sandbox, context, code), nullptr));
  }
  // A run that must be possible.
  RunResult Run(const std::string& sandbox, const std::string& context, const std::string& code) {
    auto result = Try(sandbox, context, code);
    EXPECT_TRUE(result.ok()) << result.error().message;
    return result.ok() ? std::move(*result) : RunResult();
  }
  Context GetContext(const std::string& sandbox, const std::string& context) {
    auto found = Await(service().GetContext(sandbox, context));
    EXPECT_TRUE(found.ok()) << found.error().message;
    return found.ok() ? std::move(*found) : Context();
  }
  void Evict(const std::string& sandbox, const std::string& context) {
    const auto evicted = Await(service().EvictContext(sandbox, context));
    ASSERT_TRUE(evicted.ok()) << evicted.error().message;
    ASSERT_FALSE(evicted->resident);
  }
  // Waits until `condition` holds, up to some seconds.
  static bool Eventually(const std::function<bool()>& condition) {
    for (int i = 0; i < 2'000; ++i) {
      if (condition()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return false;
  }
  // Waits until so many guests run.
  bool WaitForRunning(int guests) {
    return Eventually([&] {
      const std::lock_guard lock(world->mutex);
      return world->running == guests;
    });
  }

  Config config;
  std::shared_ptr<FakeWorld> world = std::make_shared<FakeWorld>();

 private:
  store::testing::TemporaryDirectory directory_;
  std::unique_ptr<boost::asio::io_context> io_;
  std::optional<boost::asio::executor_work_guard<boost::asio::io_context::executor_type>> work_;
  std::vector<std::thread> threads_;
  std::unique_ptr<Service> service_;
};

}  // namespace dormouse::service::testing
