// SPDX-License-Identifier: Apache-2.0
// The built-in modules by name, without "node:". Filled by builtins.js; apart from it, because some of
// those modules want the table themselves.
export const builtins = { __proto__: null };

export const builtinNames = () => Object.keys(builtins);

// The name without "node:" of a built-in module, or undefined.
export function builtinName(specifier) {
  const name = specifier.startsWith("node:") ? specifier.slice(5) : specifier;
  return name in builtins ? name : undefined;
}
