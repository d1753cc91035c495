// SPDX-License-Identifier: Apache-2.0
// EventEmitter: the `events` package and the few things that Node has beyond it.
import events from "dormouse:vendor/events";

export const EventEmitter = events;
EventEmitter.EventEmitter = EventEmitter;
EventEmitter.default = undefined;
delete EventEmitter.default;

EventEmitter.errorMonitor = Symbol("events.errorMonitor");
EventEmitter.captureRejectionSymbol = Symbol.for("nodejs.rejection");
EventEmitter.captureRejections = false;
EventEmitter.usingDomains = false;

EventEmitter.getEventListeners = (emitter, name) => emitter.listeners(name);
EventEmitter.getMaxListeners = (emitter) => emitter.getMaxListeners();
EventEmitter.setMaxListeners = (count = 10, ...emitters) => {
  for (const emitter of emitters) emitter.setMaxListeners?.(count);
};
EventEmitter.addAbortListener = (signal, listener) => {
  if (signal.aborted) queueMicrotask(() => listener());
  else signal.addEventListener("abort", listener, { once: true });
  return { [Symbol.dispose]() { signal.removeEventListener("abort", listener); } };
};

// An endless asynchronous iterator over the events of one name.
EventEmitter.on = function on(emitter, name, options) {
  const waiting = [];
  const ready = [];
  let failure;
  let done = false;
  const settle = (item) => {
    const next = waiting.shift();
    if (next === undefined) ready.push(item);
    else next.resolve({ value: item, done: false });
  };
  const onEvent = (...items) => settle(items);
  const onError = (error) => {
    const next = waiting.shift();
    if (next === undefined) failure = { error };
    else next.reject(error);
  };
  const finish = () => {
    done = true;
    emitter.removeListener(name, onEvent);
    emitter.removeListener("error", onError);
    for (const next of waiting.splice(0)) next.resolve({ value: undefined, done: true });
    return Promise.resolve({ value: undefined, done: true });
  };
  emitter.on(name, onEvent);
  if (name !== "error") emitter.on("error", onError);
  options?.signal?.addEventListener("abort", () => {
    onError(options.signal.reason);
    finish();
  }, { once: true });
  return {
    next() {
      if (ready.length > 0) return Promise.resolve({ value: ready.shift(), done: false });
      if (failure !== undefined) {
        const { error } = failure;
        failure = undefined;
        return Promise.reject(error);
      }
      if (done) return finish();
      return new Promise((resolve, reject) => waiting.push({ resolve, reject }));
    },
    return: finish,
    throw(error) {
      finish();
      return Promise.reject(error);
    },
    [Symbol.asyncIterator]() { return this; },
  };
};
