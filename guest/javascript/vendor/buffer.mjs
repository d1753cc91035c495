// SPDX-License-Identifier: Apache-2.0
export { Buffer, INSPECT_MAX_BYTES, SlowBuffer, kMaxLength } from "buffer/";
