/**
 * CPU manager, policy static: containers of guaranteed pods that ask for whole CPUs have them alone, all others share the rest
 * (documentation page "Control CPU Management Policies on the Node"). Driven by admission and a loop that moves those who share; owns who has
 * which CPUs.
 */
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import type { Log } from "../../base/log.ts";
import type { KubeletSettings } from "../configuration/settings.ts";
import { ConfigurationError } from "../configuration/configuration-error.ts";
import { isRunning } from "../pod-sync/pod-runtime.ts";
import type { Rejection } from "../pod-sync/node-context.ts";
import type { PodWorker } from "../pod-sync/pod-worker.ts";
import { containersOf, isSidecar } from "../pod-sync/runtime-names.ts";
import type { RuntimeService } from "../runtime/cri.ts";
import { exclusiveCpus, takeCpus } from "./cpu-choice.ts";
import { formatCpuSet, parseCpuSet, union, without } from "./cpu-set.ts";
import type { CpuSet } from "./cpu-set.ts";
import { threadsPerCore } from "./cpu-topology.ts";
import type { CpuTopology } from "./cpu-topology.ts";
import { StateFile } from "./state-file.ts";
import { hintsFor } from "./topology-hints.ts";
import type { Hints } from "./topology-hints.ts";

export class CpuManager {
  readonly #options: CpuManagerOptions;
  readonly #file: StateFile<CpuState>;
  readonly #all: CpuSet;
  readonly #reserved: CpuSet;
  #entries: CpuState["entries"] = {};
  /** By container id: what it was told last. */
  readonly #applied = new Map<string, string>();

  /** Throws `ConfigurationError` when nothing is left for the system. */
  constructor(options: CpuManagerOptions) {
    const { topology, settings, reservedMilliCpus } = options;
    this.#options = options;
    this.#file = new StateFile({ path: options.path, log: options.log });
    this.#all = topology.cpus.map(({ id }) => id).toSorted((a, b) => a - b);
    if (this.isStatic && reservedMilliCpus === 0)
      throw new ConfigurationError("the static policy requires systemreserved.cpu + kubereserved.cpu to be greater than zero");
    this.#reserved = !this.isStatic
      ? []
      : settings.reservedSystemCPUs === ""
        ? (takeCpus(topology, this.#all, Math.ceil(reservedMilliCpus / 1000)) ?? this.#all)
        : parseCpuSet(settings.reservedSystemCPUs);
  }

  get isStatic(): boolean {
    return this.#options.settings.cpuManagerPolicy === "static";
  }

  /** What all share. */
  get shared(): CpuSet {
    const isStrict = this.#options.settings.cpuManagerPolicyOptions["strict-cpu-reservation"] === "true";
    return without(without(this.#all, this.#exclusive()), isStrict ? this.#reserved : []);
  }

  /** Reads who had which CPUs; rejects when that was under another policy. */
  async load(): Promise<void> {
    const { settings, path } = this.#options;
    const kept = await this.#file.read();
    if (kept !== undefined && kept.policyName !== settings.cpuManagerPolicy) {
      throw new ConfigurationError(
        `configured policy ${JSON.stringify(settings.cpuManagerPolicy)} differs from state checkpoint policy ${JSON.stringify(kept.policyName)}, please drain this node and delete the CPU manager checkpoint file ${JSON.stringify(path)} before restarting Kubelet`,
      );
    }
    this.#entries = kept?.entries ?? {};
    this.#save();
  }

  hints(pod: DeepReadonly<Pod>, container: string): Hints {
    const count = this.#countOf(pod, container);
    if (!this.isStatic || count === 0) return undefined;
    const free = this.#free();
    const { cpus, numaNodes } = this.#options.topology;
    return hintsFor(
      count,
      numaNodes.map(({ id }) => ({
        id,
        total: cpus.filter(({ numaNode }) => numaNode === id).length,
        free: cpus.filter((cpu) => cpu.numaNode === id && free.includes(cpu.id)).length,
      })),
    );
  }

  /** Sets CPUs aside for a pod. `near`: the NUMA nodes of a container. */
  admit(pod: DeepReadonly<Pod>, near: (container: string) => readonly number[] | undefined): Rejection | undefined {
    const uid = pod.metadata.uid ?? "";
    if (!this.isStatic || this.#entries[uid] !== undefined) return undefined;
    const { topology, settings } = this.#options;
    const own: Record<string, string> = {};
    let [free, lent]: [CpuSet, CpuSet] = [this.#free(), []];
    for (const spec of containersOf(pod)) {
      const count = exclusiveCpus(pod, spec);
      if (count === 0) continue;
      const threads = threadsPerCore(topology);
      if (settings.cpuManagerPolicyOptions["full-pcpus-only"] === "true" && count % threads !== 0)
        return { reason: "SMTAlignmentError", message: `SMT Alignment Error: requested ${count} cpus not multiple cpus per core = ${threads}` };
      // What init containers had is theirs who come after.
      const again = takeCpus(topology, lent, Math.min(count, lent.length)) ?? [];
      const more = takeCpus(topology, without(free, lent), count - again.length, near(spec.container.name));
      if (more === undefined) return unexpected(`not enough cpus available to satisfy request: requested=${count}, available=${free.length}`);
      const cpus = union(again, more);
      own[spec.container.name] = formatCpuSet(cpus);
      if (spec.kind === "initContainers" && !isSidecar(spec)) lent = union(lent, cpus);
      else [free, lent] = [without(free, cpus), without(lent, cpus)];
    }
    if (Object.keys(own).length === 0) return undefined;
    this.#entries = { ...this.#entries, [uid]: own };
    this.#save();
    return undefined;
  }

  /** The CPUs a container may run on; undefined: any. */
  cpusOf(podUid: string, container: string): string | undefined {
    if (!this.isStatic) return undefined;
    return this.#entries[podUid]?.[container] ?? formatCpuSet(this.shared);
  }

  release(podUid: string): void {
    if (this.#entries[podUid] === undefined) return;
    const { [podUid]: _gone, ...others } = this.#entries;
    this.#entries = others;
    this.#save();
  }

  /** Moves containers to the CPUs they are to run on now. */
  async reconcile(workers: Iterable<PodWorker>, runtime: RuntimeService, signal: AbortSignal): Promise<void> {
    if (!this.isStatic) return;
    const seen = new Set<string>();
    for (const worker of workers) {
      for (const { id, name } of worker.runtime.containers.filter(isRunning)) {
        const wanted = this.cpusOf(worker.uid, name) ?? "";
        seen.add(id);
        if (wanted === "" || this.#applied.get(id) === wanted) continue;
        await runtime.updateContainerResources(id, { cpuset_cpus: wanted }, signal);
        this.#applied.set(id, wanted);
      }
    }
    for (const id of this.#applied.keys()) if (!seen.has(id)) this.#applied.delete(id);
  }

  settled(): Promise<void> {
    return this.#file.settled();
  }

  #countOf(pod: DeepReadonly<Pod>, container: string): number {
    const spec = containersOf(pod).find((candidate) => candidate.container.name === container);
    return spec === undefined ? 0 : exclusiveCpus(pod, spec);
  }

  #free(): CpuSet {
    return without(without(this.#all, this.#reserved), this.#exclusive());
  }

  #exclusive(): CpuSet {
    return Object.values(this.#entries)
      .flatMap((containers) => Object.values(containers))
      .map(parseCpuSet)
      .reduce(union, []);
  }

  #save(): void {
    this.#file.write({ policyName: this.#options.settings.cpuManagerPolicy, defaultCpuSet: formatCpuSet(this.shared), entries: this.#entries });
  }
}

export interface CpuManagerOptions {
  readonly topology: CpuTopology;
  readonly settings: KubeletSettings;
  /** For system and kubelet together. */
  readonly reservedMilliCpus: number;
  readonly path: string | undefined;
  readonly log: Log;
}

interface CpuState {
  readonly policyName: string;
  readonly defaultCpuSet: string;
  /** Lists of CPUs by pod and container. */
  readonly entries: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

function unexpected(message: string): Rejection {
  return { reason: "UnexpectedAdmissionError", message: `Allocate failed due to ${message}, which is unexpected` };
}
