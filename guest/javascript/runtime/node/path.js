// SPDX-License-Identifier: Apache-2.0
import path from "dormouse:vendor/path";

path.posix = path;
path.toNamespacedPath = (value) => value;
export default path;
export const {
  basename, delimiter, dirname, extname, format, isAbsolute, join, normalize, parse, relative, resolve, sep,
  posix, toNamespacedPath,
} = path;
