// SPDX-License-Identifier: Apache-2.0
import { unsupported } from "dormouse:errors";

const refuse = (name) => {
  throw unsupported(`net.${name}`, "Exchange data through files and the run's input and output.");
};

export const connect = () => refuse("connect");
export const createConnection = () => refuse("createConnection");
export const createServer = () => refuse("createServer");
export class Socket {
  constructor() { refuse("Socket"); }
}
export class Server {
  constructor() { refuse("Server"); }
}
export const isIPv4 = (text) => /^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}$/.test(text);
export const isIPv6 = (text) => typeof text === "string" && text.includes(":") && URL.canParse(`http://[${text}]/`);
export const isIP = (text) => (isIPv4(text) ? 4 : isIPv6(text) ? 6 : 0);
export default { connect, createConnection, createServer, Socket, Server, isIP, isIPv4, isIPv6 };
