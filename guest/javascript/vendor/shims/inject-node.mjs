// SPDX-License-Identifier: Apache-2.0
export { AbortController, AbortSignal } from "dormouse:web/abort";
export { Blob } from "dormouse:web/blob";
export { Event, EventTarget } from "dormouse:web/events";
