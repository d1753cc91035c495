// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "http/json.h"
#include "http/text.h"

namespace dormouse::http {
namespace {

std::string_view NameOf(service::FileType type) {
  switch (type) {
    case service::FileType::kFile:
      return "file";
    case service::FileType::kDirectory:
      return "directory";
    case service::FileType::kSymlink:
      return "symlink";
  }
  return "file";
}

}  // namespace

void Write(JsonWriter& json, const service::FileInfo& file) {
  char mode[8];
  std::snprintf(mode, sizeof(mode), "%04o", file.mode & 07777u);
  json.BeginObject();
  json.Field("path", file.path).Field("name", file.name).Field("type", NameOf(file.type));
  json.Field("sizeBytes", file.size_bytes).Field("mode", mode);
  json.Field("modifiedAt", FormatTimestamp(file.modified_at));
  if (file.type == service::FileType::kSymlink) json.Field("target", file.target);
  json.EndObject();
}

}  // namespace dormouse::http
