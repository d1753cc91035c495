// SPDX-License-Identifier: Apache-2.0
// Errors with Node's codes, and the error numbers of the host.

// WASI errno → [code, number on Linux, text]
const kSystem = {
  1: ["E2BIG", 7, "argument list too long"], 2: ["EACCES", 13, "permission denied"],
  6: ["EAGAIN", 11, "resource temporarily unavailable"], 8: ["EBADF", 9, "bad file descriptor"],
  10: ["EBUSY", 16, "resource busy or locked"], 17: ["EDOM", 33, "argument out of domain"],
  19: ["EDQUOT", 122, "disk quota exceeded"],
  20: ["EEXIST", 17, "file already exists"], 21: ["EFAULT", 14, "bad address in system call argument"],
  22: ["EFBIG", 27, "file too large"], 25: ["EILSEQ", 84, "illegal byte sequence"],
  27: ["EINTR", 4, "interrupted system call"], 28: ["EINVAL", 22, "invalid argument"],
  29: ["EIO", 5, "i/o error"], 31: ["EISDIR", 21, "illegal operation on a directory"],
  32: ["ELOOP", 40, "too many symbolic links encountered"], 33: ["EMFILE", 24, "too many open files"],
  34: ["EMLINK", 31, "too many links"], 37: ["ENAMETOOLONG", 36, "name too long"],
  41: ["ENFILE", 23, "file table overflow"], 44: ["ENOENT", 2, "no such file or directory"],
  48: ["ENOMEM", 12, "not enough memory"], 51: ["ENOSPC", 28, "no space left on device"],
  52: ["ENOSYS", 38, "function not implemented"], 54: ["ENOTDIR", 20, "not a directory"],
  55: ["ENOTEMPTY", 39, "directory not empty"], 58: ["ENOTSUP", 95, "operation not supported"],
  59: ["ENOTTY", 25, "inappropriate ioctl for device"],
  60: ["ENXIO", 6, "no such device or address"], 61: ["EOVERFLOW", 75, "value too large for defined data type"],
  63: ["EPERM", 1, "operation not permitted"], 64: ["EPIPE", 32, "broken pipe"],
  68: ["ERANGE", 34, "result too large"], 69: ["EROFS", 30, "read-only file system"],
  70: ["ESPIPE", 29, "invalid seek"], 75: ["EXDEV", 18, "cross-device link not permitted"],
  76: ["EPERM", 1, "operation not permitted"],
};

export const errnoNames = Object.fromEntries(
  Object.values(kSystem).map(([code, number]) => [code, number]));

// `status` is the negative number that a native call answered with.
export function systemError(status, syscall, path, destination) {
  const [code, number, text] = kSystem[-status] ?? ["EUNKNOWN", -status, "unknown error"];
  let message = `${code}: ${text}, ${syscall}`;
  if (path !== undefined) message += ` '${path}'`;
  if (destination !== undefined) message += ` -> '${destination}'`;
  const error = new Error(message);
  error.errno = -number;
  error.code = code;
  error.syscall = syscall;
  if (path !== undefined) error.path = path;
  if (destination !== undefined) error.dest = destination;
  return error;
}

// An error of class `Base` whose stack says `Name [CODE]: message`, as Node's do.
export function codedError(Base, code, message) {
  const error = new Base(message);
  Object.defineProperty(error, "code", {
    value: code, enumerable: true, writable: true, configurable: true,
  });
  const { stack } = error;
  if (typeof stack === "string") {
    Object.defineProperty(error, "stack", {
      value: stack.replace(/^[A-Za-z]*Error/, (name) => `${name} [${code}]`),
      writable: true, configurable: true, enumerable: false,
    });
  }
  return error;
}

function kindOf(value) {
  if (value === null || value === undefined) return `${value}`;
  if (typeof value === "function") return `function ${value.name}`;
  if (typeof value === "object") {
    return typeof value.constructor?.name === "string" && value.constructor.name !== ""
      ? `an instance of ${value.constructor.name}` : "an object";
  }
  const text = typeof value === "string" ? `'${value.length > 28 ? `${value.slice(0, 25)}...` : value}'`
    : String(value);
  return `type ${typeof value} (${text})`;
}

export function argumentTypeError(name, expected, value) {
  const what = name.endsWith(" argument") ? `The ${name}` : `The "${name}" argument`;
  return codedError(TypeError, "ERR_INVALID_ARG_TYPE",
    `${what} must be ${expected}. Received ${kindOf(value)}`);
}

export function argumentValueError(name, value, reason = "is invalid") {
  return codedError(TypeError, "ERR_INVALID_ARG_VALUE",
    `The ${name.includes(".") ? "property" : "argument"} '${name}' ${reason}. Received ${kindOf(value)}`);
}

export function rangeError(name, range, value) {
  return codedError(RangeError, "ERR_OUT_OF_RANGE",
    `The value of "${name}" is out of range. It must be ${range}. Received ${String(value)}`);
}

export function unsupported(what, instead) {
  return codedError(Error, "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM",
    `${what} is not available here: code runs in a sandbox without processes, threads and network. ` +
    instead);
}

export const check = {
  func(value, name) {
    if (typeof value !== "function") throw argumentTypeError(name, "of type function", value);
  },
  string(value, name) {
    if (typeof value !== "string") throw argumentTypeError(name, "of type string", value);
  },
  number(value, name) {
    if (typeof value !== "number") throw argumentTypeError(name, "of type number", value);
  },
  integer(value, name, low = Number.MIN_SAFE_INTEGER, high = Number.MAX_SAFE_INTEGER) {
    check.number(value, name);
    if (!Number.isInteger(value)) throw rangeError(name, "an integer", value);
    if (value < low || value > high) throw rangeError(name, `>= ${low} && <= ${high}`, value);
  },
};
