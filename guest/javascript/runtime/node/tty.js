// SPDX-License-Identifier: Apache-2.0
export const isatty = () => false;
export class ReadStream {}
export class WriteStream {}
export default { isatty, ReadStream, WriteStream };
