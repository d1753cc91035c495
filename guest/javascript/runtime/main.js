// SPDX-License-Identifier: Apache-2.0
// What boot evaluates: installs the globals and hands the driver its hooks.
import * as native from "dormouse:native";

const show = (value) => (typeof value === "string" ? value : String(value));
globalThis.console = {
  log: (...items) => void native.writeText(1, items.map(show).join(" ") + "\n"),
  error: (...items) => void native.writeText(2, items.map(show).join(" ") + "\n"),
};
native.setHooks({
  showResult(value) {
    native.emit(1, JSON.stringify({
      data: { "text/plain": typeof value === "string" ? `'${value}'` : String(value) },
      metadata: {},
      isResult: true,
    }));
  },
  reportError(error) {
    const { name, message, stack } = error;
    native.emit(2, JSON.stringify({ name, message, traceback: [`${name}: ${message}`, ...stack.split("\n")] }));
  },
});
