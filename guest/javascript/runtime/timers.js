// SPDX-License-Identifier: Apache-2.0
// Timers and the nextTick queue. The driver's loop asks for what is due and how long to wait.
import { monotonicMs, setActiveTimers, ticksPending } from "dormouse:native";
import { check } from "dormouse:errors";

const kMaxDelay = 2 ** 31 - 1;

// Unsorted: a run has few timers, and the due ones are found in one pass. A heap takes over nothing
// until there are thousands.
let pending = [];
let immediates = [];
let ticks = [];
let referenced = 0;
let sequence = 0;

function update(change) {
  referenced += change;
  setActiveTimers(referenced);
}

export class Timeout {
  #state;

  constructor(callback, delay, parameters, repeat) {
    let after = +delay;
    if (!(after >= 1 && after <= kMaxDelay)) after = 1;
    this.#state = {
      callback, after, parameters, repeat: repeat ? after : null, due: monotonicMs() + after,
      id: ++sequence, order: sequence, live: true, referenced: true, handle: this,
    };
    insert(this.#state);
    update(1);
  }

  ref() {
    const state = this.#state;
    if (state.live && !state.referenced) update(1);
    state.referenced = true;
    return this;
  }

  unref() {
    const state = this.#state;
    if (state.live && state.referenced) update(-1);
    state.referenced = false;
    return this;
  }

  hasRef() {
    return this.#state.referenced;
  }

  refresh() {
    const state = this.#state;
    if (state.live) {
      remove(state);
      state.due = monotonicMs() + state.after;
      insert(state);
    }
    return this;
  }

  close() {
    cancel(this.#state);
    return this;
  }

  [Symbol.toPrimitive]() {
    return this.#state.id;
  }

  [Symbol.dispose]() {
    cancel(this.#state);
  }

  static cancel(handle) {
    if (typeof handle === "object" && handle !== null && #state in handle) {
      cancel(handle.#state);
      return;
    }
    const id = Number(handle);
    const state = pending.find((candidate) => candidate.id === id);
    if (state !== undefined) cancel(state);
  }
}

// `pending` is kept in the order in which timers fall due.
function insert(state) {
  let low = 0;
  let high = pending.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (pending[middle].due <= state.due) low = middle + 1;
    else high = middle;
  }
  pending.splice(low, 0, state);
}

function remove(state) {
  const index = pending.indexOf(state);
  if (index !== -1) pending.splice(index, 1);
}

function cancel(state) {
  if (!state.live) return;
  state.live = false;
  remove(state);
  if (state.referenced) update(-1);
}

export function setTimeout(callback, delay, ...parameters) {
  check.func(callback, "callback");
  return new Timeout(callback, delay, parameters, false);
}

export function setInterval(callback, delay, ...parameters) {
  check.func(callback, "callback");
  return new Timeout(callback, delay, parameters, true);
}

export function clearTimeout(handle) {
  if (handle !== undefined && handle !== null) Timeout.cancel(handle);
}

export const clearInterval = clearTimeout;

export class Immediate {
  #live = true;
  #callback;
  #parameters;

  constructor(callback, parameters) {
    this.#callback = callback;
    this.#parameters = parameters;
    immediates.push(this);
    update(1);
  }

  ref() { return this; }
  unref() { return this; }
  hasRef() { return this.#live; }
  [Symbol.dispose]() { Immediate.cancel(this); }

  static cancel(handle) {
    if (typeof handle === "object" && handle !== null && #live in handle && handle.#live) {
      handle.#live = false;
      update(-1);
    }
  }

  static run(handle) {
    if (!handle.#live) return;
    handle.#live = false;
    update(-1);
    handle.#callback.apply(handle, handle.#parameters);
  }
}

export function setImmediate(callback, ...parameters) {
  check.func(callback, "callback");
  return new Immediate(callback, parameters);
}

export function clearImmediate(handle) {
  Immediate.cancel(handle);
}

// Runs one callback that is due, and returns the milliseconds to wait for the next. Microtasks run
// between callbacks because the driver runs them between calls of this function.
export function runTimers() {
  const now = monotonicMs();
  const state = pending[0];
  if (state !== undefined && state.due <= now) {
    fire(state, now);
    return 0;
  }
  if (immediates.length > 0) {
    Immediate.run(immediates.shift());
    return 0;
  }
  return state === undefined ? 0 : Math.max(0, pending[0].due - now);
}

// An interval that fell behind fires once and goes on from now.
function fire(state, now) {
  remove(state);
  if (state.repeat === null) {
    state.live = false;
    if (state.referenced) update(-1);
  } else {
    state.due = now + state.repeat;
    insert(state);
  }
  state.callback.apply(state.handle, state.parameters);
}

// What keeps the run going, in node's words.
export function activeResources() {
  return [
    ...pending.filter((state) => state.referenced).map(() => "Timeout"),
    ...immediates.filter((immediate) => immediate.hasRef()).map(() => "Immediate"),
  ];
}

export function dropTimers() {
  for (const state of pending) state.live = false;
  pending = [];
  immediates = [];
  ticks = [];
  referenced = 0;
  setActiveTimers(0);
}

export function nextTick(callback, ...parameters) {
  check.func(callback, "callback");
  ticks.push([callback, parameters]);
  ticksPending();
}

// Runs one callback; the driver comes back for the others, with microtasks in between.
export function runTicks() {
  const tick = ticks.shift();
  if (ticks.length > 0) ticksPending();
  if (tick !== undefined) tick[0](...tick[1]);
}
