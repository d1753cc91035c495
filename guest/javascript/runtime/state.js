// SPDX-License-Identifier: Apache-2.0
// What a context carries that is no object of the program: environment, directory, time of birth.
import { monotonicMs } from "dormouse:native";

const kEnvironment = { HOME: "/workspace", PATH: "/usr/bin", LANG: "C.UTF-8", TZ: "UTC", PWD: "/workspace" };

export const state = {
  env: { ...kEnvironment },
  cwd: "/workspace",
  birth: monotonicMs(),
  timeOrigin: Date.now(),
};

let saved;

// `env` and `cwd` hold for one run, the context's own for its life.
export function beginRun(env, cwd, contextEnv, contextCwd) {
  if (typeof contextCwd === "string" && contextCwd !== "") state.cwd = contextCwd;
  for (const key of Object.keys(contextEnv ?? {})) state.env[key] = `${contextEnv[key]}`;
  saved = { cwd: typeof cwd === "string" && cwd !== "" ? state.cwd : undefined, env: [] };
  if (saved.cwd !== undefined) state.cwd = cwd;
  for (const key of Object.keys(env ?? {})) {
    saved.env.push([key, Object.hasOwn(state.env, key) ? state.env[key] : undefined]);
    state.env[key] = `${env[key]}`;
  }
}

export function endRun() {
  if (saved === undefined) return;
  const { cwd, env } = saved;
  saved = undefined;
  if (cwd !== undefined) state.cwd = cwd;
  for (const [key, value] of env) {
    if (value === undefined) delete state.env[key];
    else state.env[key] = value;
  }
}

// Called when the context is born, forked or rolled back.
export function markBirth() {
  state.birth = monotonicMs();
  state.timeOrigin = Date.now();
}
