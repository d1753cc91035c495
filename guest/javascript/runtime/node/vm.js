// SPDX-License-Identifier: Apache-2.0
// Code runs in this context; a second global object is not to be had.
import { checkScript, evalScript } from "dormouse:native";
import { codedError } from "dormouse:errors";

const refuse = (name) => () => {
  throw codedError(Error, "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM",
    `vm.${name} is not available here: an engine has one global object. Use vm.runInThisContext, new Function or a second context.`);
};
const nameOf = (options) => (typeof options === "string" ? options : options?.filename ?? "evalmachine.<anonymous>");

export const runInThisContext = (code, options) => evalScript(`${code}`, nameOf(options), 1);
export class Script {
  #code;
  #name;
  constructor(code, options) {
    this.#code = `${code}`;
    this.#name = nameOf(options);
    checkScript(this.#code, this.#name);
  }
  runInThisContext() { return evalScript(this.#code, this.#name, 1); }
  runInContext() { return refuse("Script.runInContext")(); }
  runInNewContext() { return refuse("Script.runInNewContext")(); }
}
export const createContext = refuse("createContext");
export const runInContext = refuse("runInContext");
export const runInNewContext = refuse("runInNewContext");
export const isContext = () => false;
export const compileFunction = (code, parameters = []) => new Function(...parameters, code);
export default { Script, createContext, runInContext, runInNewContext, runInThisContext, isContext, compileFunction };
