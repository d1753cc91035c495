// SPDX-License-Identifier: Apache-2.0
// Absolute paths from what programs pass as a path.
import { argumentTypeError, codedError } from "dormouse:errors";
import { state } from "dormouse:state";
import { utf8Decode } from "dormouse:native";

// Resolves "." and ".." and double slashes. A path through a symbolic link and back by ".." is
// resolved by its text, as path.resolve does.
export function normalize(path) {
  const parts = [];
  for (const part of path.split("/")) {
    if (part === "" || part === ".") continue;
    if (part === "..") parts.pop();
    else parts.push(part);
  }
  return `/${parts.join("/")}`;
}

export function resolvePath(path) {
  return normalize(path.startsWith("/") ? path : `${state.cwd}/${path}`);
}

// A string, a Buffer or a file: URL.
export function toPath(value, name = "path") {
  let path = value;
  if (value instanceof Uint8Array) path = utf8Decode(value);
  else if (typeof value === "object" && value !== null && typeof value.href === "string") path = fromUrl(value);
  if (typeof path !== "string") {
    throw argumentTypeError(name, "of type string or an instance of Buffer or URL", value);
  }
  if (path.includes("\0")) {
    throw codedError(TypeError, "ERR_INVALID_ARG_VALUE",
      `The argument '${name}' must be a string, Uint8Array, or URL without null bytes.`);
  }
  return path;
}

function fromUrl(url) {
  if (url.protocol !== "file:") throw codedError(TypeError, "ERR_INVALID_URL_SCHEME", "The URL must be of scheme file");
  return decodeURIComponent(url.pathname);
}

// The path for the system: absolute; a trailing slash, which asks for a directory, is kept.
export function systemPath(value, name) {
  const path = toPath(value, name);
  const absolute = path.startsWith("/") ? path : path === "" ? "" : `${state.cwd}/${path}`;
  return absolute;
}
