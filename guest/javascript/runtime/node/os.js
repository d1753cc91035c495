// SPDX-License-Identifier: Apache-2.0
import { memoryUsage, monotonicMs } from "dormouse:native";
import { errnoNames } from "dormouse:errors";
import { state } from "dormouse:state";

export const EOL = "\n";
export const devNull = "/dev/null";
export const arch = () => "wasm32";
export const platform = () => "linux";
export const type = () => "Linux";
export const release = () => "0";
export const version = () => "Dormouse";
export const machine = () => "wasm32";
export const endianness = () => "LE";
export const hostname = () => "localhost";
export const homedir = () => state.env.HOME ?? "/workspace";
export const tmpdir = () => state.env.TMPDIR ?? "/tmp";
export const uptime = () => (monotonicMs() - state.birth) / 1000;
export const loadavg = () => [0, 0, 0];
export const totalmem = () => 2 ** 32;
export const freemem = () => 2 ** 32 - memoryUsage()[1];
export const availableParallelism = () => 1;
export const cpus = () => [{ model: "virtual", speed: 0, times: { user: 0, nice: 0, sys: 0, idle: 0, irq: 0 } }];
export const networkInterfaces = () => ({});
export const userInfo = () => ({ uid: 1000, gid: 1000, username: "user", homedir: homedir(), shell: null });
export const getPriority = () => 0;
export const setPriority = () => {};
export const constants = {
  errno: errnoNames, signals: { SIGHUP: 1, SIGINT: 2, SIGQUIT: 3, SIGABRT: 6, SIGKILL: 9, SIGTERM: 15 }, priority: {},
  dlopen: {}, UV_UDP_REUSEADDR: 4,
};
export default {
  EOL, devNull, arch, platform, type, release, version, machine, endianness, hostname, homedir, tmpdir, uptime,
  loadavg, totalmem, freemem, availableParallelism, cpus, networkInterfaces, userInfo, getPriority, setPriority,
  constants,
};
