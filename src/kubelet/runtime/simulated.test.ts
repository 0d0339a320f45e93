import assert from "node:assert/strict";
import { test } from "node:test";
import { seededRandom } from "../../base/random.ts";
import { loopTurn, VirtualClock } from "../../base/virtual-clock.ts";
import { runtimeConformance } from "./runtime-conformance.ts";
import { createSimulatedRuntime } from "./simulated.ts";
import { parseRule, ruleTimeMs } from "./simulated-rules.ts";

runtimeConformance({
  name: "simulated",
  runsPrograms: false,
  start: async () => {
    const clock = new VirtualClock();
    const runtime = createSimulatedRuntime({ clock, random: seededRandom(1) });
    return {
      runtime,
      image: "coracle.local/hello:v1",
      unpullableImage: "coracle.local/none:v1",
      ending: (exitCode) => ({ annotations: { "simulated.coracle.dev/exit": `after=5s,code=${exitCode}` } }),
      stubborn: () => ({ annotations: { "simulated.coracle.dev/stop": "after=1h" } }),
      work: async (step) => {
        let isDone = false;
        const done = () => (isDone = true);
        step.then(done, done);
        for (await loopTurn(); !isDone; await loopTurn()) clock.fireNext();
        return step;
      },
      stop: () => runtime.close(),
    };
  },
});

const times: [text: string, expectedMs: number][] = [
  ["after=5s", 5000],
  ["after=1m30s", 90_000],
  ["after=250ms,code=1", 250],
  ["code=1", 7],
];
for (const [text, expectedMs] of times) test(`rule ${text}`, () => assert.equal(ruleTimeMs(parseRule(text), "after", 7), expectedMs));

test("two thousand pods are cheap, and their addresses differ", async () => {
  const clock = new VirtualClock();
  const runtime = createSimulatedRuntime({ clock, random: seededRandom(1) });
  const starting = Array.from({ length: 2000 }, (_, index) =>
    runtime.runPodSandbox({ config: { metadata: { name: `p${index}`, namespace: "a", uid: `${index}`, attempt: 0 } } }),
  );
  await clock.advance(50);
  const statuses = await Promise.all((await Promise.all(starting)).map((id) => runtime.podSandboxStatus(id)));
  assert.equal(new Set(statuses.map(({ network }) => network!.ip)).size, 2000);
});
