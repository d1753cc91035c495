// SPDX-License-Identifier: Apache-2.0
// AbortController and AbortSignal.
import { Event, EventTarget } from "dormouse:web/events";
import { setTimeout } from "dormouse:timers";

let making = false;
let abort;

export class AbortSignal extends EventTarget {
  #aborted = false;
  #reason = undefined;
  onabort = null;

  constructor() {
    if (!making) throw new TypeError("Illegal constructor");
    super();
    Object.defineProperty(this, "onabort", { enumerable: false, writable: true });
  }

  static {
    abort = (signal, reason = new DOMException("This operation was aborted", "AbortError")) => {
      if (signal.#aborted) return;
      signal.#aborted = true;
      signal.#reason = reason;
      const event = new Event("abort");
      signal.onabort?.(event);
      signal.dispatchEvent(event);
    };
  }

  get aborted() { return this.#aborted; }
  get reason() { return this.#reason; }
  throwIfAborted() {
    if (this.#aborted) throw this.#reason;
  }

  static abort(reason) {
    const signal = newSignal();
    abort(signal, reason);
    return signal;
  }

  static timeout(delay) {
    const signal = newSignal();
    setTimeout(() => abort(signal, new DOMException("The operation was aborted due to timeout", "TimeoutError")), delay).unref();
    return signal;
  }

  static any(signals) {
    const result = newSignal();
    for (const signal of signals) {
      if (signal.aborted) {
        abort(result, signal.reason);
        break;
      }
      signal.addEventListener("abort", () => abort(result, signal.reason), { once: true });
    }
    return result;
  }
}
Object.defineProperty(AbortSignal.prototype, Symbol.toStringTag, { value: "AbortSignal", configurable: true });

function newSignal() {
  making = true;
  try {
    return new AbortSignal();
  } finally {
    making = false;
  }
}

export class AbortController {
  #signal = newSignal();
  get signal() { return this.#signal; }
  abort(reason) { abort(this.#signal, reason); }
}
Object.defineProperty(AbortController.prototype, Symbol.toStringTag, { value: "AbortController", configurable: true });
