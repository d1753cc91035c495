// SPDX-License-Identifier: Apache-2.0
// node:fs/promises.
import * as sync from "dormouse:files/sync";
import { constants } from "dormouse:files/constants";
import { Buffer } from "node:buffer";

const forms = {};
for (const name of [
  "access", "appendFile", "chmod", "chown", "copyFile", "cp", "lchmod", "lchown", "link", "lstat", "lutimes",
  "mkdir", "mkdtemp", "opendir", "readdir", "readFile", "readlink", "realpath", "rename", "rm", "rmdir", "stat",
  "statfs", "symlink", "truncate", "unlink", "utimes", "writeFile",
]) {
  const operation = sync[`${name}Sync`];
  const fileOf = (value) => (value instanceof FileHandle ? value.fd : value);
  ({ [name]: forms[name] } = { async [name](file, ...rest) {
    return operation(fileOf(file), ...rest);
  } });
}

export class FileHandle {
  #fd;
  constructor(fd) { this.#fd = fd; }
  get fd() { return this.#fd; }
  async read(buffer, offset, length, position) {
    let target = buffer;
    let options = { offset, length, position };
    if (target === undefined || (typeof target === "object" && !ArrayBuffer.isView(target))) {
      options = target ?? {};
      target = options.buffer ?? Buffer.alloc(16384);
    } else if (typeof offset === "object" && offset !== null) {
      options = offset;
    }
    return { bytesRead: sync.readSync(this.#fd, target, options), buffer: target };
  }
  async write(data, ...rest) {
    return { bytesWritten: sync.writeSync(this.#fd, data, ...rest), buffer: data };
  }
  async readFile(options) { return sync.readFileSync(this.#fd, options); }
  async writeFile(data, options) { sync.writeFileSync(this.#fd, data, options); }
  async appendFile(data, options) { sync.writeFileSync(this.#fd, data, options); }
  async stat(options) { return sync.fstatSync(this.#fd, options); }
  async truncate(length) { sync.ftruncateSync(this.#fd, length); }
  async sync() { sync.fsyncSync(this.#fd); }
  async datasync() { sync.fdatasyncSync(this.#fd); }
  async utimes(atime, mtime) { sync.futimesSync(this.#fd, atime, mtime); }
  async chmod(mode) { sync.fchmodSync(this.#fd, mode); }
  async chown() { sync.fchownSync(this.#fd); }
  async readv(buffers, position) { return { bytesRead: sync.readvSync(this.#fd, buffers, position), buffers }; }
  async writev(buffers, position) { return { bytesWritten: sync.writevSync(this.#fd, buffers, position), buffers }; }
  async *readLines(options) {
    const text = sync.readFileSync(this.#fd, { encoding: "utf8", ...options });
    const lines = text.split(/\r?\n/);
    if (lines.at(-1) === "") lines.pop();
    yield* lines;
  }
  async close() {
    if (this.#fd < 0) return;
    const fd = this.#fd;
    this.#fd = -1;
    sync.closeSync(fd);
  }
  async [Symbol.asyncDispose]() { await this.close(); }
}

export async function open(path, flags, mode) {
  return new FileHandle(sync.openSync(path, flags, mode));
}

export const promises = { ...forms, open, constants };
export default promises;
export const {
  access, appendFile, chmod, chown, copyFile, cp, lchmod, lchown, link, lstat, lutimes, mkdir, mkdtemp, opendir,
  readdir, readFile, readlink, realpath, rename, rm, rmdir, stat, statfs, symlink, truncate, unlink, utimes,
  writeFile,
} = forms;
export { constants };
