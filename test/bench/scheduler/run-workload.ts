/** One workload of the scheduler's benchmark, end to end: over TLS, through the API server and a durable store, until every pod is bound. */
import { readFile } from "node:fs/promises";
import type { ClientHttp2Session } from "node:http2";
import { connectionSettings, parseKubeconfig } from "../../../src/client/index.ts";
import { Load, inFlight, send } from "../api/load.ts";
import { MeasuredServer } from "../api/measured-server.ts";
import { BoundPods } from "./bound-pods.ts";
import { csiNodeOf, nodeOf, podOf, taintsOf, volumeOf } from "./objects.ts";
import { schedulerFigures } from "./scheduler-figures.ts";
import type { Batch, Workload } from "./workloads.ts";

export interface Result {
  readonly workload: string;
  readonly perSecond: number;
  readonly threshold: number | undefined;
  /** The scheduler's own decisions in a second of its time. */
  readonly decisionsPerSecond: number;
  /** From the creation to the binding, milliseconds. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly privateMiB: number;
  readonly longestBlockMs: number;
  /** Of the servers' process, for each pod. */
  readonly cpuMicros: number;
}

export async function runWorkload(workload: Workload, options: RunOptions): Promise<Result> {
  const flags = [`--scheduler.secure-port=${options.port + 1}`];
  await using server = await MeasuredServer.start({ ...options, components: "apiserver,scheduler", flags });
  const settings = await connectionSettings(parseKubeconfig(await server.kubeconfig), (file) => readFile(file));
  await using load = new Load(settings);
  const sessions = await load.connect(4);
  await using bound = await BoundPods.follow(sessions[0]!);
  const making = new Making(sessions, workload.nodes);
  await making.surroundings(workload);
  await making.volumes("before", workload.before);
  await making.pods("before", workload.before);
  if (workload.before.until !== "pending") await bound.reached(workload.before.count);
  await making.volumes("measured", workload.measured);
  const { count } = workload.measured;
  const before = { bound: bound.count, cpu: await server.cpuSeconds(), figures: await schedulerFigures(settings, options.port + 1) };
  await server.longestBlockMs();
  const startedMs = performance.now();
  const churn = workload.hasChurn === true ? making.churn(() => bound.count >= before.bound + count) : Promise.resolve();
  await making.pods("measured", workload.measured);
  await bound.reached(before.bound + count);
  const seconds = (performance.now() - startedMs) / 1000;
  await churn;
  const after = await schedulerFigures(settings, options.port + 1);
  const latencies = bound.latencies(making.createdMs).sort((a, b) => a - b);
  return {
    workload: workload.name,
    perSecond: Math.round(count / seconds),
    threshold: workload.threshold,
    decisionsPerSecond: Math.round((after.decisions - before.figures.decisions) / (after.seconds - before.figures.seconds)),
    p50Ms: Math.round(latencies[Math.floor(latencies.length / 2)] ?? 0),
    p99Ms: Math.round(latencies[Math.floor(latencies.length * 0.99)] ?? 0),
    privateMiB: Math.round(await server.privateMiB()),
    longestBlockMs: Math.round(await server.longestBlockMs()),
    cpuMicros: Math.round((((await server.cpuSeconds()) - before.cpu) / count) * 1e6),
  };
}

export interface RunOptions {
  readonly port: number;
  readonly bundle?: string;
  readonly nodeFlags?: readonly string[];
}

/** Makes what a workload asks for, many requests at once. */
class Making {
  readonly createdMs = new Map<string, number>();
  readonly #sessions: readonly ClientHttp2Session[];
  readonly #nodes: number;

  constructor(sessions: readonly ClientHttp2Session[], nodes: number) {
    this.#sessions = sessions;
    this.#nodes = nodes;
  }

  async surroundings(workload: Workload): Promise<void> {
    const { nodes, node, before, measured } = workload;
    const namespaces = Math.max(1, before.namespaces ?? 1, measured.namespaces ?? 1);
    await inFlight(50, namespaces, async (index) => {
      await this.#create("/api/v1/namespaces", { metadata: { name: `bench-${index}`, labels: { team: "devops" } } });
      await this.#create(`/api/v1/namespaces/bench-${index}/serviceaccounts`, { metadata: { name: "default" } });
    });
    await this.#create("/apis/scheduling.k8s.io/v1/priorityclasses", { metadata: { name: "high" }, value: 1000 });
    await this.#create("/api/v1/namespaces/bench-0/secrets", { metadata: { name: "secret" } });
    await this.#create("/api/v1/namespaces/bench-0/services", { metadata: { name: "service" }, spec: { selector: { app: "service" }, ports: [{ port: 80 }] } });
    await inFlight(100, nodes, async (index) => {
      await this.#create("/api/v1/nodes", nodeOf(index, node));
      const taints = taintsOf(index, workload) ?? null;
      await this.#send(index, "PATCH", `/api/v1/nodes/node-${index}`, { spec: { taints } }, { "content-type": "application/merge-patch+json" });
      if (measured.hasVolume === true) await this.#create("/apis/storage.k8s.io/v1/csinodes", csiNodeOf(`node-${index}`), index);
    });
  }

  /** What the pods of `pods` mount. */
  async volumes(prefix: string, { count, hasVolume }: Batch): Promise<void> {
    await inFlight(100, hasVolume === true ? count : 0, async (index) => {
      const { volume, claim } = volumeOf(`${prefix}-${index}`, "bench-0");
      await this.#create("/api/v1/persistentvolumes", volume, index);
      await this.#create("/api/v1/namespaces/bench-0/persistentvolumeclaims", claim, index);
    });
  }

  async pods(prefix: string, batch: Batch): Promise<void> {
    await inFlight(100, batch.count, async (index) => {
      const name = `${prefix}-${index}`;
      this.createdMs.set(name, performance.now());
      await this.#create(`/api/v1/namespaces/bench-${index % (batch.namespaces ?? 1)}/pods`, podOf(name, { index, nodes: this.#nodes }, batch), index);
    });
  }

  /** Nodes, Services and pods that fit nowhere come and go. */
  async churn(isOver: () => boolean): Promise<void> {
    for (let round = 0; !isOver(); round++) {
      const name = `churn-${round}`;
      const paths = ["/api/v1/nodes", "/api/v1/namespaces/bench-0/services", "/api/v1/namespaces/bench-0/pods"];
      const objects = [
        nodeOf(0, undefined, name),
        { metadata: { name }, spec: { ports: [{ port: 80 }] } },
        podOf(name, { index: 0, nodes: 1 }, { count: 1, requests: { cpu: "9" } }),
      ];
      for (const [index, path] of paths.entries()) await this.#create(path, objects[index]!, index);
      for (const [index, path] of paths.entries()) await this.#send(index, "DELETE", `${path}/${name}?gracePeriodSeconds=0`);
    }
  }

  #create(path: string, object: object, index = 0): Promise<void> {
    return this.#send(index, "POST", path, object, { "content-type": "application/json" });
  }

  async #send(index: number, method: string, path: string, body?: object, headers: Record<string, string> = {}): Promise<void> {
    const session = this.#sessions[index % this.#sessions.length]!;
    const { status } = await send(session, { ":method": method, ":path": path, ...headers }, body && JSON.stringify(body));
    if (status >= 300 && status !== 409) throw new Error(`${method} ${path}: ${status}`);
  }
}
