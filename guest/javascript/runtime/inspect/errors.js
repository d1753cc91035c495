// SPDX-License-Identifier: Apache-2.0
// How an Error looks: its stack, a better first line where the class has a better name, its cause.
import { getOwnPropertyDescriptor, getPrototypeOf, hasOwn } from "dormouse:primordials";
import { prefix } from "dormouse:inspect/names";

// The value of a property without running a getter of the program; the stack is the engine's own.
function plain(error, key) {
  let object = error;
  for (let i = 0; object !== null && i < 100; i++) {
    const descriptor = getOwnPropertyDescriptor(object, key);
    if (descriptor !== undefined) {
      return typeof descriptor.value === "string" ? descriptor.value : undefined;
    }
    object = getPrototypeOf(object);
  }
  return undefined;
}

const stackGetter = Object.getOwnPropertyDescriptor(Error.prototype, "stack")?.get;

export function errorStack(error) {
  const own = getOwnPropertyDescriptor(error, "stack");
  if (own !== undefined) return typeof own.value === "string" ? own.value : undefined;
  try {
    const stack = stackGetter?.call(error);
    return typeof stack === "string" ? stack : undefined;
  } catch {
    return undefined;
  }
}

// "Name: message"; the parts that are missing are left out.
export function errorHeader(error) {
  const name = plain(error, "name") ?? "Error";
  const message = plain(error, "message") ?? "";
  return message === "" ? name : name === "" ? message : `${name}: ${message}`;
}

// `keys` loses what the text already says, and gains what is worth showing.
export function errorText(context, error, constructor, tag, keys) {
  let stack = errorStack(error) ?? errorHeader(error);
  for (const key of ["name", "message", "stack"]) {
    const index = keys.indexOf(key);
    const value = plain(error, key);
    if (index !== -1 && value !== undefined && stack.includes(value)) keys.splice(index, 1);
  }
  for (const key of ["cause", "errors"]) {
    if (hasOwn(error, key) && !keys.includes(key)) keys.push(key);
  }
  stack = improve(stack, error, constructor, tag);
  const firstFrame = stack.search(/\n {4}at /);
  if (firstFrame === -1) stack = `[${stack}]`;
  if (context.indentation !== 0) {
    stack = stack.replaceAll("\n", `\n${" ".repeat(context.indentation)}`);
  }
  return stack;
}

// The name of the class in front, when the stack's first line says less: "Foo [Error]: message", or
// "FooError: message" where one name holds the other.
function improve(stack, error, constructor, tag) {
  const name = plain(error, "name") ?? "Error";
  let { length } = name;
  const regular = name.endsWith("Error") && stack.startsWith(name) &&
    (stack.length === length || stack[length] === ":" || stack[length] === "\n");
  if (constructor !== null && !regular) return stack;
  let fallback = "Error";
  if (constructor === null) {
    const start = /^([A-Z][a-z_ A-Z0-9[\]()-]+)(?::|\n\s+at)/.exec(stack) ?? /^([a-z_A-Z0-9-]*Error)$/.exec(stack);
    fallback = start?.[1] ?? "";
    ({ length } = fallback);
    fallback ||= "Error";
  }
  const label = prefix(constructor, tag, fallback).slice(0, -1);
  if (name === label) return stack;
  if (!label.includes(name)) return `${label} [${name}]${stack.slice(length)}`;
  return length === 0 ? `${label}: ${stack}` : `${label}${stack.slice(length)}`;
}
