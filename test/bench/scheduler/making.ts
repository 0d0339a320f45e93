/** Makes what a workload asks for, many requests at once. */
import type { ClientHttp2Session } from "node:http2";
import { inFlight, send } from "../api/load.ts";
import { csiNodeOf, nodeOf, podOf, taintsOf, volumeOf } from "./objects.ts";
import type { Batch, Churn, Leaving, Workload } from "./workloads.ts";

export class Making {
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

  /** Every so often a pod comes, to stay, or along with a node and a Service, all of which go again when it is time for the next ones. */
  async churn({ everyMs, pod, isReplaced }: Churn, signal: AbortSignal): Promise<void> {
    const paths = ["/api/v1/nodes", "/api/v1/namespaces/bench-0/services", "/api/v1/namespaces/bench-0/pods"];
    for (let round = 0; !signal.aborted; round++) {
      const name = `churn-${round}`;
      const objects = [nodeOf(0, undefined, name), { metadata: { name }, spec: { ports: [{ port: 80 }] } }, podOf(name, { index: 0, nodes: 1 }, pod)];
      for (const [index, path] of paths.entries()) if (isReplaced || index === 2) await this.#create(path, objects[index]!, index);
      await pause(everyMs, signal);
      if (isReplaced) for (const [index, path] of paths.entries()) await this.#send(index, "DELETE", `${path}/${name}?gracePeriodSeconds=0`);
    }
  }

  /** Deletes pods of the batch `leaving`, so many a second. */
  async leave({ count, perSecond }: Leaving, signal: AbortSignal): Promise<void> {
    for (let index = 0; index < count && !signal.aborted; index++) {
      await this.#send(index, "DELETE", `/api/v1/namespaces/bench-0/pods/leaving-${index}?gracePeriodSeconds=0`);
      await pause(1000 / perSecond, signal);
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

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    const onAbort = () => {
      clearTimeout(timer);
      resolve();
    };
    signal.addEventListener("abort", onAbort, { once: true });
  });
}
