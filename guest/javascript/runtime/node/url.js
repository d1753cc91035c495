// SPDX-License-Identifier: Apache-2.0
import { URL, URLSearchParams } from "dormouse:web/url";
import { argumentTypeError, codedError } from "dormouse:errors";
import { resolvePath } from "dormouse:files/path";
import querystring from "node:querystring";

export function fileURLToPath(value) {
  const url = typeof value === "string" ? new URL(value) : value;
  if (!(url instanceof URL)) throw argumentTypeError("path", "of type string or an instance of URL", value);
  if (url.protocol !== "file:") throw codedError(TypeError, "ERR_INVALID_URL_SCHEME", "The URL must be of scheme file");
  if (url.hostname !== "" && url.hostname !== "localhost") {
    throw codedError(TypeError, "ERR_INVALID_FILE_URL_HOST", 'File URL host must be "localhost" or empty on linux');
  }
  if (/%2f/i.test(url.pathname)) {
    throw codedError(TypeError, "ERR_INVALID_FILE_URL_PATH", "File URL path must not include encoded / characters");
  }
  return decodeURIComponent(url.pathname);
}

export function pathToFileURL(path) {
  let resolved = resolvePath(`${path}`);
  if (`${path}`.endsWith("/") && resolved !== "/") resolved += "/";
  const url = new URL("file:///");
  url.pathname = resolved.replace(/%/g, "%25").replace(/\\/g, "%5C").replace(/\n/g, "%0A")
    .replace(/\r/g, "%0D").replace(/\t/g, "%09").replace(/\?/g, "%3F").replace(/#/g, "%23");
  return url;
}

export const urlToHttpOptions = (url) => ({
  protocol: url.protocol, hostname: url.hostname.replace(/^\[|\]$/g, ""), hash: url.hash, search: url.search,
  pathname: url.pathname, path: `${url.pathname}${url.search}`, href: url.href,
  ...(url.port === "" ? {} : { port: Number(url.port) }),
  ...(url.username === "" ? {} : { auth: `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}` }),
});

// The legacy API, enough of it for scripts that still use url.parse.
export function parse(text, parseQuery = false) {
  const match = /^(?:([a-zA-Z][a-zA-Z0-9+.-]*:))?(?:(\/\/)(?:([^@/?#]*)@)?([^/?#]*))?([^?#]*)(\?[^#]*)?(#.*)?$/.exec(text.trim());
  const [, protocol, slashes, auth, host, pathname, search, hash] = match;
  const [, hostname, port] = /^(.*?)(?::(\d+))?$/.exec(host ?? "") ?? [];
  const query = search === undefined ? null : search.slice(1);
  const shownPath = pathname === "" ? (slashes ? "/" : null) : pathname;
  return {
    protocol: protocol?.toLowerCase() ?? null, slashes: slashes ? true : null, auth: auth ?? null,
    host: host?.toLowerCase() ?? null, port: port ?? null, hostname: host === undefined ? null : hostname.toLowerCase(),
    hash: hash ?? null, search: search ?? null,
    query: parseQuery ? { ...querystring.parse(query ?? "") } : query, pathname: shownPath,
    path: `${shownPath ?? ""}${search ?? ""}` || null, href: text.trim(),
  };
}

export function format(value) {
  if (value instanceof URL) return value.href;
  if (typeof value === "string") return new URL(value).href;
  const { protocol, auth, host, hostname, port, pathname, search, query, hash } = value;
  const authority = host ?? (hostname ? `${hostname}${port ? `:${port}` : ""}` : "");
  const tail = search ?? (query && typeof query === "object" && Object.keys(query).length > 0 ? `?${querystring.stringify(query)}` : "");
  const scheme = protocol ? (protocol.endsWith(":") ? protocol : `${protocol}:`) : "";
  return `${scheme}${authority || value.slashes ? "//" : ""}${auth ? `${auth}@` : ""}${authority}${pathname ?? ""}` +
    `${tail && !tail.startsWith("?") ? `?${tail}` : tail}${hash ? (hash.startsWith("#") ? hash : `#${hash}`) : ""}`;
}

export function resolve(from, to) {
  const base = new URL(from, "resolve://");
  const url = new URL(to, base);
  return url.protocol === "resolve:" ? `${url.pathname}${url.search}${url.hash}` : url.href;
}

export const domainToASCII = (domain) => {
  try {
    return new URL(`http://${domain}`).hostname;
  } catch {
    return "";
  }
};
export { URL, URLSearchParams };
export default {
  URL, URLSearchParams, fileURLToPath, pathToFileURL, urlToHttpOptions, parse, format, resolve, domainToASCII,
};
