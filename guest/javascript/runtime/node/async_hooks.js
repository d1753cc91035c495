// SPDX-License-Identifier: Apache-2.0
// There is no tracking of asynchronous contexts; what would need it says so.
import { codedError } from "dormouse:errors";

const refuse = (name) => {
  throw codedError(Error, "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM",
    `${name} is not available here: this engine does not track asynchronous contexts. Pass values as arguments.`);
};

export class AsyncLocalStorage {
  run() { refuse("AsyncLocalStorage.run"); }
  enterWith() { refuse("AsyncLocalStorage.enterWith"); }
  exit(callback, ...parameters) { return callback(...parameters); }
  getStore() { return undefined; }
  disable() {}
  static bind(callback) { return callback; }
}
export class AsyncResource {
  constructor(type) { this.type = type; }
  runInAsyncScope(callback, self, ...parameters) { return callback.apply(self, parameters); }
  emitDestroy() { return this; }
  asyncId() { return 1; }
  triggerAsyncId() { return 0; }
  static bind(callback) { return callback; }
}
export const createHook = () => refuse("createHook");
export const executionAsyncId = () => 1;
export const triggerAsyncId = () => 0;
export default { AsyncLocalStorage, AsyncResource, createHook, executionAsyncId, triggerAsyncId };
