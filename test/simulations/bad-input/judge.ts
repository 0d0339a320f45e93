/** Sends a hostile request to a server's entrance, and judges the answer and what it cost. */
import { equal } from "node:assert/strict";
import { loopTurn } from "../../../src/base/virtual-clock.ts";
import { loopbackTransport, readBody } from "../../../src/client/index.ts";
import { ask } from "../../../src/testing/ask.ts";
import type { TestCluster } from "../../../src/testing/cluster.ts";
import type { HostileRequest } from "./hostile-requests.ts";

/** DESIGN.md's budget for bodies up to 256 KiB, up to 10,000 objects. */
const budgetMs = 25;
/** Code that runs for the first time is compiled, and garbage is somebody else's: the request itself costs what it costs at best. */
const tries = 4;

/** What the requests are aimed at: objects called `there`, a custom resource. */
export async function prepare(cluster: TestCluster): Promise<void> {
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
  const definition = {
    metadata: { name: "widgets.example.com" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { kind: "Widget", plural: "widgets" },
      versions: [{ name: "v1", served: true, storage: true, schema }],
    },
  };
  equal((await ask(cluster, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition)).status, 201);
  await cluster.turn();
  const template = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } };
  const objects: [path: string, object: object][] = [
    ["/api/v1/namespaces/default/configmaps", { data: { a: "b" } }],
    ["/apis/apps/v1/namespaces/default/deployments", { spec: { selector: { matchLabels: { a: "b" } }, template } }],
    ["/apis/example.com/v1/namespaces/default/widgets", { apiVersion: "example.com/v1", kind: "Widget", spec: {} }],
  ];
  for (const [path, object] of objects) equal((await ask(cluster, "POST", path, { ...object, metadata: { name: "there" } })).status, 201);
}

/** Says what is wrong with the answer; undefined when nothing is. */
export async function judge(cluster: TestCluster, request: HostileRequest): Promise<string | undefined> {
  let blockedMs = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < tries && blockedMs > budgetMs; attempt++) {
    const { fault, longestMs } = await send(cluster, request);
    if (fault !== undefined) return `${describe(request)}: ${fault}`;
    blockedMs = Math.min(blockedMs, longestMs);
  }
  return blockedMs > budgetMs ? `${describe(request)}: blocks the loop for ${blockedMs.toFixed(0)} ms` : undefined;
}

async function send(cluster: TestCluster, request: HostileRequest): Promise<{ fault: string | undefined; longestMs: number }> {
  const probe = new LoopProbe();
  try {
    const leaving = new AbortController();
    const response = await loopbackTransport(cluster.handle, admin)({ ...request, signal: leaving.signal });
    if (response.body.kind === "upgrade") return { fault: undefined, longestMs: probe.stop() };
    // A watch has no end.
    if (response.body.kind === "stream" && response.body.isDocument !== true) {
      leaving.abort(new DOMException("the client left", "AbortError"));
      return { fault: undefined, longestMs: probe.stop() };
    }
    const text = Buffer.from(await readBody(response.body)).toString();
    return { fault: faultOf(response.status, text), longestMs: probe.stop() };
  } catch (error) {
    return { fault: `rejects: ${error instanceof Error ? error.stack : String(error)}`, longestMs: probe.stop() };
  }
}

function faultOf(status: number, text: string): string | undefined {
  // A refusal in JSON is a Status; protobuf, YAML and the plain texts of paths that lead nowhere are not looked into.
  const isRefusal = status < 400 || !text.startsWith("{") || /^\{\s*"kind": ?"Status"/.test(text);
  // Kubernetes answers a bad resourceVersion of a read with a bare 500.
  if (status === 500 && text.includes('"message":"resourceVersion: Invalid value')) return undefined;
  return status >= 500 || !isRefusal ? `${status} ${text.slice(0, 300)}` : undefined;
}

function describe({ method, path, query, headers, body }: HostileRequest): string {
  return `${method} ${path.slice(0, 100)}?${query.slice(0, 100)} ${headers["content-type"] ?? ""} ${JSON.stringify(Buffer.from(body).toString("latin1").slice(0, 120))} (${body.length} bytes)`;
}

/** The longest turn of the loop, in ms of the thread's own CPU, so that neighbours on the machine do not count. */
class LoopProbe {
  #longestMs = 0;
  #last = cpuMs();
  #isRunning = true;

  constructor() {
    void this.#run();
  }

  async #run(): Promise<void> {
    while (this.#isRunning) {
      await loopTurn();
      this.#note();
    }
  }

  #note(): void {
    const now = cpuMs();
    this.#longestMs = Math.max(this.#longestMs, now - this.#last);
    this.#last = now;
  }

  /** Ends the probe; returns the longest turn. */
  stop(): number {
    this.#isRunning = false;
    this.#note();
    return this.#longestMs;
  }
}

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

const admin = { username: "admin", groups: ["system:masters", "system:authenticated"] };
