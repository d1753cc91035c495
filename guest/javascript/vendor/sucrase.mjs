// SPDX-License-Identifier: Apache-2.0
export { transform } from "sucrase";
