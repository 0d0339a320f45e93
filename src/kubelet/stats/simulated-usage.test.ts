import assert from "node:assert/strict";
import { test } from "node:test";
import type { Pod } from "../../api/core-v1/types.ts";
import { simulatedMachine } from "../node/machine.ts";
import { simulatedUsage } from "./simulated-usage.ts";
import { totalCpu } from "./snapshot.ts";

const signal = new AbortController().signal;
const pod = (name: string, containers: number, annotations?: Record<string, string>): Pod => ({
  metadata: { name, uid: name, ...(annotations !== undefined && { annotations }) },
  spec: { containers: Array.from({ length: containers }, (_, index) => ({ name: `c${index}`, image: "i" })) },
});

test("a simulated node uses what its pods use: as they say, else ten MiB for each container", async () => {
  const said = pod("said", 1, { "simulated.coracle.dev/usage": "memory-bytes=1000000" });
  const { memory } = await simulatedUsage(simulatedMachine, () => [said, pod("plain", 2)]).node(signal);
  assert.equal(memory.capacityBytes - memory.availableBytes, 1_000_000 + 2 * 10 * 1024 * 1024);
});

test("CPUs of all together: known when it is of each", () => {
  const cpu = (nanoCores: number | undefined) => ({ cpu: { atMs: 1, nanoSeconds: 5, nanoCores } });
  assert.deepEqual(totalCpu([cpu(1), cpu(2)], 7), { atMs: 7, nanoSeconds: 10, nanoCores: 3 });
  assert.deepEqual(totalCpu([cpu(1), cpu(undefined)], 7), { atMs: 7, nanoSeconds: 10, nanoCores: undefined });
  assert.deepEqual(totalCpu([], 7), { atMs: 7, nanoSeconds: 0, nanoCores: 0 });
});
