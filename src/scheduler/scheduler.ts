import { TaskGroup } from "../base/task-group.ts";
import { isForbidden, isNotFound } from "../apimachinery/status.ts";
import { Client, InformerSet, referenceTo, resources, SeriesEventRecorder } from "../client/index.ts";
import { buildProfiles } from "./config/build-profiles.ts";
import { builtInPlugins } from "./config/plugin-registry.ts";
import { ConfigurationError } from "./config/configuration-error.ts";
import { checkExtenders } from "./extenders/configuration.ts";
import { Extender } from "./extenders/extender.ts";
import { DecisionLog } from "./driver/decision-log.ts";
import { clusterObjects, followCluster, livePods } from "./driver/informers.ts";
import { PodWrites } from "./driver/pod-writes.ts";
import { SchedulingLoop } from "./driver/scheduling-loop.ts";
import { PreemptionGate } from "./plugins/preemption/preemption-gate.ts";
import { VolumeWorld } from "./plugins/volumes/volume-binding/volume-world.ts";
import { explainPod } from "./framework/explain-pod.ts";
import { schedulerServer } from "./server/scheduler-server.ts";
import { SchedulerMetrics } from "./server/scheduler-metrics.ts";
import { writtenOut } from "./config/written-out.ts";
import { PodGroups } from "./state/pod-groups.ts";
import { podInfoOf } from "./state/pod-info.ts";
import { SchedulingQueue } from "./queue/scheduling-queue.ts";
import { ClusterState } from "./state/cluster-state.ts";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { Random } from "../base/random.ts";
import type { ApiRequest, ApiResponse, Transport } from "../apimachinery/request.ts";
import type { Pod } from "../api/core-v1/types.ts";
import type { Lister } from "../client/index.ts";
import type { Explanation } from "./framework/explain-pod.ts";
import type { Profile } from "./framework/profile.ts";
import type { SchedulerConfiguration } from "./config/configuration.ts";
import type { ExtenderPost } from "./extenders/extender.ts";
import type { PluginRegistry } from "./config/plugin-registry.ts";
import type { RecordEvent } from "./framework/record-event.ts";
import type { Decision } from "./framework/decision.ts";

/** kube-scheduler: finds a node for every pod that has none. */
export function createScheduler(options: SchedulerOptions): Scheduler {
  const memory: Memory = { decisions: new DecisionLog(options.keptDecisions ?? 200), metrics: new SchedulerMetrics(), live: undefined };
  const { decisions } = memory;
  return {
    run: (signal) => run(options, memory, signal),
    decisions: () => decisions.latest().map(({ decision }) => decision),
    decisionAbout: (namespace, name) => decisions.about(namespace, name),
    serve: schedulerServer({
      isSynced: () => memory.live !== undefined,
      kept: () => decisions.latest(),
      explain: (namespace, name) => explanation(memory.live, namespace, name),
      configuration: () => writtenOut(options.config ?? {}),
      metrics: () => metricsText(memory),
    }),
  };
}

/** What outlives a run, and what there is while one lasts. */
interface Memory {
  readonly decisions: DecisionLog;
  readonly metrics: SchedulerMetrics;
  live: Live | undefined;
}
interface Live {
  readonly state: ClusterState;
  readonly queue: SchedulingQueue;
  readonly profiles: ReadonlyMap<string, Profile>;
  readonly pods: Lister<Pod>;
}

/** What a scheduler works with, and how it is configured. All but the first four have defaults. */
export interface SchedulerOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly config?: SchedulerConfiguration;
  /** Whose pods' writes carry; what stands before the slash is the field manager. */
  readonly userAgent?: string;
  /** The host's name in `reportingInstance` of events. */
  readonly hostName?: string;
  /** Plugins from outside the tree, by name; they have to be enabled in a profile. */
  readonly plugins?: PluginRegistry;
  /** How the extenders of `config` are reached. */
  readonly postToExtender?: ExtenderPost;
  /** Feature gates that are not as by default; `GenericWorkload` has groups of pods scheduled together. */
  readonly gates?: Readonly<Record<string, boolean>>;
  /** How many decisions are kept. */
  readonly keptDecisions?: number;
}

/** A scheduler; made by `createScheduler`. */
export interface Scheduler {
  /** Schedules until `signal` aborts and all writes have ended. */
  run(signal: AbortSignal): Promise<void>;
  /** The last decisions, the newest first. */
  decisions(): readonly Decision[];
  decisionAbout(namespace: string, name: string): Decision | undefined;
  /** Answers for its health, metrics, configuration and decisions. */
  serve(request: ApiRequest): Promise<ApiResponse>;
}

function explanation(live: Live | undefined, namespace: string, name: string): Explanation | undefined {
  const pod = live?.pods.get(namespace, name);
  const profile = live?.profiles.get(pod?.spec?.schedulerName ?? "");
  return live === undefined || pod === undefined || profile === undefined ? undefined : explainPod(live.state, podInfoOf(pod), profile);
}

/** What is counted by looking is counted when somebody asks. */
function metricsText({ metrics, live }: Memory): string {
  const queues = new Map(["active", "backoff", "unschedulable", "gated"].map((queue) => [queue, 0]));
  const plugins = new Map<string, number>();
  for (const { place, gatedBy, rejectors, pendingPlugins, info } of live?.queue.waiting() ?? []) {
    const queue = gatedBy === undefined ? place : "gated";
    queues.set(queue, (queues.get(queue) ?? 0) + 1);
    if (place !== "unschedulable") continue;
    for (const plugin of rejectors.union(pendingPlugins)) {
      const key = `${plugin} ${info.pod.spec?.schedulerName ?? ""}`;
      plugins.set(key, (plugins.get(key) ?? 0) + 1);
    }
  }
  for (const [queue, count] of queues) metrics.pending.set(count, queue);
  metrics.unschedulable.clear();
  for (const [key, count] of plugins) metrics.unschedulable.set(count, ...key.split(" "));
  const { pods, assumed } = live?.state.podTotals() ?? { pods: 0, assumed: 0 };
  for (const [type, size] of [
    ["assumed_pods", assumed],
    ["nodes", live?.state.nodes.length ?? 0],
    ["pods", pods],
  ] as const)
    metrics.cacheSize.set(size, type);
  return metrics.registry.text();
}

async function run(options: SchedulerOptions, memory: Memory, signal: AbortSignal): Promise<void> {
  const { transport, clock, random, log, config = {} } = options;
  const client = new Client({ transport, clock, userAgent: options.userAgent ?? "kube-scheduler/v1.37.2" });
  await using informers = new InformerSet({ client, clock, random, log });
  const objects = clusterObjects(informers);
  const state = new ClusterState(objects);
  const gate = new PreemptionGate();
  const volumes = new VolumeWorld(objects);
  const hasGroups = options.gates?.["GenericWorkload"] === true && (await servesPodGroups(client, log, signal));
  const podGroups = hasGroups ? new PodGroups(informers.get(resources.podGroups), options.gates) : undefined;
  const record: RecordEvent = ({ pod }, text) => recorders.get(pod.spec?.schedulerName ?? "")?.record(referenceTo(resources.pods, pod), text);
  const registry = { ...builtInPlugins, ...options.plugins };
  const profiles = buildProfiles(config, registry, { client, clock, random, objects, volumes, preemptions: gate, record, podGroups });
  const queue = new SchedulingQueue({
    clock,
    profiles,
    initialBackoffMs: (config.podInitialBackoffSeconds ?? 1) * 1000,
    maxBackoffMs: (config.podMaxBackoffSeconds ?? 10) * 1000,
    maxUnschedulableMs: 300_000,
  });
  const tasks = new TaskGroup({ parent: signal, onFailure: (name, error) => log.error("The scheduler failed", { task: name, error }) });
  const extenders = extendersOf(options);
  const hostName = options.hostName ?? "localhost";
  const recorders = new Map(
    Array.from(profiles.keys(), (name) => [name, new SeriesEventRecorder({ client, clock, random, log, controller: name, instance: `${name}-${hostName}` })]),
  );
  const writes = new PodWrites({ client, tasks, clock, log, signal: tasks.signal });
  await informers.synced(signal);
  followCluster({ informers, state, queue, profiles, podGroups });
  const { decisions, metrics } = memory;
  memory.live = { state, queue, profiles, pods: informers.get(resources.pods, livePods) };
  const loop = new SchedulingLoop({
    client,
    state,
    queue,
    profiles,
    recorders,
    writes,
    gate,
    podGroups,
    extenders,
    decisions,
    metrics,
    tasks,
    clock,
    random,
    log,
    signal: tasks.signal,
  });
  for (const recorder of recorders.values()) tasks.start("events", (inner) => recorder.run(inner));
  tasks.start("flush", (inner) => flushEvery(queue, clock, inner));
  tasks.start("scheduling", (inner) => loop.run(inner));
  try {
    await tasks.join();
  } finally {
    memory.live = undefined;
  }
}

/** A gate whose API is not served does nothing. */
async function servesPodGroups(client: Client, log: Log, signal: AbortSignal): Promise<boolean> {
  try {
    await client.list(resources.podGroups, "", { limit: 1, signal });
  } catch (error) {
    if (!isNotFound(error) && !isForbidden(error)) return true;
    log.warn("Pod groups are not scheduled together: scheduling.k8s.io/v1beta1 is not served, or not to us");
    return false;
  }
  return true;
}

function extendersOf({ config = {}, postToExtender: post, clock }: SchedulerOptions): readonly Extender[] {
  const { extenders = [] } = config;
  checkExtenders(extenders);
  if (extenders.length === 0) return [];
  if (post === undefined) throw new ConfigurationError("there are extenders, and no way to reach them");
  return extenders.map((one) => new Extender(one, { post, clock }));
}

const flushMs = 30_000;

async function flushEvery(queue: SchedulingQueue, clock: Clock, signal: AbortSignal): Promise<void> {
  let cancel = () => undefined as void;
  const arm = () => {
    cancel = clock.after(flushMs, () => {
      queue.flush();
      arm();
    });
  };
  arm();
  await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
  cancel();
}
