// SPDX-License-Identifier: Apache-2.0
export * from "node:events";
export { default } from "node:events";
