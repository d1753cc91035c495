// SPDX-License-Identifier: Apache-2.0
// What to call an object: its constructor, its Symbol.toStringTag, its keys.
import { className, nonIndexKeys } from "dormouse:native";
import {
  functionToString, getOwnPropertyDescriptor, getOwnPropertySymbols, getPrototypeOf, hasOwn, keys,
  propertyIsEnumerable,
} from "dormouse:primordials";
import { quote } from "dormouse:inspect/strings";

// Never runs a getter. null means: no constructor found, as of Object.create(null).
export function constructorName(value) {
  let object = value;
  for (let i = 0; object !== null && i < 1000; i++) {
    if (className(object) === "Proxy") return "Proxy";
    const descriptor = getOwnPropertyDescriptor(object, "constructor");
    if (descriptor !== undefined && typeof descriptor.value === "function") {
      const name = getOwnPropertyDescriptor(descriptor.value, "name");
      if (typeof name?.value === "string" && name.value !== "" && hasPrototype(value, descriptor.value)) {
        return name.value;
      }
    }
    object = getPrototypeOf(object);
  }
  return null;
}

function hasPrototype(value, constructor) {
  const prototype = getOwnPropertyDescriptor(constructor, "prototype")?.value;
  let object = value;
  for (let i = 0; i < 1000; i++) {
    object = getPrototypeOf(object);
    if (object === null) return false;
    if (object === prototype) return true;
    if (className(object) === "Proxy") return false;
  }
  return false;
}

// The tag, unless it shows among the properties anyway. A getter of a class is asked, and may fail.
export function toStringTag(value, showHidden) {
  const isShown = showHidden ? hasOwn : propertyIsEnumerable;
  if (isShown(value, Symbol.toStringTag)) return "";
  let object = value;
  for (let i = 0; object !== null && i < 1000; i++) {
    if (className(object) === "Proxy") return "";
    const descriptor = getOwnPropertyDescriptor(object, Symbol.toStringTag);
    if (descriptor !== undefined) {
      if (typeof descriptor.value === "string") return descriptor.value;
      try {
        const tag = descriptor.get?.call(value);
        return typeof tag === "string" ? tag : "";
      } catch {
        return "";
      }
    }
    object = getPrototypeOf(object);
  }
  return "";
}

// "Foo(3) [tag] ", or "[Array(3): null prototype] " without a constructor.
export function prefix(constructor, tag, fallback, size = "") {
  if (constructor === null) {
    return tag !== "" && fallback !== tag
      ? `[${fallback}${size}: null prototype] [${tag}] `
      : `[${fallback}${size}: null prototype] `;
  }
  return tag !== "" && constructor !== tag
    ? `${constructor}${size} [${tag}] `
    : `${constructor}${size} `;
}

export function visibleKeys(value, showHidden, skipIndexes) {
  const names = skipIndexes ? nonIndexKeys(value, !showHidden) : showHidden
    ? Object.getOwnPropertyNames(value) : keys(value);
  const symbols = getOwnPropertySymbols(value);
  for (const symbol of symbols) {
    if (showHidden || propertyIsEnumerable(value, symbol)) names.push(symbol);
  }
  return names;
}

export function keyText(key) {
  if (typeof key === "symbol") return `[${symbolText(key)}]`;
  if (key === "__proto__") return "['__proto__']";
  return /^[a-zA-Z_][a-zA-Z_0-9]*$/.test(key) ? key : quote(key);
}

export function symbolText(symbol) {
  const { description } = symbol;
  return description === undefined ? "Symbol()" : `Symbol(${quoteControl(description)})`;
}

function quoteControl(text) {
  return /[\x00-\x1f\x7f-\x9f]/.test(text) ? quote(text).slice(1, -1) : text;
}

const kFunctionKinds = {
  Function: "Function",
  AsyncFunction: "AsyncFunction",
  GeneratorFunction: "GeneratorFunction",
  AsyncGeneratorFunction: "AsyncGeneratorFunction",
};

// "[Function: f]", "[class A extends B]"
export function functionText(value, constructor, tag) {
  const source = functionToString(value);
  if (source.startsWith("class") && source.endsWith("}")) return classText(value, constructor, tag);
  const kind = kFunctionKinds[className(value)] ?? "Function";
  let text = `[${kind}`;
  if (constructor === null) text += " (null prototype)";
  const name = ownString(value, "name");
  text += name === "" ? " (anonymous)" : `: ${name}`;
  text += "]";
  if (constructor !== kind && constructor !== null && constructor !== "Function") {
    text += ` ${constructor}`;
  }
  if (tag !== "" && constructor !== tag) text += ` [${tag}]`;
  return text;
}

function classText(value, constructor, tag) {
  const name = ownString(value, "name");
  let text = `[class ${name === "" ? "(anonymous)" : name}`;
  if (constructor !== "Function" && constructor !== null) text += ` [${constructor}]`;
  if (tag !== "" && constructor !== tag) text += ` [${tag}]`;
  const parent = getPrototypeOf(value);
  if (typeof parent === "function") {
    const parentName = ownString(parent, "name");
    if (parentName !== "") text += ` extends ${parentName}`;
  } else if (parent === null) {
    text += " extends [null prototype]";
  }
  return `${text}]`;
}

function ownString(value, key) {
  if (!hasOwn(value, key)) return "";
  const descriptor = getOwnPropertyDescriptor(value, key);
  return typeof descriptor.value === "string" ? descriptor.value : "";
}
