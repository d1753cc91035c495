// SPDX-License-Identifier: Apache-2.0
#include "service/output_mapper.h"

#include <algorithm>
#include <boost/json.hpp>
#include <limits>
#include <optional>
#include <utility>

#include "common/base64.h"
#include "common/json_members.h"
#include "common/utf8.h"
#include "service/content_check.h"

namespace dormouse::service {
namespace {

namespace json = boost::json;

constexpr std::size_t kMaxJsonDepth = 128;
constexpr std::size_t kMaxBundleTypes = 32;
constexpr std::size_t kMaxMimeBytes = 128;
constexpr std::size_t kMaxMetadataBytes = 4096;
constexpr std::size_t kMaxDisplayIdBytes = 128;
constexpr std::size_t kMaxErrorNameBytes = 256;
constexpr std::size_t kMaxMessageBytes = 64u << 10;
constexpr std::size_t kMaxTracebackLines = 400;
constexpr std::size_t kMaxTracebackBytes = 256u << 10;

enum class Shape {
  kText,        // a string, cut when too long
  kJson,        // any value, rejected when too long
  kArtifact,    // only ever an artifact
  kUnsupported,
};

struct Format {
  std::string_view name;
  Shape shape;
  int order;
};

struct KnownFormat {
  std::string_view mime;
  Format format;
};

constexpr KnownFormat kKnownFormats[] = {
    {"text/plain", {"text", Shape::kText, 0}},
    {"text/markdown", {"markdown", Shape::kText, 1}},
    {"text/html", {"html", Shape::kArtifact, 2}},
    {"text/latex", {"latex", Shape::kText, 3}},
    {"application/json", {"json", Shape::kJson, 4}},
    {"application/vnd.dataresource+json", {"data", Shape::kJson, 5}},
    {"image/svg+xml", {"svg", Shape::kArtifact, 7}},
    {"image/png", {"png", Shape::kArtifact, 8}},
    {"image/jpeg", {"jpeg", Shape::kArtifact, 9}},
};

constexpr std::string_view kCharts[] = {"application/vnd.dormouse.chart", "application/vnd.vega",
                                        "application/vnd.plotly"};

Format FormatOf(std::string_view mime) {
  for (const KnownFormat& known : kKnownFormats) {
    if (known.mime == mime) return known.format;
  }
  for (const std::string_view chart : kCharts) {
    if (mime.starts_with(chart)) return {"chart", Shape::kJson, 6};
  }
  return {{}, Shape::kUnsupported, 10};
}

std::string_view View(const json::string& text) { return {text.data(), text.size()}; }

std::optional<json::value> Parse(std::string_view text) {
  json::parse_options options;
  options.max_depth = kMaxJsonDepth;
  json::error_code error;
  json::value value = json::parse({text.data(), text.size()}, error, {}, options);
  if (error) return std::nullopt;
  return value;
}

std::string ToText(const json::value& value) {
  const std::string text = json::serialize(value);
  return text;
}

// Without the blanks between its parts. `written` is valid JSON.
std::string Compact(std::string_view written) {
  std::string compact;
  bool in_string = false;
  for (std::size_t at = 0; at < written.size(); ++at) {
    const char c = written[at];
    if (!in_string && (c == ' ' || c == '\t' || c == '\n' || c == '\r')) continue;
    compact += c;
    if (c == '"') in_string = !in_string;
    if (c == '\\') compact += written[++at];
  }
  return compact;
}

CodeOutput Rejected(std::string_view format, std::string_view reason, bool is_result) {
  CodeOutput output;
  output.kind = CodeOutput::Kind::kRejected;
  output.format = Utf8Prefix(format, kMaxMimeBytes);
  output.reason = reason;
  output.is_result = is_result;
  return output;
}

std::string TextField(const json::object& object, std::string_view key, std::size_t limit) {
  const json::value* value = object.if_contains({key.data(), key.size()});
  if (value == nullptr || !value->is_string()) return {};
  return std::string(Utf8Prefix(View(value->get_string()), limit));
}

// As for a stream: its first and its last half, with a line between them that tells how much is missing.
std::string CutText(std::string_view text, std::uint64_t limit_bytes) {
  constexpr std::size_t kLineBytes = 64;
  if (text.size() <= limit_bytes) return std::string(text);
  const std::size_t room = limit_bytes - std::min<std::uint64_t>(limit_bytes, kLineBytes);
  const std::string_view head = Utf8Prefix(text, room / 2);
  const std::string_view tail = Utf8Suffix(text, room - room / 2);
  if (head.empty()) return {};
  const std::size_t dropped = text.size() - head.size() - tail.size();
  std::string cut(head);
  cut.append("\n[... ").append(std::to_string(dropped)).append(" bytes left out ...]\n").append(tail);
  return cut;
}

// What a display says of one of its types: what is named by the type, and what is said of all of them.
std::string MetadataOf(const json::object& display, std::string_view mime) {
  const json::value* all = display.if_contains("metadata");
  if (all == nullptr || !all->is_object()) return {};
  json::object own;
  for (const json::key_value_pair& item : all->get_object()) {
    if (item.key() == mime && item.value().is_object()) {
      for (const json::key_value_pair& member : item.value().get_object()) {
        own[member.key()] = member.value();
      }
    } else if (item.key().find('/') == json::string_view::npos) {
      own.insert(item);
    }
  }
  std::string text = own.empty() ? std::string() : json::serialize(own);
  return text.size() <= kMaxMetadataBytes ? text : std::string();
}

// What the outputs of one display have in common.
void AddOrigin(const json::object& display, CodeOutput& output) {
  output.display_id = TextField(display, "displayId", kMaxDisplayIdBytes);
  const json::value* update = display.if_contains("update");
  output.update = !output.display_id.empty() && update != nullptr && update->is_bool() && update->get_bool();
}

std::optional<std::int64_t> IntField(const json::object& object, std::string_view key) {
  const json::value* value = object.if_contains({key.data(), key.size()});
  if (value == nullptr) return std::nullopt;
  if (value->is_int64()) return value->get_int64();
  if (value->is_uint64()) return std::numeric_limits<std::int64_t>::max();
  return std::nullopt;
}

}  // namespace

std::vector<CodeOutput> OutputMapper::Map(std::string_view text) {
  std::vector<CodeOutput> outputs;
  if (count_ > limits_.outputs) return outputs;
  const std::optional<json::value> parsed = Parse(text);
  const json::object* object = parsed ? parsed->if_object() : nullptr;
  const json::value* data = object != nullptr ? object->if_contains("data") : nullptr;
  if (data == nullptr || !data->is_object()) {
    Add(Rejected("application/json", "unsupported_format", false), outputs);
    return outputs;
  }
  const json::value* result = object->if_contains("isResult");
  const bool is_result = result != nullptr && result->is_bool() && result->get_bool();
  std::vector<std::pair<int, const json::key_value_pair*>> items;
  for (const json::key_value_pair& item : data->get_object()) {
    if (items.size() == kMaxBundleTypes) break;
    items.emplace_back(FormatOf(item.key()).order, &item);
  }
  std::sort(items.begin(), items.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : a.second->key() < b.second->key();
  });
  std::optional<JsonMembers> written;
  for (const auto& [order, item] : items) {
    if (count_ > limits_.outputs) break;
    std::string_view raw;
    if (FormatOf(item->key()).shape == Shape::kJson) {
      if (!written) written = JsonMembersOf(JsonMember(JsonMembersOf(text), "data"));
      raw = JsonMember(*written, item->key());
    }
    CodeOutput output = MapOne(item->key(), &item->value(), raw, is_result);
    if (output.kind != CodeOutput::Kind::kRejected) output.metadata_json = MetadataOf(*object, item->key());
    Add(std::move(output), outputs);
  }
  if (const json::value* left_out = object->if_contains("tooLarge")) {
    AddLeftOut(left_out, is_result, outputs);
  }
  for (CodeOutput& output : outputs) AddOrigin(*object, output);
  return outputs;
}

void OutputMapper::AddLeftOut(const void* opaque, bool is_result, std::vector<CodeOutput>& outputs) {
  const json::array* types = static_cast<const json::value*>(opaque)->if_array();
  if (types == nullptr) return;
  for (std::size_t i = 0; i < std::min(types->size(), kMaxBundleTypes); ++i) {
    const json::string* mime = (*types)[i].if_string();
    if (mime == nullptr || count_ > limits_.outputs) return;
    const Format format = FormatOf(View(*mime));
    const std::string_view name = format.shape == Shape::kUnsupported ? View(*mime) : format.name;
    Add(Rejected(name, "output_too_large", is_result), outputs);
  }
}

void OutputMapper::Add(CodeOutput output, std::vector<CodeOutput>& outputs) {
  // The one beyond the limit stands for all that follow.
  if (count_ == limits_.outputs) {
    output = Rejected(output.format, "output_too_large", output.is_result);
  }
  ++count_;
  outputs.push_back(std::move(output));
}

std::uint64_t OutputMapper::AllowedBytes() const {
  return std::min(limits_.output_bytes, limits_.run_bytes - std::min(limits_.run_bytes, used_bytes_));
}

CodeOutput OutputMapper::MapOne(std::string_view mime, const void* opaque, std::string_view written,
                                bool is_result) {
  const json::value& value = *static_cast<const json::value*>(opaque);
  const Format format = FormatOf(mime);
  if (format.shape == Shape::kUnsupported) return Rejected(mime, "unsupported_format", is_result);
  if (format.shape == Shape::kArtifact) return PromoteMedia(format.name, mime, opaque, is_result);
  CodeOutput output;
  if (format.shape == Shape::kText) {
    if (!value.is_string()) return Rejected(format.name, "unsupported_format", is_result);
    output = MapText(format.name, mime, View(value.get_string()));
    if (output.value_json.empty()) return Rejected(format.name, "output_too_large", is_result);
  } else {
    // A key that was written with escapes is not found; its value loses no more than digits.
    output.value_json = written.empty() ? ToText(value) : Compact(written);
    output.size_bytes = output.value_json.size();
    if (output.value_json.size() > AllowedBytes()) {
      if (promotion_ == Promotion::kOff) return Rejected(format.name, "output_too_large", is_result);
      return Promote(format.name, mime, output.value_json, false, is_result);
    }
  }
  output.format = format.name;
  output.is_result = is_result;
  output.content_type = mime;
  used_bytes_ += output.value_json.size();
  return output;
}

CodeOutput OutputMapper::MapText(std::string_view format, std::string_view mime, std::string_view text) {
  const std::uint64_t allowed = AllowedBytes();
  CodeOutput output;
  output.size_bytes = text.size();
  std::string kept = CutText(text, allowed);
  output.value_json = ToText(json::string(kept));
  // Escapes can make the JSON longer than the text; six times is the worst.
  if (output.value_json.size() > allowed + 2) {
    kept = CutText(text, allowed / 6);
    output.value_json = ToText(json::string(kept));
  }
  if (kept.empty() && !text.empty()) output.value_json.clear();
  output.truncated = kept.size() != text.size() || kept != text;
  if (!output.truncated || output.value_json.empty()) return output;
  if (promotion_ != Promotion::kOn || !promoter_->WantsFullText() || count_ == limits_.outputs) return output;
  PromotedOutput whole;
  whole.number = count_ + 1;
  whole.content_type = mime;
  whole.extension = format == "markdown" ? "md" : format == "latex" ? "tex" : "txt";
  whole.bytes = text;
  output.artifact_id = promoter_->Keep(whole).artifact_id;
  return output;
}

CodeOutput OutputMapper::PromoteMedia(std::string_view format, std::string_view mime,
                                      const void* opaque, bool is_result) {
  const json::value& value = *static_cast<const json::value*>(opaque);
  if (promotion_ == Promotion::kOff) {
    return Rejected(format, "requires_artifact_promotion", is_result);
  }
  if (!value.is_string()) return Rejected(format, "unsupported_format", is_result);
  std::string_view bytes = View(value.get_string());
  std::string decoded;
  if (format == "png" || format == "jpeg") {
    decoded = bytes;
    // Encoders break lines.
    std::erase_if(decoded, [](char c) { return c == '\n' || c == '\r'; });
    std::optional<std::string> picture = Base64Decode(decoded);
    if (!picture) return Rejected(format, "unsupported_format", is_result);
    decoded = *std::move(picture);
    bytes = decoded;
  }
  const ContentCheck check = CheckContent(format, bytes);
  if (check.fit == Fit::kMismatch) return Rejected(format, "unsupported_format", is_result);
  if (check.fit == Fit::kUnsafe) return Rejected(format, "unsafe_active_content", is_result);
  return Promote(format, mime, bytes, check.active, is_result);
}

CodeOutput OutputMapper::Promote(std::string_view format, std::string_view mime,
                                 std::string_view bytes, bool is_active, bool is_result) {
  if (promotion_ == Promotion::kForbidden) {
    return Rejected(format, "artifact_scope_required", is_result);
  }
  // Beyond the limit nothing is kept: Add would throw its reference away.
  if (count_ == limits_.outputs) return Rejected(format, "output_too_large", is_result);
  const bool is_medium = format == "png" || format == "jpeg" || format == "svg" || format == "html";
  PromotedOutput promoted;
  promoted.number = count_ + 1;
  promoted.content_type = mime;
  promoted.extension = is_medium ? format : "json";
  promoted.bytes = bytes;
  promoted.is_active = is_active;
  OutputPromoter::Kept kept = promoter_->Keep(promoted);
  if (kept.artifact_id.empty()) return Rejected(format, kept.reason, is_result);
  CodeOutput output;
  output.kind = CodeOutput::Kind::kArtifact;
  output.format = format;
  output.artifact_id = std::move(kept.artifact_id);
  output.content_type = mime;
  output.size_bytes = bytes.size();
  output.active_content = is_active;
  output.is_result = is_result;
  return output;
}

CodeError ParseGuestError(std::string_view text) {
  CodeError error;
  const std::optional<json::value> parsed = Parse(text);
  if (!parsed || !parsed->is_object()) {
    error.name = "Error";
    error.message = "The run raised an error that could not be described.";
    return error;
  }
  const json::object& object = parsed->get_object();
  error.name = TextField(object, "name", kMaxErrorNameBytes);
  if (error.name.empty()) error.name = "Error";
  error.message = TextField(object, "message", kMaxMessageBytes);
  error.line_number = IntField(object, "lineNumber");
  const json::value* traceback = object.if_contains("traceback");
  if (traceback == nullptr || !traceback->is_array()) return error;
  // Long ones lose their middle: the outermost and the innermost frames say most.
  const json::array& lines = traceback->get_array();
  const std::size_t half = kMaxTracebackLines / 2;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines.size() > kMaxTracebackLines && i == half) {
      i = lines.size() - half;
      error.traceback.push_back("[... " + std::to_string(i - half) + " lines left out ...]");
    }
    if (!lines[i].is_string()) continue;
    const std::string_view line = Utf8Prefix(View(lines[i].get_string()), kMaxTracebackBytes - bytes);
    bytes += line.size();
    error.traceback.emplace_back(line);
    if (bytes >= kMaxTracebackBytes) break;
  }
  return error;
}

GuestExit ParseGuestExit(std::string_view text) {
  GuestExit exit;
  const std::optional<json::value> parsed = Parse(text);
  if (!parsed || !parsed->is_object()) return exit;
  const json::object& object = parsed->get_object();
  const std::int64_t code = IntField(object, "code").value_or(0);
  exit.code = static_cast<std::int32_t>(
      std::clamp<std::int64_t>(code, std::numeric_limits<std::int32_t>::min(),
                               std::numeric_limits<std::int32_t>::max()));
  exit.message = TextField(object, "message", kMaxMessageBytes);
  return exit;
}

}  // namespace dormouse::service
