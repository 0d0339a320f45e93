/** A whole control plane with simulated nodes in a process of its own, and requests to it over TLS. */
import { readFile } from "node:fs/promises";
import { connectionSettings, parseKubeconfig } from "../../../src/client/index.ts";
import { Load, send } from "../api/load.ts";
import { MeasuredServer } from "../api/measured-server.ts";
import { FollowedObjects } from "./followed.ts";
import type { ClientHttp2Session } from "node:http2";
import type { Followed } from "./followed.ts";
import type { RequestLog } from "./request-log.ts";

export interface BenchOptions {
  readonly port: number;
  readonly bundle?: string;
  readonly nodeFlags?: readonly string[];
  /** Requests are counted there. */
  readonly requests?: RequestLog;
}

export class BenchCluster implements AsyncDisposable {
  readonly server: MeasuredServer;
  readonly requests: RequestLog | undefined;
  readonly #load: Load;
  readonly #sessions: readonly ClientHttp2Session[];

  private constructor(server: MeasuredServer, load: Load, sessions: readonly ClientHttp2Session[], requests: RequestLog | undefined) {
    this.server = server;
    this.requests = requests;
    this.#load = load;
    this.#sessions = sessions;
  }

  /** Resolves when all `nodes` are ready. */
  static async start(options: BenchOptions, nodes: number, flags: readonly string[] = []): Promise<BenchCluster> {
    const components = "apiserver,controllers,scheduler,kubelet,metrics";
    const server = await MeasuredServer.start({
      ...options,
      components,
      flags: ["--runtime", "simulated", "--nodes", String(nodes), ...flags, ...(options.requests?.flags ?? [])],
    });
    const load = new Load(await connectionSettings(parseKubeconfig(await server.kubeconfig), (file) => readFile(file)));
    const cluster = new BenchCluster(server, load, await load.connect(4), options.requests);
    await using ready = await cluster.follow("/api/v1/nodes", (node) => hasCondition(node, "Ready"));
    await ready.reached(nodes);
    return cluster;
  }

  follow(path: string, isWanted: (object: Followed) => boolean): Promise<FollowedObjects> {
    return FollowedObjects.follow(this.#sessions[0]!, path, isWanted);
  }

  async namespace(name: string): Promise<void> {
    await this.create("/api/v1/namespaces", { metadata: { name } });
    await using accounts = await this.follow(`/api/v1/namespaces/${name}/serviceaccounts`, () => true);
    await accounts.reached(1);
  }

  create(path: string, object: object, index = 0): Promise<void> {
    return this.request("POST", path, object, index);
  }

  async request(method: string, path: string, body?: object, index = 0): Promise<void> {
    const session = this.#sessions[index % this.#sessions.length]!;
    const { status } = await send(session, { ":method": method, ":path": path, "content-type": "application/json" }, body && JSON.stringify(body));
    if (status >= 300) throw new Error(`${method} ${path}: ${status}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#load[Symbol.asyncDispose]();
    await this.server[Symbol.asyncDispose]();
  }
}

export function hasCondition({ status }: Followed, wanted: string): boolean {
  return status?.conditions?.some((condition) => condition.type === wanted && condition.status === "True") ?? false;
}
