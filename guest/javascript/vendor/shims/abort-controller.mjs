// SPDX-License-Identifier: Apache-2.0
export { AbortController, AbortSignal } from "dormouse:web/abort";
