// SPDX-License-Identifier: Apache-2.0
// Stats and Dirent.
const kFormat = 0o170000;
// Where the host knows none.
const kPermissions = { 0o040000: 0o755, 0o120000: 0o777, 0o020000: 0o666, 0o100000: 0o644 };

const kind = (format) => function isKind() {
  return (Number(this.mode) & kFormat) === format;
};

export class Stats {
  constructor(fields, bigint) {
    const [dev, ino, type, nlink, size, atime, mtime, ctime, permissions] = fields;
    const wrap = bigint ? (value) => BigInt(Math.round(value)) : (value) => value;
    Object.assign(this, {
      dev: wrap(dev), mode: wrap(type | (permissions < 0 ? kPermissions[type] : permissions)), nlink: wrap(nlink), uid: wrap(1000), gid: wrap(1000),
      rdev: wrap(0), blksize: wrap(4096), ino: wrap(ino), size: wrap(size), blocks: wrap(Math.ceil(size / 512)),
      atimeMs: wrap(atime / 1e6), mtimeMs: wrap(mtime / 1e6), ctimeMs: wrap(ctime / 1e6),
      birthtimeMs: wrap(ctime / 1e6),
    });
    if (bigint) {
      Object.assign(this, { atimeNs: wrap(atime), mtimeNs: wrap(mtime), ctimeNs: wrap(ctime), birthtimeNs: wrap(ctime) });
    }
    for (const [name, value] of [["atime", atime], ["mtime", mtime], ["ctime", ctime], ["birthtime", ctime]]) {
      this[name] = new Date(value / 1e6);
    }
  }
}

export class Dirent {
  constructor(name, parentPath, type) {
    this.name = name;
    this.parentPath = parentPath;
    this.path = parentPath;
    Object.defineProperty(this, "mode", { value: type });
  }
}

for (const { prototype } of [Stats, Dirent]) {
  Object.defineProperties(prototype, Object.fromEntries(Object.entries({
    isFile: kind(0o100000), isDirectory: kind(0o040000), isSymbolicLink: kind(0o120000),
    isCharacterDevice: kind(0o020000), isBlockDevice: () => false, isFIFO: () => false, isSocket: () => false,
  }).map(([name, value]) => [name, { value, writable: true, configurable: true }])));
}
