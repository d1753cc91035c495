// SPDX-License-Identifier: Apache-2.0
export { deflateSync, gunzipSync, gzipSync, inflateSync, unzlibSync, zlibSync } from "fflate/browser";
