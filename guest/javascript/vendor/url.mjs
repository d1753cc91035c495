// SPDX-License-Identifier: Apache-2.0
export { URL, URLSearchParams } from "whatwg-url";
