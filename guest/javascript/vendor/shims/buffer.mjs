// SPDX-License-Identifier: Apache-2.0
export * from "node:buffer";
export { default } from "node:buffer";
