// SPDX-License-Identifier: Apache-2.0
// String.prototype.localeCompare for the languages that order letters as English does: letters first, then accents,
// then case. Other languages need tables that are not part of this engine.
const kOrder = "\t\n\v\f\r _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789";
const kRanks = new Map([...kOrder].map((c, i) => [c, i - 200]));
const kLanguages = ["en", "de", "fr", "it", "nl", "pt"];
const kMark = /^\p{M}$/u;
// Letters that count as others; the mark keeps them apart.
const kExpansions = {
  __proto__: null, ß: "s\u0335s", æ: "a\u0335e", Æ: "A\u0335E", œ: "o\u0335e", Œ: "O\u0335E", ø: "o\u0338",
  Ø: "O\u0338", ł: "l\u0335", Ł: "L\u0335", đ: "d\u0335", Đ: "D\u0335",
};

function checkLocale(locales) {
  const [locale = "en"] = Array.isArray(locales) ? locales : [locales];
  if (!kLanguages.includes(`${locale}`.split("-")[0])) {
    throw new RangeError(`comparing for the locale ${locale} needs Intl, which is not part of this engine; there are ${kLanguages.join(", ")}`);
  }
}

// [letters, accents, capitals]: parallel lists, one entry for each base character.
function keysOf(text, numeric) {
  const [letters, accents, capitals] = [[], [], []];
  for (const c of text.replace(/[ßæÆœŒøØłŁđĐ]/g, (letter) => kExpansions[letter]).normalize("NFD")) {
    if (c > "\u02ff" && letters.length > 0 && kMark.test(c)) {
      accents[accents.length - 1] += c;
      continue;
    }
    const last = letters.at(-1);
    if (numeric && c >= "0" && c <= "9" && typeof last === "bigint") {
      letters[letters.length - 1] = last * 10n + BigInt(c);
      continue;
    }
    const lower = c.toLowerCase();
    letters.push(numeric && c >= "0" && c <= "9" ? BigInt(c) : kRanks.get(c) ?? lower.codePointAt(0));
    accents.push("");
    capitals.push(lower === c ? 0 : 1);
  }
  return [letters, accents, capitals];
}

// A number as a whole comes where digits come.
function order(a, b) {
  if (typeof a !== typeof b) return order(typeof a === "bigint" ? -150 : a, typeof b === "bigint" ? -150 : b);
  return a < b ? -1 : a > b ? 1 : 0;
}

function compareLists(a, b) {
  for (let i = 0; i < a.length && i < b.length; i++) {
    const result = order(a[i], b[i]);
    if (result !== 0) return result;
  }
  return Math.sign(a.length - b.length);
}

export function compareStrings(first, second, locales, options) {
  checkLocale(locales);
  if (first === second) return 0;
  const { numeric = false, sensitivity = "variant" } = options ?? {};
  const a = keysOf(first, numeric);
  const b = keysOf(second, numeric);
  let result = compareLists(a[0], b[0]);
  if (result === 0 && (sensitivity === "accent" || sensitivity === "variant")) result = compareLists(a[1], b[1]);
  if (result === 0 && (sensitivity === "case" || sensitivity === "variant")) result = compareLists(a[2], b[2]);
  return result;
}
