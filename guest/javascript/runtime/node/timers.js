// SPDX-License-Identifier: Apache-2.0
import * as timers from "dormouse:timers";
import promises from "node:timers/promises";

export const { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate, clearImmediate } = timers;
export { promises };
export default { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate, clearImmediate, promises };
