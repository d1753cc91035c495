// SPDX-License-Identifier: Apache-2.0
import { process } from "dormouse:process";
export const { nextTick, stdout, stderr, emitWarning, env, version, platform } = process;
export default process;
