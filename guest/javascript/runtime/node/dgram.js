// SPDX-License-Identifier: Apache-2.0
import { unsupported } from "dormouse:errors";

const refuse = (name) => {
  throw unsupported(`dgram.${name}`, "Exchange data through files and the run's input and output.");
};

export const createSocket = () => refuse("createSocket");
export class Socket {
  constructor() { refuse("Socket"); }
}
export default { createSocket, Socket };
