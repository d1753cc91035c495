// SPDX-License-Identifier: Apache-2.0
#include "service/content_check.h"

#include <algorithm>

#include "common/ascii.h"
#include "common/utf8.h"
#include "service/svg_scanner.h"

namespace dormouse::service {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::string_view kPngMagic = "\x89PNG\r\n\x1a\n"sv;
constexpr std::string_view kJpegMagic = "\xff\xd8\xff"sv;

// What a browser that guesses would take for a page.
bool LooksLikeMarkup(std::string_view bytes) {
  if (bytes.starts_with("\xEF\xBB\xBF")) bytes.remove_prefix(3);
  while (!bytes.empty() && (bytes.front() == ' ' || (bytes.front() >= '\t' && bytes.front() <= '\r'))) {
    bytes.remove_prefix(1);
  }
  const std::string start = AsciiLower(bytes.substr(0, 16));
  constexpr std::string_view kStarts[] = {"<!doctype", "<html", "<head", "<body",   "<script",
                                          "<svg",      "<?xml", "<!--",  "<iframe", "<style"};
  return std::any_of(std::begin(kStarts), std::end(kStarts),
                     [&start](std::string_view tag) { return start.starts_with(tag); });
}

// As far as it goes: a beginning may be cut inside a character.
bool IsText(std::string_view bytes, Sample sample) {
  if (bytes.find('\0') != std::string_view::npos) return false;
  if (IsValidUtf8(bytes)) return true;
  if (sample == Sample::kWhole) return false;
  for (std::size_t cut = 1; cut <= 3 && cut < bytes.size(); ++cut) {
    if (IsValidUtf8(bytes.substr(0, bytes.size() - cut))) return true;
  }
  return false;
}

// What the bytes of a type must look like.
enum class Proof { kMagic, kText, kSvg };
enum class Activity { kPassive, kActive };

struct KnownType {
  std::string_view extension;
  std::string_view content_type;
  Proof proof = Proof::kText;
  std::string_view magic = {};
  Activity activity = Activity::kPassive;
};

constexpr KnownType kKnownTypes[] = {
    {"png", "image/png", Proof::kMagic, kPngMagic},
    {"jpg", "image/jpeg", Proof::kMagic, kJpegMagic},
    {"jpeg", "image/jpeg", Proof::kMagic, kJpegMagic},
    {"gif", "image/gif", Proof::kMagic, "GIF8"sv},
    {"webp", "image/webp", Proof::kMagic, "RIFF"sv},
    {"wav", "audio/wav", Proof::kMagic, "RIFF"sv},
    {"pdf", "application/pdf", Proof::kMagic, "%PDF-"sv, Activity::kActive},
    {"zip", "application/zip", Proof::kMagic, "PK"sv},
    {"xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", Proof::kMagic, "PK"sv},
    {"docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document", Proof::kMagic,
     "PK"sv},
    {"pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation",
     Proof::kMagic, "PK"sv},
    {"gz", "application/gzip", Proof::kMagic, "\x1f\x8b"sv},
    {"tgz", "application/gzip", Proof::kMagic, "\x1f\x8b"sv},
    {"parquet", "application/vnd.apache.parquet", Proof::kMagic, "PAR1"sv},
    {"sqlite", "application/vnd.sqlite3", Proof::kMagic, "SQLite format 3\0"sv},
    {"svg", "image/svg+xml", Proof::kSvg},
    {"html", "text/html", Proof::kText, {}, Activity::kActive},
    {"htm", "text/html", Proof::kText, {}, Activity::kActive},
    {"xhtml", "application/xhtml+xml", Proof::kText, {}, Activity::kActive},
    {"xml", "application/xml", Proof::kText, {}, Activity::kActive},
    {"js", "text/javascript", Proof::kText, {}, Activity::kActive},
    {"mjs", "text/javascript", Proof::kText, {}, Activity::kActive},
    {"css", "text/css", Proof::kText, {}, Activity::kActive},
    {"txt", "text/plain"},
    {"log", "text/plain"},
    {"py", "text/x-python"},
    {"md", "text/markdown"},
    {"csv", "text/csv"},
    {"tsv", "text/tab-separated-values"},
    {"tex", "application/x-tex"},
    {"yaml", "application/yaml"},
    {"yml", "application/yaml"},
    {"json", "application/json"},
    {"jsonl", "application/x-ndjson"},
    {"ndjson", "application/x-ndjson"},
    {"ipynb", "application/x-ipynb+json"},
};

ContentType Prove(const KnownType& known, std::string_view bytes, Sample sample) {
  ContentType type{std::string(known.content_type), known.activity == Activity::kActive};
  if (known.proof == Proof::kMagic) {
    const bool is_riff = known.magic == "RIFF";
    const std::string_view riff_kind = known.extension == "webp" ? "WEBP" : "WAVE";
    if (!bytes.starts_with(known.magic)) return {};
    if (is_riff && (bytes.size() < 12 || bytes.substr(8, 4) != riff_kind)) return {};
    return type;
  }
  if (known.proof == Proof::kText) return IsText(bytes, sample) ? type : ContentType{};
  // What was not seen to its end may run anything.
  if (sample == Sample::kBeginning) {
    type.active = true;
    return LooksLikeMarkup(bytes) && IsText(bytes, sample) ? type : ContentType{};
  }
  const SvgScan scan = ScanSvg(bytes);
  if (!scan.is_svg) return {};
  type.active = scan.is_active;
  return type;
}

}  // namespace

ContentCheck CheckContent(std::string_view format, std::string_view bytes) {
  if (format == "png" || format == "jpeg") {
    if (bytes.starts_with(format == "png" ? kPngMagic : kJpegMagic)) return {Fit::kFits, false};
    return {LooksLikeMarkup(bytes) ? Fit::kUnsafe : Fit::kMismatch, false};
  }
  if (format == "svg") {
    const SvgScan scan = ScanSvg(bytes);
    if (scan.declares_entities) return {Fit::kUnsafe, true};
    return {scan.is_svg ? Fit::kFits : Fit::kMismatch, scan.is_active};
  }
  if (format == "html") return {IsText(bytes, Sample::kWhole) ? Fit::kFits : Fit::kMismatch, true};
  return {};
}

ContentType ContentTypeOf(std::string_view name, std::string_view bytes, Sample sample) {
  const std::size_t dot = name.rfind('.');
  const std::string extension =
      dot == std::string_view::npos ? std::string() : AsciiLower(name.substr(dot + 1));
  for (const KnownType& known : kKnownTypes) {
    if (known.extension == extension) return Prove(known, bytes, sample);
  }
  if (!extension.empty() && extension != name) return {};
  for (const KnownType& known : kKnownTypes) {
    // Without an extension only pictures name themselves.
    if (!known.content_type.starts_with("image/") || known.proof != Proof::kMagic) continue;
    if (const ContentType type = Prove(known, bytes, sample); type.content_type == known.content_type) {
      return type;
    }
  }
  return {};
}

bool MayShowInline(std::string_view content_type) {
  constexpr std::string_view kShown[] = {"image/png", "image/jpeg", "image/gif", "image/webp",
                                         "text/plain"};
  return std::find(std::begin(kShown), std::end(kShown), content_type) != std::end(kShown);
}

}  // namespace dormouse::service
