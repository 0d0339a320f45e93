import { test } from "node:test";
import { deepEqual } from "node:assert/strict";
import { podOf } from "../test-support/cluster.ts";
import { podRequests, scoredRequests } from "./pod-requests.ts";
import type { Container, Pod } from "../../api/core-v1/types.ts";

const container = (name: string, cpu?: string, restartPolicy?: string): Container => ({
  name,
  ...(cpu !== undefined && { resources: { requests: { cpu } } }),
  ...(restartPolicy !== undefined && { restartPolicy }),
});
const withStatus = (pod: Pod, status: Pod["status"]): Pod => ({ ...pod, ...(status !== undefined && { status }) });
const granted = {
  containerStatuses: [
    { name: "a", ready: true, restartCount: 0, image: "", imageID: "", allocatedResources: { cpu: "2" }, resources: { requests: { cpu: "2" } } },
  ],
};

const cases: { name: string; pod: Pod; milliCpu: number; scored: number }[] = [
  { name: "containers add up", pod: podOf("p", { containers: [container("a", "1"), container("b", "500m")] }), milliCpu: 1500, scored: 1500 },
  {
    name: "one that asks for nothing counts 100m in scores",
    pod: podOf("p", { containers: [container("a", "1"), container("b")] }),
    milliCpu: 1000,
    scored: 1100,
  },
  {
    name: "an init container that needs more",
    pod: podOf("p", { initContainers: [container("i", "3")], containers: [container("a", "1")] }),
    milliCpu: 3000,
    scored: 3000,
  },
  {
    name: "a sidecar runs beside",
    pod: podOf("p", { initContainers: [container("s", "1", "Always")], containers: [container("a", "1")] }),
    milliCpu: 2000,
    scored: 2000,
  },
  {
    name: "an init container after a sidecar",
    pod: podOf("p", { initContainers: [container("s", "1", "Always"), container("i", "2")], containers: [container("a", "1")] }),
    milliCpu: 3000,
    scored: 3000,
  },
  { name: "overhead", pod: podOf("p", { containers: [container("a", "1")], overhead: { cpu: "250m" } }), milliCpu: 1250, scored: 1250 },
  {
    name: "the pod's own requests stand for the sum",
    pod: podOf("p", { resources: { requests: { cpu: "2" } }, containers: [container("a", "1"), container("b")] }),
    milliCpu: 2000,
    scored: 2000,
  },
  { name: "a resize that is not granted yet", pod: withStatus(podOf("p", { containers: [container("a", "3")] }), granted), milliCpu: 3000, scored: 3000 },
  {
    name: "a resize down that has not happened yet",
    pod: withStatus(podOf("p", { containers: [container("a", "1")] }), granted),
    milliCpu: 2000,
    scored: 2000,
  },
  {
    name: "a resize that cannot be",
    pod: withStatus(podOf("p", { containers: [container("a", "9")] }), {
      ...granted,
      conditions: [{ type: "PodResizePending", status: "True", reason: "Infeasible" }],
    }),
    milliCpu: 2000,
    scored: 2000,
  },
];
for (const { name, pod, milliCpu, scored } of cases)
  test(`requests: ${name}`, () => deepEqual([podRequests(pod).milliCpu, scoredRequests(pod).milliCpu], [milliCpu, scored]));
