import assert from "node:assert/strict";
import { test } from "node:test";
import type { Container, ContainerStatus, Pod } from "../../api/core-v1/types.ts";
import { phaseOf } from "./phase.ts";
import { rejectedStatus } from "./pod-status.ts";
import { statusPatch } from "./status-patch.ts";

const states: Readonly<Record<string, Pick<ContainerStatus, "state" | "lastState">>> = {
  waiting: { state: { waiting: {} }, lastState: {} },
  running: { state: { running: {} }, lastState: {} },
  done: { state: { terminated: { exitCode: 0 } }, lastState: {} },
  failed: { state: { terminated: { exitCode: 1 } }, lastState: {} },
  crashing: { state: { waiting: {} }, lastState: { terminated: { exitCode: 1 } } },
};

const phases: [policy: string, init: string[], main: string[], phase: string][] = [
  ["Always", [], ["waiting"], "Pending"],
  ["Always", [], ["running"], "Running"],
  ["Always", [], ["running", "waiting"], "Pending"],
  ["Always", [], ["crashing"], "Running"],
  ["Always", [], ["done"], "Running"],
  ["OnFailure", [], ["done"], "Succeeded"],
  ["OnFailure", [], ["failed"], "Running"],
  ["Never", [], ["done", "done"], "Succeeded"],
  ["Never", [], ["done", "failed"], "Failed"],
  ["Never", [], ["running", "failed"], "Running"],
  ["Never", ["failed"], ["waiting"], "Failed"],
  ["Always", ["running"], ["waiting"], "Pending"],
  ["Always", ["crashing"], ["waiting"], "Pending"],
  ["Always", ["done"], ["running"], "Running"],
];
for (const [restartPolicy, init, main, phase] of phases) {
  test(`phase: ${restartPolicy} init [${init.join(" ")}] main [${main.join(" ")}]`, () => {
    const names = (kind: string, list: string[]) => list.map((_, index) => ({ name: `${kind}${index}` }) as Container);
    const pod: Pod = { metadata: { name: "p" }, spec: { restartPolicy, initContainers: names("i", init), containers: names("c", main) } };
    const statuses = [
      ...init.map((state, index) => ({ name: `i${index}`, ...states[state] })),
      ...main.map((state, index) => ({ name: `c${index}`, ...states[state] })),
    ] as ContainerStatus[];
    assert.equal(phaseOf(pod, statuses, { isOver: false, hasRun: false }), phase);
  });
}

test("patch: conditions by type, other lists whole, what is gone as null", () => {
  const before = {
    conditions: [
      { type: "Ready", status: "False", reason: "ContainersNotReady", message: "m", observedGeneration: 1 },
      { type: "PodScheduled", status: "True" },
    ],
    containerStatuses: [{ name: "c", ready: false, restartCount: 0, image: "i", imageID: "" }],
    resources: { limits: { memory: "1Mi" }, requests: { memory: "1Mi" } },
  };
  const after = {
    conditions: [
      { type: "Ready", status: "True", observedGeneration: 1 },
      { type: "PodScheduled", status: "True" },
    ],
    containerStatuses: [{ name: "c", ready: true, restartCount: 0, image: "i", imageID: "" }],
    podIPs: [{ ip: "10.0.0.1" }],
    resources: { requests: { memory: "1Mi" } },
  };
  assert.deepEqual(statusPatch("u", before, after), {
    metadata: { uid: "u" },
    status: {
      "$setElementOrder/conditions": [{ type: "Ready" }, { type: "PodScheduled" }],
      conditions: [{ status: "True", reason: null, message: null, type: "Ready" }],
      containerStatuses: after.containerStatuses,
      podIPs: after.podIPs,
      resources: { limits: null },
    },
  });
  assert.equal(statusPatch("u", after, after), undefined);
});

test("a pod that the node did not take has no conditions", () => {
  const status = rejectedStatus({ metadata: { name: "p", generation: 1 } }, "OutOfcpu", "no", 0);
  assert.deepEqual(status, { observedGeneration: 1, phase: "Failed", reason: "OutOfcpu", message: "Pod was rejected: no", startTime: "1970-01-01T00:00:00Z" });
});
