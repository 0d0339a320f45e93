/**
 * `npm run bench pipeline [-- --count N]`: what one request costs from the API server's entrance to its answer, with no socket
 * and a store in memory, in microseconds of CPU. The requests are those of a pod's life, as the components send them.
 */
import { parseArgs } from "node:util";
import { TestCluster } from "../../src/testing/cluster.ts";

const { values: options } = parseArgs({ options: { count: { type: "string", default: "10000" } } });
const count = Number(options.count);
/** Requests under way at once. */
const width = 50;

interface Step {
  readonly name: string;
  readonly method: string;
  readonly type?: string;
  path(index: number): string;
  body?(index: number): unknown;
}

const pods = "/api/v1/namespaces/bench/pods";
const container = {
  name: "app",
  image: "coracle.local/hello:v1",
  ports: [{ containerPort: 80 }],
  resources: { requests: { cpu: "100m", memory: "64Mi" }, limits: { memory: "128Mi" } },
};
const time = "2026-01-01T00:00:00Z";
const condition = (type: string) => ({ type, status: "True", lastProbeTime: null, lastTransitionTime: time });

const steps: readonly Step[] = [
  {
    name: "create a ConfigMap of 1 KB",
    method: "POST",
    path: () => "/api/v1/namespaces/bench/configmaps",
    body: (index) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: `object-${index}` }, data: { key: "x".repeat(600) } }),
  },
  { name: "get a ConfigMap", method: "GET", path: (index) => `/api/v1/namespaces/bench/configmaps/object-${index}` },
  {
    name: "create a pod",
    method: "POST",
    path: () => pods,
    body: (index) => ({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: `pod-${index}`, labels: { app: "bench", "pod-template-hash": "5d89bdfbf9" } },
      spec: { automountServiceAccountToken: false, containers: [container] },
    }),
  },
  {
    name: "bind a pod",
    method: "POST",
    path: (index) => `${pods}/pod-${index}/binding`,
    body: (index) => ({ apiVersion: "v1", kind: "Binding", metadata: { name: `pod-${index}` }, target: { kind: "Node", name: "node-1" } }),
  },
  {
    name: "patch a pod's status",
    method: "PATCH",
    type: "application/strategic-merge-patch+json",
    path: (index) => `${pods}/pod-${index}/status`,
    body: () => ({
      status: {
        phase: "Running",
        hostIP: "10.0.0.1",
        podIP: "10.244.0.5",
        podIPs: [{ ip: "10.244.0.5" }],
        startTime: time,
        conditions: ["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"].map(condition),
        containerStatuses: [
          {
            name: "app",
            image: container.image,
            imageID: "sha256:1",
            containerID: "containerd://1",
            ready: true,
            started: true,
            restartCount: 0,
            state: { running: { startedAt: time } },
          },
        ],
      },
    }),
  },
  {
    name: "create an Event",
    method: "POST",
    path: () => "/api/v1/namespaces/bench/events",
    body: (index) => ({
      apiVersion: "v1",
      kind: "Event",
      metadata: { name: `pod-${index}.1`, namespace: "bench" },
      involvedObject: { kind: "Pod", namespace: "bench", name: `pod-${index}`, uid: "u", apiVersion: "v1" },
      reason: "Started",
      message: "Container started",
      source: { component: "kubelet", host: "node-1" },
      firstTimestamp: time,
      lastTimestamp: time,
      count: 1,
      type: "Normal",
    }),
  },
  { name: "get a pod", method: "GET", path: (index) => `${pods}/pod-${index}` },
  { name: "delete a pod", method: "DELETE", path: (index) => `${pods}/pod-${index}`, body: () => ({ gracePeriodSeconds: 0 }) },
];

await using cluster = await TestCluster.start();
await send("POST", "/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: "bench" } });
await send("POST", "/api/v1/namespaces/bench/serviceaccounts", { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "default" } });
await send("POST", "/api/v1/nodes", { apiVersion: "v1", kind: "Node", metadata: { name: "node-1" } });
const rows: Record<string, { readonly "CPU µs each": number }> = {};
for (const step of steps) {
  const before = process.cpuUsage();
  for (let index = 0; index < count; index += width)
    await Promise.all(Array.from({ length: Math.min(width, count - index) }, (_, offset) => run(step, index + offset)));
  const used = process.cpuUsage(before);
  rows[step.name] = { "CPU µs each": Math.round(((used.user + used.system) / count) * 10) / 10 };
}
console.table(rows);
console.log(JSON.stringify(rows));

async function run(step: Step, index: number): Promise<void> {
  await send(step.method, step.path(index), step.body?.(index), step.type);
}

async function send(method: string, path: string, body?: unknown, type = "application/json"): Promise<void> {
  const bytes = body === undefined ? new Uint8Array() : Buffer.from(JSON.stringify(body));
  const answer = await cluster.client.send({ method, path, query: "", headers: { "content-type": type }, body: bytes });
  if (answer.status >= 300 || answer.body.kind !== "bytes") throw new Error(`${method} ${path}: ${answer.status}`);
}
