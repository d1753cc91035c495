// SPDX-License-Identifier: Apache-2.0
import { unsupported } from "dormouse:errors";

const refuse = (name) => ({ [name]() {
  throw unsupported(`child_process.${name}`, "Do the work in this program, or run another language in a context of its own.");
} })[name];

export const exec = refuse("exec");
export const execSync = refuse("execSync");
export const execFile = refuse("execFile");
export const execFileSync = refuse("execFileSync");
export const spawn = refuse("spawn");
export const spawnSync = refuse("spawnSync");
export const fork = refuse("fork");
export class ChildProcess {}
export default { exec, execSync, execFile, execFileSync, spawn, spawnSync, fork, ChildProcess };
