// SPDX-License-Identifier: Apache-2.0
export { default } from "node:path";
export * from "node:path";
