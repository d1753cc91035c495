// SPDX-License-Identifier: Apache-2.0
// Domain names: lower case, NFC and Punycode, without the mapping tables of UTS 46.
import punycode from "punycode/";

export function toASCII(domain) {
  const text = domain.normalize("NFKC").toLowerCase().normalize("NFC").replace(/[\u3002\uff0e\uff61]/g, ".");
  try {
    const ascii = punycode.toASCII(text);
    return ascii.split(".").some((label) => label.length > 63 * 4) ? null : ascii;
  } catch {
    return null;
  }
}

export function toUnicode(domain) {
  try {
    return { domain: punycode.toUnicode(domain), error: false };
  } catch {
    return { domain, error: true };
  }
}
export default { toASCII, toUnicode };
