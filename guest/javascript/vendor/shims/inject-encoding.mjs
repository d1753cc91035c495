// SPDX-License-Identifier: Apache-2.0
export { TextDecoder, TextEncoder } from "dormouse:web/encoding";
