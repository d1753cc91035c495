// SPDX-License-Identifier: Apache-2.0
// Whether exceptions and longjmp work in the guest: runs what `build` makes of exceptions.cc.
//
//   node test/exceptions.mjs SCRATCH/data/exceptions/check.wasm
import { readFileSync } from 'node:fs';
import { argv, exit } from 'node:process';

const module = new WebAssembly.Module(readFileSync(argv[2]));
const imports = {};
for (const { module: from, name } of WebAssembly.Module.imports(module)) {
  (imports[from] ??= {})[name] = () => 52; // not supported: the program is to do without
}
const { exports } = new WebAssembly.Instance(module, imports);
exports._initialize();

const line = exports.check();
let uncaught = 'nothing';
try {
  exports.uncaught();
} catch (error) {
  uncaught = error instanceof WebAssembly.Exception ? 'an exception' : error;
}
console.log(line === 0 ? 'check: right' : `check: wrong in line ${line}`);
console.log(`uncaught: ${uncaught}`);
exit(line === 0 && uncaught === 'an exception' ? 0 : 1);
