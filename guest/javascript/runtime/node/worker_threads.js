// SPDX-License-Identifier: Apache-2.0
import { unsupported } from "dormouse:errors";

export class Worker {
  constructor() {
    throw unsupported("worker_threads.Worker", "Do the work in this thread, or in a second context.");
  }
}
export class MessageChannel {
  constructor() {
    throw unsupported("MessageChannel", "Use an EventEmitter.");
  }
}
export const isMainThread = true;
export const parentPort = null;
export const workerData = null;
export const threadId = 0;
export const resourceLimits = {};
export default { Worker, MessageChannel, isMainThread, parentPort, workerData, threadId, resourceLimits };
