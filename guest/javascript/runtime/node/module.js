// SPDX-License-Identifier: Apache-2.0
import { builtinName, builtinNames } from "dormouse:builtin-names";
import { createRequire } from "dormouse:modules";

export const builtinModules = [];
export const isBuiltin = (name) => builtinName(`${name}`) !== undefined;
export const findSourceMap = () => undefined;
export const syncBuiltinESMExports = () => {};
export const register = () => {
  throw new Error("module.register is not available here: modules are loaded by the engine itself");
};
export { createRequire };
const Module = Object.assign(class Module {}, {
  builtinModules, createRequire, isBuiltin, findSourceMap, syncBuiltinESMExports, register, _cache: {},
});
Module.Module = Module;
// The table is complete only when all built-in modules are loaded.
queueMicrotask(() => builtinModules.push(...builtinNames()));
export default Module;
export { Module };
