// SPDX-License-Identifier: Apache-2.0
// util.types: what an object is inside, whatever it says of itself.
import { className, proxyDetails } from "dormouse:native";

const is = (...names) => (value) =>
  typeof value === "object" && value !== null && names.includes(className(value));
const kTyped = ["Uint8Array", "Uint8ClampedArray", "Int8Array", "Uint16Array", "Int16Array", "Uint32Array",
  "Int32Array", "BigInt64Array", "BigUint64Array", "Float16Array", "Float32Array", "Float64Array"];

export const isError = is("Error", "DOMException");
export const isProxy = (value) => proxyDetails(value) !== undefined;
export const isMap = is("Map");
export const isSet = is("Set");
export const isDate = is("Date");
export const isRegExp = is("RegExp");
export const isPromise = is("Promise");
export const isArrayBuffer = is("ArrayBuffer");
export const isSharedArrayBuffer = is("SharedArrayBuffer");
export const isAnyArrayBuffer = is("ArrayBuffer", "SharedArrayBuffer");
export const isDataView = is("DataView");
export const isTypedArray = is(...kTyped);
export const isUint8Array = is("Uint8Array");
export const isWeakMap = is("WeakMap");
export const isWeakSet = is("WeakSet");
export const isMapIterator = is("Map Iterator");
export const isSetIterator = is("Set Iterator");
export const isGeneratorObject = is("Generator", "AsyncGenerator");
export const isModuleNamespaceObject = is("Module");
export const isArgumentsObject = is("Arguments");
export const isNumberObject = is("Number");
export const isStringObject = is("String");
export const isBooleanObject = is("Boolean");
export const isBigIntObject = is("BigInt");
export const isSymbolObject = is("Symbol");
export const isBoxedPrimitive = is("Number", "String", "Boolean", "BigInt", "Symbol");
export const isAsyncFunction = (value) =>
  typeof value === "function" && /^Async/.test(className(value));
export const isGeneratorFunction = (value) =>
  typeof value === "function" && /GeneratorFunction$/.test(className(value));
export const isArrayBufferView = ArrayBuffer.isView;
export const isNativeError = is("Error");
export const isExternal = () => false;
export const isCryptoKey = () => false;
export const isKeyObject = () => false;
const typed = Object.fromEntries(kTyped.map((name) => [`is${name}`, is(name)]));

export const types = {
  ...typed, isProxy, isMap, isSet, isDate, isRegExp, isPromise, isArrayBuffer, isSharedArrayBuffer,
  isAnyArrayBuffer, isDataView, isTypedArray, isUint8Array, isWeakMap, isWeakSet, isMapIterator,
  isSetIterator, isGeneratorObject, isModuleNamespaceObject, isArgumentsObject, isNumberObject,
  isStringObject, isBooleanObject, isBigIntObject, isSymbolObject, isBoxedPrimitive, isAsyncFunction,
  isGeneratorFunction, isArrayBufferView, isNativeError, isExternal, isCryptoKey, isKeyObject,
};
