import { test } from "node:test";
import { equal } from "node:assert/strict";
import { emptyPodRuntime } from "./pod-runtime.ts";
import { isUntoldStart } from "./untold-start.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import type { PodRuntime, RuntimeContainer } from "./pod-runtime.ts";

const pod: Pod = { metadata: { name: "p" }, spec: { containers: [{ name: "a" }, { name: "b" }] } };
const runtimeOf = (states: Record<string, string>): PodRuntime => ({
  ...emptyPodRuntime,
  containers: Object.entries(states).map(([name, state]) => ({ name, status: { state } }) as unknown as RuntimeContainer),
});

const cases: { name: string; pod?: Pod; runtime?: PodRuntime; held?: string; expect: boolean }[] = [
  { name: "nothing is there yet", expect: true },
  { name: "one of two runs", runtime: runtimeOf({ a: "CONTAINER_RUNNING", b: "CONTAINER_CREATED" }), expect: true },
  { name: "all run", runtime: runtimeOf({ a: "CONTAINER_RUNNING", b: "CONTAINER_RUNNING" }), expect: false },
  { name: "one has ended already", runtime: runtimeOf({ a: "CONTAINER_EXITED", b: "CONTAINER_RUNNING" }), expect: false },
  { name: "an image does not come", held: "b", expect: false },
  { name: "it is being deleted", pod: { ...pod, metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } }, expect: false },
  { name: "it was told of before", pod: { ...pod, status: { startTime: "2026-01-01T00:00:00Z" } }, expect: false },
];
for (const { name, expect, held, runtime = emptyPodRuntime, pod: asked = pod } of cases)
  test(`a start is not told: ${name}`, () =>
    equal(
      isUntoldStart(asked, runtime, (container) => container === held),
      expect,
    ));
