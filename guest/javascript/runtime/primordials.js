// SPDX-License-Identifier: Apache-2.0
// Built-ins as they were at boot, for code that must work whatever a program does to its globals.
const { call } = Function.prototype;
const uncurry = call.bind.bind(call);
const getter = (prototype, name) =>
  uncurry(Object.getOwnPropertyDescriptor(prototype, name).get);
const TypedArrayPrototype = Object.getPrototypeOf(Uint8Array.prototype);

export const {
  getOwnPropertyDescriptor, getOwnPropertyNames, getOwnPropertySymbols, getPrototypeOf, keys,
  defineProperty, create, freeze, setPrototypeOf, entries, assign,
} = Object;
export const { isArray } = Array;
export const { stringify: jsonStringify, parse: jsonParse } = JSON;
export const { apply, ownKeys } = Reflect;

export const hasOwn = uncurry(Object.prototype.hasOwnProperty);
export const propertyIsEnumerable = uncurry(Object.prototype.propertyIsEnumerable);
export const functionToString = uncurry(Function.prototype.toString);
export const regExpToString = uncurry(RegExp.prototype.toString);
export const regExpTest = uncurry(RegExp.prototype.test);
export const dateToISOString = uncurry(Date.prototype.toISOString);
export const dateGetTime = uncurry(Date.prototype.getTime);
export const symbolToString = uncurry(Symbol.prototype.toString);
export const symbolDescription = getter(Symbol.prototype, "description");
export const bigintToString = uncurry(BigInt.prototype.toString);
export const numberValueOf = uncurry(Number.prototype.valueOf);
export const stringValueOf = uncurry(String.prototype.valueOf);
export const booleanValueOf = uncurry(Boolean.prototype.valueOf);
export const bigintValueOf = uncurry(BigInt.prototype.valueOf);
export const symbolValueOf = uncurry(Symbol.prototype.valueOf);
export const toWellFormed = uncurry(String.prototype.toWellFormed);
export const mapSize = getter(Map.prototype, "size");
export const setSize = getter(Set.prototype, "size");
export const mapForEach = uncurry(Map.prototype.forEach);
export const mapEntries = uncurry(Map.prototype.entries);
export const mapIteratorNext = uncurry(Object.getPrototypeOf(new Map().entries()).next);
export const setValues = uncurry(Set.prototype.values);
export const setIteratorNext = uncurry(Object.getPrototypeOf(new Set().values()).next);
export const typedArrayLength = getter(TypedArrayPrototype, "length");
export const arrayBufferByteLength = getter(ArrayBuffer.prototype, "byteLength");
export const sharedArrayBufferByteLength = getter(SharedArrayBuffer.prototype, "byteLength");
export const push = uncurry(Array.prototype.push);
export const join = uncurry(Array.prototype.join);
