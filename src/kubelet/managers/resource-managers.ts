/**
 * All that is handed out piece by piece: CPUs and memory of NUMA nodes, devices of plugins, claims of drivers. One face for admission, the
 * workers and the node's status. What a pod is given at admission it keeps until it is released, also over a restart of the kubelet.
 */
import { join } from "node:path";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Pod, ResourceStatus } from "../../api/core-v1/types.ts";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { TaskGroup } from "../../base/task-group.ts";
import type { Client } from "../../client/index.ts";
import type { KubeletSettings } from "../configuration/settings.ts";
import { ClaimManager } from "../devices/claim-manager.ts";
import { DeviceManager } from "../devices/device-manager.ts";
import { reservedMilliCpus } from "../node/allocatable.ts";
import type { Machine } from "../node/machine.ts";
import type { Rejection } from "../pod-sync/node-context.ts";
import type { PodWorker } from "../pod-sync/pod-worker.ts";
import { containersOf } from "../pod-sync/runtime-names.ts";
import { repeat } from "../repeat.ts";
import type { ContainerRuntime } from "../runtime/cri.ts";
import { joinAdditions, noAdditions } from "./container-additions.ts";
import type { ContainerAdditions } from "./container-additions.ts";
import { CpuManager } from "./cpu-manager.ts";
import { plainTopology, readCpuTopology } from "./cpu-topology.ts";
import type { CpuTopology } from "./cpu-topology.ts";
import { MemoryManager } from "./memory-manager.ts";
import { judgeTopology } from "./topology-hints.ts";
import type { TopologyPolicy } from "./topology-hints.ts";

export class ResourceManagers {
  readonly devices: DeviceManager;
  readonly claims: ClaimManager;
  readonly #options: ResourceManagersOptions;
  readonly #topology: CpuTopology;
  readonly #cpus: CpuManager;
  readonly #memory: MemoryManager;
  /** Pods whose devices were asked for. */
  readonly #prepared = new Set<string>();

  /** Reads the machine and what an earlier kubelet handed out. Rejects with `ConfigurationError`. */
  static async start(options: ResourceManagersOptions): Promise<ResourceManagers> {
    const managers = new ResourceManagers(
      options,
      options.rootDirectory === undefined ? plainTopology(options.machine) : await readCpuTopology(options.machine),
    );
    await Promise.all([managers.#cpus.load(), managers.#memory.load(), managers.devices.load(), managers.claims.load()]);
    return managers;
  }

  private constructor(options: ResourceManagersOptions, topology: CpuTopology) {
    const { rootDirectory: root, settings, log, clock } = options;
    const file = (name: string) => (root === undefined ? undefined : join(root, name));
    this.#options = options;
    this.#topology = topology;
    this.#cpus = new CpuManager({ topology, settings, log, reservedMilliCpus: reservedMilliCpus(settings), path: file("cpu_manager_state") });
    this.#memory = new MemoryManager({ topology, settings, log, path: file("memory_manager_state") });
    this.devices = new DeviceManager({ clock, log, onChange: options.onDevices, ...(root !== undefined && { directory: join(root, "device-plugins") }) });
    this.claims = new ClaimManager({ clock, log, path: file("dra_manager_state"), onDriver: options.onDriver });
  }

  start(group: TaskGroup, workers: () => Iterable<PodWorker>, runtime: ContainerRuntime): void {
    const { clock, log } = this.#options;
    if (this.#options.rootDirectory !== undefined) group.start("device plugins", (signal) => this.devices.run(signal));
    if (this.#cpus.isStatic)
      group.start("cpu manager", (signal) =>
        repeat(
          { clock, log, intervalMs: reconcileMs, failure: "Could not move containers to their CPUs" },
          (each) => this.#cpus.reconcile(workers(), runtime, each),
          signal,
        ),
      );
  }

  /** Resolves when all that is to outlive us is written. */
  async settled(): Promise<void> {
    await Promise.all([this.#cpus.settled(), this.#memory.settled(), this.claims.settled()]);
  }

  /** Sets all that the pod asks for aside, or nothing. */
  admit(pod: DeepReadonly<Pod>): Rejection | undefined {
    const near = new Map<string, readonly number[]>();
    const rejection =
      this.#judgeTopology(pod, near) ??
      this.#cpus.admit(pod, (name) => near.get(name)) ??
      this.#memory.admit(pod, (name) => near.get(name)) ??
      this.devices.admit(pod);
    if (rejection !== undefined) this.release(pod.metadata.uid ?? "");
    return rejection;
  }

  /** Whether containers of the pod can be made. */
  isReady(pod: DeepReadonly<Pod>): boolean {
    const uid = pod.metadata.uid ?? "";
    return (this.#prepared.has(uid) || !this.devices.has(uid)) && this.claims.isReady(pod);
  }

  /** Asks plugins and drivers. A rejection ends the pod; what it throws is tried again. */
  async prepare(pod: DeepReadonly<Pod>, client: Client, signal: AbortSignal): Promise<Rejection | undefined> {
    const uid = pod.metadata.uid ?? "";
    const rejection = this.#prepared.has(uid) ? undefined : await this.devices.prepare(pod, signal);
    if (rejection !== undefined) return rejection;
    this.#prepared.add(uid);
    await this.claims.prepare(pod, client, signal);
    return undefined;
  }

  additions(pod: DeepReadonly<Pod>, container: string): ContainerAdditions {
    const uid = pod.metadata.uid ?? "";
    const [cpusetCpus, cpusetMems] = [this.#cpus.cpusOf(uid, container), this.#memory.nodesOf(uid, container)];
    const places = { ...noAdditions, ...(cpusetCpus !== undefined && { cpusetCpus }), ...(cpusetMems !== undefined && { cpusetMems }) };
    return joinAdditions([this.devices.additions(uid, container) ?? noAdditions, this.claims.additions(pod, container), places]);
  }

  health(podUid: string, container: string): ResourceStatus[] {
    return this.devices.health(podUid, container);
  }

  /** Gives back at once what needs nobody's help. */
  release(podUid: string): void {
    this.#prepared.delete(podUid);
    this.#cpus.release(podUid);
    this.#memory.release(podUid);
    this.devices.release(podUid);
  }

  #judgeTopology(pod: DeepReadonly<Pod>, near: Map<string, readonly number[]>): Rejection | undefined {
    const { topologyManagerPolicy, topologyManagerScope } = this.#options.settings;
    const policy = topologyManagerPolicy as TopologyPolicy;
    if (policy === "none") return undefined;
    const nodes = this.#topology.numaNodes.map(({ id }) => id);
    const names = containersOf(pod).map(({ container }) => container.name);
    const offers = (name: string) => [this.#cpus.hints(pod, name), this.#memory.hints(pod, name)];
    const groups = topologyManagerScope === "pod" ? [names] : names.map((name) => [name]);
    for (const group of groups) {
      const verdict = judgeTopology(policy, group.flatMap(offers), nodes);
      if (!verdict.isAdmitted) return { reason: "TopologyAffinityError", message: "Resources cannot be allocated with Topology locality" };
      if (verdict.near !== undefined) for (const name of group) near.set(name, verdict.near);
    }
    return undefined;
  }
}

export interface ResourceManagersOptions {
  readonly settings: KubeletSettings;
  readonly machine: Machine;
  /** Where states are kept and plugins register; absent on simulated nodes. */
  readonly rootDirectory: string | undefined;
  readonly clock: Clock;
  readonly log: Log;
  /** Devices of the node are others. */
  onDevices(): void;
  /** A driver of claims came. */
  onDriver(): void;
}

const reconcileMs = 10_000;
