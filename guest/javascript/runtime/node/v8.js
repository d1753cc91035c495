// SPDX-License-Identifier: Apache-2.0
import { memoryUsage } from "dormouse:native";
import { structuredClone } from "dormouse:web/clone";
import { unsupported } from "dormouse:errors";

export const getHeapStatistics = () => {
  const [used, total] = memoryUsage();
  return { total_heap_size: total, used_heap_size: used, heap_size_limit: 2 ** 32, malloced_memory: used };
};
export const setFlagsFromString = () => {};
export const serialize = () => {
  throw unsupported("v8.serialize", "Use JSON, or structuredClone for copies.");
};
export const deserialize = serialize;
void structuredClone;
export default { getHeapStatistics, setFlagsFromString, serialize, deserialize };
