// SPDX-License-Identifier: Apache-2.0
import { console } from "dormouse:console";

export default console;
export const { Console, log, info, warn, error, debug, dir, table, time, timeEnd, trace, assert } = console;
