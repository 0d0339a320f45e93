/**
 * The decision alone against simulated PostgreSQL, without a cluster: thousands of seeds in the time of one. Passes of the operator take
 * time, as in `operator.ts`: instances are asked, then told what was decided, then the record is stored, and meanwhile the world goes on.
 * Whatever can fail does. `run` throws an AssertionError for whatever must never be, and for what is not as it was asked for in the end.
 */
import assert from "node:assert/strict";
import { seededRandom } from "coracle/testing";
import type { Random } from "coracle/testing";
import type { AgentState } from "../agent.ts";
import { decide, instancesNeeded } from "../decide.ts";
import type { ClusterRecord, Decision, Member, Situation } from "../decide.ts";
import { operatorEnd, SimulatedPostgres } from "./simulated-postgres.ts";

interface Pod {
  readonly name: string;
  readonly ordinal: number;
  readonly uid: string;
  readonly version: number;
  isGoingAway: boolean;
}

const stepMs = 100;
/** How often logs are compared with what was acknowledged. */
const compareMs = 500;
const faultyMs = 120_000;
const recoveryMs = 900_000;

export class Trial {
  readonly #random: Random;
  readonly #onRecord: ((record: ClusterRecord) => void) | undefined;
  readonly #world: SimulatedPostgres;
  readonly #pods = new Map<string, Pod>();
  /** What lost its disk and has not got everything again. */
  readonly #emptied = new Set<string>();
  #due: { readonly atMs: number; readonly happen: () => void }[] = [];
  #nowMs = 1_000_000;
  #asked = { replicas: 3, version: 1 };
  /** The StatefulSet, as the operator applied it last. */
  #set = { replicas: 0, version: 1 };
  /** `seen`: what the operator's cache has of it. */
  #record: ClusterRecord = {};
  #version = 0;
  #seen: { readonly record: ClusterRecord; readonly version: number } = { record: {}, version: 0 };
  /** Of the operator's process: what an earlier one had begun ends unfinished. */
  #life = 0;
  #uids = 0;
  /** The primary's disk was lost while the record came to say that nobody else has everything: only a person can help. */
  #isBeyondHelp = false;
  #attention: string | undefined;
  #isFaulty = true;

  constructor(seed: number, onRecord?: (record: ClusterRecord) => void) {
    this.#onRecord = onRecord;
    this.#random = seededRandom(seed);
    this.#world = new SimulatedPostgres({ random: this.#random, lateOrders: { rate: 0.08, maxMs: 15_000 } });
  }

  run(): void {
    this.#startOperator();
    let faultAtMs = this.#nowMs + 15_000;
    const healAtMs = this.#nowMs + faultyMs;
    while (this.#nowMs < healAtMs) {
      if (this.#nowMs >= faultAtMs) {
        this.#fault();
        faultAtMs = this.#nowMs + this.#random.integer(5000);
      }
      this.#step();
    }
    this.#isFaulty = false;
    this.#healAll();
    const endMs = this.#nowMs + recoveryMs;
    while (this.#isBeyondHelp ? this.#attention !== "NoSafePrimary" : !this.#isAsAsked()) {
      assert.ok(this.#nowMs < endMs, `everything is as asked for in the end: ${JSON.stringify({ asked: this.#asked, record: this.#record })}`);
      this.#step();
    }
    if (this.#isBeyondHelp) return;
    const { size } = this.#world.acknowledged;
    for (let count = 0; count < 100; count++) this.#step();
    assert.ok(this.#world.acknowledged.size > size, "writes go on in the end");
  }

  #step(): void {
    this.#nowMs += stepMs;
    const due = this.#due.filter(({ atMs }) => atMs <= this.#nowMs);
    this.#due = this.#due.filter(({ atMs }) => atMs > this.#nowMs);
    this.#world.tick(this.#nowMs);
    for (const { happen } of due.toSorted((a, b) => a.atMs - b.atMs)) happen();
    if (this.#random.fraction() < 0.5) this.#world.write();
    this.#followSet();
    this.#check();
  }

  #after(ms: number, happen: () => void): void {
    this.#due.push({ atMs: this.#nowMs + ms, happen });
  }

  // What must hold at any time.

  #check(): void {
    const able = this.#world.acknowledging.map(({ name }) => name);
    assert.ok(able.length <= 1, `${able.join(" and ")} can both acknowledge`);
    const { primary, synchronous = [], failover } = this.#record;
    if (primary === undefined || this.#nowMs % compareMs !== 0) return;
    for (const name of this.#emptied) if (this.#hasAll(name)) this.#emptied.delete(name);
    assert.ok(this.#emptied.has(primary) || this.#hasAll(primary), `the recorded primary ${primary} has every acknowledged write`);
    for (const names of [synchronous, failover?.candidates ?? []]) {
      const isKnown = names.length === 0 || names.some((name) => this.#emptied.has(name) || this.#hasAll(name));
      assert.ok(isKnown, `one of the recorded ${names.join(", ")} has every acknowledged write`);
    }
  }

  #hasAll(name: string): boolean {
    const log = this.#world.servers.get(name)?.log ?? [];
    return log.length >= this.#world.acknowledged.size && this.#world.missingFrom(log).length === 0;
  }

  /** Planned replacements never take what is needed, and are one at a time; the primary's turn is last. */
  #checkReplacements({ replace, event }: Decision, { record, members, replicas }: Situation): void {
    if (event?.reason === "HandingOver") {
      const outdated = members.filter(({ name, ordinal, isCurrent }) => name !== record.primary && ordinal < replicas && !isCurrent);
      assert.deepEqual(outdated, [], "the primary hands over before the others are of the new version");
    }
    if (replace.length === 0) return;
    assert.equal(replace.length, 1, "one at a time");
    if (replicas === 1) return;
    const [name] = replace;
    assert.ok(name !== record.primary && !(record.synchronous ?? []).includes(name!), `${name} is needed, and replaced`);
    const others = members.filter((member) => member.name !== name && member.ordinal < replicas);
    assert.ok(others.length === replicas - 1 && others.every(({ isGoingAway }) => !isGoingAway), `${name} is replaced while another is away`);
    assert.ok(
      others.every((other) => other.name === record.primary || other.state?.mode === "standby"),
      `${name} is replaced while another does not follow`,
    );
  }

  #isAsAsked(): boolean {
    const { replicas, version } = this.#asked;
    const pods = [...this.#pods.values()];
    if (pods.length !== replicas || !pods.every((pod) => pod.version === version && !pod.isGoingAway)) return false;
    const { primary, term, synchronous = [], failover } = this.#record;
    if (failover !== undefined || synchronous.length !== (replicas > 1 ? 1 : 0)) return false;
    return pods.every(({ name }) => {
      const server = this.#world.servers.get(name);
      if (server?.term !== term || !server?.isUp) return false;
      return name === primary ? server.mode === "primary" : server.mode === "standby" && server.following === primary;
    });
  }

  // The operator.

  #startOperator(): void {
    const life = ++this.#life;
    this.#seen = { record: this.#record, version: this.#version };
    this.#pass(life);
  }

  /** Does `next` later, unless this process of the operator has ended by then. */
  #later(life: number, maxMs: number, next: () => void): void {
    this.#after(this.#random.integer(maxMs), () => {
      if (life === this.#life) next();
    });
  }

  #pass(life: number): void {
    const at = this.#nowMs;
    const seen = this.#seen;
    const asked = this.#asked;
    const pods = [...this.#pods.values()].map((pod) => ({ ...pod }));
    const states = new Map<string, AgentState | undefined>();
    for (const { name } of pods) this.#later(life, 300, () => states.set(name, this.#world.ask(name, at)));
    this.#after(300 + this.#random.integer(400), () => {
      if (life !== this.#life) return;
      const members: Member[] = pods.map(({ name, ordinal, version, isGoingAway }) => ({
        name,
        ordinal,
        host: name,
        isCurrent: version === asked.version,
        isGoingAway,
        state: states.get(name),
      }));
      const situation: Situation = { name: "db", replicas: asked.replicas, record: seen.record, members, nowMs: at };
      const decision = decide(situation);
      this.#checkReplacements(decision, situation);
      this.#attention = decision.attention?.reason;
      this.#set = { replicas: instancesNeeded(situation), version: asked.version };
      this.#carryOut(life, at, decision, [...decision.orders], seen.version);
    });
  }

  /** Orders one after the other, then replacements, then the record, then the next pass. */
  #carryOut(life: number, at: number, decision: Decision, orders: Decision["orders"][number][], version: number): void {
    const order = orders.shift();
    if (order !== undefined) {
      return this.#later(life, 400, () => {
        this.#world.tell(order.to, order.order, at);
        this.#carryOut(life, at, decision, orders, version);
      });
    }
    for (const name of decision.replace) this.#deletePod(name);
    this.#store(decision.record, version);
    this.#later(life, 1200, () => this.#pass(life));
  }

  /** Refused when the record is another by then. Requests are lost, come late, and so do their answers: then the cache is late, too. */
  #store(record: ClusterRecord, version: number): void {
    if (JSON.stringify(record) === JSON.stringify(this.#seen.record) && version === this.#version) return;
    const luck = this.#isFaulty ? this.#random.fraction() : 1;
    if (luck < 0.05) return;
    const write = () => {
      if (version !== this.#version) return;
      this.#record = record;
      this.#onRecord?.(record);
      if (record.primary !== undefined && this.#emptied.has(record.primary) && record.synchronous?.length === 0) this.#isBeyondHelp = true;
      this.#version++;
    };
    const see = () => (this.#seen = { record: this.#record, version: this.#version });
    if (luck < 0.15) {
      this.#after(this.#random.integer(8000), write);
      return this.#after(this.#random.integer(9000), see);
    }
    write();
    see();
  }

  // The cluster.

  /** What a StatefulSet does. */
  #followSet(): void {
    const { replicas, version } = this.#set;
    for (const pod of this.#pods.values()) if (pod.ordinal >= replicas && !pod.isGoingAway) this.#deletePod(pod.name);
    for (let ordinal = 0; ordinal < replicas; ordinal++) {
      const name = `db-${ordinal}`;
      if (this.#pods.has(name)) continue;
      const uid = String(++this.#uids);
      this.#pods.set(name, { name, ordinal, uid, version, isGoingAway: false });
      this.#after(this.#random.integer(2000), () => {
        if (this.#pods.get(name)?.uid === uid && !this.#pods.get(name)!.isGoingAway) this.#world.podRuns(name, uid);
      });
    }
  }

  #deletePod(name: string): void {
    const pod = this.#pods.get(name);
    if (pod === undefined || pod.isGoingAway) return;
    pod.isGoingAway = true;
    this.#world.podEnds(name, pod.uid);
    this.#after(this.#random.integer(1500), () => this.#pods.delete(name));
  }

  // What goes wrong.

  #fault(): void {
    const world = this.#world;
    const names = [...this.#pods.keys()];
    const any = () => names[this.#random.integer(names.length)]!;
    const name = this.#random.fraction() < 0.5 ? (this.#record.primary ?? any()) : any();
    switch (this.#random.integer(14)) {
      case 0:
        return world.crash(name, 500 + this.#random.integer(8000));
      case 1:
        return world.cut(name);
      case 2:
      case 3:
        return world.cutLine(operatorEnd, name);
      case 4:
        return world.cutLine(name, any());
      case 5:
        return world.pause(name);
      case 6:
      case 7:
        return world.slow(any(), this.#random.integer(15_000));
      case 8:
      case 9:
        return this.#healAll();
      case 10:
        this.#life++;
        return this.#after(this.#random.integer(4000), () => this.#startOperator());
      case 11:
        return this.#deletePod(name);
      case 12:
        this.#asked =
          this.#random.fraction() < 0.5 ? { ...this.#asked, replicas: 1 + this.#random.integer(3) } : { ...this.#asked, version: this.#asked.version + 1 };
        return;
      case 13:
        if (this.#canLoseDisk(name)) {
          this.#emptied.add(name);
          world.loseData(name);
        }
    }
  }

  #healAll(): void {
    for (const name of this.#world.servers.keys()) this.#world.heal(name);
  }

  /** One disk at a time, and not the only one that has everything: nobody could save that. */
  #canLoseDisk(name: string): boolean {
    const { primary, synchronous = [], failover } = this.#record;
    const server = this.#world.servers.get(name);
    if (primary === undefined || failover !== undefined || this.#emptied.size > 0) return false;
    if (server === undefined || server.isPaused || !["primary", "standby", "stopped", "detached"].includes(server.mode)) return false;
    return name === primary ? synchronous.length > 0 : this.#hasAll(primary);
  }
}
