/**
 * A whole Kubernetes for one test, in the test's process: API server, controllers, scheduler and nodes whose containers are only records,
 * on a virtual clock and from a seed. It needs no socket, file or program, and clusters share nothing that changes, so that a hundred of
 * them run beside each other. Driven by the test: virtual time passes only in `advance`, `until` and `settled`.
 */
import { silentLog } from "../../base/log.ts";
import { VirtualClock } from "../../base/virtual-clock.ts";
import type { Log } from "../../base/log.ts";
import type { Event } from "../../api/core-v1/types.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { Transport, UserInfo } from "../../apimachinery/request.ts";
import type { Clock } from "../../base/clock.ts";
import { resources } from "../../client/index.ts";
import type { Client } from "../../client/index.ts";
import type { Operator } from "../../operator/index.ts";
import type { Decision, Scheduler, SchedulerOptions } from "../../scheduler/index.ts";
import { TestCluster } from "../cluster.ts";
import type { ClusterComponent } from "../component.ts";
import { WallClock } from "../wall-clock.ts";
import type { PassingClock } from "../wall-clock.ts";
import { applyObjects } from "./apply-objects.ts";
import { clusterImage } from "./cluster-image.ts";
import { controllers, scheduler, SimulatedNode, storage } from "./control-plane.ts";
import { durationMs } from "./duration.ts";
import { onFailure } from "./failed-test.ts";
import type { TestHooks } from "./failed-test.ts";
import { LocalWebhooks } from "./local-webhooks.ts";
import { Story } from "./story.ts";
import type { DecisionEntry, WriteEntry } from "./story.ts";

/** How a test's cluster is to be. Everything has a default. */
export interface StartClusterOptions {
  /** Same seed, same run: names, uids, jitter. Default 1. */
  readonly seed?: number;
  /**
   * - virtual: time moves when the test moves it; the same seed gives the same run. The default
   * - real: the machine's time, for tests with something outside that takes its own; what moves virtual time then waits
   */
  readonly clock?: "virtual" | "real";
  /** When virtual time begins, in ms since 1970. Default 2026-01-01T00:00:00Z. */
  readonly startMs?: number;
  /** How many nodes, named node-1, node-2, … Default 3. */
  readonly nodes?: number;
  /** As kube-controller-manager's `--controllers`. Default `["*"]`; `[]` for none, as envtest has it. */
  readonly controllers?: readonly string[];
  /** Default true; or how it is configured, and with which plugins of one's own. */
  readonly scheduler?: boolean | Pick<SchedulerOptions, "config" | "plugins">;
  /** Objects, or YAML documents, that are there at the start: custom resource definitions are served by then. */
  readonly objects?: readonly (KubeObject | string)[];
  /** Where the cluster's own log goes. Default: nowhere. */
  readonly log?: Log;
  /** The test's context: when the test fails, what happened is printed. Not needed with `node:test` of Node ≥ 26. */
  readonly test?: TestHooks;
  /** Puts faults between components and the server, such as a `FaultTransport`. */
  readonly wrapTransport?: (transport: Transport, user: UserInfo, clock: Clock) => Transport;
}

/** Starts a cluster that is ready: its nodes too, every namespace has its service account. Takes about 20 ms, the first of a process more. */
export async function startCluster(options: StartClusterOptions = {}): Promise<Cluster> {
  const nodes = Array.from({ length: options.nodes ?? 3 }, (_, index) => new SimulatedNode(index));
  const clock = options.clock === "real" ? new WallClock() : new VirtualClock(options.startMs);
  if (options.clock === "real" && options.startMs !== undefined) throw new RangeError("startMs is for virtual time; real time begins now");
  const image = await clusterImage({ startMs: options.clock === "real" ? "now" : clock.nowMs(), nodes: nodes.length });
  const story = new Story();
  const parts: ClusterParts = { nodes, story, schedulers: [], webhooks: new LocalWebhooks() };
  const selection = options.controllers ?? ["*"];
  const components: Record<string, ClusterComponent> = {
    ...(selection.length > 0 && { controllers: controllers(selection, story.decided) }),
    ...(selection.length > 0 && { storage }),
    ...(options.scheduler !== false && { scheduler: scheduler((made) => parts.schedulers.push(made), options.scheduler === true ? {} : options.scheduler) }),
    ...Object.fromEntries(nodes.map(({ name, kubelet }) => [name, kubelet])),
  };
  const inner = await TestCluster.start<PassingClock>(
    {
      ...(options.seed !== undefined && { seed: options.seed }),
      ...(options.wrapTransport !== undefined && { wrapTransport: options.wrapTransport }),
      image,
      components,
      webhooks: parts.webhooks,
      log: options.log ?? silentLog,
      onRequest: story.observe,
    },
    clock,
  );
  const cluster = new Cluster(inner, parts);
  await onFailure(options.test, () => console.error(`What happened in the cluster:\n${cluster.story()}`));
  story.begin(inner.clock);
  if (options.objects !== undefined) await cluster.apply(...options.objects);
  return cluster;
}

interface ClusterParts {
  readonly nodes: readonly SimulatedNode[];
  readonly story: Story;
  /** Each that was started, the newest last. */
  readonly schedulers: Scheduler[];
  readonly webhooks: LocalWebhooks;
}

/** A running cluster of `startCluster`; ended by `close` or `await using`. */
export class Cluster implements AsyncDisposable {
  readonly #inner: TestCluster<PassingClock>;
  readonly #parts: ClusterParts;

  /** @internal Made by `startCluster`. */
  constructor(inner: TestCluster<PassingClock>, parts: ClusterParts) {
    this.#inner = inner;
    this.#parts = parts;
  }

  /** As an administrator. */
  get client(): Client {
    return this.#inner.client;
  }

  /** The cluster's clock: `nowMs()` is its time. */
  get clock(): Clock {
    return this.#inner.clock;
  }

  /** A client of another identity, bound by its rights. Service accounts are `system:serviceaccount:NAMESPACE:NAME`. */
  clientFor(user: UserInfo | string): Client {
    return this.#inner.clientFor(typeof user === "string" ? userOf(user) : user);
  }

  /**
   * Server-side apply of objects, or of YAML with several documents, in order; objects without a namespace go into `default`. Resolves
   * when custom resource definitions among them are served. Returns the objects as the server has them.
   */
  apply(...objects: readonly (DeepReadonly<KubeObject> | string)[]): Promise<KubeObject[]> {
    return applyObjects(this.#inner, objects);
  }

  /** Lets time pass: `2h`, `1m30s`, or ms. */
  async advance(duration: number | string): Promise<void> {
    await this.#inner.advance(durationMs(duration));
  }

  /** Lets time pass until `isReached` says so, asked after everything that happens; fails after `limit` of the cluster's time (default 10m). Returns the ms it took. */
  async until(isReached: () => boolean | Promise<boolean>, limit: number | string = "10m"): Promise<number> {
    return this.#told(() => this.#inner.until(isReached, durationMs(limit)));
  }

  /** Lets time pass until nobody has written anything but heartbeats for `quiet` (default 1s); fails after `limit` (default 10m). Returns the ms it took. */
  async settled({ quiet = "1s", limit = "10m" }: { readonly quiet?: number | string; readonly limit?: number | string } = {}): Promise<number> {
    return this.#told(() => this.#inner.settled({ quietMs: durationMs(quiet), limitMs: durationMs(limit) }));
  }

  /**
   * Runs an operator in this process under a service account with the rights that its definition asks for, no more. Resolves when it is
   * ready: its definitions served, its webhooks registered. `stop(operator.name)` stops it; `run` starts it again.
   */
  async run(operator: Operator): Promise<void> {
    const namespace = `${operator.name}-system`;
    await this.apply(...operator.manifests({ namespace }));
    const { story, webhooks } = this.#parts;
    const started: { isReady: boolean; failure?: { readonly error: unknown } } = { isReady: false };
    this.start(operator.name, async ({ transportFor, clock, random, log, signal }) => {
      const running = operator.run(
        {
          transport: transportFor(userOf(`system:serviceaccount:${namespace}:${operator.name}`)),
          clock,
          random,
          log,
          namespace,
          serveWebhooks: webhooks.serve(operator.name),
          onReconciled: story.decided,
          onReady: () => (started.isReady = true),
        },
        signal,
      );
      await running.catch((error: unknown) => {
        story.note(`${operator.name} failed: ${error instanceof Error ? error.message : String(error)}`);
        started.failure = { error };
        throw error;
      });
    });
    await this.until(() => {
      if (started.failure !== undefined) throw started.failure.error;
      return started.isReady;
    });
    await this.#inner.turn();
  }

  /** Runs a component beside the others until `stop`, or the end of the cluster. */
  start(name: string, component: ClusterComponent): void {
    this.#parts.story.note(`started ${name}`);
    this.#inner.startComponent(name, component);
  }

  /** Stops a component: one that was started, `controllers`, `scheduler`, or a node by its name (its kubelet falls silent; its containers go on). */
  async stop(name: string): Promise<void> {
    this.#parts.story.note(`stopped ${name}`);
    await this.#inner.stopComponent(name);
  }

  /** Starts a node again that was stopped. */
  startNode(name: string): void {
    const node = this.#parts.nodes.find((candidate) => candidate.name === name);
    if (node === undefined) throw new RangeError(`there is no node ${name}; there is ${this.#parts.nodes.map((candidate) => candidate.name).join(", ")}`);
    this.start(name, node.kubelet);
  }

  /** Events of a namespace, or of all, the oldest first. */
  async events(namespace = ""): Promise<Event[]> {
    const { items } = await this.client.list(resources.events, namespace);
    return items.sort((a, b) => (a.lastTimestamp ?? a.eventTime ?? "").localeCompare(b.lastTimestamp ?? b.eventTime ?? ""));
  }

  /** What controllers decided, with their reasons, the oldest first. */
  decisions(): readonly DecisionEntry[] {
    return this.#parts.story.decisions();
  }

  /** What the scheduler decided for pods, the oldest first: refusals per node, scores. */
  placements(): readonly Decision[] {
    return this.#parts.schedulers.flatMap((made) => made.decisions().toReversed());
  }

  /** Writes as the server saw them, the oldest first. */
  writes(): readonly WriteEntry[] {
    return this.#parts.story.writes();
  }

  /** What happened, for people: the last writes, events and reasons, each with the time since the start. */
  story(lines?: number): string {
    return this.#parts.story.text(lines);
  }

  /** Ends everything. Fails when a component failed, or left a timer or a request behind. */
  async close(): Promise<void> {
    for (const name of this.#parts.nodes.map((node) => node.name)) await this.#inner.stopComponent(name);
    for (const node of this.#parts.nodes) await node.close();
    await this.#inner.close();
    await this.#parts.webhooks.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** A wait that fails tells what happened. */
  async #told<T>(wait: () => Promise<T>): Promise<T> {
    try {
      return await wait();
    } catch (error) {
      throw new Error(`${error instanceof Error ? error.message : String(error)}\n${this.story(40)}`, { cause: error });
    }
  }
}

function userOf(username: string): UserInfo {
  const account = /^system:serviceaccount:([^:]+):/.exec(username);
  return { username, groups: [...(account === null ? [] : ["system:serviceaccounts", `system:serviceaccounts:${account[1]}`]), "system:authenticated"] };
}
