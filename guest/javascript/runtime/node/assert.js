// SPDX-License-Identifier: Apache-2.0
import { inspect } from "dormouse:inspect/inspect";
import { isDeepEqual } from "dormouse:equal";
import { isError, isRegExp } from "dormouse:types";
import { argumentTypeError } from "dormouse:errors";

const show = (value) => inspect(value, { maxArrayLength: 1000, depth: 100, sorted: true, breakLength: 80 });

export class AssertionError extends Error {
  constructor(options) {
    const { actual, expected, operator, message, stackStartFn } = options;
    super(message ?? describe(operator, actual, expected));
    this.name = "AssertionError";
    this.generatedMessage = message === undefined;
    this.code = "ERR_ASSERTION";
    this.actual = actual;
    this.expected = expected;
    this.operator = operator;
    Error.captureStackTrace?.(this, stackStartFn ?? AssertionError);
    Object.defineProperty(this, "stack", {
      value: `${this.stack}`.replace(/^[A-Za-z]*Error/, "AssertionError [ERR_ASSERTION]"), configurable: true, writable: true,
    });
  }
}

const kTexts = {
  __proto__: null,
  deepStrictEqual: "Expected values to be strictly deep-equal:",
  strictEqual: "Expected values to be strictly equal:",
  deepEqual: "Expected values to be loosely deep-equal:",
  notDeepStrictEqual: 'Expected "actual" not to be strictly deep-equal to:',
  notStrictEqual: 'Expected "actual" to be strictly unequal to:',
  notDeepEqual: 'Expected "actual" not to be loosely deep-equal to:',
};

function describe(operator, actual, expected) {
  if (operator === "==" || operator === "!=") return `${show(actual)} ${operator} ${show(expected)}`;
  const head = kTexts[operator];
  if (head === undefined) return "Failed";
  if (operator.startsWith("not")) return `${head}\n\n${show(expected)}`;
  return difference(head, show(actual), show(expected));
}

function difference(head, actual, expected) {
  const [left, right] = [actual.split("\n"), expected.split("\n")];
  if (left.length === 1 && right.length === 1 && actual !== expected) return `${head}\n\n${actual} !== ${expected}\n`;
  if (actual === expected) return "Values have same structure but are not reference-equal:\n\n" + `${actual}\n`;
  const lines = [];
  for (let i = 0, j = 0; (i < left.length || j < right.length) && lines.length < 100;) {
    if (left[i] === right[j]) {
      lines.push(`  ${left[i]}`);
      i++;
      j++;
    } else {
      const ahead = right.indexOf(left[i], j);
      if (i < left.length && (ahead === -1 || ahead - j > 20)) lines.push(`+ ${left[i++]}`);
      else if (j < right.length) lines.push(`- ${right[j++]}`);
      else lines.push(`+ ${left[i++]}`);
    }
  }
  return `${head}\n+ actual - expected\n\n${lines.join("\n")}\n`;
}

function fail(test, message, actual, expected, operator) {
  if (isError(message)) throw message;
  throw new AssertionError({ message, actual, expected, operator, stackStartFn: test });
}

export function ok(value, message) {
  if (value) return;
  fail(ok, arguments.length === 0 ? "No value argument passed to `assert.ok()`"
    : message ?? "The expression evaluated to a falsy value", value, true, "==");
}

const comparison = (name, operator, holds) => ({
  [name](actual, expected, message) {
    if (!holds(actual, expected)) fail(assert[name], message, actual, expected, operator);
  },
})[name];

/* eslint-disable eqeqeq */
export const equal = comparison("equal", "==", (a, b) => a == b || (Number.isNaN(a) && Number.isNaN(b)));
export const notEqual = comparison("notEqual", "!=", (a, b) => a != b && !(Number.isNaN(a) && Number.isNaN(b)));
/* eslint-enable eqeqeq */
export const strictEqual = comparison("strictEqual", "strictEqual", Object.is);
export const notStrictEqual = comparison("notStrictEqual", "notStrictEqual", (a, b) => !Object.is(a, b));
export const deepEqual = comparison("deepEqual", "deepEqual", (a, b) => isDeepEqual(a, b, false));
export const notDeepEqual = comparison("notDeepEqual", "notDeepEqual", (a, b) => !isDeepEqual(a, b, false));
export const deepStrictEqual = comparison("deepStrictEqual", "deepStrictEqual", (a, b) => isDeepEqual(a, b, true));
export const notDeepStrictEqual = comparison("notDeepStrictEqual", "notDeepStrictEqual", (a, b) => !isDeepEqual(a, b, true));

// Whether an error is the expected one: a class, a pattern, a validating function or a pattern object.
function matches(error, expected, message, test) {
  if (expected === undefined || typeof expected === "string") return;
  if (isRegExp(expected)) {
    if (expected.test(String(error))) return;
    fail(test, message ?? `The input did not match the regular expression ${inspect(expected)}. Input:\n\n${inspect(String(error))}\n`, error, expected, "throws");
  }
  if (typeof expected === "function") {
    if (expected.prototype !== undefined && error instanceof expected) return;
    if (Object.prototype.isPrototypeOf.call(Error, expected) || expected === Error) throw error;
    if (expected.call({}, error) === true) return;
    fail(test, message ?? "The validation function is expected to return \"true\".", error, expected, "throws");
  }
  for (const key of isError(expected) ? ["name", "message", ...Object.keys(expected)] : Object.keys(expected)) {
    const same = isRegExp(expected[key]) && typeof error?.[key] === "string"
      ? expected[key].test(error[key]) : isDeepEqual(error?.[key], expected[key], true);
    if (!same) fail(test, message, error, expected, "throws");
  }
}

export function throws(block, expected, message) {
  if (typeof block !== "function") throw argumentTypeError("fn", "of type function", block);
  let error;
  try {
    block();
  } catch (problem) {
    error = { problem };
  }
  if (error === undefined) {
    const text = typeof expected === "string" ? expected : message;
    fail(throws, `Missing expected exception${expected?.name ? ` (${expected.name})` : ""}${text === undefined ? "." : `: ${text}`}`, undefined, expected, "throws");
  }
  matches(error.problem, expected, message, throws);
}

export async function rejects(promise, expected, message) {
  let error;
  try {
    await (typeof promise === "function" ? promise() : promise);
  } catch (problem) {
    error = { problem };
  }
  if (error === undefined) fail(rejects, message ?? "Missing expected rejection.", undefined, expected, "rejects");
  matches(error.problem, expected, message, rejects);
}

export function doesNotThrow(block, expected, message) {
  try {
    block();
  } catch (error) {
    fail(doesNotThrow, message ?? `Got unwanted exception.\nActual message: "${error?.message}"`, error, expected, "doesNotThrow");
  }
}

export async function doesNotReject(promise, expected, message) {
  try {
    await (typeof promise === "function" ? promise() : promise);
  } catch (error) {
    fail(doesNotReject, message ?? `Got unwanted rejection.\nActual message: "${error?.message}"`, error, expected, "doesNotReject");
  }
}

export function match(text, pattern, message) {
  if (typeof text === "string" && pattern.test(text)) return;
  fail(match, message ?? `The input did not match the regular expression ${inspect(pattern)}. Input:\n\n${inspect(text)}\n`, text, pattern, "match");
}

export function doesNotMatch(text, pattern, message) {
  if (typeof text === "string" && !pattern.test(text)) return;
  fail(doesNotMatch, message ?? `The input was expected to not match the regular expression ${inspect(pattern)}. Input:\n\n${inspect(text)}\n`, text, pattern, "doesNotMatch");
}

export function ifError(value) {
  if (value === null || value === undefined) return;
  fail(ifError, `ifError got unwanted exception: ${value?.message ?? inspect(value)}`, value, null, "ifError");
}

function failNow(message = "Failed") {
  fail(failNow, message, undefined, undefined, "fail");
}
export { failNow as fail };

function assert(value, message) {
  if (value) return;
  fail(assert, message ?? "The expression evaluated to a falsy value", value, true, "==");
}
Object.assign(assert, {
  AssertionError, ok, equal, notEqual, strictEqual, notStrictEqual, deepEqual, notDeepEqual, deepStrictEqual,
  notDeepStrictEqual, throws, rejects, doesNotThrow, doesNotReject, match, doesNotMatch, ifError, fail: failNow,
});
export const strict = Object.assign((value, message) => assert(value, message), assert, {
  equal: strictEqual, notEqual: notStrictEqual, deepEqual: deepStrictEqual, notDeepEqual: notDeepStrictEqual,
});
strict.strict = strict;
assert.strict = strict;
export default assert;
