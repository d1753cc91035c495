// SPDX-License-Identifier: Apache-2.0
import { types } from "dormouse:types";

export default types;
export * from "dormouse:types";
