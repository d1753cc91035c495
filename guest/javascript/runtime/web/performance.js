// SPDX-License-Identifier: Apache-2.0
// performance, counted from the birth of the context.
import { monotonicMs } from "dormouse:native";
import { state } from "dormouse:state";

let entries = [];

class PerformanceEntry {
  constructor(name, entryType, startTime, duration, detail) {
    Object.assign(this, { name, entryType, startTime, duration, detail });
  }
  toJSON() { return { ...this }; }
}

class Performance {
  get timeOrigin() { return state.timeOrigin; }
  now() { return monotonicMs() - state.birth; }
  mark(name, options) {
    const entry = new PerformanceEntry(`${name}`, "mark", options?.startTime ?? this.now(), 0, options?.detail ?? null);
    entries.push(entry);
    return entry;
  }
  measure(name, start, end) {
    const options = typeof start === "object" && start !== null ? start : { start, end };
    const at = (point, fallback) => {
      if (point === undefined) return fallback;
      if (typeof point === "number") return point;
      const mark = entries.findLast((entry) => entry.entryType === "mark" && entry.name === `${point}`);
      if (mark === undefined) throw new DOMException(`The "${point}" performance mark has not been set`, "SyntaxError");
      return mark.startTime;
    };
    const from = at(options.start, 0);
    const entry = new PerformanceEntry(`${name}`, "measure", from, at(options.end, this.now()) - from, options.detail ?? null);
    entries.push(entry);
    return entry;
  }
  getEntries() { return [...entries]; }
  getEntriesByName(name, type) {
    return entries.filter((entry) => entry.name === name && (type === undefined || entry.entryType === type));
  }
  getEntriesByType(type) { return entries.filter((entry) => entry.entryType === type); }
  clearMarks(name) { entries = entries.filter((entry) => entry.entryType !== "mark" || (name !== undefined && entry.name !== name)); }
  clearMeasures(name) { entries = entries.filter((entry) => entry.entryType !== "measure" || (name !== undefined && entry.name !== name)); }
  timerify(original) { return original; }
  eventLoopUtilization() { return { idle: 0, active: 0, utilization: 0 }; }
  toJSON() { return { timeOrigin: this.timeOrigin, now: this.now() }; }
}
Object.defineProperty(Performance.prototype, Symbol.toStringTag, { value: "Performance", configurable: true });

export class PerformanceObserver {
  observe() {}
  disconnect() {}
}
export const performance = new Performance();
