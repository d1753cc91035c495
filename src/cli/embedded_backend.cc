// SPDX-License-Identifier: Apache-2.0
#include "cli/embedded_backend.h"

#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/json/serialize.hpp>
#include <cerrno>
#include <thread>
#include <vector>

#include "cli/disk_space.h"
#include "common/random_id.h"
#include "http/api.h"
#include "http/file_content.h"
#include "http/upload.h"
#include "service/service.h"

namespace dormouse::cli {
namespace {

namespace asio = boost::asio;

constexpr int kThreads = 2;
constexpr std::uint64_t kPieceBytes = 256 << 10;

// A full disk is named, since it is one of this machine.
Error WithDisk(Error error, const std::filesystem::path& directory) {
  if (error.code == ErrorCode::kStorageFull) {
    error.message += "; nothing of this was saved; " + DescribeDisk(directory);
  }
  return error;
}

class EmbeddedBackend : public Backend {
 public:
  explicit EmbeddedBackend(std::filesystem::path directory) : directory_(std::move(directory)) {}

  Result<void> Open(service::Config config) {
    DORMOUSE_ASSIGN(service_, service::Service::Open(context_.get_executor(), config));
    api_ = std::make_unique<http::Api>(*service_, std::move(config), context_.get_executor());
    for (int i = 0; i < kThreads; ++i) threads_.emplace_back([this] { context_.run(); });
    return {};
  }

  ~EmbeddedBackend() override {
    if (service_ != nullptr && !threads_.empty()) {
      asio::co_spawn(context_, service_->Stop(), asio::use_future).get();
    }
    work_.reset();
    context_.stop();
    for (std::thread& thread : threads_) thread.join();
    api_.reset();
    service_.reset();
  }

  std::string Description() const override { return "data directory " + directory_.string(); }
  std::filesystem::path OwnDirectory() const override { return directory_; }

  Result<void> Send(const ApiRequest& request, const Sink& sink) override {
    auto sent = Handle(request, sink);
    if (!sent.ok()) return WithDisk(std::move(sent).error(), directory_);
    return sent;
  }

 private:
  Result<void> Handle(const ApiRequest& request, const Sink& sink) {
    http::Request message;
    message.id = "req_" + RandomId(24);
    message.method = request.method;
    message.target = request.target;
    if (request.body) message.body = boost::json::serialize(*request.body);
    http::HeaderList unused;
    DORMOUSE_ASSIGN(http::Admission admission,
                    api_->Admit(message, http::Api::Trust::kTrusted, unused));
    if (message.body.size() > admission.body_limit) {
      return Error(ErrorCode::kPayloadTooLarge,
                   "the request is larger than " + std::to_string(admission.body_limit) + " bytes");
    }
    const auto strand = asio::make_strand(context_);
    if (request.upload >= 0) DORMOUSE_TRY(ReadUpload(request, admission, message));
    http::Response response =
        asio::co_spawn(strand, api_->Handle(std::move(message), std::move(admission)),
                       asio::use_future)
            .get();
    if (response.status < 200 || response.status > 299) {
      const auto* const body = std::get_if<std::string>(&response.body);
      return ErrorOfResponse(response.status, body == nullptr ? "" : std::string_view(*body));
    }
    for (const auto& [name, value] : response.headers) {
      if (request.on_run && name == "x-dormouse-run-id") request.on_run(value);
    }
    if (const auto* const body = std::get_if<std::string>(&response.body)) {
      sink(*body);
      return {};
    }
    if (const auto* const file = std::get_if<http::FileBody>(&response.body)) {
      return SendFile(*file, request.progress, sink);
    }
    auto& stream = std::get<std::unique_ptr<http::BodyStream>>(response.body);
    while (auto piece = asio::co_spawn(strand, stream->Next(), asio::use_future).get()) {
      if (!sink(*piece)) break;
    }
    return {};
  }

  Result<void> ReadUpload(const ApiRequest& request, const http::Admission& admission,
                          http::Request& message) {
    DORMOUSE_ASSIGN(
        service::Service::Upload upload,
        asio::co_spawn(context_, api_->BeginUpload(message, admission), asio::use_future).get());
    std::vector<char> piece(kPieceBytes);
    std::uint64_t done_bytes = 0;
    while (true) {
      const ssize_t length = ::read(request.upload, piece.data(), piece.size());
      if (length < 0 && errno == EINTR) continue;
      if (length < 0) return SystemError("reading the file", errno);
      if (length == 0) break;
      const std::string_view bytes(piece.data(), static_cast<std::size_t>(length));
      if (bytes.size() > upload.limit_bytes - done_bytes) return http::UploadTooLarge(upload);
      DORMOUSE_TRY(http::WriteUpload(upload.file, done_bytes, bytes));
      done_bytes += bytes.size();
      if (request.progress != nullptr) request.progress->Add(bytes.size());
    }
    message.upload = std::make_shared<FileDescriptor>(std::move(upload.file));
    return {};
  }

  static Result<void> SendFile(const http::FileBody& file, Progress* progress, const Sink& sink) {
    if (progress != nullptr) progress->Expect(file.length);
    std::string piece;
    for (std::uint64_t done = 0; done < file.length; done += piece.size()) {
      DORMOUSE_TRY(http::ReadContent(file.descriptor.get(), file.offset + done,
                                     std::min(kPieceBytes, file.length - done), piece));
      if (!sink(piece)) break;
      if (progress != nullptr) progress->Add(piece.size());
    }
    return {};
  }

  const std::filesystem::path directory_;
  asio::io_context context_;
  asio::executor_work_guard<asio::io_context::executor_type> work_ =
      asio::make_work_guard(context_);
  std::unique_ptr<service::Service> service_;
  std::unique_ptr<http::Api> api_;
  std::vector<std::thread> threads_;
};

}  // namespace

Result<std::unique_ptr<Backend>> MakeEmbeddedBackend(service::Config config) {
  auto backend = std::make_unique<EmbeddedBackend>(config.data_directory);
  if (auto opened = backend->Open(std::move(config)); !opened.ok()) {
    return WithDisk(std::move(opened).error(), backend->OwnDirectory());
  }
  return std::unique_ptr<Backend>(std::move(backend));
}

}  // namespace dormouse::cli
