// SPDX-License-Identifier: Apache-2.0
// Event, CustomEvent, EventTarget.
import { monotonicMs } from "dormouse:native";

const kState = Symbol("state");
const stateOf = (event) => event[kState];

export class Event {
  constructor(type, options = {}) {
    Object.defineProperty(this, kState, { value: {
      type: `${type}`, bubbles: !!options?.bubbles, cancelable: !!options?.cancelable,
      composed: !!options?.composed, canceled: false, stopped: false, passive: false,
      target: null, phase: 0, timeStamp: monotonicMs(),
    } });
  }

  get type() { return this[kState].type; }
  get target() { return this[kState].target; }
  get currentTarget() { return this[kState].phase === 0 ? null : this[kState].target; }
  get srcElement() { return this[kState].target; }
  get bubbles() { return this[kState].bubbles; }
  get cancelable() { return this[kState].cancelable; }
  get composed() { return this[kState].composed; }
  get defaultPrevented() { return this[kState].canceled; }
  get returnValue() { return !this[kState].canceled; }
  get eventPhase() { return this[kState].phase; }
  get timeStamp() { return this[kState].timeStamp; }
  get isTrusted() { return false; }
  get cancelBubble() { return this[kState].stopped; }
  composedPath() { return this[kState].phase === 0 ? [] : [this[kState].target]; }
  preventDefault() {
    if (this[kState].cancelable && !this[kState].passive) this[kState].canceled = true;
  }
  stopPropagation() {}
  stopImmediatePropagation() { this[kState].stopped = true; }
}
for (const [name, value] of Object.entries({ NONE: 0, CAPTURING_PHASE: 1, AT_TARGET: 2, BUBBLING_PHASE: 3 })) {
  Object.defineProperty(Event, name, { value, enumerable: true });
}
Object.defineProperty(Event.prototype, Symbol.toStringTag, { value: "Event", configurable: true });

export class CustomEvent extends Event {
  #detail;
  constructor(type, options = {}) {
    super(type, options);
    this.#detail = options?.detail ?? null;
  }
  get detail() { return this.#detail; }
}

export class EventTarget {
  #listeners = new Map();

  addEventListener(type, callback, options) {
    if (callback === null || callback === undefined) return;
    const settings = typeof options === "boolean" ? { capture: options } : options ?? {};
    if (settings.signal?.aborted) return;
    const key = `${type}`;
    const list = this.#listeners.get(key) ?? [];
    const capture = !!settings.capture;
    if (list.some((entry) => entry.callback === callback && entry.capture === capture)) return;
    this.#listeners.set(key, [...list, { callback, capture, once: !!settings.once, passive: !!settings.passive }]);
    settings.signal?.addEventListener("abort", () => this.removeEventListener(key, callback, settings), { once: true });
  }

  removeEventListener(type, callback, options) {
    const capture = typeof options === "boolean" ? options : !!options?.capture;
    const list = this.#listeners.get(`${type}`);
    if (list === undefined) return;
    this.#listeners.set(`${type}`, list.filter((entry) =>
      entry.callback !== callback || entry.capture !== capture));
  }

  dispatchEvent(event) {
    if (!(event instanceof Event)) {
      throw new TypeError('The "event" argument must be an instance of Event.');
    }
    const state = stateOf(event);
    state.target = this;
    state.phase = 2;
    for (const entry of this.#listeners.get(state.type) ?? []) {
      if (!this.#listeners.get(state.type).includes(entry)) continue;
      if (entry.once) this.removeEventListener(state.type, entry.callback, entry);
      state.passive = entry.passive;
      try {
        if (typeof entry.callback === "function") entry.callback.call(this, event);
        else entry.callback.handleEvent?.(event);
      } catch (error) {
        queueMicrotask(() => { throw error; });
      }
      if (state.stopped) break;
    }
    state.phase = 0;
    return !state.canceled;
  }
}
Object.defineProperty(EventTarget.prototype, Symbol.toStringTag, { value: "EventTarget", configurable: true });
