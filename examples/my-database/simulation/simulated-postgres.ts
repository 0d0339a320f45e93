/**
 * PostgreSQL as far as its operator can see it, in memory: instances with logs, standbys that stream, acknowledgements, crashes, cut lines,
 * orders that come late. Which instances there are follows from the cluster's pods; what an instance has on disk outlives its pod.
 * Time moves in `tick`, driven by `run`. Invariant under test: what was acknowledged is never missing from the log of a later primary.
 */
import { InformerSet, Client, resources } from "coracle/client";
import { sleep } from "coracle/testing";
import type { Clock, ClusterComponent, Random } from "coracle/testing";
import type { AgentState, Agents, Instance, Mode, Order } from "../agent.ts";
import { labels } from "../resources.ts";

interface Entry {
  readonly id: number;
  readonly term: number;
}

/** An instance: its disk, and the server on it. */
class Server {
  readonly name: string;
  mode: Mode = "empty";
  term = 0;
  /** Newest time of the operator that it heard. */
  fence = 0;
  timeline = 0;
  log: Entry[] = [];
  following: string | undefined;
  requires: readonly string[] = [];
  requiresSince = 0;
  /** Of its pod; undefined while there is none that runs. */
  podUid: string | undefined;
  /** Until then it is down, or on its way to `next`. */
  untilMs = 0;
  next: (() => void) | undefined;
  /** No line to anybody. */
  isCut = false;
  readonly backups = new Map<string, { phase: "Running" | "Done"; readonly size: number }>();

  constructor(name: string) {
    this.name = name;
  }

  get isUp(): boolean {
    return this.podUid !== undefined && !this.isCut && !this.isDown;
  }

  isDown = false;
}

export interface SimulationOptions {
  readonly random: Random;
  /** Fraction of orders that arrive up to this much later than their sender waits. */
  readonly lateOrders?: { readonly rate: number; readonly maxMs: number };
}

export class SimulatedPostgres implements Agents {
  readonly servers = new Map<string, Server>();
  /** Backups by name: the log as it was. */
  readonly backups = new Map<string, readonly Entry[]>();
  readonly acknowledged = new Set<number>();
  /** When the newest acknowledgement was. */
  acknowledgedMs = 0;
  readonly #options: SimulationOptions;
  #clock: Clock | undefined;
  #late: { readonly dueMs: number; readonly deliver: () => void }[] = [];
  #waiting: { readonly server: Server; readonly position: number; readonly entry: Entry }[] = [];
  #nextId = 1;

  constructor(options: SimulationOptions) {
    this.#options = options;
  }

  /** Follows the pods of databases, and lets time pass in the instances. */
  readonly run: ClusterComponent = async ({ transportFor, clock, random, log, signal }) => {
    this.#clock = clock;
    const client = new Client({ transport: transportFor({ username: "world", groups: ["system:masters"] }), clock, userAgent: "world" });
    await using informers = new InformerSet({ client, clock, random, log });
    informers.get(resources.pods, { labelSelector: labels.database }).subscribe(({ kind, object: { metadata, status } }) => {
      const server = this.#server(metadata.name!);
      const isRunning = kind !== "delete" && metadata.deletionTimestamp === undefined && status?.phase === "Running";
      if (isRunning && server.podUid !== metadata.uid) {
        server.podUid = metadata.uid;
        this.#begin(server);
      } else if (!isRunning && server.podUid === metadata.uid) {
        server.podUid = undefined;
        this.#end(server);
      }
    });
    while (!signal.aborted) {
      this.tick();
      await sleep(clock, tickMs, signal).catch(() => undefined);
    }
  };

  async state({ pod }: Instance, at: number): Promise<AgentState | undefined> {
    const server = this.servers.get(pod);
    if (server === undefined || !server.isUp) return undefined;
    server.fence = Math.max(server.fence, at);
    const { mode, term, timeline, log, following, requires, requiresSince, backups } = server;
    return {
      mode,
      term,
      timeline,
      position: log.length,
      backups: Object.fromEntries(backups),
      ...(mode === "standby" && following !== undefined && { following }),
      ...(mode === "primary" && { requires, requiresSince, standbys: this.#standbysOf(server) }),
    };
  }

  async send({ pod }: Instance, order: Order, at: number): Promise<void> {
    const { random, lateOrders } = this.#options;
    if (lateOrders !== undefined && random.fraction() < lateOrders.rate) {
      this.#late.push({ dueMs: this.#nowMs + random.integer(lateOrders.maxMs), deliver: () => this.#deliver(pod, order, at) });
      throw new Error("the agent did not answer in time");
    }
    if (!this.#deliver(pod, order, at)) throw new Error("the agent cannot be reached, or refused the order");
  }

  /** A client that writes to whoever takes writes, as one would that looks at no Service: the worst case. */
  write(): void {
    for (const server of this.servers.values()) {
      if (server.podUid === undefined || server.isDown || server.mode !== "primary") continue;
      const entry = { id: this.#nextId++, term: server.term };
      server.log.push(entry);
      this.#waiting.push({ server, position: server.log.length, entry });
    }
    this.#acknowledge();
  }

  /** The server ends at once, as by `kill -9`; it is up again, without orders, after a while. */
  crash(name: string, forMs: number): void {
    const server = this.#server(name);
    if (server.podUid === undefined) return;
    this.#end(server);
    server.isDown = true;
    server.next = () => {
      server.isDown = false;
      this.#begin(server);
    };
    server.untilMs = this.#nowMs + forMs;
  }

  cut(name: string): void {
    this.#server(name).isCut = true;
  }

  heal(name: string): void {
    this.#server(name).isCut = false;
  }

  loseData(name: string): void {
    const server = this.#server(name);
    Object.assign(server, { log: [], mode: "empty", timeline: 0, following: undefined });
  }

  /** Of the instance that takes writes; undefined when none does. */
  get primary(): Server | undefined {
    return [...this.servers.values()].find((server) => server.isUp && server.mode === "primary");
  }

  /** Acknowledged writes that the log does not have. */
  missingFrom(log: readonly Entry[]): number[] {
    const there = new Set(log.map(({ id }) => id));
    return [...this.acknowledged].filter((id) => !there.has(id));
  }

  tick(): void {
    const nowMs = this.#nowMs;
    for (const late of this.#late.filter(({ dueMs }) => dueMs <= nowMs)) late.deliver();
    this.#late = this.#late.filter(({ dueMs }) => dueMs > nowMs);
    for (const server of this.servers.values()) {
      if (server.next === undefined || server.untilMs > nowMs) continue;
      const { next } = server;
      server.next = undefined;
      next();
    }
    for (const server of this.servers.values()) this.#stream(server);
    this.#acknowledge();
  }

  get #nowMs(): number {
    return this.#clock?.nowMs() ?? 0;
  }

  #server(name: string): Server {
    let server = this.servers.get(name);
    if (server === undefined) this.servers.set(name, (server = new Server(name)));
    return server;
  }

  #begin(server: Server): void {
    server.isDown = false;
    server.next = undefined;
    server.mode = server.log.length === 0 && server.timeline === 0 ? "empty" : "stopped";
  }

  /** What was not acknowledged by then never is: its clients have lost their connections. */
  #end(server: Server): void {
    server.next = undefined;
    server.following = undefined;
    if (server.mode === "busy") this.loseData(server.name);
    else if (server.mode !== "empty") server.mode = "stopped";
    this.#waiting = this.#waiting.filter((write) => write.server !== server);
  }

  #deliver(name: string, order: Order, at: number): boolean {
    const server = this.servers.get(name);
    if (server === undefined || !server.isUp || order.term < server.term || at < server.fence) return false;
    server.fence = at;
    if (order.kind !== "backup") server.term = order.term;
    this.#obey(server, order);
    return true;
  }

  #obey(server: Server, order: Order): void {
    switch (order.kind) {
      case "initialize":
        if (server.mode !== "empty") return;
        return this.#busy(server, 1000, () => {
          server.log = [...(order.backup === undefined ? [] : (this.backups.get(order.backup) ?? []))];
          server.timeline = 1;
          server.mode = "stopped";
        });
      case "promote":
        if (server.mode === "empty" || server.mode === "busy") return;
        if (server.mode !== "primary") this.#require(server, order.requires);
        if (server.mode === "detached") server.timeline += 1;
        server.following = undefined;
        server.mode = "primary";
        return;
      case "follow":
        server.following = order.primary;
        this.#waiting = this.#waiting.filter((write) => write.server !== server);
        return this.#join(server, order.primary);
      case "detach":
        if (server.mode === "empty" || server.mode === "busy") return;
        server.following = undefined;
        this.#waiting = this.#waiting.filter((write) => write.server !== server);
        server.mode = "detached";
        return;
      case "require":
        if (server.mode === "primary") this.#require(server, order.requires);
        return;
      case "backup":
        if (server.mode === "primary") this.#backUp(server, order.backup);
    }
  }

  #require(server: Server, requires: readonly string[]): void {
    server.requires = requires;
    server.requiresSince = server.log.length;
  }

  #backUp(server: Server, name: string): void {
    const log = [...server.log];
    const made: { phase: "Running" | "Done"; size: number } = { phase: "Running", size: log.length };
    server.backups.set(name, made);
    this.#late.push({
      dueMs: this.#nowMs + 2000,
      deliver: () => {
        if (server.podUid === undefined) return void server.backups.delete(name);
        made.phase = "Done";
        this.backups.set(name, log);
      },
    });
  }

  /** A standby whose log leads elsewhere, or that has none, gets the primary's first. */
  #join(server: Server, primaryName: string): void {
    const primary = this.servers.get(primaryName);
    if (primary === undefined || !primary.isUp || primary.mode !== "primary") return;
    const common = server.log.findIndex((entry, index) => primary.log[index]?.id !== entry.id);
    if (server.mode !== "empty" && common < 0) {
      server.mode = "standby";
      server.timeline = primary.timeline;
      return;
    }
    this.#busy(server, 3000, () => {
      const source = this.servers.get(primaryName);
      if (source === undefined || !source.isUp || source.mode !== "primary") return this.loseData(server.name);
      server.log = [...source.log];
      server.timeline = source.timeline;
      server.mode = "standby";
    });
  }

  #busy(server: Server, forMs: number, next: () => void): void {
    server.mode = "busy";
    server.next = next;
    server.untilMs = this.#nowMs + forMs;
  }

  /** The server that a standby has its log from, if there is a line between them. */
  #sourceOf(server: Server): Server | undefined {
    const source = server.mode === "standby" && server.following !== undefined ? this.servers.get(server.following) : undefined;
    return source !== undefined && source.isUp && server.isUp && source.mode === "primary" && source.timeline === server.timeline ? source : undefined;
  }

  #stream(server: Server): void {
    const source = this.#sourceOf(server);
    if (source !== undefined) server.log.push(...source.log.slice(server.log.length, server.log.length + entriesPerTick));
  }

  #standbysOf(primary: Server): Record<string, number> {
    const streaming = [...this.servers.values()].filter((server) => this.#sourceOf(server) === primary);
    return Object.fromEntries(streaming.map(({ name, log }) => [name, log.length]));
  }

  /** Writes that all who must have them have. */
  #acknowledge(): void {
    this.#waiting = this.#waiting.filter(({ server, position, entry }) => {
      if (server.mode !== "primary" || server.isDown || server.podUid === undefined) return true;
      const standbys = this.#standbysOf(server);
      if (!server.requires.every((name) => (standbys[name] ?? 0) >= position)) return true;
      this.acknowledged.add(entry.id);
      this.acknowledgedMs = this.#nowMs;
      return false;
    });
  }
}

const tickMs = 250;
const entriesPerTick = 20;
