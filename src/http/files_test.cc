// SPDX-License-Identifier: Apache-2.0
#include "http/test_server.h"
#include "http/text.h"

namespace dormouse::http {
namespace {

constexpr const char* kFiles = "/v1/sandboxes/sbx_1/files";

std::string AllBytes() {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes.push_back(static_cast<char>(i));
  return bytes;
}

class FilesTest : public TestServer {
 protected:
  static std::string Target(std::string_view action, std::string_view path) {
    return std::string(kFiles) + std::string(action) +
           "?path=" + PercentEncode(path, Slash::kEncode);
  }
};

TEST_F(FilesTest, WritesTextAndBase64Exactly) {
  EXPECT_EQ(Call("PUT", kFiles, R"({"path":"/workspace/a","content":"x\r\n\u0000é"})").status, 200);
  EXPECT_EQ(service_.last_write.content, std::string("x\r\n\0\xC3\xA9", 6));
  EXPECT_TRUE(service_.last_write.overwrite);
  EXPECT_FALSE(service_.last_write.create_parents);
  const RawResponse binary =
      Call("PUT", kFiles,
           R"({"path":"b","encoding":"base64","createParents":true,"overwrite":false,"content":")" +
               Base64Encode(AllBytes()) + "\"}");
  EXPECT_EQ(binary.status, 200) << binary.body;
  EXPECT_EQ(service_.last_write.content, AllBytes());
  EXPECT_FALSE(service_.last_write.overwrite);
  EXPECT_TRUE(service_.last_write.create_parents);
}

TEST_F(FilesTest, RefusesBadBase64AndTooMuch) {
  const RawResponse bad =
      Call("PUT", kFiles, R"({"path":"a","encoding":"base64","content":"a b"})");
  EXPECT_EQ(bad.status, 400);
  EXPECT_EQ(bad.ErrorCode(), "invalid_file_encoding");
  const std::string big(config_.direct_file_bytes + 1, 'x');
  const RawResponse large = Call("PUT", kFiles, R"({"path":"a","content":")" + big + "\"}");
  EXPECT_EQ(large.status, 413);
  EXPECT_EQ(large.ErrorCode(), "file_too_large");
  std::string escaped;
  for (std::size_t i = 0; i < config_.direct_file_bytes; ++i) escaped += "\\u0001";
  EXPECT_EQ(Call("PUT", kFiles, R"({"path":"a","content":")" + escaped + "\"}").status, 200);
  EXPECT_EQ(service_.last_write.content.size(), config_.direct_file_bytes);
}

TEST_F(FilesTest, ReadsTextOnlyIfItIsText) {
  service_.files = {{"/workspace/t", "h\xC3\xA9\n"}, {"/workspace/b", AllBytes()}};
  const RawResponse text = Call("GET", Target("/read", "/workspace/t"));
  EXPECT_EQ(text.Json().at("content"), "h\xC3\xA9\n");
  EXPECT_EQ(text.Json().at("encoding"), "utf8");
  EXPECT_EQ(text.Json().at("sizeBytes"), 4);
  const RawResponse refused = Call("GET", Target("/read", "/workspace/b"));
  EXPECT_EQ(refused.status, 400);
  EXPECT_EQ(refused.ErrorCode(), "invalid_file_encoding");
  const RawResponse binary = Call("GET", Target("/read", "/workspace/b") + "&encoding=base64");
  EXPECT_EQ(Base64Decode(std::string(binary.Json().at("content").as_string())), AllBytes());
  EXPECT_EQ(Call("GET", Target("/read", "/workspace/t") + "&encoding=latin1").ErrorField(),
            "encoding");
}

TEST_F(FilesTest, ReadRefusesWhatIsTooLarge) {
  service_.files = {{"/workspace/big", std::string(config_.direct_file_bytes + 1, 'x')}};
  const RawResponse response = Call("GET", Target("/read", "/workspace/big"));
  EXPECT_EQ(response.status, 413);
  EXPECT_EQ(response.Json().at("error").as_object().at("details").as_object().at("limit"),
            config_.direct_file_bytes);
}

TEST_F(FilesTest, OddNamesComeThroughAndBack) {
  for (const std::string name :
       {"a b", "%41", "#", "?", "&", "+", "\"", "\\", "\n", "\t", "-x", ".x.", " x ",
        "\xF0\x9F\x98\x80", "e\xCC\x81", "\xE2\x80\xAF", "%2e%2e%2f"}) {
    const std::string path = "/workspace/" + name;
    service_.files = {{path, "content"}};
    const RawResponse stat = Call("GET", Target("/stat", path));
    ASSERT_EQ(stat.status, 200) << name;
    EXPECT_EQ(stat.Json().at("file").as_object().at("path").as_string(), path);
    EXPECT_EQ(service_.last_path, path);
    const RawResponse url =
        Call("POST", std::string(kFiles) + "/download-url",
             R"({"path":")" +
                 (name == "\"" || name == "\\" || name == "\n" || name == "\t"
                      ? "/workspace/" + std::string(name == "\n"   ? "\\n"
                                                    : name == "\t" ? "\\t"
                                                                   : "\\" + name)
                      : path) +
                 "\"}");
    ASSERT_EQ(url.status, 200) << url.body;
    const std::string target(url.Json().at("url").as_string());
    EXPECT_TRUE(target.starts_with("http://localhost/v1/"));
    const RawResponse download = Call("GET", target.substr(std::string("http://localhost").size()));
    EXPECT_EQ(download.body, "content") << name;
  }
}

TEST_F(FilesTest, DownloadsBytesExactlyAndSafely) {
  std::string content;
  for (int i = 0; i < 5'000; ++i) content += AllBytes();
  service_.files = {{"/workspace/\xC3\xA9.html", content}};
  const RawResponse response = Call("GET", Target("/download", "/workspace/\xC3\xA9.html"));
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, content);
  EXPECT_EQ(response.Header("content-type"), "application/octet-stream");
  EXPECT_EQ(response.Header("x-content-type-options"), "nosniff");
  EXPECT_EQ(response.Header("content-disposition"),
            "attachment; filename=\"_.html\"; filename*=UTF-8''%C3%A9.html");
  EXPECT_EQ(response.Header("accept-ranges"), "bytes");
}

TEST_F(FilesTest, DownloadsAnEmptyFile) {
  service_.files = {{"/workspace/empty", ""}};
  const RawResponse response = Call("GET", Target("/download", "/workspace/empty"));
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.Header("content-length"), "0");
}

TEST_F(FilesTest, DownloadsRanges) {
  service_.files = {{"/workspace/d", "0123456789"}};
  const std::string target = Target("/download", "/workspace/d");
  const RawResponse part = Call("GET", target, "", "Range: bytes=2-4\r\n");
  EXPECT_EQ(part.status, 206);
  EXPECT_EQ(part.body, "234");
  EXPECT_EQ(part.Header("content-range"), "bytes 2-4/10");
  const RawResponse tail = Call("GET", target, "", "Range: bytes=-1\r\n");
  EXPECT_EQ(tail.body, "9");
  const RawResponse outside = Call("GET", target, "", "Range: bytes=10-\r\n");
  EXPECT_EQ(outside.status, 416);
  EXPECT_EQ(outside.Header("content-range"), "bytes */10");
  EXPECT_EQ(outside.ErrorCode(), "invalid_request");
  EXPECT_EQ(Call("GET", target, "", "Range: bytes=0-1,4-5\r\n").status, 200);
  EXPECT_EQ(Call("GET", target, "", "Range: bytes=0-1\r\nIf-Range: \"x\"\r\n").status, 200);
}

TEST_F(FilesTest, DeleteListMoveAndMakeAnswerJson) {
  service_.files = {{"/workspace/a", "1"}};
  EXPECT_EQ(Call("GET", kFiles).Json().at("data").as_array().size(), 1u);
  EXPECT_EQ(service_.last_path, "/workspace");
  EXPECT_EQ(Call("POST", std::string(kFiles) + "/mkdir", R"({"path":"d","parents":true})").status,
            200);
  EXPECT_EQ(
      Call("POST", std::string(kFiles) + "/move", R"({"from":"/workspace/a","to":"/workspace/b"})")
          .status,
      200);
  const RawResponse gone = Call("DELETE", Target("", "/workspace/b"));
  EXPECT_EQ(gone.status, 200);
  EXPECT_EQ(gone.body, "{\"deleted\":true}");
  EXPECT_EQ(Call("DELETE", Target("", "/workspace/b")).ErrorCode(), "file_not_found");
  EXPECT_EQ(Call("DELETE", kFiles).ErrorField(), "path");
}

}  // namespace
}  // namespace dormouse::http
