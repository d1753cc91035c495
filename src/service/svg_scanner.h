// SPDX-License-Identifier: Apache-2.0
// ScanSvg: whether bytes are an SVG document, and whether a browser would run something in it.
//
// One pass over the text, nothing is expanded, nothing is fetched. It is no XML validator: it checks what tells an SVG
// from something else (markup in balance, one root `svg`), and errs towards calling a document active.
#pragma once

#include <string_view>

namespace dormouse::service {

struct SvgScan {
  bool is_svg = false;
  bool declares_entities = false;  // an internal DTD subset: entity bombs and external files begin there
  bool is_active = false;          // scripts, event handlers, foreign markup, links that run
};

SvgScan ScanSvg(std::string_view text);

}  // namespace dormouse::service
