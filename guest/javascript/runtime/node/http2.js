// SPDX-License-Identifier: Apache-2.0
import { unsupported } from "dormouse:errors";

const refuse = (name) => {
  throw unsupported(`http2.${name}`, "There is no network; pass data in through files or the run's input.");
};

export const connect = () => refuse("connect");
export const createServer = () => refuse("createServer");
export const createSecureServer = () => refuse("createSecureServer");
export default { connect, createServer, createSecureServer };
