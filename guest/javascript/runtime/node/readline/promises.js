// SPDX-License-Identifier: Apache-2.0
import * as readline from "node:readline";

export const createInterface = (input, output) => {
  const face = readline.createInterface(input, output);
  const { question } = face;
  face.question = (query) => new Promise((resolve, reject) => {
    face.once("close", () => reject(new Error("readline was closed")));
    question.call(face, query, resolve);
  });
  return face;
};
export class Readline {}
export default { createInterface, Readline };
