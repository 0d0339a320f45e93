/**
 * PostgreSQL as far as its operator can see it, in memory: instances with logs, standbys that stream, acknowledgements, crashes, cut lines,
 * orders that come late. What an instance has on disk outlives its pod. Time moves in `tick`. Where PostgreSQL may do either of two things it
 * does the worse: while a change of who must have a transaction spreads, one is acknowledged as soon as either rule lets it.
 * Invariants under test: what was acknowledged is never missing from the log of a later primary, and at most one instance can acknowledge.
 */
import type { Random } from "coracle/testing";
import type { AgentState, Agents, Instance, Mode, Order } from "../agent.ts";

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
  /** On its disk it is a standby: to become a primary it must begin a timeline of its own. */
  isStandbyOnDisk = false;
  requires: readonly string[] = [];
  /** Undefined while some of its processes may still go by an earlier rule, until `settledMs`. */
  requiresSince: number | undefined = 0;
  /** All the rules that some of its processes may go by, the newest last. */
  rules: readonly (readonly string[])[] = [[]];
  settledMs = 0;
  /** Of its pod; undefined while there is none that runs. */
  podUid: string | undefined;
  /** Until then it is down, or on its way to `next`. */
  untilMs = 0;
  next: (() => void) | undefined;
  /** No line to anybody. */
  isCut = false;
  /** It stands still, and wakes up as if nothing had been. */
  isPaused = false;
  /** Its line to the primary is slow: it streams, and nothing arrives until then. */
  slowUntilMs = 0;
  readonly backups = new Map<string, { phase: "Running" | "Done"; readonly size: number }>();

  constructor(name: string) {
    this.name = name;
  }

  get isUp(): boolean {
    return this.isAlive && !this.isCut;
  }

  /** It runs, whoever can reach it. */
  get isAlive(): boolean {
    return this.podUid !== undefined && !this.isDown && !this.isPaused;
  }

  isDown = false;
}

/** The other end of a line to the operator. */
export const operatorEnd = "the operator";

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
  readonly #cutLines = new Set<string>();
  #nowMs = 0;
  #late: { readonly dueMs: number; readonly deliver: () => void }[] = [];
  #waiting: { readonly server: Server; readonly position: number; readonly entry: Entry }[] = [];
  #nextId = 1;

  constructor(options: SimulationOptions) {
    this.#options = options;
  }

  /** A pod runs now, with what its predecessor of that name left on the disk. */
  podRuns(name: string, uid: string): void {
    const server = this.#server(name);
    if (server.podUid === uid) return;
    server.podUid = uid;
    this.#begin(server);
  }

  /** A pod runs no more, or is about to end. */
  podEnds(name: string, uid: string): void {
    const server = this.#server(name);
    if (server.podUid !== uid) return;
    server.podUid = undefined;
    this.#end(server);
  }

  async state({ pod }: Instance, at: number): Promise<AgentState | undefined> {
    return this.ask(pod, at);
  }

  async send({ pod }: Instance, order: Order, at: number): Promise<void> {
    if (!this.tell(pod, order, at)) throw new Error("the agent cannot be reached, refused the order, or did not answer in time");
  }

  /** Undefined when it does not answer. */
  ask(name: string, at: number): AgentState | undefined {
    const server = this.servers.get(name);
    if (server === undefined || !server.isUp || this.#isLineCut(operatorEnd, name)) return undefined;
    server.fence = Math.max(server.fence, at);
    const { mode, term, timeline, log, following, requires, requiresSince, backups } = server;
    return {
      mode,
      term,
      timeline,
      position: log.length,
      backups: Object.fromEntries(backups),
      ...(mode === "standby" && following !== undefined && { following }),
      ...(mode === "primary" && { requires, ...(requiresSince !== undefined && { requiresSince }), standbys: this.#standbysOf(server) }),
    };
  }

  /** Whether the order arrived and was not refused; one that is late may be taken yet. */
  tell(name: string, order: Order, at: number): boolean {
    const { random, lateOrders } = this.#options;
    if (lateOrders === undefined || random.fraction() >= lateOrders.rate) return this.#deliver(name, order, at);
    this.#late.push({ dueMs: this.#nowMs + random.integer(lateOrders.maxMs), deliver: () => this.#deliver(name, order, at) });
    return false;
  }

  /** A client that writes to whoever takes writes, as one would that looks at no Service: the worst case. */
  write(): void {
    for (const server of this.servers.values()) {
      if (!server.isAlive || server.mode !== "primary") continue;
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
    server.isPaused = false;
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

  /** The line between two, one of whom may be `operatorEnd`. */
  cutLine(one: string, other: string): void {
    this.#cutLines.add(lineOf(one, other));
  }

  /** All its lines are whole again, and it stands still no more. */
  heal(name: string): void {
    const server = this.#server(name);
    server.isCut = false;
    server.isPaused = false;
    server.slowUntilMs = 0;
    for (const line of this.#cutLines) if (line.split("|").includes(name)) this.#cutLines.delete(line);
  }

  pause(name: string): void {
    this.#server(name).isPaused = true;
  }

  slow(name: string, forMs: number): void {
    this.#server(name).slowUntilMs = this.#nowMs + forMs;
  }

  loseData(name: string): void {
    const server = this.#server(name);
    Object.assign(server, { log: [], mode: "empty", timeline: 0, following: undefined, isStandbyOnDisk: false });
    this.#waiting = this.#waiting.filter((write) => write.server !== server);
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

  /** Those that could acknowledge a write now: primaries whose rule is met by who streams from them. */
  get acknowledging(): Server[] {
    return [...this.servers.values()].filter((server) => {
      if (!server.isAlive || server.mode !== "primary") return false;
      const standbys = this.#standbysOf(server);
      return server.rules.some((rule) => rule.every((name) => standbys[name] !== undefined));
    });
  }

  tick(nowMs: number): void {
    this.#nowMs = nowMs;
    for (const late of this.#late.filter(({ dueMs }) => dueMs <= nowMs)) late.deliver();
    this.#late = this.#late.filter(({ dueMs }) => dueMs > nowMs);
    for (const server of this.servers.values()) {
      if (server.next === undefined || server.untilMs > nowMs || server.isPaused) continue;
      const { next } = server;
      server.next = undefined;
      next();
    }
    for (const server of this.servers.values()) {
      this.#settle(server);
      this.#stream(server);
    }
    this.#acknowledge();
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
    if (server === undefined || !server.isUp || this.#isLineCut(operatorEnd, name)) return false;
    if (order.term < server.term || at < server.fence) return false;
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
        // One that starts knows no other rule; one that was detached required nobody.
        if (server.mode !== "primary") this.#require(server, order.requires, server.mode === "stopped" ? [] : [[]]);
        if (server.isStandbyOnDisk) server.timeline += 1;
        server.isStandbyOnDisk = false;
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
        server.isStandbyOnDisk = true;
        return;
      case "require":
        if (server.mode === "primary") this.#require(server, order.requires, server.rules);
        return;
      case "backup":
        if (server.mode === "primary") this.#backUp(server, order.backup);
    }
  }

  #require(server: Server, requires: readonly string[], earlier: readonly (readonly string[])[]): void {
    server.requires = requires;
    server.requiresSince = undefined;
    server.rules = [...earlier, requires];
    server.settledMs = this.#nowMs + reloadMs;
  }

  #settle(server: Server): void {
    if (server.requiresSince !== undefined || server.settledMs > this.#nowMs || !server.isAlive) return;
    server.rules = [server.requires];
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
    if (primary === undefined || !this.#isConnected(server, primary) || primary.mode !== "primary") {
      // It was stopped for that already, and cannot start without.
      server.following = undefined;
      if (server.mode !== "empty" && server.mode !== "busy") server.mode = "stopped";
      return;
    }
    const common = server.log.findIndex((entry, index) => primary.log[index]?.id !== entry.id);
    if (server.mode !== "empty" && common < 0) {
      this.#becomeStandby(server, primary);
      return;
    }
    this.#busy(server, 3000, () => {
      const source = this.servers.get(primaryName);
      if (source === undefined || !this.#isConnected(server, source) || source.mode !== "primary") return this.loseData(server.name);
      server.log = [...source.log];
      this.#becomeStandby(server, source);
    });
  }

  #becomeStandby(server: Server, source: Server): void {
    server.mode = "standby";
    server.isStandbyOnDisk = true;
    server.timeline = source.timeline;
  }

  #busy(server: Server, forMs: number, next: () => void): void {
    server.mode = "busy";
    server.next = next;
    server.untilMs = this.#nowMs + forMs;
  }

  /** The server that a standby has its log from, if there is a line between them. */
  #sourceOf(server: Server): Server | undefined {
    const source = server.mode === "standby" && server.following !== undefined ? this.servers.get(server.following) : undefined;
    return source !== undefined && this.#isConnected(server, source) && source.mode === "primary" && source.timeline === server.timeline ? source : undefined;
  }

  #isConnected(one: Server, other: Server): boolean {
    return one.isUp && other.isUp && !this.#isLineCut(one.name, other.name);
  }

  #isLineCut(one: string, other: string): boolean {
    return this.#cutLines.has(lineOf(one, other));
  }

  #stream(server: Server): void {
    const source = this.#sourceOf(server);
    if (source !== undefined && server.slowUntilMs <= this.#nowMs) server.log.push(...source.log.slice(server.log.length, server.log.length + entriesPerTick));
  }

  #standbysOf(primary: Server): Record<string, number> {
    const streaming = [...this.servers.values()].filter((server) => this.#sourceOf(server) === primary);
    return Object.fromEntries(streaming.map(({ name, log }) => [name, log.length]));
  }

  /** Writes that all who must have them have. */
  #acknowledge(): void {
    this.#waiting = this.#waiting.filter(({ server, position, entry }) => {
      if (server.mode !== "primary" || !server.isAlive) return true;
      const standbys = this.#standbysOf(server);
      if (!server.rules.some((rule) => rule.every((name) => (standbys[name] ?? 0) >= position))) return true;
      this.acknowledged.add(entry.id);
      this.acknowledgedMs = this.#nowMs;
      return false;
    });
  }
}

function lineOf(one: string, other: string): string {
  return [one, other].toSorted().join("|");
}

const entriesPerTick = 20;
/** So long some of a server's processes may go by the rule before the newest. */
const reloadMs = 1000;
