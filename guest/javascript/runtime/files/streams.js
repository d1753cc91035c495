// SPDX-License-Identifier: Apache-2.0
// fs.createReadStream and fs.createWriteStream over node:stream.
import * as sync from "dormouse:files/sync";
import { Readable, Writable } from "node:stream";
import { Buffer } from "node:buffer";

const optionsOf = (options) => (typeof options === "string" ? { encoding: options } : options ?? {});

export class ReadStream extends Readable {
  #position;
  #end;

  constructor(path, options) {
    const { fd, flags = "r", start, end = Infinity, highWaterMark = 65536, encoding, autoClose = true } = optionsOf(options);
    super({ highWaterMark, encoding });
    this.path = path;
    this.fd = fd ?? null;
    this.flags = flags;
    this.autoClose = autoClose;
    this.bytesRead = 0;
    this.#position = start ?? 0;
    this.explicitStart = start !== undefined;
    this.#end = end;
  }

  _construct(callback) {
    try {
      this.fd ??= sync.openSync(this.path, this.flags);
      callback();
      this.emit("open", this.fd);
      this.emit("ready");
    } catch (error) {
      callback(error);
    }
  }

  _read(size) {
    const wanted = Math.min(size, this.#end - this.#position + 1);
    if (wanted <= 0) {
      this.push(null);
      return;
    }
    try {
      const buffer = Buffer.allocUnsafeSlow(wanted);
      const count = sync.readSync(this.fd, buffer, 0, wanted, this.explicitStart ? this.#position : null);
      this.#position += count;
      this.bytesRead += count;
      this.push(count === 0 ? null : buffer.subarray(0, count));
    } catch (error) {
      this.destroy(error);
    }
  }

  _destroy(error, callback) {
    if (this.fd !== null && this.autoClose) {
      sync.closeSync(this.fd);
      this.fd = null;
    }
    callback(error);
  }

  close(callback) {
    if (callback) this.once("close", callback);
    this.destroy();
  }
}

export class WriteStream extends Writable {
  #position;

  constructor(path, options) {
    const { fd, flags = "w", mode = 0o666, encoding, start, autoClose = true } = optionsOf(options);
    super({ decodeStrings: true, defaultEncoding: encoding ?? "utf8" });
    this.path = path;
    this.fd = fd ?? null;
    this.flags = flags;
    this.mode = mode;
    this.autoClose = autoClose;
    this.bytesWritten = 0;
    this.#position = start;
  }

  _construct(callback) {
    try {
      this.fd ??= sync.openSync(this.path, this.flags, this.mode);
      callback();
      this.emit("open", this.fd);
      this.emit("ready");
    } catch (error) {
      callback(error);
    }
  }

  _write(chunk, encoding, callback) {
    try {
      for (let at = 0; at < chunk.length;) {
        const count = sync.writeSync(this.fd, chunk, at, chunk.length - at, this.#position ?? null);
        at += count;
        this.bytesWritten += count;
        if (this.#position !== undefined) this.#position += count;
      }
      callback();
    } catch (error) {
      callback(error);
    }
  }

  _destroy(error, callback) {
    if (this.fd !== null && this.autoClose) {
      sync.closeSync(this.fd);
      this.fd = null;
    }
    callback(error);
  }

  close(callback) {
    if (callback) this.once("close", callback);
    this.end();
  }
}

export const createReadStream = (path, options) => new ReadStream(path, options);
export const createWriteStream = (path, options) => new WriteStream(path, options);
