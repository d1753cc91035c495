// SPDX-License-Identifier: Apache-2.0
// Takes the library that is packed into the interpreter's data out of it: extract.mjs MODULE.wasm DIRECTORY
//
// The interpreter serves these files under /zeroperl by descriptors of its own numbering, which can be the numbers of
// real files. As files of the engine they have none of that.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const [moduleFile, directory] = process.argv.slice(2);
const module = new WebAssembly.Module(readFileSync(moduleFile));
const imports = {};
for (const { module: from, name } of WebAssembly.Module.imports(module)) {
  (imports[from] ??= {})[name] = () => 0;
}
const { exports } = new WebAssembly.Instance(module, imports);
const bytes = new Uint8Array(exports.memory.buffer);
const words = new Uint32Array(exports.memory.buffer);

const prefix = Buffer.from("/zeroperl/lib/5.");
function pathAt(address) {
  if (address === 0 || address + 300 > bytes.length) return null;
  for (let i = 0; i < prefix.length; i++) if (bytes[address + i] !== prefix[i]) return null;
  return Buffer.from(bytes.buffer, address, bytes.indexOf(0, address) - address).toString();
}

// Rows of path, first byte, byte after the last.
let count = 0;
for (let i = 0; i + 2 < words.length; i++) {
  const path = pathAt(words[i]);
  const [start, end] = [words[i + 1], words[i + 2]];
  if (path === null || start > end || end > bytes.length || end - start > 1 << 24) continue;
  if (/\/[^/]+\.[^/]+$|\/[^./]+$/.test(path) === false || path.includes("/Image/ExifTool")) continue;
  const relative = path.replace(/^\/zeroperl\/lib\/5\.[0-9.]+\//, "");
  const file = join(directory, relative);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, bytes.subarray(start, end));
  count++;
}
if (count < 300) throw new Error(`only ${count} files of the library were found`);
console.log(`${count} files`);
