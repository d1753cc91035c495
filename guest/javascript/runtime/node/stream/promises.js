// SPDX-License-Identifier: Apache-2.0
import { promises } from "node:stream";

export default promises;
export const { pipeline, finished } = promises;
