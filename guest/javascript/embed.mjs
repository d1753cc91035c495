// SPDX-License-Identifier: Apache-2.0
// embed.mjs OUTFILE PREFIX=FOLDER...: a C file with the .js files of the folders as the table of runtime
// modules. PREFIX is put before a file's path within its folder; files under node/ are named node:*.
import { readdirSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";

const [out, ...folders] = process.argv.slice(2);
const texts = [];
const rows = [];
for (const item of folders) {
  const at = item.indexOf("=");
  const [prefix, folder] = [item.slice(0, at), resolve(item.slice(at + 1))];
  const files = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith(".js")).sort();
  for (const file of files) {
    const path = join(folder, file);
    const name = relative(folder, path).slice(0, -3);
    const module = name.startsWith("node/") ? `node:${name.slice(5)}` : `${prefix}${name}`;
    const id = texts.length;
    texts.push(`static const unsigned char text_${id}[] = {\n#embed "${path}"\n, 0};`);
    rows.push(`  {"${module}", text_${id}, sizeof text_${id} - 1},`);
  }
}
writeFileSync(out, `#include "embedded.h"

${texts.join("\n")}

const EmbeddedModule embedded_modules[] = {
${rows.join("\n")}
};
const size_t embedded_module_count = ${rows.length};
`);
