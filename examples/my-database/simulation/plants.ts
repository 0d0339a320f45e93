/**
 * Rules that the simulation must miss: each plant takes one away from the sources, and says which test has to fail without it. Run by
 * `npm run simulate:plants -- test/e2e/my-database.simulation.test.ts`; `planted.ts` puts a plant in.
 */

export interface Plant {
  /** The rule that is taken away. */
  readonly rule: string;
  /** Of this folder's parent. */
  readonly file: string;
  /** Once in the file. */
  readonly source: string;
  readonly without: string;
  /** Default: `decisions.test.ts`. */
  readonly test?: string;
}

const decide = "decide.ts";
const operator = "operator.ts";
const scenarios = "database.test.ts";

export const plants: readonly Plant[] = [
  {
    rule: "candidates let go of the old primary",
    file: decide,
    source: 'const attached = states.filter(({ state }) => state.mode !== "detached" || state.term !== term);',
    without: "const attached = states.filter(() => false);",
  },
  {
    rule: "a failover asks every candidate",
    file: decide,
    source: "  if (missing.length > 0) {\n    const message",
    without:
      "  for (const name of missing) present.splice(present.findIndex((member) => member?.name === name), 1);\n  if (present.length === 0 || present.includes(undefined)) {\n    const message",
  },
  {
    rule: "the candidate with most becomes the primary",
    file: decide,
    source: "b.state.timeline - a.state.timeline || b.state.position - a.state.position",
    without: "a.state.timeline - b.state.timeline || a.state.position - b.state.position",
  },
  {
    rule: "only those that may have everything are candidates",
    file: decide,
    source: "  const candidates = record.synchronous ?? [];\n",
    without:
      '  const candidates = record.synchronous?.length ? record.synchronous : situation.members.filter(({ state }) => state?.mode === "standby").map(({ name }) => name).slice(0, 1);\n',
  },
  {
    rule: "who is to have every transaction is recorded before the primary goes by it",
    file: decide,
    source: "[...new Set([...recorded, wanted])]",
    without: "recorded",
  },
  {
    rule: "whom the primary is to require is recorded before it is told",
    file: decide,
    source: "  if (wanted !== intended[0]) {\n    if (wanted === undefined)",
    without: "  if (wanted !== intended[0] && required[0] === wanted) {\n    if (wanted === undefined)",
  },
  {
    rule: "with nobody on record, nobody is known to have everything",
    file: decide,
    source: "recorded.length === 0 ? [] : [...new Set(",
    without: "required.length === 0 ? [] : [...required, ...new Set(",
  },
  {
    rule: "one is alone on record only when it has every transaction",
    file: decide,
    source: "(standbys[wanted] ?? 0) >= (state.requiresSince ?? Number.POSITIVE_INFINITY)",
    without: "true as boolean",
  },
  {
    rule: "a change of who must have each transaction counts once all processes heard of it",
    file: decide,
    source: "state.requiresSince ?? Number.POSITIVE_INFINITY",
    without: "state.requiresSince ?? 0",
  },
  {
    rule: "the record says that nobody follows before the primary goes on alone",
    file: decide,
    source: "change(situation, { requires: [], synchronous: [] }, `no instance",
    without: "change(situation, { requires: [] }, `no instance",
  },
  {
    rule: "a primary that starts again requires whom it required",
    file: decide,
    source: "requires: record.requires ?? []",
    without: "requires: []",
  },
  {
    rule: "a new primary begins with nobody on record",
    file: decide,
    source: "{ primary: chosen.name, term, requires: [], synchronous: [], failover",
    without: "{ primary: chosen.name, term, requires: [], failover",
  },
  {
    rule: "a primary without its data is lost, not new",
    file: decide,
    source: 'const isLost = state === undefined || (state.mode === "empty" && record.isInitialized === true);',
    without: "const isLost = state === undefined;",
  },
  {
    rule: "a primary that is back before its candidates stays",
    file: decide,
    source: 'if (missing.length > 0 && (old?.mode === "primary" || old?.mode === "stopped")) {',
    without: "if (false as boolean) {",
  },
  {
    rule: "it stays with a term above the failover's",
    file: decide,
    source: "{ failover: undefined, lostSinceMs: undefined, term: term + 1 }",
    without: "{ failover: undefined, lostSinceMs: undefined }",
  },
  {
    rule: "standbys that follow somebody else are told whom to follow",
    file: decide,
    source: 'return state.mode === "standby" && state.following === primary && state.term === term;',
    without: 'return state.mode === "standby";',
  },
  {
    rule: "the synchronous standby is not replaced",
    file: decide,
    source: "if (leaving !== undefined && !synchronous.includes(leaving.name))",
    without: "if (leaving !== undefined)",
  },
  {
    rule: "one replacement at a time",
    file: decide,
    source: "  return isWhole ? standbys.filter",
    without: "  return isWhole || !isWhole ? standbys.filter",
  },
  {
    rule: "the primary is not replaced before it has handed over",
    file: decide,
    source: "if (replicas === 1 && primary.ordinal === 0)",
    without: "if (primary.ordinal === 0)",
  },
  {
    rule: "it hands over to one that has everything",
    file: decide,
    source: "if (synchronous.length !== 1) return hold(",
    without: "if (synchronous.length > 1) return hold(",
  },
  {
    rule: "no instance that is needed is scaled away",
    file: decide,
    source: "  return Math.max(replicas, ...needed",
    without: "  return Math.max(replicas, ...needed.slice(0, 0)",
  },
  {
    rule: "agent: an order from before the last question is refused",
    file: "simulation/simulated-postgres.ts",
    source: "if (order.term < server.term || at < server.fence) return false;",
    without: "if (order.term < server.term) return false;",
  },
  {
    rule: "the record is stored only on top of the one that was decided from",
    file: "simulation/trial.ts",
    source: "const write = () => {\n      if (version !== this.#version) return;",
    without: "const write = () => {",
  },
  {
    rule: "operator: a primary that is back for a moment is not failed over",
    file: decide,
    source: "if (lostMs < failoverAfterMs) return hold",
    without: "if (lostMs < 0) return hold",
    test: scenarios,
  },
  {
    rule: "operator: a person is asked when nobody may be promoted",
    file: decide,
    source: 'return { ...hold(situation, message), attention: { reason: "CandidateLost", message } };',
    without: "return hold(situation, message);",
    test: scenarios,
  },
  {
    rule: "the primary hands over when all others are of the new version",
    file: decide,
    source: ".every(({ name, isCurrent }) => isCurrent && streaming[name] !== undefined);",
    without: ".every(({ name }) => streaming[name] !== undefined);",
  },
  {
    rule: "no instance that is needed is scaled away while its pod is not there",
    file: decide,
    source: "...needed.map((name) => ordinalOf(name) + 1)",
    without: "...needed.filter((name) => members.some((member) => member.name === name)).map((name) => ordinalOf(name) + 1)",
  },
  {
    rule: "operator: writers are led to the primary of the newest term alone",
    file: operator,
    source: 'isCurrent && name === primary && state.mode === "primary" ? "primary"',
    without: 'name !== primary && isCurrent ? "primary"',
    test: scenarios,
  },
  {
    rule: "operator: a database ends with its last backup",
    file: operator,
    source: "const isDone = isSaved ||",
    without: "const isDone = true || isSaved ||",
    test: scenarios,
  },
  {
    rule: "operator: backups are kept as many as asked for",
    file: operator,
    source: "scheduled.length - input.object.spec.backup.keep",
    without: "0 * scheduled.length",
    test: scenarios,
  },
];
