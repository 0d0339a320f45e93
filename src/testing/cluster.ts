import { generateKeyPairSync } from "node:crypto";
import { invariant } from "../base/invariant.ts";
import { silentLog } from "../base/log.ts";
import { seededRandom } from "../base/random.ts";
import { TaskGroup } from "../base/task-group.ts";
import { loopTurn, VirtualClock } from "../base/virtual-clock.ts";
import { internalServerError } from "../apimachinery/status.ts";
import { ApiServer } from "../apiserver/server.ts";
import type { ServerState } from "../apiserver/server-state.ts";
import { Client, loopbackTransport } from "../client/index.ts";
import { apiServerFlags } from "../cluster/components/apiserver/apiserver-flags/apiserver-flags.ts";
import { openMemoryStore } from "../storage/index.ts";
import { CountedHandler } from "./counted-handler.ts";
import type { PassingClock } from "./wall-clock.ts";
import type { NodeConnector } from "../apiserver/streaming/node-connector.ts";
import type { AuditOptions } from "../apiserver/audit/auditor.ts";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { Random } from "../base/random.ts";
import type { Transport, UserInfo } from "../apimachinery/request.ts";
import type { ExtensionConnector } from "../apiserver/aggregation/connector.ts";
import type { WebhookConnector } from "../apiserver/webhooks/webhook-connector.ts";
import type { RequestHandler } from "../client/index.ts";
import type { Store, StoreImage } from "../storage/index.ts";
import type { ClusterComponent, ComponentContext } from "./component.ts";
import type { RequestObserver } from "./counted-handler.ts";

/**
 * A whole cluster in the test's process, on a virtual clock, from a seed: an API server over a memory store, and whatever components the
 * test names, each with a loopback transport of its own. Nothing completes outside JavaScript, so virtual time moves only when nothing can
 * run, and the same seed gives the same run. Driven by the test; `close` ends everything and checks that nothing is left.
 */
export class TestCluster<Time extends PassingClock = VirtualClock> implements AsyncDisposable {
  readonly clock: Time;
  readonly random: Random;
  /** As the cluster's admin. */
  readonly client: Client;
  readonly #context: ComponentContext;
  readonly #requests: CountedHandler;
  readonly #server: ApiServer;
  readonly #store: Store;
  readonly #running = new Map<string, TaskGroup>();

  static start(options?: TestClusterOptions): Promise<TestCluster>;
  /** On another clock than a virtual one. */
  static start<Time extends PassingClock>(options: TestClusterOptions, clock: Time): Promise<TestCluster<Time>>;
  static async start(options: TestClusterOptions = {}, clock: PassingClock = new VirtualClock(options.startMs)): Promise<TestCluster<PassingClock>> {
    const cluster = new TestCluster(options, clock);
    await cluster.#server.start();
    for (const [name, component] of Object.entries(options.components ?? {})) cluster.startComponent(name, component);
    await cluster.turn();
    return cluster;
  }

  private constructor(options: TestClusterOptions, clock: Time) {
    const log = options.log ?? silentLog;
    this.clock = clock;
    this.random = seededRandom(options.seed ?? 1);
    const inner = openMemoryStore({ clock: this.clock, ...(options.image !== undefined && { image: options.image }) });
    this.#store = options.wrapStore?.(inner, this.clock) ?? inner;
    const { webhooks, extensions, audit, nodes } = options;
    this.#server = new ApiServer({
      ...serverOptions({ clock: this.clock, random: this.random, log, store: this.#store }, options.flags ?? {}),
      ...(webhooks !== undefined && { webhooks }),
      ...(extensions !== undefined && { extensions }),
      ...(audit !== undefined && { audit: () => audit }),
      ...(nodes !== undefined && { nodes }),
    });
    this.#requests = new CountedHandler(this.#server.handle, this.clock, options.onRequest);
    const transportFor = (user: UserInfo) => {
      const transport = loopbackTransport(this.#requests.handle, user);
      return options.wrapTransport?.(transport, user, this.clock) ?? transport;
    };
    this.#context = { transportFor, clock: this.clock, random: this.random, log };
    this.client = new Client({ transport: loopbackTransport(this.#requests.handle, admin), clock: this.clock, userAgent: "test" });
  }

  /** A client of another identity. */
  clientFor(user: UserInfo, userAgent = "test"): Client {
    return new Client({ transport: this.#context.transportFor(user), clock: this.clock, userAgent });
  }

  /** What is stored now, for other clusters to start with. Nothing is written meanwhile if the caller lets nothing run. */
  async image(): Promise<StoreImage> {
    return this.#store.range("/");
  }

  /** Names of the components that were started and not stopped. */
  get running(): readonly string[] {
    return [...this.#running.keys()];
  }

  /** The server's entrance, for requests that come from outside with no identity of their own. */
  get handle(): RequestHandler {
    return this.#requests.handle;
  }

  /** The parts of the API server, for what no request shows. */
  get serverState(): ServerState {
    return this.#server.state;
  }

  /** Starts a component under a name that nothing runs under. */
  startComponent(name: string, component: ClusterComponent): void {
    invariant(!this.#running.has(name), `component ${name} runs already`);
    const group = new TaskGroup();
    group.start(name, (signal) => component({ ...this.#context, signal }));
    this.#running.set(name, group);
  }

  /** Stops a component and waits until it has ended. */
  async stopComponent(name: string): Promise<void> {
    const group = this.#running.get(name);
    this.#running.delete(name);
    await group?.close();
  }

  /** Lets everything run that can at this moment; time stands still. */
  async turn(): Promise<void> {
    do await loopTurn();
    while (this.#requests.active > 0);
    await loopTurn();
  }

  /** Lets `durationMs` pass, with all that falls due meanwhile. */
  async advance(durationMs: number): Promise<void> {
    await this.clock.advance(durationMs, () => this.turn());
  }

  /** Lets time pass until `isReached`; fails after `limitMs` of it. Returns how long it took, in ms. */
  async until(isReached: () => boolean | Promise<boolean>, limitMs = 600_000): Promise<number> {
    const startMs = this.clock.nowMs();
    await this.turn();
    while (!(await isReached())) {
      invariant(await this.clock.next(startMs + limitMs), `not reached within ${limitMs} ms`);
      await this.turn();
    }
    return this.clock.nowMs() - startMs;
  }

  /** Lets time pass until nobody has written anything but leases and node statuses for `quietMs`; fails after `limitMs`. Returns how long it took, in ms. */
  async settled({ quietMs = 1000, limitMs = 600_000 }: { quietMs?: number; limitMs?: number } = {}): Promise<number> {
    const startMs = this.clock.nowMs();
    await this.turn();
    for (;;) {
      const quietUntilMs = Math.max(this.#requests.lastWriteMs, startMs) + quietMs;
      if (await this.clock.next(quietUntilMs)) await this.turn();
      else if (Math.max(this.#requests.lastWriteMs, startMs) + quietMs <= quietUntilMs) break;
      invariant(this.clock.nowMs() - startMs < limitMs, `the cluster did not settle within ${limitMs} ms`);
    }
    return this.clock.nowMs() - startMs;
  }

  /** Ends all components, then the server. Fails when a component failed, or when a timer or task is left. */
  async close(): Promise<void> {
    const groups = [...this.#running.values()].reverse();
    this.#running.clear();
    for (const group of groups) await group.close();
    const closing = this.#server.close();
    let isClosed = false;
    void closing.finally(() => (isClosed = true)).catch(() => undefined);
    await loopTurn();
    // What is under way gets some time.
    while (!isClosed && (await this.clock.next(this.clock.nowMs() + 60_000))) await loopTurn();
    await closing;
    await this.#store.close();
    await loopTurn();
    invariant(this.#requests.active === 0, `${this.#requests.active} requests are still open`);
    invariant(this.clock.nextDueMs() === undefined, "a timer is still set");
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

export interface TestClusterOptions {
  /** Default 1. */
  readonly seed?: number;
  readonly startMs?: number;
  /** Flags of the API server by name. */
  readonly flags?: Readonly<Record<string, string>>;
  readonly log?: Log;
  /** What the store holds at the start; by default nothing, so that the server makes what every cluster has. */
  readonly image?: StoreImage;
  /** How the server reaches webhooks; by default it does not. */
  readonly webhooks?: WebhookConnector;
  /** How the server reaches extension API servers; by default it does not. */
  readonly extensions?: ExtensionConnector;
  /** How the server reaches nodes and pods; by default it does not. */
  readonly nodes?: NodeConnector;
  /** What is audited, and where to; by default nothing. */
  readonly audit?: AuditOptions;
  /** By name, in the order in which they start. */
  readonly components?: Readonly<Record<string, ClusterComponent>>;
  /** Puts faults between the server and its store. */
  readonly wrapStore?: (store: Store, clock: Clock) => Store;
  /** Puts faults between components and the server. */
  readonly wrapTransport?: (transport: Transport, user: UserInfo, clock: Clock) => Transport;
  /** Hears of every request when it was answered. */
  readonly onRequest?: RequestObserver;
}

const admin: UserInfo = { username: "admin", groups: ["system:masters", "system:authenticated"] };

/** Making a key takes long: one does for all clusters of a process. */
let signingKey: string | undefined;

/** Signs the service account tokens of test clusters. PEM. */
export function testSigningKey(): string {
  return (signingKey ??= generateKeyPairSync("rsa", {
    modulusLength: 2048,
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
    publicKeyEncoding: { type: "spki", format: "pem" },
  }).privateKey);
}

function serverOptions(parts: { clock: Clock; random: Random; log: Log; store: Store }, flags: Readonly<Record<string, string>>) {
  const { settings, gates, runtimeConfig, admission } = apiServerFlags(
    new Map(Object.entries({ "endpoint-reconciler-type": "none", ...flags }).map(([name, value]) => [name, [value]])),
    { serviceCidrs: ["10.0.0.0/16"], components: new Set() },
  );
  return {
    ...parts,
    settings: { ...settings, advertiseAddress: "192.0.2.1", securePort: 6443, clientAuthority: "", maxBodyBytes: 3 * 1024 * 1024 },
    clientAuthorities: [],
    serviceAccountKey: testSigningKey(),
    servingAuthority: "",
    nodes: { send: unreachable, forward: unreachable },
    gates,
    runtimeConfig,
    admission,
  };
}

/** Nodes of a test cluster have no sockets. */
const unreachable = () => Promise.reject(internalServerError("no node can be reached in a test cluster"));
