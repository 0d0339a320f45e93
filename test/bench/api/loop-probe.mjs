// Preloaded into the server that is measured: on SIGUSR2 it writes the longest time that the event loop was blocked since the last signal
// (milliseconds) to the file that CORACLE_LOOP_PROBE names; under --expose-gc it collects garbage before.
import { renameSync, writeFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { isMainThread } from "node:worker_threads";

const file = process.env.CORACLE_LOOP_PROBE;
const resolution = 1;
if (isMainThread && file !== undefined) {
  const delays = monitorEventLoopDelay({ resolution });
  delays.enable();
  process.on("SIGUSR2", () => {
    const longest = Math.max(0, delays.max / 1e6 - resolution);
    globalThis.gc?.();
    writeFileSync(`${file}.tmp`, String(longest));
    renameSync(`${file}.tmp`, file);
    delays.reset();
  });
}
