// SPDX-License-Identifier: Apache-2.0
// Prints what runs write to memory: pages touched, bytes changed, and their size as a snapshot would
// hold them (XORed against the boot image and compressed).
//
//   node pages.mjs [language] [code]...
import { deflateRawSync } from "node:zlib";
import { newEngine } from "./engine.mjs";

const [language = "javascript", ...codes] = process.argv.slice(2);
const kPage = 4096;

function changes(before, after) {
  const pages = [];
  let bytes = 0;
  for (let at = 0; at < after.length; at += kPage) {
    const old = before.subarray(at, at + kPage);
    const now = after.subarray(at, at + kPage);
    if (old.length === kPage && Buffer.compare(old, now) === 0) continue;
    const page = Buffer.alloc(kPage);
    for (let i = 0; i < kPage; i++) {
      page[i] = now[i] ^ (old[i] ?? 0);
      if (page[i] !== 0) bytes++;
    }
    pages.push(page);
  }
  return { pages: pages.length, bytes, packed: deflateRawSync(Buffer.concat(pages)).length };
}

const defaults = [
  "y = 1", "y = 1", "const k = 1", "1 + 1", "function f(a) { return a + 1 } class C { m() {} }", "console.log('x')", "({a: [1, 2, 3]})",
  "const list = Array.from({length: 10000}, (_, i) => i)", "await Promise.resolve(1)", "throw new Error('x')",
];
const engine = newEngine(language);
const image = Buffer.from(engine.memory.buffer.slice(0));
console.log(`image: ${image.length} bytes, ${changes(Buffer.alloc(0), image).bytes} not zero`);
let last = image;
for (const code of codes.length > 0 ? codes : defaults) {
  const result = engine.run(code);
  const now = Buffer.from(engine.memory.buffer.slice(0));
  const total = changes(image, now);
  const step = changes(last, now);
  last = now;
  console.log(`${code.slice(0, 50).padEnd(50)} ${result.ms.toFixed(2).padStart(8)} ms  this run ${step.pages} pages, ${step.bytes} bytes, ` +
    `packed ${step.packed}  since boot ${total.pages} pages, packed ${total.packed}`);
}
