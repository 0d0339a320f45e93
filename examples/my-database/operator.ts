/** The operator of MyDatabase: looks at every instance, decides (`decide.ts`), and has the SDK make it so. */
import { isAlreadyExists, isNotFound, resources } from "coracle/client";
import type { DeepReadonly, Pod } from "coracle/client";
import { condition, createAction, defineOperator, defineReconciler, deleteAction, effectAction, patchAction, watch } from "coracle/operator";
import type { Action, Desired, ObserveInput, Operator, PlanInput, View } from "coracle/operator";
import type { AgentState, Agents, Instance, Order } from "./agent.ts";
import { childrenOf } from "./children.ts";
import type { InstanceImage, Passwords } from "./children.ts";
import { decide, instancesNeeded, ordinalOf } from "./decide.ts";
import type { ClusterRecord, Decision, Member, Situation } from "./decide.ts";
import { backups, databases, labels } from "./resources.ts";
import type { DatabaseBackup, MyDatabase } from "./resources.ts";
import { nextRunMs } from "./schedule.ts";

/** How often instances are asked how they are. */
const pauseMs = 1000;
/** The same while there is no primary. */
const hurryMs = 200;
/** How long an instance may take to answer; one that did not answer before, while it holds up the rest. */
const answerMs = 700;
const lostAnswerMs = 200;
/** On a database that is deleted: no final backup is wanted. */
export const skipFinalBackup = "mydb.example.com/skip-final-backup";

export function databaseOperator(agents: Agents, how: InstanceImage): Operator {
  return defineOperator({
    name: "my-database",
    definitions: [databases, backups],
    reconcilers: [databaseReconciler(agents, how), backupReconciler(agents)],
    permissions: [
      { apiGroups: [""], resources: ["pods"], verbs: ["patch", "delete"] },
      { apiGroups: [backups.group], resources: [backups.resource], verbs: ["create", "delete"] },
    ],
  });
}

interface Observed {
  readonly states: ReadonlyMap<string, AgentState>;
  readonly newPasswords: Passwords;
  /** When they were asked. */
  readonly atMs: number;
}

function databaseReconciler(agents: Agents, how: InstanceImage) {
  return defineReconciler<MyDatabase, Observed>({
    for: databases,
    keepsRecord: true,
    owns: [resources.statefulSets, resources.services, resources.secrets],
    watches: [watch(resources.pods, { keys: databaseKey }), watch(backups, { keys: ({ metadata, spec }) => [`${metadata.namespace}/${spec.database}`] })],
    observe: async (input) => {
      const atMs = input.clock.nowMs();
      const password = () => Buffer.from(input.random.bytes(18)).toString("base64url");
      return { states: await statesOf(input, agents, atMs), newPasswords: { superuser: password(), replication: password() }, atMs };
    },
    plan: (input) => planDatabase(input, agents, how),
    finalize: (input) => {
      const final = `${input.object.metadata.name}-final`;
      const isSaved = input.get(backups, input.object.metadata.namespace!, final)?.status?.phase === "Done";
      const isDone = isSaved || input.object.metadata.annotations?.[skipFinalBackup] === "true" || input.object.status?.isInitialized !== true;
      // It goes on being served until the backup is there.
      const plan = planDatabase(input, agents, how);
      return isDone
        ? { isDone, reasons: ["the final backup is there"] }
        : { ...plan, isDone, actions: [...(plan.actions ?? []), ...backupActions(input, final)] };
    },
  });
}

function planDatabase(input: PlanInput<MyDatabase, Observed>, agents: Agents, how: InstanceImage): Desired<MyDatabase> {
  const { object, nowMs } = input;
  const { replicas, restoreFrom } = object.spec;
  const members = membersOf(input);
  const record = recordOf(object.status ?? {});
  const situation: Situation = { name: object.metadata.name!, replicas, restoreFrom, record, members, nowMs };
  const decision = decide(situation);
  const primary = members.find(({ name }) => name === record.primary);
  const serves = primary?.state?.mode === "primary" && primary.state.term === record.term;
  const following = members.filter(({ state }) => state?.mode === "standby" && state.following === record.primary && state.term === record.term);
  const ready = Number(serves) + following.length;
  const schedule = dueBackup(input);
  const last = ownBackups(input)
    .filter(({ status }) => status?.phase === "Done")
    .at(-1)?.metadata.name;
  const { attention } = decision;
  return {
    children: childrenOf(input, instancesNeeded(situation), how),
    status: {
      ...statusOf(decision.record),
      ready,
      ...(last !== undefined && { lastBackup: last }),
      ...(schedule.lastScheduled !== undefined && { lastScheduled: schedule.lastScheduled }),
    },
    conditions: [
      condition(
        "Ready",
        serves && ready >= replicas,
        !serves ? "NoPrimary" : ready >= replicas ? "Complete" : "Incomplete",
        `${ready} of ${replicas} instances serve: ${decision.reasons.join("; ")}`,
      ),
      condition("NeedsAttention", attention !== undefined, attention?.reason ?? "AllWell", attention?.message),
    ],
    events: [...(decision.event === undefined ? [] : [decision.event]), ...(attention === undefined ? [] : [{ type: "Warning" as const, ...attention }])],
    actions: [
      ...ordersOf(input, decision, agents),
      ...roleLabels(input, record, members),
      ...replacements(input, decision),
      ...schedule.actions,
      ...oldBackups(input),
    ],
    requeueAfterMs: serves || attention !== undefined ? pauseMs : hurryMs,
    reasons: decision.reasons,
  };
}

type DatabaseView = View & { readonly object: PlanInput<MyDatabase>["object"] };
type CachedPod = ReturnType<typeof podsOf>[number];

function podsOf({ list, object }: DatabaseView) {
  return list(resources.pods, object.metadata.namespace).filter(({ metadata }) => metadata.labels?.[labels.database] === object.metadata.name);
}

function databaseKey({ metadata }: DeepReadonly<Pod>): string[] {
  const name = metadata.labels?.[labels.database];
  return name === undefined ? [] : [`${metadata.namespace}/${name}`];
}

function instanceOf({ metadata, status }: CachedPod): Instance | undefined {
  return status?.podIP === undefined || status.phase !== "Running" ? undefined : { namespace: metadata.namespace!, pod: metadata.name!, podIP: status.podIP };
}

async function statesOf(input: ObserveInput<MyDatabase>, agents: Agents, atMs: number): Promise<Map<string, AgentState>> {
  const states = new Map<string, AgentState>();
  await Promise.all(
    podsOf(input).map(async (pod) => {
      const instance = instanceOf(pod);
      const timeoutMs = pod.metadata.name === input.object.status?.primary && input.object.status?.lostSince !== undefined ? lostAnswerMs : answerMs;
      const state = instance === undefined ? undefined : await agents.state(instance, atMs, { signal: input.signal, timeoutMs });
      if (state !== undefined) states.set(pod.metadata.name!, state);
    }),
  );
  return states;
}

function membersOf(input: PlanInput<MyDatabase, Observed>): Member[] {
  const { version } = input.object.spec;
  return podsOf(input).map(({ metadata, status }) => ({
    name: metadata.name!,
    ordinal: ordinalOf(metadata.name!),
    host: status?.podIP ?? "",
    isCurrent: metadata.labels?.[labels.version] === version,
    isGoingAway: metadata.deletionTimestamp !== undefined,
    state: input.observed.states.get(metadata.name!),
  }));
}

function ordersOf(input: PlanInput<MyDatabase, Observed>, { orders }: Decision, agents: Agents): Action[] {
  return orders.map(({ to, order }) =>
    orderAction(agents, instanceOf(podsOf(input).find(({ metadata }) => metadata.name === to)!)!, order, input.observed.atMs),
  );
}

/** An order that fails is given again in the next pass, if it is still right then. */
function orderAction(agents: Agents, instance: Instance, order: Order, atMs: number): Action {
  return effectAction(`${order.kind} ${instance.pod}`, (signal) => agents.send(instance, order, atMs, signal), { onError: "continue" });
}

/** Labels by which the Services find writers and readers. */
function roleLabels(input: DatabaseView, { primary, term }: ClusterRecord, members: readonly Member[]): Action[] {
  return podsOf(input).flatMap((pod) => {
    const { state, name } = members.find((member) => member.name === pod.metadata.name)!;
    const isCurrent = state !== undefined && state.term === term;
    const role = isCurrent && name === primary && state.mode === "primary" ? "primary" : isCurrent && state.mode === "standby" ? "replica" : null;
    if ((pod.metadata.labels?.[labels.role] ?? null) === role) return [];
    return [
      patchAction(
        resources.pods,
        pod,
        { type: "merge", body: { metadata: { uid: pod.metadata.uid, labels: { [labels.role]: role } } } },
        { onError: "continue" },
      ),
    ];
  });
}

function replacements(input: DatabaseView, { replace }: Decision): Action[] {
  return podsOf(input)
    .filter(({ metadata }) => replace.includes(metadata.name!))
    .map((pod) => deleteAction(resources.pods, pod, {}, { onError: (error) => ({ severity: isNotFound(error) ? "ignore" : "continue" }) }));
}

function ownBackups({ list, object }: DatabaseView) {
  const own = list(backups, object.metadata.namespace).filter(({ spec }) => spec.database === object.metadata.name);
  return own.toSorted((a, b) => (a.status?.at ?? "").localeCompare(b.status?.at ?? ""));
}

function backupActions({ get, object }: DatabaseView, name: string): Action[] {
  if (get(backups, object.metadata.namespace!, name) !== undefined) return [];
  const metadata = { name, namespace: object.metadata.namespace!, labels: { [labels.database]: object.metadata.name! } };
  return [
    createAction(
      backups,
      { ...backups.object(metadata, { database: object.metadata.name! }) },
      { onError: (error) => ({ severity: isAlreadyExists(error) ? "ignore" : "continue" }) },
    ),
  ];
}

/** A backup whose time has come. */
function dueBackup(input: PlanInput<MyDatabase, Observed>): { readonly actions: Action[]; readonly lastScheduled: string | undefined } {
  const { object, nowMs } = input;
  const { schedule } = object.spec.backup;
  const { lastScheduled, isInitialized } = object.status ?? {};
  if (schedule === undefined || isInitialized !== true) return { actions: [], lastScheduled };
  const dueMs = nextRunMs(schedule, Date.parse(lastScheduled ?? object.metadata.creationTimestamp ?? ""));
  if (dueMs === undefined || dueMs > nowMs) return { actions: [], lastScheduled };
  const at = new Date(dueMs).toISOString();
  return { actions: backupActions(input, `${object.metadata.name}-${at.replace(/\D/g, "").slice(0, 12)}`), lastScheduled: new Date(nowMs).toISOString() };
}

/** Scheduled backups beyond those that are kept. */
function oldBackups(input: DatabaseView): Action[] {
  const scheduled = ownBackups(input).filter(({ metadata, status }) => status?.phase === "Done" && /-\d{12}$/.test(metadata.name!));
  return scheduled
    .slice(0, Math.max(0, scheduled.length - input.object.spec.backup.keep))
    .map((backup) => deleteAction(backups, backup, {}, { onError: "continue" }));
}

type Status = NonNullable<PlanInput<MyDatabase>["object"]["status"]>;

function recordOf({ primary, term, isInitialized, requires, synchronous, lostSince, failover }: Partial<Status>): ClusterRecord {
  return {
    ...(primary !== undefined && { primary }),
    ...(term !== undefined && { term }),
    ...(isInitialized !== undefined && { isInitialized }),
    ...(requires !== undefined && { requires }),
    ...(synchronous !== undefined && { synchronous }),
    ...(lostSince !== undefined && { lostSinceMs: Date.parse(lostSince) }),
    ...(failover !== undefined && { failover }),
  };
}

function statusOf({ lostSinceMs, ...record }: ClusterRecord) {
  return { ...record, ...(lostSinceMs !== undefined && { lostSince: new Date(lostSinceMs).toISOString() }) };
}

interface BackupObserved {
  readonly instance: Instance | undefined;
  readonly state: AgentState | undefined;
  readonly atMs: number;
}

function backupReconciler(agents: Agents) {
  return defineReconciler<DatabaseBackup, BackupObserved>({
    for: backups,
    watches: [watch(databases), watch(resources.pods)],
    async observe(input) {
      const { object, clock, signal } = input;
      const primary = input.get(databases, object.metadata.namespace!, object.spec.database)?.status?.primary;
      const pod = primary === undefined ? undefined : input.get(resources.pods, object.metadata.namespace!, primary);
      const instance = pod === undefined || object.status?.phase === "Done" ? undefined : instanceOf(pod);
      const atMs = clock.nowMs();
      return { instance, state: instance === undefined ? undefined : await agents.state(instance, atMs, { signal, timeoutMs: answerMs }), atMs };
    },
    plan({ object, observed: { instance, state, atMs }, nowMs }) {
      if (object.status?.phase === "Done") return {};
      if (instance === undefined || state?.mode !== "primary") return { requeueAfterMs: pauseMs, reasons: ["no primary can be reached"] };
      const name = object.metadata.name!;
      const made = state.backups[name];
      if (made === undefined || made.phase === "Failed") {
        return {
          status: { phase: "Running" },
          actions: [orderAction(agents, instance, { kind: "backup", term: state.term, backup: name }, atMs)],
          requeueAfterMs: pauseMs,
        };
      }
      return {
        status: { phase: made.phase, ...(made.size !== undefined && { size: made.size }), ...(made.phase === "Done" && { at: new Date(nowMs).toISOString() }) },
        requeueAfterMs: pauseMs,
      };
    },
  });
}
