// SPDX-License-Identifier: Apache-2.0
import { stream } from "dormouse:vendor/stream";

export default stream;
export const {
  Readable, Writable, Duplex, Transform, PassThrough, Stream, pipeline, finished, addAbortSignal, compose, promises,
  isReadable, isErrored, isDisturbed, getDefaultHighWaterMark, setDefaultHighWaterMark,
} = stream;
