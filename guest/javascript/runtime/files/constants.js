// SPDX-License-Identifier: Apache-2.0
// fs.constants, with the numbers of Linux, and the meaning of open flags in words.
import { argumentValueError } from "dormouse:errors";

export const constants = {
  UV_FS_SYMLINK_DIR: 1, UV_FS_SYMLINK_JUNCTION: 2, O_RDONLY: 0, O_WRONLY: 1, O_RDWR: 2,
  UV_DIRENT_UNKNOWN: 0, UV_DIRENT_FILE: 1, UV_DIRENT_DIR: 2, UV_DIRENT_LINK: 3,
  S_IFMT: 0o170000, S_IFREG: 0o100000, S_IFDIR: 0o040000, S_IFCHR: 0o020000, S_IFLNK: 0o120000,
  O_CREAT: 0o100, O_EXCL: 0o200, O_NOCTTY: 0o400, O_TRUNC: 0o1000, O_APPEND: 0o2000,
  O_DIRECTORY: 0o200000, O_NOFOLLOW: 0o400000, O_SYNC: 0o4010000, O_NONBLOCK: 0o4000,
  S_IRWXU: 0o700, S_IRUSR: 0o400, S_IWUSR: 0o200, S_IXUSR: 0o100, S_IRWXG: 0o070, S_IRGRP: 0o040,
  S_IWGRP: 0o020, S_IXGRP: 0o010, S_IRWXO: 0o007, S_IROTH: 0o004, S_IWOTH: 0o002, S_IXOTH: 0o001,
  F_OK: 0, R_OK: 4, W_OK: 2, X_OK: 1, COPYFILE_EXCL: 1, COPYFILE_FICLONE: 2, COPYFILE_FICLONE_FORCE: 4,
  UV_FS_COPYFILE_EXCL: 1,
};

const { O_RDONLY, O_RDWR, O_WRONLY, O_APPEND, O_CREAT, O_EXCL, O_TRUNC, O_SYNC } = constants;
const kFlags = {
  __proto__: null,
  r: O_RDONLY, rs: O_RDONLY | O_SYNC, "r+": O_RDWR, "rs+": O_RDWR | O_SYNC,
  w: O_TRUNC | O_CREAT | O_WRONLY, wx: O_TRUNC | O_CREAT | O_WRONLY | O_EXCL,
  "w+": O_TRUNC | O_CREAT | O_RDWR, "wx+": O_TRUNC | O_CREAT | O_RDWR | O_EXCL,
  a: O_APPEND | O_CREAT | O_WRONLY, ax: O_APPEND | O_CREAT | O_WRONLY | O_EXCL, as: O_APPEND | O_CREAT | O_WRONLY,
  "a+": O_APPEND | O_CREAT | O_RDWR, "ax+": O_APPEND | O_CREAT | O_RDWR | O_EXCL, "as+": O_APPEND | O_CREAT | O_RDWR,
  xw: O_TRUNC | O_CREAT | O_WRONLY | O_EXCL, xa: O_APPEND | O_CREAT | O_WRONLY | O_EXCL,
};

export function openFlags(flags) {
  if (flags === undefined || flags === null) return O_RDONLY;
  if (typeof flags === "number") return flags;
  const value = kFlags[flags];
  if (value === undefined) throw argumentValueError("flags", flags);
  return value;
}
