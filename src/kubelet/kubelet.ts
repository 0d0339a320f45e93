/**
 * The node agent: registers its node, watches the pods bound to it, and gives each a worker; beside them it runs the node's own pods and
 * looks after what is scarce. Driven by `run`, which makes all parts and starts their loops.
 */
import { join } from "node:path";
import type { DeepReadonly } from "../apimachinery/json.ts";
import type { Transport } from "../apimachinery/request.ts";
import type { Pod } from "../api/core-v1/types.ts";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { Random } from "../base/random.ts";
import { isAbort, TaskGroup, untilAborted } from "../base/task-group.ts";
import { Client, EventRecorder, InformerSet, resources } from "../client/index.ts";
import type { Change, KeyedLanes } from "../client/index.ts";
import type { PodCgroups } from "./cgroups/pod-cgroups.ts";
import { defaultSettings } from "./configuration/settings.ts";
import type { KubeletSettings } from "./configuration/settings.ts";
import type { ServicePlace } from "./env/service-variables.ts";
import { Housekeeping } from "./housekeeping.ts";
import type { CredentialProviders } from "./images/credential-providers.ts";
import { ImagePuller } from "./images/image-puller.ts";
import { PullRecords } from "./images/pull-records.ts";
import type { NodeDns } from "./network/dns-config.ts";
import { ResourceManagers } from "./managers/resource-managers.ts";
import type { Machine } from "./node/machine.ts";
import { nodeAllocatable, podsMemoryBytes } from "./node/allocatable.ts";
import type { NodeFacts } from "./node/node-object.ts";
import { PodAdmission } from "./node/pod-admission.ts";
import { NodeShutdown } from "./node/node-shutdown.ts";
import { NodeReporter } from "./node/node-reporter.ts";
import type { NodeContext } from "./pod-sync/node-context.ts";
import { PodWorkers } from "./pod-sync/pod-workers.ts";
import { OwnNode } from "./node/own-node.ts";
import { PluginWatcher } from "./plugins/plugin-watcher.ts";
import type { NetworkCalls } from "./probes/network-calls.ts";
import { AllocationStore } from "./resources/allocation-store.ts";
import { judgeResize } from "./resources/allocation.ts";
import { repeat } from "./repeat.ts";
import type { ContainerRuntime } from "./runtime/cri.ts";
import { writeCheckpoint } from "./server/checkpoint.ts";
import type { ServedNode } from "./server/server-call.ts";
import { isMirrorPod } from "./static-pods/static-pod.ts";
import { StaticPods } from "./static-pods/static-pods.ts";
import { DiskMeter } from "./stats/disk-meter.ts";
import { machineUsage } from "./stats/machine-usage.ts";
import { simulatedUsage } from "./stats/simulated-usage.ts";
import { StatsCollector } from "./stats/snapshot.ts";
import type { UsageSource } from "./stats/usage.ts";
import { removeLeftovers } from "./volumes/leftovers.ts";
import { ObjectSource } from "./volumes/object-source.ts";
import { PodCertificates } from "./volumes/projected/pod-certificates.ts";
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
  /** The ranges that the node's pods have addresses of, told at registration (`spec.podCIDRs`); absent where somebody else gives them. */
  readonly podCidrs?: readonly string[];
  /** Of the pods; absent: the runtime makes one for each container. */
  readonly cgroups?: PodCgroups;
  /** Programs that know credentials of registries. */
  readonly credentialProviders?: CredentialProviders;
  /** Whose files the server's `/logs` shows; absent: none. */
  readonly systemLogs?: string;
  /** Where pods' files lie; not for simulated nodes. */
  readonly rootDirectory?: string;
  readonly machine: Machine;
  readonly runtime: ContainerRuntime;
  readonly storage: PodStorage;
  readonly network: NetworkCalls;
  readonly dns: NodeDns;
  /** Where pods reach Services, when it is not at their ClusterIPs. */
  readonly servicePlace?: ServicePlace;
  readonly logRoot: string;
  /** Marks this kubelet's sandboxes in the runtime: the same after a restart, and no other kubelet's. */
  readonly owner: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Shared by many nodes of one process; the kubelet makes its own when absent. */
  readonly informers?: InformerSet;
  /** The same for the sending of events. */
  readonly eventLanes?: KeyedLanes;
  /** So long, in ms, a pod that starts as it should need not be told of before it runs. Default 0: every step is told, as Kubernetes does. */
  readonly startingUntoldMs?: number;
}

export interface Kubelet {
  readonly nodeName: string;
  readonly runtime: ContainerRuntime;
  /** Resolves when `signal` aborts and everything of ours has stopped; containers go on. */
  run(signal: AbortSignal): Promise<void>;
  /** What the node's server shows. */
  readonly served: ServedNode;
  /** The machine goes down: ends the pods in order, where the settings give time for it. */
  shutDown(): Promise<void>;
}

export function createKubelet(options: KubeletOptions): Kubelet {
  return new NodeAgent(options);
}

class NodeAgent implements Kubelet {
  readonly #options: KubeletOptions;
  readonly #settings: KubeletSettings;
  readonly #workers: PodWorkers;
  /** Pods of this node in the API; undefined until they are known. */
  #apiPods: (() => readonly DeepReadonly<Pod>[]) | undefined;
  readonly #allocations: AllocationStore;
  readonly #pullRecords: PullRecords | undefined;
  readonly #usage: UsageSource;
  readonly #served: ServedNode;
  #onPodGone = () => {};
  #onDevices = () => {};
  #shutdown: () => Promise<void> = async () => undefined;
  /** The API's list is known, and strangers are gone. */
  #hasPods = false;

  constructor(options: KubeletOptions) {
    this.#options = options;
    this.#settings = options.settings ?? defaultSettings;
    const { rootDirectory, log } = options;
    this.#allocations = new AllocationStore({ log, ...(rootDirectory !== undefined && { path: join(rootDirectory, "allocated_pods_state") }) });
    if (rootDirectory !== undefined)
      this.#pullRecords = new PullRecords({ directory: join(rootDirectory, "image_manager"), settings: this.#settings, clock: options.clock, log });
    this.#workers = new PodWorkers(options, () => this.#onPodGone());
    this.#usage = this.#usageSource();
    this.#served = servedNode(options, { settings: this.#settings, usage: this.#usage, workers: this.#workers });
  }

  get nodeName(): string {
    return this.#options.nodeName;
  }

  get runtime(): ContainerRuntime {
    return this.#options.runtime;
  }

  get served(): ServedNode {
    return this.#served;
  }

  shutDown(): Promise<void> {
    return this.#shutdown();
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, random, log, transport, userAgent, nodeName, eventLanes } = this.#options;
    const client = new Client({ transport, clock, userAgent, signal });
    const events = new EventRecorder({
      client,
      clock,
      random,
      log,
      component: "kubelet",
      host: nodeName,
      ...(eventLanes !== undefined && { lanes: eventLanes }),
    });
    const facts = await this.#facts(signal);
    await this.#allocations.load();
    const managers = await this.#startManagers();
    const own = this.#options.informers === undefined ? new InformerSet({ client, clock, random, log }) : undefined;
    const informers = this.#options.informers ?? own!;
    const group = new TaskGroup({ parent: signal, onFailure: (name, error) => log.error("A part of the kubelet failed", { node: nodeName, name, error }) });
    const parts = this.#parts({ client, events, informers, facts, managers, group });
    this.#onDevices = () => parts.reporter.reportSoon();
    const { reporter, housekeeping, staticPods } = parts;
    try {
      group.start("events", (inner) => events.run(inner));
      // They run before the API can be reached: it may be among them.
      group.start("static pods", (inner) => staticPods.run(inner));
      await reporter.register(signal);
      staticPods.wake();
      group.start("node status", (inner) => reporter.run(inner));
      group.start("pods", (inner) => this.#followPods(parts, inner));
      group.start("runtime events", (inner) => this.#workers.followRuntime(inner));
      if (this.runtime.hasNetwork) group.start("relist", (inner) => this.#workers.relist(inner));
      if (this.runtime.hasNetwork)
        group.start("what pods leave", (inner) =>
          repeat({ clock, log, intervalMs: leftoversMs, failure: "Could not remove what pods left" }, (each) => this.#removeLeftovers(each), inner),
        );
      const plugins = this.#options.storage.plugins({ client, nodeName });
      if (plugins !== undefined) {
        // A driver that comes makes up for what fails here.
        group.start("drivers", (inner) =>
          plugins
            .announce(inner)
            .catch((error: unknown) => inner.aborted || log.warn("Could not tell of the node's drivers", { node: nodeName, error }))
            .then(() => undefined),
        );
        group.start("plugins", (inner) =>
          new PluginWatcher({ directory: plugins.directory, handlers: new Map([...plugins.handlers, ["DRAPlugin", managers.claims]]), clock, log }).run(inner),
        );
      }
      managers.start(group, () => this.#workers, this.runtime);
      housekeeping.start(group);
      await group.join();
    } catch (error) {
      if (!isAbort(error, signal)) throw error;
    } finally {
      await group.close();
      await own?.close();
      await this.#allocations.settled();
      await managers.settled();
    }
  }

  #startManagers(): Promise<ResourceManagers> {
    const { machine, clock, log, rootDirectory } = this.#options;
    const onDriver = () => {
      for (const worker of this.#workers) worker.wake();
    };
    return ResourceManagers.start({ settings: this.#settings, machine, rootDirectory, clock, log, onDevices: () => this.#onDevices(), onDriver });
  }

  #parts(base: Pick<RunParts, "client" | "events" | "informers" | "facts" | "managers" | "group">): RunParts {
    const { clock, random, log, nodeName } = this.#options;
    const { client, events, facts, managers, group } = base;
    const shared = { client, events, clock, random, log, nodeName, settings: this.#settings, runtime: this.runtime, workers: () => this.#workers };
    const reporter: NodeReporter = new NodeReporter({
      ...shared,
      facts,
      statusIntervalMs: this.runtime.hasNetwork ? 10_000 : 300_000,
      pressure: () => housekeeping.pressure,
      devices: () => managers.devices.resources(),
      isShuttingDown: () => shutdown.isShuttingDown,
      volumesInUse: () => this.#options.storage.inUse.names,
    });
    this.#options.storage.inUse.onChange(() => reporter.reportSoon());
    const housekeeping = new Housekeeping({
      ...shared,
      ...(this.#pullRecords !== undefined && { pullRecords: this.#pullRecords }),
      usage: this.#usage,
      onConditions: () => reporter.reportSoon(),
    });
    const shutdown: NodeShutdown = new NodeShutdown({ ...shared, onChange: () => reporter.reportSoon() });
    this.#shutdown = () => shutdown.begin();
    const node: NodeContext = this.#context({ ...base, reporter, housekeeping, shutdown });
    const staticPods = new StaticPods({
      ...shared,
      node: () => (reporter.node?.metadata.uid === undefined ? undefined : { name: nodeName, uid: reporter.node.metadata.uid }),
      mirrors: () => this.#apiPods?.().filter(isMirrorPod),
      start: (pod) => this.#workers.start(pod, node, group),
    });
    this.#onPodGone = () => staticPods.wake();
    return { ...base, reporter, housekeeping, shutdown, staticPods, node };
  }

  async #facts(signal: AbortSignal): Promise<NodeFacts> {
    const { nodeName, nodeAddress, serverPort, kubeletVersion, machine, labels = {} } = this.#options;
    return {
      name: nodeName,
      address: nodeAddress,
      port: serverPort,
      kubeletVersion,
      machine,
      labels,
      settings: this.#settings,
      podCidrs: this.#options.podCidrs ?? [],
      version: await this.runtime.version(signal),
    };
  }

  #usageSource(): UsageSource {
    const { runtime, storage, logRoot, machine, clock, rootDirectory } = this.#options;
    const pods = () => [...this.#workers].filter((worker) => worker.isHolding).map(({ pod }) => pod);
    if (rootDirectory === undefined) return simulatedUsage(machine, pods);
    const meter = new DiskMeter({ clock, keptMs: this.#settings.volumeStatsAggMs });
    return machineUsage({ runtime, storage, meter, root: rootDirectory, logRoot, podsMemoryBytes: podsMemoryBytes(machine, this.#settings), pods });
  }

  #context({ client, events, informers, facts, managers, reporter, housekeeping, shutdown }: Omit<RunParts, "staticPods" | "node" | "group">): NodeContext {
    const { clock, nodeName, nodeAddress, machine, runtime } = this.#options;
    // Nobody reads the variables of a container without a program.
    const services = runtime.hasNetwork ? informers.get(resources.services) : undefined;
    const admission = new PodAdmission({
      allowedSysctls: this.#settings.allowedUnsafeSysctls,
      events,
      log: this.#options.log,
      managers,
      shutdown: () => shutdown.refuse(),
      pressure: () => housekeeping.pressure,
      node: () => reporter.node,
      workers: () => this.#workers,
    });
    const ownNode = new OwnNode({ informers, nodeName, reported: () => reporter.node });
    return {
      ...this.#options,
      client,
      events,
      runtimeName: facts.version.runtime_name,
      objects: new ObjectSource(informers),
      tokens: new ServiceAccountTokens({ client, clock }),
      images: new ImagePuller({
        images: runtime,
        clock,
        ...(runtime.hasNetwork && { limits: this.#settings }),
        ...(this.#options.credentialProviders !== undefined && { providers: this.#options.credentialProviders }),
        ...(this.#pullRecords !== undefined && { records: this.#pullRecords }),
      }),
      nodeName,
      nodeAddress,
      startingUntoldMs: this.#options.startingUntoldMs ?? 0,
      allocatable: nodeAllocatable(machine, this.#settings),
      memoryCapacityBytes: machine.memoryBytes,
      services: () => services?.list() ?? [],
      ownNode,
      certificates: new PodCertificates({ client, clock, informers, nodeName, ownNode }),
      canMountReadOnlyRecursively: () =>
        reporter.node?.status?.runtimeHandlers?.find(({ name = "" }) => name === "")?.features?.recursiveReadOnlyMounts === true,
      managers,
      allocations: this.#allocations,
      judgeResize: (pod, allocation) =>
        judgeResize({ pod, allocation, node: reporter.node ?? { metadata: {} }, others: this.#othersThan(pod), settings: this.#settings }),
      resourcesFreed: () => this.#workers.wakeWaiting(),
      admit: (pod) => admission.admit(pod),
    };
  }

  /** Pods that count against the node's resources, with what they were granted. */
  #othersThan(pod: DeepReadonly<Pod>): DeepReadonly<Pod>[] {
    return [...this.#workers].filter((worker) => worker.isHolding && worker.uid !== pod.metadata.uid).map(({ grantedPod }) => grantedPod);
  }

  async #followPods(parts: RunParts, signal: AbortSignal): Promise<void> {
    const { informers, staticPods } = parts;
    const { informer, release } = informers.borrow<Pod>(resources.pods, { fieldSelector: `spec.nodeName=${this.nodeName}` });
    // Services must be known before the first container is told of them.
    if (this.runtime.hasNetwork)
      await informers
        .get(resources.services)
        .synced(signal)
        .catch(() => undefined);
    const stop = informer.subscribe((change) => this.#take(change, parts));
    try {
      await informer.synced(signal);
      this.#apiPods = () => informer.list();
      staticPods.wake();
      await Promise.race([staticPods.ready, untilAborted(signal)]);
      const known = [...informer.list(), ...staticPods.pods].map(({ metadata }) => metadata.uid ?? "");
      if (!signal.aborted) await this.#workers.removeStrangers(new Set(known), signal);
      this.#hasPods = true;
      await untilAborted(signal);
    } finally {
      this.#hasPods = false;
      stop();
      release();
    }
  }

  async #removeLeftovers(signal: AbortSignal): Promise<void> {
    if (!this.#hasPods) return;
    const isKnown = (uid: string) => this.#workers.of(uid) !== undefined || (this.#apiPods?.() ?? []).some(({ metadata }) => metadata.uid === uid);
    await removeLeftovers({ ...this.#options, isKnown }, signal);
    await this.#options.cgroups?.removeStrangers((uid) => isKnown(uid));
  }

  #take(change: Change<Pod>, { node, group, staticPods }: RunParts): void {
    const pod = change.object;
    // It stands for a pod that is run from elsewhere.
    if (isMirrorPod(pod)) return staticPods.wake();
    const uid = pod.metadata.uid ?? "";
    // One name, another pod: the old one is gone.
    if (change.kind === "update" && change.old.metadata.uid !== uid) this.#workers.of(change.old.metadata.uid ?? "")?.remove();
    const known = this.#workers.of(uid);
    if (change.kind === "delete") known?.remove();
    else if (known !== undefined) known.update(pod);
    else this.#workers.start(pod, node, group);
  }
}

function servedNode(options: KubeletOptions, parts: { settings: KubeletSettings; usage: UsageSource; workers: PodWorkers }): ServedNode {
  const { nodeName, clock, machine, runtime, rootDirectory } = options;
  const { settings, usage, workers } = parts;
  return {
    nodeName,
    clock,
    machine,
    settings,
    runtime,
    stats: new StatsCollector({ nodeName, runtime, usage, clock, workers: () => workers }),
    workers: () => workers,
    findPod: (namespace, name) => workers.find(namespace, name),
    checkpoint: (pod, container, signal) => writeCheckpoint({ pod, container, runtime, clock, rootDirectory }, signal),
    ...(options.systemLogs !== undefined && { systemLogs: options.systemLogs }),
  };
}

const leftoversMs = 10_000;

interface RunParts {
  readonly client: Client;
  readonly events: EventRecorder;
  readonly informers: InformerSet;
  readonly facts: NodeFacts;
  readonly reporter: NodeReporter;
  readonly housekeeping: Housekeeping;
  readonly managers: ResourceManagers;
  readonly shutdown: NodeShutdown;
  readonly staticPods: StaticPods;
  /** What the workers share. */
  readonly node: NodeContext;
  readonly group: TaskGroup;
}
