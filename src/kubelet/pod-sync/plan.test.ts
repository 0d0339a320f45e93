import assert from "node:assert/strict";
import { test } from "node:test";
import type { Container, Pod } from "../../api/core-v1/types.ts";
import type { ContainerStatus, PodSandboxStatus } from "../runtime/cri-messages.ts";
import { planPod } from "./plan.ts";
import type { ContainerHealth, PodPlan } from "./plan.ts";
import type { PodRuntime, RuntimeContainer } from "./pod-runtime.ts";

const nowMs = 1_000_000;

type Situation = {
  policy?: "Always" | "OnFailure" | "Never";
  containers?: Partial<Container>[];
  init?: Partial<Container>[];
  /** `c running`, `c exited 1`, `c#1 exited 0`, `c created`: newest first. */
  runtime?: string[];
  sandbox?: "ready" | "gone" | "none";
  unhealthy?: "liveness" | "startup";
  unstarted?: boolean;
  backoffMs?: number;
  /** Requests and limits that `c` was made with. */
  resources?: string;
};

const table: [name: string, situation: Situation, plan: string][] = [
  ["nothing yet", { sandbox: "none" }, "sandbox 0"],
  ["a sandbox", {}, "start c#0"],
  ["running", { runtime: ["c running"] }, ""],
  ["made, but never started", { runtime: ["c created"] }, "remove c"],
  ["ended well, Always", { runtime: ["c exited 0"] }, "start c#1"],
  ["ended badly, OnFailure", { policy: "OnFailure", runtime: ["c exited 2"] }, "start c#1"],
  ["ended well, OnFailure", { policy: "OnFailure", runtime: ["c exited 0"] }, "stop"],
  ["ended badly, Never", { policy: "Never", runtime: ["c exited 2"] }, "stop"],
  ["crashed twice: held back", { runtime: ["c#1 exited 2"], backoffMs: 10_000 }, "start c#2 in 9000ms"],
  ["one of two ended, Never", { policy: "Never", containers: [{ name: "c" }, { name: "d" }], runtime: ["d running", "c exited 1"] }, ""],
  ["its own policy", { policy: "Never", containers: [{ name: "c", restartPolicy: "OnFailure" }], runtime: ["c exited 42"] }, "start c#1"],
  ["dead by liveness", { runtime: ["c running"], unhealthy: "liveness" }, "kill c: Container c failed liveness probe, will be restarted"],
  ["dead by startup, Never", { policy: "Never", runtime: ["c running"], unhealthy: "startup" }, "stop"],
  ["resized", { runtime: ["c running"], containers: [{ name: "c", resources: { limits: { cpu: "2" } } }], resources: "- 1 - -" }, "resize c"],
  [
    "resized, restart wanted",
    {
      runtime: ["c running"],
      containers: [{ name: "c", resources: { limits: { memory: "2Mi" } }, resizePolicy: [{ resourceName: "memory", restartPolicy: "RestartContainer" }] }],
      resources: "- - - 1Mi",
    },
    "kill c: Container c resize requires restart",
  ],
  ["init first", { init: [{ name: "i" }, { name: "j" }] }, "start i#0"],
  ["init runs", { init: [{ name: "i" }], runtime: ["i running"] }, ""],
  ["init done: the next", { init: [{ name: "i" }, { name: "j" }], runtime: ["i exited 0"] }, "start j#0"],
  ["all init done", { init: [{ name: "i" }], runtime: ["i exited 0"] }, "start c#0"],
  ["init failed, Always", { init: [{ name: "i" }], runtime: ["i exited 1"] }, "start i#1"],
  ["init failed, Never", { policy: "Never", init: [{ name: "i" }], runtime: ["i exited 1"] }, "stop"],
  ["a sidecar, not started", { init: [{ name: "s", restartPolicy: "Always" }], runtime: ["s running"], unstarted: true }, ""],
  ["a sidecar, started", { init: [{ name: "s", restartPolicy: "Always" }], runtime: ["s running"] }, "start c#0"],
  ["a sidecar ended", { init: [{ name: "s", restartPolicy: "Always" }], runtime: ["c running", "s exited 1"] }, "start s#1"],
  ["sidecars alone do not keep a pod", { policy: "Never", init: [{ name: "s", restartPolicy: "Always" }], runtime: ["c exited 0", "s running"] }, "stop"],
  ["sandbox died, Always", { sandbox: "gone", runtime: ["c exited 137"] }, "sandbox 1"],
  ["sandbox died, Never", { policy: "Never", sandbox: "gone", runtime: ["c exited 137"] }, "idle"],
];

for (const [name, situation, expected] of table) {
  test(`plan: ${name}`, () => assert.equal(planText(planPod(inputOf(situation))), expected));
}

function inputOf(situation: Situation) {
  const { policy = "Always", containers = [{ name: "c" }], init = [], sandbox = "ready" } = situation;
  const pod: Pod = {
    metadata: { name: "p", namespace: "default", uid: "u" },
    spec: { restartPolicy: policy, containers: containers as Container[], initContainers: init as Container[] },
  };
  const state = sandbox === "ready" ? "SANDBOX_READY" : "SANDBOX_NOTREADY";
  const runtime: PodRuntime = {
    sandboxes:
      sandbox === "none" ? [] : [{ id: "s", state, metadata: { attempt: 0 }, network: { ip: "10.0.0.1", additional_ips: [] } } as unknown as PodSandboxStatus],
    containers: (situation.runtime ?? []).map(containerOf),
  };
  const health: ContainerHealth = {
    isStarted: situation.unstarted !== true,
    isReady: true,
    ...(situation.unhealthy !== undefined && { failed: situation.unhealthy }),
  };
  const backoff = situation.backoffMs === undefined ? undefined : { delayMs: situation.backoffMs, updatedMs: nowMs - 2000 };
  return { pod, runtime, nowMs, health: () => health, backoff: () => backoff, resources: () => situation.resources ?? "" };
}

function containerOf(text: string): RuntimeContainer {
  const [, name = "", attempt = "0", state = "", code = "0"] = /^(\w+)(?:#(\d+))? (\w+)(?: (\d+))?$/.exec(text)!;
  const status = {
    state: `CONTAINER_${state.toUpperCase()}`,
    exit_code: Number(code),
    finished_at: (nowMs - 1000) * 1e6,
    created_at: Number(attempt),
  } as unknown as ContainerStatus;
  return { id: text, name, sandboxId: "s", restartCount: Number(attempt), hash: "", resources: "", status };
}

function planText(plan: PodPlan): string {
  switch (plan.kind) {
    case "idle":
    case "stop":
      return plan.kind;
    case "sandbox":
      return `sandbox ${plan.attempt}`;
    case "run":
      return plan.steps
        .map((step) => {
          if (step.kind === "resize") return `resize ${step.container.name}`;
          if (step.kind === "remove") return `remove ${step.container.name}`;
          if (step.kind === "kill") return `kill ${step.container.name}: ${step.message}`;
          return `start ${step.spec.container.name}#${step.attempt}${step.dueMs > nowMs ? ` in ${step.dueMs - nowMs}ms` : ""}`;
        })
        .join(", ");
  }
}
