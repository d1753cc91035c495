// SPDX-License-Identifier: Apache-2.0
// Fills the table of modules that programs may import by name. All of them are loaded at boot.
import assert from "node:assert";
import assertStrict from "node:assert/strict";
import asyncHooks from "node:async_hooks";
import buffer from "node:buffer";
import childProcess from "node:child_process";
import cluster from "node:cluster";
import console from "node:console";
import constants from "node:constants";
import crypto from "node:crypto";
import dgram from "node:dgram";
import dns from "node:dns";
import events from "node:events";
import fs from "node:fs";
import fsPromises from "node:fs/promises";
import http from "node:http";
import http2 from "node:http2";
import https from "node:https";
import module from "node:module";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import pathPosix from "node:path/posix";
import pathWin32 from "node:path/win32";
import perfHooks from "node:perf_hooks";
import process from "node:process";
import querystring from "node:querystring";
import readline from "node:readline";
import readlinePromises from "node:readline/promises";
import stream from "node:stream";
import streamConsumers from "node:stream/consumers";
import streamPromises from "node:stream/promises";
import stringDecoder from "node:string_decoder";
import timers from "node:timers";
import timersPromises from "node:timers/promises";
import tls from "node:tls";
import tty from "node:tty";
import url from "node:url";
import util from "node:util";
import utilTypes from "node:util/types";
import v8 from "node:v8";
import vm from "node:vm";
import workerThreads from "node:worker_threads";
import zlib from "node:zlib";

import { builtins } from "dormouse:builtin-names";

Object.assign(builtins, {
  assert, "assert/strict": assertStrict, async_hooks: asyncHooks, buffer, child_process: childProcess, cluster,
  console, constants, crypto, dgram, dns, events, fs, "fs/promises": fsPromises, http, http2, https, module, net,
  os, path, "path/posix": pathPosix, "path/win32": pathWin32, perf_hooks: perfHooks, process, querystring, readline,
  "readline/promises": readlinePromises, stream, "stream/consumers": streamConsumers,
  "stream/promises": streamPromises, string_decoder: stringDecoder, timers, "timers/promises": timersPromises, tls,
  tty, url, util, "util/types": utilTypes, v8, vm, worker_threads: workerThreads, zlib,
});
