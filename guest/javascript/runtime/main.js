// SPDX-License-Identifier: Apache-2.0
// What boot evaluates: installs the globals and hands the driver its hooks.
import { setHooks } from "dormouse:native";
import "dormouse:builtins";
import { installGlobals } from "dormouse:globals";
import { captureIntrinsics, withIntrinsics } from "dormouse:intrinsics";
import { fillImportMeta, loadModule, resolveImport } from "dormouse:modules";
import { reportError, safeInspect, showResult } from "dormouse:output";
import { process } from "dormouse:process";
import { beginRun, endRun, markBirth } from "dormouse:state";
import { dropTimers, runTicks, runTimers } from "dormouse:timers";
import { hasTranspilers, loadTranspilers, transpileCell } from "dormouse:typescript";
import { writeText } from "dormouse:native";

// True when the program registered a handler for it and so the run goes on.
function handleUncaught(error, origin) {
  const count = (name) => withIntrinsics(() => process.listenerCount(name));
  if (origin === "unhandledRejection" && count("unhandledRejection") > 0) {
    process.emit("unhandledRejection", error, Promise.reject(error).catch(() => {}));
    return true;
  }
  if (count("uncaughtException") === 0) return false;
  process.emit("uncaughtException", error, origin);
  return true;
}

function warnRejection(error) {
  writeText(2, `Uncaught (in promise) ${safeInspect(error)}\n`);
}

installGlobals();
loadTranspilers();
captureIntrinsics();
setHooks({
  beginRun, endRun, markBirth, dropTimers, runTicks, runTimers, handleUncaught, warnRejection, reportError,
  showResult, resolveImport, loadModule, fillImportMeta, hasTranspilers,
  // The transpilers call methods of built-ins, too.
  transpile: (code, name) => withIntrinsics(() => transpileCell(code, name)),
});
