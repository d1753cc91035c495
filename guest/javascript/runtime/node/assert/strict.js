// SPDX-License-Identifier: Apache-2.0
import { strict } from "node:assert";

export default strict;
export const {
  AssertionError, ok, equal, notEqual, strictEqual, notStrictEqual, deepEqual, notDeepEqual, deepStrictEqual,
  notDeepStrictEqual, throws, rejects, doesNotThrow, doesNotReject, match, doesNotMatch, ifError, fail,
} = strict;
export { strict };
