// SPDX-License-Identifier: Apache-2.0
import { unsupported } from "dormouse:errors";

export const isMaster = true;
export const isPrimary = true;
export const isWorker = false;
export const workers = {};
export const fork = () => {
  throw unsupported("cluster.fork", "Do the work in this program.");
};
export default { isMaster, isPrimary, isWorker, workers, fork };
