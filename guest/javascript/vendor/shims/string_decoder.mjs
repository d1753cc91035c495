// SPDX-License-Identifier: Apache-2.0
export * from "node:string_decoder";
export { default } from "node:string_decoder";
