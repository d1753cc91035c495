// SPDX-License-Identifier: Apache-2.0
import { unsupported } from "dormouse:errors";

const refuse = (name) => {
  throw unsupported(`https.${name}`, "There is no network; pass data in through files or the run's input.");
};

export const request = () => refuse("request");
export const get = () => refuse("get");
export const createServer = () => refuse("createServer");
export class Agent {}
export const globalAgent = new Agent();
export const METHODS = ["DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"];
export const STATUS_CODES = {
  200: "OK", 201: "Created", 202: "Accepted", 204: "No Content", 301: "Moved Permanently", 302: "Found", 304: "Not Modified",
  307: "Temporary Redirect", 308: "Permanent Redirect", 400: "Bad Request", 401: "Unauthorized", 403: "Forbidden",
  404: "Not Found", 405: "Method Not Allowed", 409: "Conflict", 410: "Gone", 418: "I'm a Teapot",
  422: "Unprocessable Entity", 429: "Too Many Requests", 500: "Internal Server Error", 501: "Not Implemented",
  502: "Bad Gateway", 503: "Service Unavailable", 504: "Gateway Timeout",
};
export default { request, get, createServer, Agent, globalAgent, METHODS, STATUS_CODES };
