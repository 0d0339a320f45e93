import assert from "node:assert/strict";
import { test } from "node:test";
import { seededRandom } from "../base/random.ts";
import { VirtualClock } from "../base/virtual-clock.ts";
import { createSimulatedRuntime } from "../kubelet/index.ts";
import { faultRuntime } from "./fault-runtime.ts";

const sandbox = { config: { metadata: { name: "p", namespace: "n", uid: "u", attempt: 0 } } };

test("calls fail before or after they took effect; reading is left alone", async () => {
  const clock = new VirtualClock();
  for (const [rates, expected] of [
    [{ failBefore: 1 }, 0],
    [{ failAfter: 1 }, 1],
    [{}, 1],
  ] as const) {
    const inner = createSimulatedRuntime({ clock, random: seededRandom(1) });
    const { runtime, faults } = faultRuntime(inner, { random: seededRandom(1), clock, rates });
    const call = Promise.allSettled([runtime.runPodSandbox(sandbox)]);
    await clock.advance(60_000);
    assert.equal((await call)[0].status, Object.keys(rates).length > 0 ? "rejected" : "fulfilled");
    assert.equal((await runtime.listPodSandbox()).length, expected, JSON.stringify(rates));
    assert.equal(faults.count("failBefore") + faults.count("failAfter"), Object.keys(rates).length);
    await runtime.close();
  }
});
