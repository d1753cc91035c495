// SPDX-License-Identifier: Apache-2.0
import { Buffer } from "node:buffer";
import { Blob } from "dormouse:web/blob";

export async function buffer(stream) {
  const chunks = [];
  for await (const chunk of stream) chunks.push(typeof chunk === "string" ? Buffer.from(chunk) : chunk);
  return Buffer.concat(chunks);
}
export const text = async (stream) => (await buffer(stream)).toString();
export const json = async (stream) => JSON.parse(await text(stream));
export const arrayBuffer = async (stream) => Uint8Array.from(await buffer(stream)).buffer;
export const blob = async (stream) => new Blob([await buffer(stream)]);
export default { buffer, text, json, arrayBuffer, blob };
