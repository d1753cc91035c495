// SPDX-License-Identifier: Apache-2.0
// The text of any value, in the form that Node's util.inspect gives it. Runs no getter and no proxy
// trap of the inspected value unless asked to; only [util.inspect.custom] methods are called.
import { className, proxyDetails } from "dormouse:native";
import {
  bigintToString, getOwnPropertyDescriptor, hasOwn, isArray,
} from "dormouse:primordials";
import { constructorName, keyText, prefix, symbolText, toStringTag } from "dormouse:inspect/names";
import { quote, separated } from "dormouse:inspect/strings";
import { describe } from "dormouse:inspect/kinds";
import { combine } from "dormouse:inspect/layout";

export const customSymbol = Symbol.for("nodejs.util.inspect.custom");

// Objects formatted in one call before the rest is shown as if it were too deep.
const kObjectBudget = 20000;

export function formatValue(context, value, level) {
  if (typeof value !== "object" && typeof value !== "function") {
    return formatPrimitive(context, value);
  }
  if (value === null) return context.stylize("null", "null");
  const proxy = proxyDetails(value);
  if (proxy !== undefined) {
    if (context.showProxy) return formatProxy(context, proxy, level);
    return formatValue(context, unwrapProxy(value), level);
  }
  if (context.customInspect) {
    const custom = callCustom(context, value, level);
    if (custom !== undefined) return custom.text;
  }
  if (context.seen.includes(value)) {
    context.circular ??= new Map();
    let index = context.circular.get(value);
    if (index === undefined) context.circular.set(value, index = context.circular.size + 1);
    return context.stylize(`[Circular *${index}]`, "special");
  }
  return formatObject(context, value, level);
}

function unwrapProxy(value) {
  let target = value;
  for (let i = 0; i < 10000; i++) {
    const details = proxyDetails(target);
    if (details === undefined) return target;
    target = details[0];
    if (target === null) return null;
  }
  return null;
}

function formatProxy(context, [target, handler], level) {
  if (level > context.depth && context.depth !== null) {
    return context.stylize("Proxy [Array]", "special");
  }
  context.indentation += 2;
  const parts = [formatValue(context, target, level + 1), formatValue(context, handler, level + 1)];
  context.indentation -= 2;
  return combine(context, parts, "", ["Proxy [", "]"], false, level);
}

// The method may be inherited, so this is where a proxy in the prototype chain could be asked.
function callCustom(context, value, level) {
  const method = value[customSymbol];
  if (typeof method !== "function" || method === context.inspect) return undefined;
  const depth = context.depth === null ? null : context.depth - level;
  const options = { ...context.userOptions, depth, stylize: context.stylize };
  const result = method.call(value, depth, options, context.inspect);
  if (result === value) return undefined;
  if (typeof result !== "object" || result === null) {
    return { text: `${result}`.replaceAll("\n", `\n${" ".repeat(context.indentation)}`) };
  }
  return { text: formatValue(context, result, level) };
}

export function formatPrimitive(context, value) {
  switch (typeof value) {
    case "string": return formatString(context, value);
    case "number": return context.stylize(formatNumber(context, value), "number");
    case "bigint": return context.stylize(`${bigintToString(value)}n`, "bigint");
    case "boolean": return context.stylize(`${value}`, "boolean");
    case "undefined": return context.stylize("undefined", "undefined");
    default: return context.stylize(symbolText(value), "symbol");
  }
}

function formatNumber(context, value) {
  if (Object.is(value, -0)) return "-0";
  return context.numericSeparator ? separated(value) : `${value}`;
}

function formatString(context, value) {
  let text = value;
  let trailer = "";
  if (text.length > context.maxStringLength) {
    const rest = text.length - context.maxStringLength;
    text = text.slice(0, context.maxStringLength);
    trailer = `... ${rest} more character${rest > 1 ? "s" : ""}`;
  }
  const room = context.breakLength - context.indentation - 4;
  if (context.compact !== true && text.length > 16 && text.length > room && text.includes("\n")) {
    const lines = text.split(/(?<=\n)/).map((line) => context.stylize(quote(line), "string"));
    return lines.join(` +\n${" ".repeat(context.indentation + 2)}`) + trailer;
  }
  return context.stylize(quote(text), "string") + trailer;
}

function tooDeep(context, value, constructor, tag) {
  const name = prefix(constructor, tag, isArray(value) ? "Array" : "Object").slice(0, -1);
  return context.stylize(`[${isArray(value) && constructor === "Array" && tag === "" ? "Array" : name}]`, "special");
}

function formatObject(context, value, level) {
  const constructor = constructorName(value);
  let tag = toStringTag(value, context.showHidden);
  if (tag !== "" && tag === constructor) tag = "";
  if (++context.count > kObjectBudget) return tooDeep(context, value, constructor, tag);
  const shape = describe(context, value, constructor, tag);
  if (shape.text !== undefined) return shape.text;
  if (context.depth !== null && level > context.depth) return tooDeep(context, value, constructor, tag);
  context.seen.push(value);
  context.currentDepth = level;
  let output;
  try {
    output = shape.parts === undefined ? [] : shape.parts(formatValue, level + 1);
    for (const key of shape.keys) {
      output.push(formatProperty(context, value, level + 1, key, shape.isList));
    }
  } catch (error) {
    if (!isStackOverflow(error)) throw error;
    context.seen.length = context.seen.lastIndexOf(value);
    return context.stylize(
      `[${prefix(constructor, tag, "Object").slice(0, -1)}: Inspection interrupted prematurely. ` +
      "Maximum call stack size exceeded.]", "special");
  }
  context.seen.pop();
  let { base } = shape;
  const braces = [shape.open, shape.close];
  const index = context.circular?.get(value);
  if (index !== undefined) {
    const reference = context.stylize(`<ref *${index}>`, "special");
    if (context.compact === true || base === "") {
      braces[0] = `${reference} ${braces[0]}`;
    } else {
      base = `${reference} ${base}`;
    }
  }
  if (context.sorted && !shape.isList) {
    output.sort(typeof context.sorted === "function" ? context.sorted : undefined);
  }
  return combine(context, output, base, braces, shape.isList, level, value);
}

function isStackOverflow(error) {
  return className(error) === "Error" &&
    getOwnPropertyDescriptor(error, "message")?.value === "Maximum call stack size exceeded";
}

export function formatProperty(context, value, level, key, isList, given) {
  const descriptor = given ?? getOwnPropertyDescriptor(value, key) ??
    { value: undefined, enumerable: true };
  const text = descriptorText(context, value, level, descriptor);
  if (isList === "element") return text;
  let name = keyText(key);
  if (typeof key === "symbol") {
    name = context.stylize(name, "symbol");
  } else if (name.startsWith("'") || name.startsWith('"')) {
    name = context.stylize(name, "string");
  }
  if (descriptor.enumerable === false) name = `[${keyText(key).replace(/^\[|\]$/g, "")}]`;
  return `${name}: ${text}`;
}

function descriptorText(context, value, level, descriptor) {
  if (hasOwn(descriptor, "value")) {
    context.indentation += 2;
    const text = formatValue(context, descriptor.value, level);
    context.indentation -= 2;
    return text;
  }
  const label = descriptor.get === undefined
    ? (descriptor.set === undefined ? "undefined" : "[Setter]")
    : (descriptor.set === undefined ? "[Getter]" : "[Getter/Setter]");
  const wanted = context.getters === true ||
    (context.getters === "get" && descriptor.set === undefined) ||
    (context.getters === "set" && descriptor.set !== undefined);
  if (!wanted || descriptor.get === undefined) return context.stylize(label, "special");
  try {
    const got = descriptor.get.call(value);
    context.indentation += 2;
    const text = formatValue(context, got, level);
    context.indentation -= 2;
    return typeof got === "object" && got !== null
      ? `${context.stylize(label, "special")} ${text}`
      : `${context.stylize(`${label.slice(0, -1)}:`, "special")} ${text}${context.stylize("]", "special")}`;
  } catch (error) {
    return context.stylize(`${label.slice(0, -1)}: <Inspection threw (${error?.message})>]`, "special");
  }
}
