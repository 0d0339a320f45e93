import assert from "node:assert/strict";
import { test } from "node:test";
import { seededRandom } from "../../base/random.ts";
import { VirtualClock } from "../../base/virtual-clock.ts";
import type { Probe } from "../../api/core-v1/types.ts";
import type { ContainerStatus } from "../runtime/cri-messages.ts";
import { createSimulatedRuntime } from "../runtime/simulated.ts";
import { callProbe } from "./handler-calls.ts";
import { CallError } from "./network-calls.ts";
import type { NetworkCalls } from "./network-calls.ts";
import { addResult, firstProbeMs, initialProbeState } from "./probe-state.ts";
import { Prober } from "./prober.ts";

const runs: [name: string, probe: Probe, results: string, verdicts: string][] = [
  ["one success is enough", {}, "+", "+"],
  ["three failures in a row", {}, "---", "??-"],
  ["a success between", {}, "--+--", "??+++"],
  ["from good to bad and back", { failureThreshold: 2, successThreshold: 2 }, "++--++", "?++--+"],
];
for (const [name, probe, results, verdicts] of runs) {
  test(`probe state: ${name}`, () => {
    let state = initialProbeState;
    const seen = [...results].map((result) => {
      state = addResult(state, probe, result === "+");
      return state.verdict === undefined ? "?" : state.verdict ? "+" : "-";
    });
    assert.equal(seen.join(""), verdicts);
  });
}

test("the first probe leaves the process a moment to listen", () => {
  assert.equal(firstProbeMs({}, 5000), 5100);
  assert.equal(firstProbeMs({ initialDelaySeconds: 2 }, 5000), 7000);
});

const clock = new VirtualClock();
const network: NetworkCalls = {
  http: async ({ path }) => ({ status: path === "/ok" ? 200 : 404, body: "", isRedirected: false }),
  tcp: async ({ port }) => {
    if (port !== 80) throw new CallError(`dial tcp 10.0.0.1:${port}: connect: connection refused`);
  },
  grpc: async ({ service }) => (service === "good" ? "SERVING" : "NOT_SERVING"),
};
const target = { container: { name: "c", ports: [{ name: "web", containerPort: 80 }] }, containerId: "id", podIP: "10.0.0.1" };
const runtime = { ...createSimulatedRuntime({ clock, random: seededRandom(1) }), hasNetwork: true };

const calls: [name: string, probe: Probe, message: string | undefined][] = [
  ["http", { httpGet: { path: "/ok", port: "web" } }, undefined],
  ["http, no such page", { httpGet: { path: "/none", port: 80 } }, "HTTP probe failed with statuscode: 404"],
  ["http, no such port", { httpGet: { port: "nope" } }, 'couldn\'t find port: "nope" in container c'],
  ["tcp", { tcpSocket: { port: 80 } }, undefined],
  ["tcp refused", { tcpSocket: { port: 81 } }, "dial tcp 10.0.0.1:81: connect: connection refused"],
  ["grpc", { grpc: { port: 80, service: "good" } }, undefined],
  ["grpc, not serving", { grpc: { port: 80 } }, 'service unhealthy (responded with "NOT_SERVING")'],
];
for (const [name, probe, message] of calls) {
  test(`probe call: ${name}`, async () => {
    const outcome = await callProbe(probe, target, { runtime, network, clock }, new AbortController().signal);
    assert.equal(outcome.isSuccess ? undefined : outcome.message, message);
  });
}

test("the startup probe holds the others back; verdicts come in their time", async () => {
  const time = new VirtualClock();
  let isUp = false;
  const failures: string[] = [];
  const calls: NetworkCalls = { ...network, http: async () => ({ status: isUp ? 200 : 500, body: "", isRedirected: false }) };
  const ended = new AbortController();
  const prober = new Prober({
    runtime,
    network: calls,
    clock: time,
    random: seededRandom(1),
    signal: ended.signal,
    onChange: () => undefined,
    onFailure: (_spec, kind) => failures.push(kind),
  });
  const probe = { httpGet: { port: 80 }, periodSeconds: 1 };
  const spec = {
    kind: "containers" as const,
    container: { name: "c", startupProbe: { ...probe, failureThreshold: 10 }, readinessProbe: probe, livenessProbe: probe },
  };
  const container = {
    id: "id",
    name: "c",
    sandboxId: "s",
    restartCount: 0,
    hash: "",
    resources: "",
    status: { started_at: time.nowMs() * 1e6 } as ContainerStatus,
  };
  prober.follow([{ spec, container, podIP: "10.0.0.1" }], { isStopping: false });
  await time.advance(2500);
  assert.deepEqual([prober.health(spec, container), failures], [{ isStarted: false, isReady: false }, ["startup", "startup", "startup"]]);
  isUp = true;
  await time.advance(1000);
  assert.deepEqual(prober.health(spec, container), { isStarted: true, isReady: true });
  isUp = false;
  await time.advance(3000);
  assert.deepEqual(prober.health(spec, container), { isStarted: true, isReady: false, failed: "liveness" });
  prober.stop();
  assert.equal(time.nextDueMs(), undefined);
});
