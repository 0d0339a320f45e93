/**
 * The node agent: registers its node, watches the pods bound to it, and gives each a worker. Driven by `run`; the runtime's events wake the
 * workers, and every 10 s what the runtime has is compared with what they saw. Invariant: at most one worker per pod uid.
 */
import type { DeepReadonly } from "../apimachinery/json.ts";
import type { Transport } from "../apimachinery/request.ts";
import type { Pod } from "../api/core-v1/types.ts";
import { sleep } from "../base/clock.ts";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { Random } from "../base/random.ts";
import { isAbort, TaskGroup } from "../base/task-group.ts";
import { Client, EventRecorder, InformerSet, resources } from "../client/index.ts";
import type { Change } from "../client/index.ts";
import { defaultSettings } from "./configuration/settings.ts";
import type { KubeletSettings } from "./configuration/settings.ts";
import { refusedUnderPressure } from "./eviction/admission.ts";
import { Housekeeping } from "./housekeeping.ts";
import { ImagePuller } from "./images/image-puller.ts";
import type { NodeDns } from "./network/dns-config.ts";
import { admitPod } from "./node/admission.ts";
import type { Machine } from "./node/machine.ts";
import { nodeAllocatable, podsMemoryBytes } from "./node/allocatable.ts";
import type { NodeFacts } from "./node/node-object.ts";
import { NodeReporter } from "./node/node-reporter.ts";
import type { NodeContext } from "./pod-sync/node-context.ts";
import { PodWorker } from "./pod-sync/pod-worker.ts";
import { runtimeAnnotations, runtimeLabels } from "./pod-sync/runtime-names.ts";
import type { NetworkCalls } from "./probes/network-calls.ts";
import type { ContainerRuntime } from "./runtime/cri.ts";
import type { PodSandbox } from "./runtime/cri-messages.ts";
import type { ServedPod } from "./server/kubelet-server.ts";
import { DiskMeter } from "./stats/disk-meter.ts";
import { machineUsage } from "./stats/machine-usage.ts";
import { simulatedUsage } from "./stats/simulated-usage.ts";
import type { UsageSource } from "./stats/usage.ts";
import { removeLeftovers } from "./volumes/leftovers.ts";
import { ObjectSource } from "./volumes/object-source.ts";
import type { PodStorage } from "./volumes/pod-storage.ts";
import { ServiceAccountTokens } from "./volumes/service-account-tokens.ts";

export interface KubeletOptions {
  /** Into the API server, as `system:node:NAME` of `system:nodes`. */
  readonly transport: Transport;
  readonly userAgent: string;
  readonly kubeletVersion: string;
  readonly nodeName: string;
  readonly nodeAddress: string;
  /** Of the server that answers for this node. */
  readonly serverPort: number;
  readonly labels?: Readonly<Record<string, string>>;
  /** Default: Kubernetes' defaults. */
  readonly settings?: KubeletSettings;
  /** Where pods' files lie; not for simulated nodes. */
  readonly rootDirectory?: string;
  readonly machine: Machine;
  readonly runtime: ContainerRuntime;
  readonly storage: PodStorage;
  readonly network: NetworkCalls;
  readonly dns: NodeDns;
  readonly logRoot: string;
  /** Marks this kubelet's sandboxes in the runtime: the same after a restart, and no other kubelet's. */
  readonly owner: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Shared by many nodes of one process; the kubelet makes its own when absent. */
  readonly informers?: InformerSet;
}

export interface Kubelet {
  readonly nodeName: string;
  readonly runtime: ContainerRuntime;
  /** Resolves when `signal` aborts and everything of ours has stopped; containers go on. */
  run(signal: AbortSignal): Promise<void>;
  /** A pod of this node, for the server. */
  findPod(namespace: string, name: string): ServedPod | undefined;
  pods(): readonly DeepReadonly<Pod>[];
}

export function createKubelet(options: KubeletOptions): Kubelet {
  return new NodeAgent(options);
}

class NodeAgent implements Kubelet {
  readonly #options: KubeletOptions;
  readonly #workers = new Map<string, PodWorker>();
  readonly #settings: KubeletSettings;
  /** The API's list is known, and strangers are gone. */
  #hasPods = false;
  #pods: (() => readonly DeepReadonly<Pod>[]) | undefined;

  constructor(options: KubeletOptions) {
    this.#options = options;
    this.#settings = options.settings ?? defaultSettings;
  }

  get nodeName(): string {
    return this.#options.nodeName;
  }

  get runtime(): ContainerRuntime {
    return this.#options.runtime;
  }

  findPod(namespace: string, name: string): ServedPod | undefined {
    const found = [...this.#workers.values()].filter(({ pod }) => pod.metadata.namespace === namespace && pod.metadata.name === name);
    // A successor may have its name already.
    const worker = found.find(({ pod }) => pod.metadata.deletionTimestamp === undefined) ?? found[0];
    return worker === undefined ? undefined : { worker, runtime: this.runtime };
  }

  pods(): readonly DeepReadonly<Pod>[] {
    return this.#pods?.() ?? [];
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, random, log, transport, userAgent, nodeName } = this.#options;
    const client = new Client({ transport, clock, userAgent, signal });
    const events = new EventRecorder({ client, clock, random, log, component: "kubelet", host: nodeName });
    const facts = await this.#facts(signal);
    const reporter: NodeReporter = new NodeReporter({
      client,
      clock,
      random,
      log,
      events,
      runtime: this.runtime,
      facts,
      statusIntervalMs: this.runtime.hasNetwork ? 10_000 : 300_000,
      pressure: () => housekeeping.pressure,
    });
    const housekeeping = new Housekeeping({
      nodeName,
      clock,
      log,
      events,
      runtime: this.runtime,
      settings: this.#settings,
      usage: this.#usage(),
      workers: () => this.#workers.values(),
      onConditions: () => reporter.reportSoon(),
    });
    const own = this.#options.informers === undefined ? new InformerSet({ client, clock, random, log }) : undefined;
    const informers = this.#options.informers ?? own!;
    const group = new TaskGroup({ parent: signal, onFailure: (name, error) => log.error("A part of the kubelet failed", { node: nodeName, name, error }) });
    try {
      await reporter.register(signal);
      const node = this.#context({ client, events, informers, facts, reporter, housekeeping });
      group.start("events", (inner) => events.run(inner));
      group.start("node status", (inner) => reporter.run(inner));
      group.start("pods", (inner) => this.#followPods(node, informers, group, inner));
      group.start("runtime events", (inner) => this.#followRuntime(inner));
      if (this.runtime.hasNetwork) group.start("relist", (inner) => this.#repeat(() => this.#relist(inner), inner));
      if (this.runtime.hasNetwork) group.start("what pods leave", (inner) => this.#repeat(() => this.#removeLeftovers(inner), inner));
      housekeeping.start(group);
      await group.join();
    } catch (error) {
      if (!isAbort(error, signal)) throw error;
    } finally {
      await group.close();
      await own?.close();
    }
  }

  async #facts(signal: AbortSignal): Promise<NodeFacts> {
    const { nodeName, nodeAddress, serverPort, kubeletVersion, machine, labels = {} } = this.#options;
    return { name: nodeName, address: nodeAddress, port: serverPort, kubeletVersion, machine, labels, settings: this.#settings, version: await this.runtime.version(signal) };
  }

  #usage(): UsageSource {
    const { runtime, storage, logRoot, machine, clock, rootDirectory } = this.#options;
    const pods = () => [...this.#workers.values()].filter((worker) => worker.isHolding).map(({ pod }) => pod);
    if (rootDirectory === undefined) return simulatedUsage(machine, pods);
    const meter = new DiskMeter({ clock, keptMs: this.#settings.volumeStatsAggMs });
    return machineUsage({ runtime, storage, meter, root: rootDirectory, logRoot, podsMemoryBytes: podsMemoryBytes(machine, this.#settings), pods });
  }

  #context(parts: { client: Client; events: EventRecorder; informers: InformerSet; facts: NodeFacts; reporter: NodeReporter; housekeeping: Housekeeping }): NodeContext {
    const { client, events, informers, facts, reporter, housekeeping } = parts;
    const { clock, nodeName, nodeAddress, machine, runtime } = this.#options;
    // Nobody reads the variables of a container without a program.
    const services = runtime.hasNetwork ? informers.get(resources.services) : undefined;
    return {
      ...this.#options,
      client,
      events,
      runtimeName: facts.version.runtime_name,
      objects: new ObjectSource(informers),
      tokens: new ServiceAccountTokens({ client, clock }),
      images: new ImagePuller({ images: runtime, clock }),
      nodeName,
      nodeAddress,
      allocatable: nodeAllocatable(machine, this.#settings),
      memoryCapacityBytes: machine.memoryBytes,
      services: () => services?.list() ?? [],
      node: () => reporter.node,
      canMountReadOnlyRecursively: () => reporter.node?.status?.runtimeHandlers?.find(({ name = "" }) => name === "")?.features?.recursiveReadOnlyMounts === true,
      admit: (pod) => {
        const others = [...this.#workers.values()].filter((worker) => worker.isHolding && worker.uid !== pod.metadata.uid).map((worker) => worker.pod);
        return refusedUnderPressure(pod, housekeeping.pressure) ?? (reporter.node === undefined ? undefined : admitPod(pod, reporter.node, others));
      },
    };
  }

  async #followPods(node: NodeContext, informers: InformerSet, group: TaskGroup, signal: AbortSignal): Promise<void> {
    const { informer, release } = informers.borrow<Pod>(resources.pods, { fieldSelector: `spec.nodeName=${this.nodeName}` });
    this.#pods = () => informer.list();
    // Services must be known before the first container is told of them.
    if (this.runtime.hasNetwork) await informers.get(resources.services).synced(signal).catch(() => undefined);
    const stop = informer.subscribe((change) => this.#take(change, node, group));
    try {
      await informer.synced(signal);
      await this.#removeStrangers(new Set(informer.list().map(({ metadata }) => metadata.uid ?? "")), signal);
      this.#hasPods = true;
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    } finally {
      this.#hasPods = false;
      stop();
      release();
    }
  }

  #take(change: Change<Pod>, node: NodeContext, group: TaskGroup): void {
    const pod = change.object;
    const uid = pod.metadata.uid ?? "";
    // One name, another pod: the old one is gone.
    if (change.kind === "update" && change.old.metadata.uid !== uid) this.#workers.get(change.old.metadata.uid ?? "")?.remove();
    const known = this.#workers.get(uid);
    if (change.kind === "delete") {
      known?.remove();
    } else if (known !== undefined) {
      known.update(pod);
    } else {
      const worker = new PodWorker(node, pod);
      this.#workers.set(uid, worker);
      group.start(`pod ${pod.metadata.namespace}/${pod.metadata.name}`, async (signal) => {
        await worker.run(signal);
        if (worker.isFinished) this.#workers.delete(uid);
      });
    }
  }

  /** Sandboxes of ours whose pods were deleted while nobody looked. */
  async #removeStrangers(known: ReadonlySet<string>, signal: AbortSignal): Promise<void> {
    const { runtime, log, storage, owner } = this.#options;
    const strangers = (await runtime.listPodSandbox(undefined, signal)).filter(({ metadata, annotations }) => annotations[runtimeAnnotations.owner] === owner && !known.has(metadata.uid));
    await Promise.all(
      strangers.map(async (sandbox) => {
        log.info("Removed a pod that is no longer in the API", { namespace: sandbox.metadata.namespace, pod: sandbox.metadata.name });
        await this.#stopStranger(sandbox, signal);
        await storage.tearDown(sandbox.metadata.uid);
      }),
    );
  }

  async #stopStranger(sandbox: PodSandbox, signal: AbortSignal): Promise<void> {
    const { runtime } = this.#options;
    const containers = await runtime.listContainers({ pod_sandbox_id: sandbox.id, state: { state: "CONTAINER_RUNNING" } }, signal);
    const graceSeconds = Number(sandbox.annotations[runtimeAnnotations.gracePeriod] ?? 30);
    await Promise.all(containers.map(({ id }) => runtime.stopContainer(id, graceSeconds, signal)));
    await runtime.stopPodSandbox(sandbox.id, signal);
    await runtime.removePodSandbox(sandbox.id, signal);
  }

  async #followRuntime(signal: AbortSignal): Promise<void> {
    const { log, clock } = this.#options;
    while (!signal.aborted) {
      try {
        for await (const event of this.runtime.events(signal)) {
          if (event.type === "RELIST") this.#wakeAll();
          else this.#workerOf(event.pod_uid, event.pod_sandbox_id)?.wake();
        }
      } catch (error) {
        if (signal.aborted) return;
        log.warn("The runtime's events broke off", { error });
        await sleep(clock, 1000, signal).catch(() => undefined);
      }
    }
  }

  #workerOf(uid: string, sandboxId: string): PodWorker | undefined {
    if (uid !== "") return this.#workers.get(uid);
    return [...this.#workers.values()].find(({ runtime }) => runtime.sandboxes.some(({ id }) => id === sandboxId));
  }

  #wakeAll(): void {
    for (const worker of this.#workers.values()) worker.wake();
  }

  async #repeat(work: () => Promise<void>, signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options;
    while (!signal.aborted) {
      await sleep(clock, repairIntervalMs, signal).catch(() => undefined);
      if (signal.aborted) return;
      await work().catch((error: unknown) => {
        if (!signal.aborted) log.warn("Could not look after what runs", { error });
      });
    }
  }

  async #removeLeftovers(signal: AbortSignal): Promise<void> {
    if (!this.#hasPods) return;
    const isKnown = (uid: string) => this.#workers.has(uid) || this.pods().some(({ metadata }) => metadata.uid === uid);
    await removeLeftovers({ ...this.#options, isKnown }, signal);
  }

  /** Wakes the workers whose pods are not as they saw them. */
  async #relist(signal: AbortSignal): Promise<void> {
    const [sandboxes, containers] = await Promise.all([this.runtime.listPodSandbox(undefined, signal), this.runtime.listContainers(undefined, signal)]);
    const states = new Map<string, string[]>();
    for (const { id, state, metadata } of sandboxes) states.set(metadata.uid, [...(states.get(metadata.uid) ?? []), `${id} ${state}`]);
    for (const { id, state, labels } of containers) {
      const uid = labels[runtimeLabels.podUid] ?? "";
      states.set(uid, [...(states.get(uid) ?? []), `${id} ${state}`]);
    }
    for (const worker of this.#workers.values()) {
      const seen = [...worker.runtime.sandboxes.map(({ id, state }) => `${id} ${state}`), ...worker.runtime.containers.map(({ id, status }) => `${id} ${status.state}`)];
      if (seen.toSorted().join() !== (states.get(worker.uid) ?? []).toSorted().join()) worker.wake();
    }
  }
}

const repairIntervalMs = 10_000;
