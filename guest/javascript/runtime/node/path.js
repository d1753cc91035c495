// SPDX-License-Identifier: Apache-2.0
import path from "dormouse:vendor/path";
import win32 from "node:path/win32";

path.posix = path;
path.win32 = win32;
win32.posix = path;
path.toNamespacedPath = (value) => value;
export default path;
export const {
  basename, delimiter, dirname, extname, format, isAbsolute, join, normalize, parse, relative, resolve, sep,
  posix, toNamespacedPath,
} = path;
export { win32 };
