// SPDX-License-Identifier: Apache-2.0
// Takes out of the package what the engine is made of: extract.mjs PACKAGE_DIRECTORY MODULE.wasm LIBRARY_DIRECTORY
//
// The package has the interpreter three times, from the same sources: plain, with the standard library packed into its
// data, and with that and debugging information. The engine is the plain one, with the names of functions taken from the
// last, and the library as files: the second one, run for once, copies its own.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const [packageDirectory, moduleFile, libraryDirectory] = process.argv.slice(2);
const read = (name) => readFileSync(join(packageDirectory, "dist", name));

// Calls visit(id, start, end, name) for each section; the range includes its header.
function visitSections(bytes, visit) {
  const number = (at) => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++];
      value += (byte & 127) * 2 ** shift;
      if (byte < 128) return [value, at];
    }
  };
  for (let at = 8; at < bytes.length; ) {
    const [size, content] = number(at + 1);
    let name = "";
    if (bytes[at] === 0) {
      const [length, text] = number(content);
      name = bytes.toString("utf8", text, text + length);
    }
    visit(bytes[at], at, content + size, name);
    at = content + size;
  }
}

function sectionsOf(bytes) {
  const sections = new Map();
  visitSections(bytes, (id, start, end, name) => sections.set(`${id}${name}`, bytes.subarray(start, end)));
  return sections;
}

const plain = read("ruby.wasm");
const named = sectionsOf(read("ruby.debug+stdlib.wasm"));
// Types, imports, functions, exports and elements: with all of them equal, so are the numbers of functions.
for (const [key, bytes] of sectionsOf(plain)) {
  if (["1", "2", "3", "7", "9"].includes(key) && !bytes.equals(named.get(key))) {
    throw new Error(`section ${key} differs: the names belong to another module`);
  }
}
writeFileSync(moduleFile, Buffer.concat([plain, named.get("0name")]));

// Just enough of WASI: the library is in the module's memory, and comes out of standard output.
const module = new WebAssembly.Module(read("ruby+stdlib.wasm"));
const output = [];
const words = () => new DataView(exports.memory.buffer);
const wasi = {
  fd_write(file, vectors, count, written) {
    let total = 0;
    for (let i = 0; i < count; i++) {
      const [address, length] = [words().getUint32(vectors + 8 * i, true), words().getUint32(vectors + 8 * i + 4, true)];
      const bytes = Buffer.from(new Uint8Array(exports.memory.buffer, address, length));
      if (file === 1) output.push(bytes);
      else process.stderr.write(bytes);
      total += length;
    }
    words().setUint32(written, total, true);
    return 0;
  },
  fd_fdstat_get(file, address) {
    if (file > 2) return 8;
    new Uint8Array(exports.memory.buffer, address, 24).fill(0);
    words().setUint8(address, 2);
    words().setBigUint64(address + 8, ~0n, true);
    return 0;
  },
  clock_time_get(clock, precision, address) {
    words().setBigUint64(address, BigInt(Date.now()) * 1000000n, true);
    return 0;
  },
  random_get: () => 0,
  environ_sizes_get(count, size) {
    words().setUint32(count, 0, true);
    words().setUint32(size, 0, true);
    return 0;
  },
  environ_get: () => 0,
  fd_prestat_get: () => 8,
  proc_exit(code) {
    throw new Error(`the interpreter left with ${code}`);
  },
};
const handles = {
  "resource_new_rb-abi-value": (value) => value,
  "resource_get_rb-abi-value": (handle) => handle,
};
const imports = {};
for (const { module: from, name } of WebAssembly.Module.imports(module)) {
  (imports[from] ??= {})[name] = wasi[name] ?? handles[name] ?? (() => 52);  // ENOSYS
}
const { exports } = new WebAssembly.Instance(module, imports);
exports._initialize();
const exported = (prefix) => exports[Object.keys(exports).find((name) => name.startsWith(prefix))];

function newText(text) {
  const bytes = Buffer.from(`${text}\0`);
  const address = exports.cabi_realloc(0, 0, 1, bytes.length);
  bytes.copy(new Uint8Array(exports.memory.buffer), address);
  return [address, bytes.length - 1];
}

const program = ["ruby", "--disable-gems", "-EUTF-8:", "-e_=0"].map(newText);
const list = exports.cabi_realloc(0, 0, 4, 8 * program.length);
new Uint32Array(exports.memory.buffer, list).set(program.flat());
exported("ruby-init:")(list, program.length);
const result = exported("rb-eval-string-protect:")(...newText(`
  begin
    library = "/usr/local/lib/ruby"
    STDOUT.binmode
    STDOUT.sync = true
    visit = lambda do |directory|
      Dir.children(library + directory).sort.each do |name|
        path = "#{directory}/#{name}"
        next visit.call(path) if File.directory?(library + path)
        bytes = File.binread(library + path)
        STDOUT.write([path.bytesize, bytes.bytesize].pack("VV"), path, bytes)
      end
    end
    visit.call("")
    STDOUT.write([8, RUBY_VERSION.bytesize].pack("VV"), "/VERSION", RUBY_VERSION)
  rescue Exception => error
    STDERR.puts error.full_message
    raise
  end
`));
if (new Uint32Array(exports.memory.buffer, result)[1] !== 0) throw new Error("the library cannot be listed");

// Where a file of the library goes, or null. The bundled gems become one more directory of the library.
function placeOf(path) {
  const gem = /^\/gems\/[^/]+\/gems\/(.+)-[^-/]+\/(.*)$/.exec(path);
  if (gem === null) return path.startsWith("/gems/") || /\/(bundler|mkmf)\b/.test(path) ? null : path.slice(1);
  if (!gem[2].startsWith("lib/") || unwantedGems.has(gem[1])) return null;
  return `bundled/${gem[2].slice(4)}`;
}

// What needs processes, sockets or a terminal.
const unwantedGems = new Set(["debug", "hoe", "irb", "net-ftp", "net-imap", "net-pop", "net-smtp", "rake", "rbs", "rdoc", "readline",
  "readline-ext", "reline", "repl_type_completor", "rubygems_plugin", "typeprof"]);
const bytes = Buffer.concat(output);
let count = 0;
for (let at = 0; at < bytes.length; count++) {
  const [pathLength, length] = [bytes.readUInt32LE(at), bytes.readUInt32LE(at + 4)];
  const place = placeOf(bytes.toString("utf8", at + 8, at + 8 + pathLength));
  at += 8 + pathLength;
  if (place !== null) {
    const file = join(libraryDirectory, place);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, bytes.subarray(at, at + length));
  }
  at += length;
}
if (count < 500) throw new Error(`only ${count} files of the library were found`);
console.log(`${count} files`);
