// SPDX-License-Identifier: Apache-2.0
#include "service/content_check.h"

#include <gtest/gtest.h>

#include "service/svg_scanner.h"

namespace dormouse::service {
namespace {

using std::string_literals::operator""s;

const std::string kPng = "\x89PNG\r\n\x1a\n"s + "rest";
const std::string kJpeg = "\xff\xd8\xff\xe0 rest"s;
constexpr std::string_view kSvg = R"(<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0"/></svg>)";

Fit FitOf(std::string_view format, std::string_view bytes) { return CheckContent(format, bytes).fit; }

TEST(CheckContent, PicturesHaveTheirMagic) {
  EXPECT_EQ(FitOf("png", kPng), Fit::kFits);
  EXPECT_EQ(FitOf("jpeg", kJpeg), Fit::kFits);
  EXPECT_EQ(FitOf("png", kJpeg), Fit::kMismatch);
  EXPECT_EQ(FitOf("jpeg", kPng), Fit::kMismatch);
  EXPECT_EQ(FitOf("png", ""), Fit::kMismatch);
  EXPECT_EQ(FitOf("png", "\x89PNG"), Fit::kMismatch);
}

TEST(CheckContent, PagesThatClaimToBePicturesAreUnsafe) {
  for (const char* page : {"<html>", " \n<!DOCTYPE html>", "<SCRIPT>alert(1)</SCRIPT>", "<svg/>",
                           "\xEF\xBB\xBF<?xml version='1.0'?>"}) {
    EXPECT_EQ(FitOf("png", page), Fit::kUnsafe) << page;
    EXPECT_EQ(FitOf("jpeg", page), Fit::kUnsafe) << page;
  }
}

TEST(CheckContent, HtmlIsTextAndAlwaysActive) {
  EXPECT_EQ(FitOf("html", "<b>x</b>"), Fit::kFits);
  EXPECT_TRUE(CheckContent("html", "plain").active);
  EXPECT_EQ(FitOf("html", "a\0b"s), Fit::kMismatch);
  EXPECT_EQ(FitOf("html", "\xff"), Fit::kMismatch);
}

TEST(CheckContent, SvgNeedsItsRootInBalancedMarkup) {
  EXPECT_EQ(FitOf("svg", kSvg), Fit::kFits);
  EXPECT_EQ(FitOf("svg", R"(<?xml version="1.0"?>
<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">
<!-- by a plotter > --><s:svg xmlns:s='x'><![CDATA[ < ]]><s:g a = "1"></s:g></s:svg>
)"),
            Fit::kFits);
  for (const char* other : {"", "text", "<html/>", "<svg>", "<svg></g></svg>", "<svg/>x", "<svg/><svg/>",
                            "<svg a=1/>", "<svg a='<'/>", "<svg a='1/>", "<svg><!-- </svg>", "x<svg/>",
                            "<svg/><!DOCTYPE svg>", "<SVG/>", "< svg/>", "<svg><![CDATA[</svg>"}) {
    EXPECT_EQ(FitOf("svg", other), Fit::kMismatch) << other;
  }
  EXPECT_EQ(FitOf("svg", "<svg>\0</svg>"s), Fit::kMismatch);
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "<svg>";
  EXPECT_EQ(FitOf("svg", deep), Fit::kMismatch);
}

TEST(CheckContent, EntityDeclarationsAreUnsafe) {
  EXPECT_EQ(FitOf("svg", R"(<!DOCTYPE svg [<!ENTITY a "b"><!ENTITY c "&a;&a;">]><svg>&c;</svg>)"),
            Fit::kUnsafe);
  EXPECT_EQ(FitOf("svg", R"(<!DOCTYPE svg SYSTEM "x" [ ]><svg/>)"), Fit::kUnsafe);
}

TEST(ScanSvg, ToldActiveByWhatRuns) {
  EXPECT_FALSE(ScanSvg(kSvg).is_active);
  EXPECT_FALSE(ScanSvg(R"(<svg><a href="https://x/"><use xlink:href="#a"/></a></svg>)").is_active);
  EXPECT_FALSE(ScanSvg(R"(<svg><image href="data:image/png;base64,AA"/></svg>)").is_active);
  for (const char* active :
       {"<svg><script>1</script></svg>", "<svg><x:SCRIPT/></svg>", "<svg onload='1'/>",
        "<svg><g OnClick=\"1\"/></svg>", "<svg><a href='javascript:1'/></svg>",
        "<svg><a href=' Java\nScript:1'/></svg>", "<svg><a xlink:href='&#106;avascript:1'/></svg>",
        "<svg><foreignObject/></svg>", "<svg><iframe/></svg>",
        "<svg><use href='data:image/svg+xml,x'/></svg>",
        "<svg><animate attributeName='href' to='x'/></svg>",
        "<svg><set attributeName='onclick' to='x'/></svg>",
        "<svg><animate values='javascript:1'/></svg>",
        "<?xml-stylesheet href='x'?><svg/>"}) {
    const SvgScan scan = ScanSvg(active);
    EXPECT_TRUE(scan.is_svg) << active;
    EXPECT_TRUE(scan.is_active) << active;
  }
}

std::string TypeOf(std::string_view name, std::string_view bytes, Sample sample = Sample::kWhole) {
  const ContentType type = ContentTypeOf(name, bytes, sample);
  return type.content_type + (type.active ? " active" : "");
}

TEST(ContentTypeOf, ExtensionsAreBelievedWhenTheBytesBearThemOut) {
  constexpr const char* kUnknown = "application/octet-stream";
  EXPECT_EQ(TypeOf("plot.PNG", kPng), "image/png");
  EXPECT_EQ(TypeOf("plot.png", "<html>"), kUnknown);
  EXPECT_EQ(TypeOf("plot.png", kJpeg), kUnknown);
  EXPECT_EQ(TypeOf("plot", kPng), "image/png");
  EXPECT_EQ(TypeOf("plot.dat", kPng), kUnknown);
  EXPECT_EQ(TypeOf("a.csv", "a,b\n"), "text/csv");
  EXPECT_EQ(TypeOf("a.csv", "a\0b"s), kUnknown);
  EXPECT_EQ(TypeOf("a.txt", "\xc3", Sample::kBeginning), kUnknown);
  EXPECT_EQ(TypeOf("a.txt", "ab\xc3", Sample::kBeginning), "text/plain");
  EXPECT_EQ(TypeOf("a.txt", "ab\xc3"), kUnknown);
  EXPECT_EQ(TypeOf("a.html", "x"), "text/html active");
  EXPECT_EQ(TypeOf("a.js", "x"), "text/javascript active");
  EXPECT_EQ(TypeOf("a.svg", kSvg), "image/svg+xml");
  EXPECT_EQ(TypeOf("a.svg", "<svg onload='1'/>"), "image/svg+xml active");
  EXPECT_EQ(TypeOf("a.svg", "no"), kUnknown);
  EXPECT_EQ(TypeOf("a.svg", "<svg><g>", Sample::kBeginning), "image/svg+xml active");
  EXPECT_EQ(TypeOf("a.webp", "RIFF....WEBP"), "image/webp");
  EXPECT_EQ(TypeOf("a.webp", "RIFF....WAVE"), kUnknown);
  EXPECT_EQ(TypeOf("a.pdf", "%PDF-1.7"), "application/pdf active");
  EXPECT_EQ(TypeOf("noext", "text"), kUnknown);
  EXPECT_EQ(TypeOf("", ""), kUnknown);
  EXPECT_EQ(TypeOf("a.", "x"), kUnknown);
}

}  // namespace
}  // namespace dormouse::service
