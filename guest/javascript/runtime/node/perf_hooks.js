// SPDX-License-Identifier: Apache-2.0
import { performance, PerformanceObserver } from "dormouse:web/performance";

export { performance, PerformanceObserver };
export const constants = {};
export const monitorEventLoopDelay = () => ({ enable() {}, disable() {}, min: 0, max: 0, mean: 0 });
export default { performance, PerformanceObserver, constants, monitorEventLoopDelay };
