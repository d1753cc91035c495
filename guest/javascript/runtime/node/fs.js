// SPDX-License-Identifier: Apache-2.0
// node:fs: the synchronous functions, and callback forms that call back in a later task.
import * as sync from "dormouse:files/sync";
import { constants } from "dormouse:files/constants";
import { Dirent, Stats } from "dormouse:files/stats";
import { createReadStream, createWriteStream, ReadStream, WriteStream } from "dormouse:files/streams";
import { check, unsupported } from "dormouse:errors";
import { promises } from "node:fs/promises";
import { setImmediate } from "dormouse:timers";

const withCallback = (name, operation) => {
  const callbackForm = {
    [name](...parameters) {
      const callback = parameters.pop();
      check.func(callback, "cb");
      let error = null;
      let result;
      try {
        result = operation(...parameters);
      } catch (problem) {
        error = problem;
      }
      setImmediate(() => (error === null ? callback(null, result) : callback(error)));
    },
  };
  return callbackForm[name];
};

const asyncForms = {};
for (const [name, operation] of Object.entries(sync)) {
  if (name.endsWith("Sync") && name !== "existsSync") {
    const short = name.slice(0, -4);
    asyncForms[short] = withCallback(short, operation);
  }
}
asyncForms.realpath.native = asyncForms.realpath;
asyncForms.read = (fd, buffer, ...rest) => {
  const callback = rest.pop();
  check.func(callback, "cb");
  let error = null;
  let count = 0;
  try {
    count = sync.readSync(fd, buffer, ...rest);
  } catch (problem) {
    error = problem;
  }
  setImmediate(() => (error === null ? callback(null, count, buffer) : callback(error)));
};
asyncForms.write = (fd, data, ...rest) => {
  const callback = rest.pop();
  check.func(callback, "cb");
  let error = null;
  let count = 0;
  try {
    count = sync.writeSync(fd, data, ...rest);
  } catch (problem) {
    error = problem;
  }
  setImmediate(() => (error === null ? callback(null, count, data) : callback(error)));
};
asyncForms.exists = (path, callback) => {
  const found = sync.existsSync(path);
  setImmediate(() => callback(found));
};

const watchers = Object.fromEntries(["watch", "watchFile", "unwatchFile"].map((name) => [name, () => {
  throw unsupported(`fs.${name}`, "Read the file again when you need its contents.");
}]));

const { F_OK, R_OK, W_OK, X_OK } = constants;
const fs = {
  ...sync, ...asyncForms, ...watchers, constants, F_OK, R_OK, W_OK, X_OK, Stats, Dirent, promises,
  createReadStream, createWriteStream, ReadStream, WriteStream,
};
export default fs;
export const {
  access, accessSync, appendFile, appendFileSync, chmod, chmodSync, chown, chownSync, close, closeSync,
  copyFile, copyFileSync, cp, cpSync, Dir, exists, existsSync, fchmod, fchmodSync, fchown, fchownSync,
  fdatasync, fdatasyncSync, fstat, fstatSync, fsync, fsyncSync, ftruncate, ftruncateSync, futimes,
  futimesSync, lchmod, lchmodSync, lchown, lchownSync, link, linkSync, lstat, lstatSync, lutimes,
  lutimesSync, mkdir, mkdirSync, mkdtemp, mkdtempSync, open, opendir, opendirSync, openSync, read, readdir,
  readdirSync, readFile, readFileSync, readlink, readlinkSync, readSync, readv, readvSync, realpath,
  realpathSync, rename, renameSync, rm, rmdir, rmdirSync, rmSync, stat, statfs, statfsSync, statSync,
  symlink, symlinkSync, truncate, truncateSync, unlink, unlinkSync, unwatchFile, utimes, utimesSync, watch,
  watchFile, write, writeFile, writeFileSync, writeSync, writev, writevSync,
} = fs;
export {
  constants, F_OK, R_OK, W_OK, X_OK, Stats, Dirent, promises, createReadStream, createWriteStream,
  ReadStream, WriteStream,
};
