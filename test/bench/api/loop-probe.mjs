// Preloaded into the server that is measured: on SIGUSR2 it writes the longest time that the event loop was blocked since the last signal
// (milliseconds, by the clock and by the thread's processor time) to the file that CORACLE_LOOP_PROBE names; under --expose-gc it collects garbage before.
import { renameSync, writeFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { isMainThread } from "node:worker_threads";

const file = process.env.CORACLE_LOOP_PROBE;
const resolution = 1;
if (isMainThread && file !== undefined) {
  const delays = monitorEventLoopDelay({ resolution });
  delays.enable();
  let cpuMs = 0;
  let before = usedMs();
  const tick = () => {
    const now = usedMs();
    cpuMs = Math.max(cpuMs, now - before);
    before = now;
  };
  setInterval(tick, resolution).unref();
  process.on("SIGUSR2", () => {
    const longest = { elapsedMs: Math.max(0, delays.max / 1e6 - resolution), cpuMs };
    globalThis.gc?.();
    writeFileSync(`${file}.tmp`, JSON.stringify(longest));
    renameSync(`${file}.tmp`, file);
    delays.reset();
    before = usedMs();
    cpuMs = 0;
  });
}

function usedMs() {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
