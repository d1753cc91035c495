// SPDX-License-Identifier: Apache-2.0
import { EventEmitter } from "dormouse:emitter";

export default EventEmitter;
export { EventEmitter };
export const {
  once, on, listenerCount, defaultMaxListeners, errorMonitor, captureRejectionSymbol, getEventListeners,
  getMaxListeners, setMaxListeners, addAbortListener,
} = EventEmitter;
