// SPDX-License-Identifier: Apache-2.0
import { unsupported } from "dormouse:errors";

const refuse = (name) => {
  throw unsupported(`tls.${name}`, "Exchange data through files and the run's input and output.");
};

export const connect = () => refuse("connect");
export const createServer = () => refuse("createServer");
export const createSecureContext = () => refuse("createSecureContext");
export class TLSSocket {
  constructor() { refuse("TLSSocket"); }
}
export class Server {
  constructor() { refuse("Server"); }
}
export default { connect, createServer, createSecureContext, TLSSocket, Server };
