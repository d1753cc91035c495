// SPDX-License-Identifier: Apache-2.0
// URL and URLSearchParams, shown as Node shows them.
import { URL, URLSearchParams } from "dormouse:vendor/url";
import { customSymbol } from "dormouse:inspect/value";

const hidden = (value) => ({ value, writable: true, configurable: true });

Object.defineProperty(URL.prototype, customSymbol, hidden(function custom(depth, options, inspect) {
  if (depth < 0) return options.stylize("[URL]", "special");
  const parts = {};
  for (const key of ["href", "origin", "protocol", "username", "password", "host", "hostname", "port", "pathname",
    "search", "searchParams", "hash"]) parts[key] = this[key];
  return `URL ${inspect(parts, options)}`;
}));

Object.defineProperty(URLSearchParams.prototype, customSymbol, hidden(function custom(depth, options, inspect) {
  if (depth < 0) return options.stylize("[URLSearchParams]", "special");
  const parts = [...this].map(([key, value]) => `${inspect(key, options)} => ${inspect(value, options)}`);
  return parts.length === 0 ? "URLSearchParams {}" : `URLSearchParams { ${parts.join(", ")} }`;
}));

URL.canParse ??= (url, base) => {
  try {
    return new URL(url, base) !== undefined;
  } catch {
    return false;
  }
};
URL.parse ??= (url, base) => {
  try {
    return new URL(url, base);
  } catch {
    return null;
  }
};

export { URL, URLSearchParams };
