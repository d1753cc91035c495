// SPDX-License-Identifier: Apache-2.0
import { process } from "dormouse:process";

export default process;
export const {
  arch, argv, argv0, chdir, cwd, emitWarning, env, execArgv, execPath, exit, hrtime, memoryUsage, nextTick, pid,
  platform, ppid, release, stderr, stdin, stdout, title, umask, uptime, version, versions,
} = process;
