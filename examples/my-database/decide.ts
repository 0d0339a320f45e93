/**
 * Who is the primary, who follows, and who must have a transaction before it counts: the part that must not lose any. Pure.
 *
 * The record (term, primary, requires, synchronous, failover) is the object's status, stored only on top of the one that was decided from. A
 * pass either changes the record or acts on it, never both: an order is given only when the record that says so is stored, so that no earlier
 * change, late on its way, can take its place. Invariant: every acknowledged transaction is on the primary, and on one of
 * `synchronous` if there are any. So a failover asks all of `synchronous`, after each has let go of the primary, and takes the one that
 * has most; without `synchronous`, or with one of them out of reach, it waits for the primary and asks for a person.
 */
import type { AgentState, Order } from "./agent.ts";

export interface ClusterRecord {
  readonly primary?: string;
  readonly term?: number;
  readonly isInitialized?: boolean;
  /** Whom the primary is told to require, at most one. */
  readonly requires?: readonly string[];
  readonly synchronous?: readonly string[];
  readonly lostSinceMs?: number;
  readonly failover?: { readonly term: number; readonly candidates: readonly string[] };
}

export interface Member {
  readonly name: string;
  readonly ordinal: number;
  readonly host: string;
  /** Its pod is as the spec says, and not going away. */
  readonly isCurrent: boolean;
  readonly isGoingAway: boolean;
  /** Undefined: out of reach. */
  readonly state: AgentState | undefined;
}

export interface Situation {
  readonly name: string;
  readonly replicas: number;
  readonly restoreFrom?: string | undefined;
  readonly record: ClusterRecord;
  readonly members: readonly Member[];
  readonly nowMs: number;
}

export interface Decision {
  readonly record: ClusterRecord;
  readonly orders: readonly { readonly to: string; readonly order: Order }[];
  /** Pods to replace by ones of the new version. */
  readonly replace: readonly string[];
  readonly reasons: readonly string[];
  /** Why a person is needed. */
  readonly attention?: { readonly reason: string; readonly message: string };
  readonly event?: { readonly type: "Normal" | "Warning"; readonly reason: string; readonly message: string };
}

/** A primary that is out of reach for so long is replaced. */
export const failoverAfterMs = 2000;
/** A primary that nobody can replace is given so long before a person is called. */
export const attentionAfterMs = 30_000;

export function decide(situation: Situation): Decision {
  const { record, name, members } = situation;
  if (record.primary === undefined) {
    const first = members.find(({ ordinal }) => ordinal === 0);
    if (first?.state === undefined) return hold(situation, `waiting for ${name}-0`);
    return change(situation, { primary: first.name, term: 1, requires: [], synchronous: [] }, `${first.name} is to be the first primary`);
  }
  if (record.failover !== undefined) return decideFailover(situation, record.failover);
  const primary = members.find((member) => member.name === record.primary);
  const state = primary?.state;
  const isLost = state === undefined || (state.mode === "empty" && record.isInitialized === true);
  if (primary === undefined || isLost) return decideLost(situation, state !== undefined);
  return decideServing(situation, primary, state);
}

/** The primary is out of reach, or its data is gone. */
function decideLost(situation: Situation, isDataGone: boolean): Decision {
  const { record, nowMs } = situation;
  const what = isDataGone ? `the data of ${record.primary} is gone` : `${record.primary} is out of reach`;
  if (record.lostSinceMs === undefined) return change(situation, { lostSinceMs: nowMs }, what);
  const lostMs = nowMs - record.lostSinceMs;
  const candidates = record.synchronous ?? [];
  if (candidates.length > 0) {
    if (lostMs < failoverAfterMs) return hold(situation, `${what}; waiting whether it comes back`);
    const event = { type: "Warning", reason: "PrimaryLost", message: `${what}: failing over to one of ${candidates.join(", ")}` } as const;
    return { ...change(situation, { failover: { term: termOf(record) + 1, candidates } }, event.message), event };
  }
  const held = hold(situation, `${what}, and no other instance has every transaction`);
  if (lostMs < attentionAfterMs) return held;
  const message = `${what}, and no other instance is known to have every acknowledged transaction: bring it back, or restore a backup into a new database`;
  return { ...held, attention: { reason: "NoSafePrimary", message } };
}

/** Candidates let go of the old primary; then the one with the most becomes the primary. */
function decideFailover(situation: Situation, { term, candidates }: NonNullable<ClusterRecord["failover"]>): Decision {
  const { record, members } = situation;
  const present = candidates.map((name) => members.find((member) => member.name === name));
  const missing = candidates.filter((_, index) => present[index]?.state === undefined || present[index].state.mode === "empty");
  const old = members.find((member) => member.name === record.primary)?.state;
  if (missing.length > 0 && (old?.mode === "primary" || old?.mode === "stopped")) {
    return change(
      situation,
      { failover: undefined, lostSinceMs: undefined, term: term + 1 },
      `${record.primary} is back before ${missing.join(", ")}: it stays the primary`,
    );
  }
  if (missing.length > 0) {
    const message = `${record.primary} is out of reach, and so is ${missing.join(", ")}, which may have transactions that nobody else has: bring one of them back`;
    return { ...hold(situation, message), attention: { reason: "CandidateLost", message } };
  }
  const states = present.map((member) => ({ name: member!.name, state: member!.state! }));
  const attached = states.filter(({ state }) => state.mode !== "detached" || state.term !== term);
  if (attached.length > 0) {
    const orders = attached.filter(({ state }) => state.mode !== "busy").map(({ name }) => ({ to: name, order: { kind: "detach", term } as const }));
    return { ...hold(situation, `${attached.map(({ name }) => name).join(", ")} must let go of ${record.primary}`), orders };
  }
  const chosen = states.toSorted((a, b) => b.state.timeline - a.state.timeline || b.state.position - a.state.position)[0]!;
  const event = { type: "Normal", reason: "FailedOver", message: `${chosen.name} is the primary now, in place of ${record.primary}` } as const;
  return {
    ...change(situation, { primary: chosen.name, term, requires: [], synchronous: [], failover: undefined, lostSinceMs: undefined }, event.message),
    event,
  };
}

/** The primary can be reached: it is started if need be, the others follow it, one of them synchronously. */
function decideServing(situation: Situation, primary: Member, state: AgentState): Decision {
  const { record, members, restoreFrom } = situation;
  const term = termOf(record);
  if (record.lostSinceMs !== undefined) return change(situation, { lostSinceMs: undefined }, `${primary.name} is back`);
  if (state.mode === "busy") return hold(situation, `${primary.name} is busy`);
  if (state.mode === "empty")
    return order(situation, primary, { kind: "initialize", term, ...(restoreFrom !== undefined && { backup: restoreFrom }) }, `${primary.name} is initialised`);
  if (state.mode !== "primary" || state.term !== term) {
    return order(situation, primary, { kind: "promote", term, requires: record.requires ?? [] }, `${primary.name} is started as the primary of term ${term}`);
  }
  if (record.isInitialized !== true) return change(situation, { isInitialized: true }, `${primary.name} serves`);
  const follows = members.filter(
    (member) =>
      member !== primary && !member.isGoingAway && member.state !== undefined && member.state.mode !== "busy" && !isFollowing(member.state, primary.name, term),
  );
  const orders = follows.map(({ name }) => ({ to: name, order: { kind: "follow", term, primary: primary.name, host: primary.host } as const }));
  const following = follows.map(({ name }) => `${name} is to follow ${primary.name}`);
  const synchronous = decideSynchronous(situation, primary, state);
  if (synchronous !== undefined) return { ...synchronous, orders: [...orders, ...synchronous.orders], reasons: [...following, ...synchronous.reasons] };
  return { ...decideMoves(situation, primary, state), orders, ...(following.length > 0 && { reasons: following }) };
}

/** Keeps the record of who has every transaction ahead of what the primary requires; undefined when both are as they should be. */
function decideSynchronous(situation: Situation, primary: Member, state: AgentState): Decision | undefined {
  const { record } = situation;
  const recorded = record.synchronous ?? [];
  const intended = record.requires ?? [];
  const required = state.requires ?? [];
  const standbys = state.standbys ?? {};
  const wanted = wantedSynchronous(situation, primary, required, standbys);
  if (wanted !== intended[0]) {
    if (wanted === undefined) return change(situation, { requires: [], synchronous: [] }, `no instance can follow ${primary.name} synchronously`);
    // With nobody on record nobody is known to have everything: neither whoever is required until now, nor its successor.
    const synchronous = recorded.length === 0 ? [] : [...new Set([...recorded, wanted])];
    return change(situation, { requires: [wanted], synchronous }, `${wanted} is to have every transaction`);
  }
  if (required[0] !== wanted) {
    const why = wanted === undefined ? `${primary.name} goes on alone` : `${primary.name} waits for ${wanted} from now on`;
    return order(situation, primary, { kind: "require", term: termOf(record), requires: intended }, why);
  }
  if (wanted === undefined) return undefined;
  const hasAll = (standbys[wanted] ?? 0) >= (state.requiresSince ?? Number.POSITIVE_INFINITY);
  const isRecorded = recorded.length === 1 && recorded[0] === wanted;
  return hasAll && !isRecorded ? change(situation, { synchronous: [wanted] }, `${wanted} has every transaction`) : undefined;
}

/** Who should follow synchronously: whoever does, unless it is about to go; else whoever has most. */
function wantedSynchronous(situation: Situation, primary: Member, required: readonly string[], standbys: Readonly<Record<string, number>>): string | undefined {
  const leaving = leavingNext(situation, primary);
  const isEligible = (member: Member) =>
    member !== primary && !member.isGoingAway && member.ordinal < situation.replicas && member !== leaving && standbys[member.name] !== undefined;
  const eligible = situation.members.filter(isEligible);
  // One of the new version first: it can take over when the primary's turn has come.
  const best = eligible.toSorted((a, b) => Number(b.isCurrent) - Number(a.isCurrent) || (standbys[b.name] ?? 0) - (standbys[a.name] ?? 0));
  const present = eligible.find(({ name }) => required.includes(name));
  return present !== undefined && present.isCurrent === best[0]?.isCurrent ? present.name : best[0]?.name;
}

/** The standby whose pod is replaced next in an upgrade: the highest outdated one; one at a time. */
function leavingNext({ members, replicas }: Situation, primary: Member): Member | undefined {
  const standbys = members.filter((member) => member !== primary && member.ordinal < replicas);
  const isWhole =
    members.filter(({ ordinal }) => ordinal < replicas).length === replicas &&
    standbys.every(({ state, isGoingAway }) => state?.mode === "standby" && !isGoingAway);
  return isWhole ? standbys.filter(({ isCurrent }) => !isCurrent).toSorted((a, b) => b.ordinal - a.ordinal)[0] : undefined;
}

/** Planned changes, when all is well: pods of the old version are replaced, the primary's last; a primary that scaling removes hands over. */
function decideMoves(situation: Situation, primary: Member, state: AgentState): Decision {
  const { record, replicas, members } = situation;
  const synchronous = record.synchronous ?? [];
  const streaming = state.standbys ?? {};
  const leaving = leavingNext(situation, primary);
  if (leaving !== undefined && !synchronous.includes(leaving.name))
    return { ...hold(situation, `${leaving.name} is replaced by one of the new version`), replace: [leaving.name] };
  // Its state may have been asked for a moment before it began to stream: that it is of the new version is a question of its own.
  const isWhole = members
    .filter((member) => member !== primary && member.ordinal < replicas)
    .every(({ name, isCurrent }) => isCurrent && streaming[name] !== undefined);
  if (leaving !== undefined || !isWhole) return hold(situation, "waiting until every instance follows");
  const mustMove = primary.ordinal >= replicas || !primary.isCurrent;
  if (!mustMove) return hold(situation, "as it should be");
  if (replicas === 1 && primary.ordinal === 0)
    return { ...hold(situation, `${primary.name} is replaced by one of the new version`), replace: primary.isGoingAway ? [] : [primary.name] };
  if (synchronous.length !== 1) return hold(situation, `${primary.name} hands over once another has every transaction`);
  const event = { type: "Normal", reason: "HandingOver", message: `${primary.name} hands over to ${synchronous[0]}` } as const;
  return { ...change(situation, { failover: { term: termOf(record) + 1, candidates: synchronous } }, event.message), event };
}

/** How many instances there must be: as many as asked for, but none that is needed goes, also while its pod is not there. */
export function instancesNeeded({ replicas, record, members }: Pick<Situation, "replicas" | "record" | "members">): number {
  const required = members.find(({ name }) => name === record.primary)?.state?.requires ?? [];
  const { primary, requires = [], synchronous = [], failover } = record;
  const needed = [...(primary === undefined ? [] : [primary]), ...requires, ...synchronous, ...(failover?.candidates ?? []), ...required];
  return Math.max(replicas, ...needed.map((name) => ordinalOf(name) + 1));
}

/** Of a pod of a StatefulSet. */
export function ordinalOf(name: string): number {
  return Number(/\d+$/.exec(name)?.[0]);
}

function isFollowing(state: AgentState, primary: string, term: number): boolean {
  return state.mode === "standby" && state.following === primary && state.term === term;
}

function termOf(record: ClusterRecord): number {
  return record.term ?? 0;
}

function hold({ record }: Situation, reason: string): Decision {
  return { record, orders: [], replace: [], reasons: [reason] };
}

function change({ record }: Situation, changes: { [Key in keyof ClusterRecord]?: ClusterRecord[Key] | undefined }, reason: string): Decision {
  const next = Object.fromEntries(Object.entries({ ...record, ...changes }).filter(([, value]) => value !== undefined)) as ClusterRecord;
  return { record: next, orders: [], replace: [], reasons: [reason] };
}

function order({ record }: Situation, to: Member, given: Order, reason: string): Decision {
  return { record, orders: [{ to: to.name, order: given }], replace: [], reasons: [reason] };
}
