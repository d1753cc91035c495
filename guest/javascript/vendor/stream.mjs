// SPDX-License-Identifier: Apache-2.0
export { default as stream } from "readable-stream";
