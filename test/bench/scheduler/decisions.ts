/**
 * The scheduler's own decisions: each workload without API or store, every pod decided and assumed before the next one, as the scheduler does.
 * Rates are by the processor time of the whole process, garbage collection included, so that other work on the machine does not count.
 */
import { systemClock } from "../../../src/base/clock.ts";
import { seededRandom } from "../../../src/base/random.ts";
import { Client } from "../../../src/client/index.ts";
import { buildProfiles } from "../../../src/scheduler/config/build-profiles.ts";
import { builtInPlugins } from "../../../src/scheduler/config/plugin-registry.ts";
import { schedulePod } from "../../../src/scheduler/framework/schedule-pod.ts";
import { VerdictCache } from "../../../src/scheduler/framework/verdict-cache.ts";
import { PreemptionGate } from "../../../src/scheduler/plugins/preemption/preemption-gate.ts";
import { VolumeWorld } from "../../../src/scheduler/plugins/volumes/volume-binding/volume-world.ts";
import { ClusterState } from "../../../src/scheduler/state/cluster-state.ts";
import { emptyObjects } from "../../../src/scheduler/test-support/empty-objects.ts";
import { podInfoOf } from "../../../src/scheduler/state/pod-info.ts";
import { csiNodeOf, nodeOf, podOf, taintsOf, volumeOf } from "./objects.ts";
import type { KubeObject } from "../../../src/apimachinery/object.ts";
import type { PodSpec } from "../../../src/api/core-v1/types.ts";
import type { Lister } from "../../../src/client/index.ts";
import type { Decision } from "../../../src/scheduler/framework/decision.ts";
import type { PodInfo } from "../../../src/scheduler/state/pod-info.ts";
import type { Batch, Workload } from "./workloads.ts";

export interface DecisionsResult {
  readonly workload: string;
  /** Pods that were measured, and those of them that found no node. */
  readonly pods: number;
  readonly unscheduled: number;
  /** Of one CPU's time. */
  readonly podsPerCpuSecond: number;
  /** Three times the published threshold. */
  readonly wanted: number | undefined;
}

/** Runs one workload; gated pods are never decided and are left out. */
export function measureDecisions(workload: Workload): DecisionsResult {
  const bench = new Decisions(workload);
  bench.schedule("before", workload.before);
  const pods = bench.make("measured", workload.measured);
  const { churn, threshold = 0 } = workload;
  // As many as would come at the published rate.
  const every = churn === undefined ? pods.length : Math.round((threshold * churn.everyMs) / 1000);
  const others = churn === undefined ? [] : bench.make("churn", { ...churn.pod, count: Math.floor(pods.length / every) });
  const started = process.cpuUsage();
  let unscheduled = 0;
  for (let index = 0; index < pods.length; index += every) {
    unscheduled += bench.decideAll(pods.slice(index, index + every));
    bench.decideAll(others.slice(index / every, index / every + 1));
  }
  const { user, system } = process.cpuUsage(started);
  return {
    workload: workload.name,
    pods: pods.length,
    unscheduled,
    podsPerCpuSecond: Math.round((pods.length / (user + system)) * 1e6),
    wanted: workload.threshold === undefined ? undefined : workload.threshold * 3,
  };
}

class Decisions {
  readonly #workload: Workload;
  readonly #objects: ReturnType<typeof benchObjects>;
  readonly #state: ClusterState;
  readonly #decide: (pod: PodInfo, startIndex: number) => Decision;
  #startIndex = 0;

  constructor(workload: Workload) {
    this.#workload = workload;
    this.#objects = benchObjects(workload);
    const { listers } = this.#objects;
    const state = new ClusterState(listers);
    const random = seededRandom(1);
    const clock = systemClock();
    const client = new Client({ transport: () => Promise.reject(new Error("nothing is sent")), clock, userAgent: "bench" });
    const services = { client, clock, random, objects: listers, volumes: new VolumeWorld(listers), preemptions: new PreemptionGate(), record: () => undefined };
    const profile = buildProfiles({}, builtInPlugins, services).get("default-scheduler")!;
    const cache = new VerdictCache();
    this.#decide = (pod, startIndex) => schedulePod({ snapshot: state, pod, profile, random, startIndex, cache }).decision;
    this.#state = state;
    for (let index = 0; index < workload.nodes; index++) {
      const node = nodeOf(index, workload.node);
      const taints = taintsOf(index, workload);
      state.putNode({ ...node, ...(taints !== undefined && { spec: { taints } }) });
    }
  }

  make(prefix: string, batch: Batch): readonly PodInfo[] {
    return Array.from({ length: batch.spec?.schedulingGates === undefined ? batch.count : 0 }, (_, index) => {
      const name = `${prefix}-${index}`;
      const namespace = `bench-${index % (batch.namespaces ?? 1)}`;
      if (batch.hasVolume === true) this.#objects.addVolume(name, namespace);
      const { metadata, spec } = podOf(name, { index, nodes: this.#workload.nodes }, batch);
      const priority = batch.spec?.priorityClassName === "high" ? 1000 : 0;
      return podInfoOf({
        metadata: { ...metadata, namespace, uid: name },
        spec: { ...(spec as PodSpec), schedulerName: "default-scheduler", priority },
        status: { phase: "Pending" },
      });
    });
  }

  schedule(prefix: string, batch: Batch): void {
    this.decideAll(this.make(prefix, batch));
  }

  /** Answers how many found no node. */
  decideAll(pods: readonly PodInfo[]): number {
    let unscheduled = 0;
    for (const pod of pods) {
      let decision = this.#decideOne(pod);
      if (decision.kind === "unschedulable" && (decision.postFilter?.victims?.length ?? 0) > 0) {
        for (const { uid } of decision.postFilter!.victims!) this.#state.removePod(uid);
        const status = { ...pod.pod.status, nominatedNodeName: decision.postFilter!.nominatedNodeName! };
        decision = this.#decideOne(podInfoOf({ ...pod.pod, status }));
      }
      if (decision.kind === "assigned") this.#state.assume(pod, decision.node.name);
      else unscheduled += 1;
    }
    return unscheduled;
  }

  #decideOne(pod: PodInfo): Decision {
    const decision = this.#decide(pod, this.#startIndex);
    this.#startIndex = (this.#startIndex + decision.examined) % this.#workload.nodes;
    return decision;
  }
}

/** The other objects of a workload. */
function benchObjects({ nodes, before, measured }: Workload) {
  const namespaces = new MapLister(
    Array.from({ length: Math.max(1, before.namespaces ?? 1, measured.namespaces ?? 1) }, (_, index) => ({
      metadata: { name: `bench-${index}`, labels: { team: "devops" } },
    })),
  );
  const service = { metadata: { name: "service", namespace: "bench-0" }, spec: { selector: { app: "service" } } };
  const persistentVolumes = new MapLister<KubeObject>([]);
  const persistentVolumeClaims = new MapLister<KubeObject>([]);
  const hasVolumes = measured.hasVolume === true;
  const csiNodes = new MapLister(Array.from({ length: hasVolumes ? nodes : 0 }, (_, index) => csiNodeOf(`node-${index}`)));
  const listers = emptyObjects({ namespaces, services: new MapLister([service]), csiNodes, persistentVolumes, persistentVolumeClaims });
  return {
    listers,
    addVolume(name: string, namespace: string) {
      const { volume, claim } = volumeOf(name, namespace);
      persistentVolumes.add(volume);
      persistentVolumeClaims.add(claim);
    },
  };
}

class MapLister<T extends KubeObject> implements Lister<T> {
  readonly #objects = new Map<string, T>();

  constructor(objects: readonly T[]) {
    for (const object of objects) this.add(object);
  }

  add(object: T): void {
    this.#objects.set(`${object.metadata.namespace ?? ""}/${object.metadata.name}`, object);
  }

  get(namespace: string, name: string): never {
    return this.#objects.get(`${namespace}/${name}`) as never;
  }

  list(namespace = ""): never {
    return [...this.#objects.values()].filter(({ metadata }) => namespace === "" || metadata.namespace === namespace) as never;
  }

  byIndex(): never {
    return [] as never;
  }
}
