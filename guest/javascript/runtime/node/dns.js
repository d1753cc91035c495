// SPDX-License-Identifier: Apache-2.0
import { unsupported } from "dormouse:errors";

const refuse = (name) => () => {
  throw unsupported(`dns.${name}`, "There is no network.");
};
export const lookup = refuse("lookup");
export const resolve = refuse("resolve");
export const resolve4 = refuse("resolve4");
export const resolve6 = refuse("resolve6");
export const reverse = refuse("reverse");
export const promises = { lookup, resolve, resolve4, resolve6, reverse };
export default { lookup, resolve, resolve4, resolve6, reverse, promises };
