// SPDX-License-Identifier: Apache-2.0
// How strings and numbers look inside other values.

const kNames = { 8: "\\b", 9: "\\t", 10: "\\n", 12: "\\f", 13: "\\r" };
const kPlain = /^[\x20-\x26\x28-\x5b\x5d-\x7e\xa0-\ud7ff\ue000-\uffff]*$/;

// With numericSeparator: 1_234.567_8.
export function separated(number) {
  const [whole, fraction] = `${number}`.split(".");
  if (!/^-?\d+$/.test(whole) || (fraction !== undefined && !/^\d+$/.test(fraction))) return `${number}`;
  const groups = whole.replace(/\B(?=(\d{3})+$)/g, "_");
  return fraction === undefined ? groups : `${groups}.${fraction.replace(/\d{3}(?=\d)/g, "$&_")}`;
}

// Quoted the way Node does it: single quotes, unless others need less escaping.
export function quote(text) {
  if (kPlain.test(text)) return `'${text}'`;
  let mark = "'";
  if (text.includes("'")) {
    if (!text.includes('"')) mark = '"';
    else if (!text.includes("`") && !text.includes("${")) mark = "`";
  }
  let result = mark;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    const c = text[i];
    if (c === mark || c === "\\") {
      result += `\\${c}`;
    } else if (code < 0x20 || (code >= 0x7f && code <= 0x9f)) {
      result += kNames[code] ?? `\\x${code.toString(16).toUpperCase().padStart(2, "0")}`;
    } else if (code >= 0xd800 && code <= 0xdfff) {
      const next = text.charCodeAt(i + 1);
      if (code <= 0xdbff && next >= 0xdc00 && next <= 0xdfff) {
        result += c + text[++i];
      } else {
        result += `\\u${code.toString(16)}`;
      }
    } else {
      result += c;
    }
  }
  return result + mark;
}

// Cells that a terminal needs: two for East Asian wide characters and emoji, none for marks.
export function width(text) {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let cells = 0;
  for (const c of removeColors(text).normalize("NFC")) {
    const code = c.codePointAt(0);
    if (isWide(code)) cells += 2;
    else if (!isZeroWidth(code)) cells += 1;
  }
  return cells;
}

function isWide(code) {
  return code >= 0x1100 && (
    code <= 0x115f || code === 0x2329 || code === 0x232a ||
    (code >= 0x2e80 && code <= 0x3247 && code !== 0x303f) || (code >= 0x3250 && code <= 0x4dbf) ||
    (code >= 0x4e00 && code <= 0xa4c6) || (code >= 0xa960 && code <= 0xa97c) ||
    (code >= 0xac00 && code <= 0xd7a3) || (code >= 0xf900 && code <= 0xfaff) ||
    (code >= 0xfe10 && code <= 0xfe19) || (code >= 0xfe30 && code <= 0xfe6b) ||
    (code >= 0xff01 && code <= 0xff60) || (code >= 0xffe0 && code <= 0xffe6) ||
    (code >= 0x1b000 && code <= 0x1b001) || (code >= 0x1f200 && code <= 0x1f251) ||
    (code >= 0x1f300 && code <= 0x1f9ff) || (code >= 0x20000 && code <= 0x3fffd));
}

function isZeroWidth(code) {
  return code <= 0x1f || (code >= 0x7f && code <= 0x9f) || (code >= 0x300 && code <= 0x36f) ||
    (code >= 0x200b && code <= 0x200f) || (code >= 0x20d0 && code <= 0x20ff) ||
    (code >= 0xfe00 && code <= 0xfe0f) || (code >= 0xfe20 && code <= 0xfe2f) ||
    (code >= 0xe0100 && code <= 0xe01ef);
}

export function removeColors(text) {
  return text.replace(/\x1b\[\d+(;\d+)*m/g, "");
}
