// SPDX-License-Identifier: Apache-2.0
import * as timers from "dormouse:timers";

function abortable(signal, start, stop) {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(Object.assign(new Error("The operation was aborted", { cause: signal.reason }), { name: "AbortError", code: "ABORT_ERR" }));
      return;
    }
    const handle = start(resolve);
    signal?.addEventListener("abort", () => {
      stop(handle);
      reject(Object.assign(new Error("The operation was aborted", { cause: signal.reason }), { name: "AbortError", code: "ABORT_ERR" }));
    }, { once: true });
  });
}

export const setTimeout = (delay, value, options) =>
  abortable(options?.signal, (resolve) => {
    const handle = timers.setTimeout(() => resolve(value), delay);
    if (options?.ref === false) handle.unref();
    return handle;
  }, timers.clearTimeout);
export const setImmediate = (value, options) =>
  abortable(options?.signal, (resolve) => timers.setImmediate(() => resolve(value)), timers.clearImmediate);
export async function* setInterval(delay, value, options) {
  for (;;) {
    await setTimeout(delay, undefined, options);
    yield value;
  }
}
export const scheduler = { wait: (delay, options) => setTimeout(delay, undefined, options), yield: () => setImmediate() };
const kPromisify = Symbol.for("nodejs.util.promisify.custom");
for (const [original, promised] of [[timers.setTimeout, setTimeout], [timers.setImmediate, setImmediate]]) {
  Object.defineProperty(original, kPromisify, { value: promised, configurable: true });
}

export default { setTimeout, setImmediate, setInterval, scheduler };
