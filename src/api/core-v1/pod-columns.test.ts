import assert from "node:assert/strict";
import { test } from "node:test";
import { podColumns } from "./pod-columns.ts";
import type { ContainerState, ContainerStatus, Pod, PodStatus } from "./types.ts";

const context = { nowMs: Date.parse("2026-01-01T01:00:00Z") };
const running: ContainerState = { running: { startedAt: "2026-01-01T00:00:00Z" } };
const ended = (exitCode: number, reason?: string, signal?: number): ContainerState => ({
  terminated: { exitCode, ...(reason !== undefined && { reason }), ...(signal !== undefined && { signal }) },
});
const waiting = (reason?: string): ContainerState => ({ waiting: reason === undefined ? {} : { reason } });
const status = (name: string, state: ContainerState, more: Partial<ContainerStatus> = {}): ContainerStatus => ({
  name,
  ready: state.running !== undefined,
  restartCount: 0,
  image: "i",
  imageID: "",
  state,
  ...more,
});

function shown(name: string, podStatus: PodStatus, more: { init?: string[]; sidecars?: string[]; containers?: string[]; deleted?: boolean } = {}): string {
  const initContainers = [
    ...(more.init ?? []).map((container) => ({ name: container })),
    ...(more.sidecars ?? []).map((container) => ({ name: container, restartPolicy: "Always" })),
  ];
  const pod: Pod = {
    metadata: { name, creationTimestamp: "2026-01-01T00:59:55Z", ...(more.deleted === true && { deletionTimestamp: "2026-01-01T00:59:59Z" }) },
    spec: { containers: (more.containers ?? ["a"]).map((container) => ({ name: container })), initContainers },
    status: podStatus,
  };
  return podColumns.cells(pod, context).slice(1, 4).join(" ");
}

test("a pod in one word", () => {
  const lastState = { terminated: { exitCode: 1, finishedAt: "2026-01-01T00:50:00Z" } };
  const table: [got: string, wanted: string][] = [
    [shown("phase only", { phase: "Pending" }), "0/1 Pending 0"],
    [shown("own reason", { phase: "Failed", reason: "Evicted" }), "0/1 Evicted 0"],
    [
      shown("gated", { phase: "Pending", reason: "X", conditions: [{ type: "PodScheduled", status: "False", reason: "SchedulingGated" }] }),
      "0/1 SchedulingGated 0",
    ],
    [shown("restarted", { phase: "Running", containerStatuses: [status("a", running, { restartCount: 4, lastState })] }), "1/1 Running 4 (10m ago)"],
    [shown("waits", { phase: "Pending", containerStatuses: [status("a", waiting("ErrImagePull"))] }), "0/1 ErrImagePull 0"],
    [shown("signal", { phase: "Failed", containerStatuses: [status("a", ended(137, undefined, 9))] }), "0/1 Signal:9 0"],
    [
      shown(
        "one is done",
        { phase: "Running", containerStatuses: [status("a", ended(0, "Completed")), status("b", running)], conditions: [{ type: "Ready", status: "True" }] },
        { containers: ["a", "b"] },
      ),
      "1/2 Running 0",
    ],
    [
      shown(
        "one failed",
        { phase: "Running", containerStatuses: [status("a", ended(0, "Completed")), status("b", ended(5)), status("c", running)] },
        { containers: ["a", "b", "c"] },
      ),
      "1/3 ExitCode:5 0",
    ],
    [shown("initializing", { phase: "Pending", initContainerStatuses: [status("i", ended(0)), status("j", running)] }, { init: ["i", "j"] }), "0/1 Init:1/2 0"],
    [shown("init fails", { phase: "Pending", initContainerStatuses: [status("i", ended(1, "Error"))] }, { init: ["i"] }), "0/1 Init:Error 0"],
    [
      shown(
        "sidecar",
        { phase: "Running", initContainerStatuses: [status("s", running, { started: true, restartCount: 2 })], containerStatuses: [status("a", running)] },
        { sidecars: ["s"] },
      ),
      "2/2 Running 2",
    ],
    [shown("deleted", { phase: "Running", containerStatuses: [status("a", running)] }, { deleted: true }), "1/1 Terminating 0"],
    [shown("deleted, lost", { phase: "Running", reason: "NodeLost" }, { deleted: true }), "0/1 Unknown 0"],
    [shown("deleted, done", { phase: "Succeeded", containerStatuses: [status("a", ended(0, "Completed"))] }, { deleted: true }), "0/1 Completed 0"],
  ];
  for (const [got, wanted] of table) assert.equal(got, wanted);
});

test("finished pods say so in a condition of the row", () => {
  assert.deepEqual(podColumns.conditions?.({ metadata: {}, status: { phase: "Failed" } }), [
    { type: "Completed", status: "True", reason: "Failed", message: "The pod failed." },
  ]);
  assert.deepEqual(podColumns.conditions?.({ metadata: {}, status: { phase: "Running" } }), []);
});
