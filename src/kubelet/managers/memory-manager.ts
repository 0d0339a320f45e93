/**
 * Memory manager, policy Static: containers of guaranteed pods get their memory from NUMA nodes where it is set aside for them (documentation
 * page "Utilizing the NUMA-aware Memory Manager"). Driven by admission; owns who has memory where.
 */
import { quantityValue } from "../../apimachinery/quantity.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import type { Log } from "../../base/log.ts";
import { ConfigurationError } from "../configuration/configuration-error.ts";
import type { KubeletSettings } from "../configuration/settings.ts";
import type { Rejection } from "../pod-sync/node-context.ts";
import { containersOf } from "../pod-sync/runtime-names.ts";
import { formatCpuSet } from "./cpu-set.ts";
import type { CpuTopology } from "./cpu-topology.ts";
import { StateFile } from "./state-file.ts";
import { hintsFor } from "./topology-hints.ts";
import type { Hint, Hints } from "./topology-hints.ts";

export class MemoryManager {
  readonly #options: MemoryManagerOptions;
  readonly #file: StateFile<MemoryState>;
  #entries: MemoryState["entries"] = {};

  /** Throws `ConfigurationError` when nothing is left for the system. */
  constructor(options: MemoryManagerOptions) {
    const { settings } = options;
    this.#options = options;
    this.#file = new StateFile({ path: options.path, log: options.log });
    const reserved = settings.reservedMemory.reduce((sum, { limits }) => sum + quantityValue(limits["memory"] ?? 0), 0);
    if (this.isStatic && reserved === 0) throw new ConfigurationError('the "Static" policy requires reserved memory: reservedMemory (--reserved-memory)');
  }

  get isStatic(): boolean {
    return this.#options.settings.memoryManagerPolicy === "Static";
  }

  async load(): Promise<void> {
    const { settings, path } = this.#options;
    const kept = await this.#file.read();
    if (kept !== undefined && kept.policyName !== settings.memoryManagerPolicy) {
      throw new ConfigurationError(
        `configured policy ${JSON.stringify(settings.memoryManagerPolicy)} differs from state checkpoint policy ${JSON.stringify(kept.policyName)}, please drain this node and delete the memory manager checkpoint file ${JSON.stringify(path)} before restarting Kubelet`,
      );
    }
    this.#entries = kept?.entries ?? {};
    this.#save();
  }

  hints(pod: DeepReadonly<Pod>, container: string): Hints {
    const bytes = this.#bytesOf(pod, container);
    return bytes === 0 ? undefined : this.#hints(bytes);
  }

  admit(pod: DeepReadonly<Pod>, near: (container: string) => readonly number[] | undefined): Rejection | undefined {
    const uid = pod.metadata.uid ?? "";
    if (!this.isStatic || this.#entries[uid] !== undefined) return undefined;
    const before = this.#entries;
    for (const { container } of containersOf(pod)) {
      const bytes = this.#bytesOf(pod, container.name);
      if (bytes === 0) continue;
      const hints = this.#hints(bytes).toSorted((a, b) => Number(b.isPreferred) - Number(a.isPreferred) || a.nodes.length - b.nodes.length);
      const wanted = near(container.name);
      const chosen = hints.find(({ nodes }) => wanted === undefined || nodes.every((node) => wanted.includes(node))) ?? hints[0];
      if (chosen === undefined) {
        this.#entries = before;
        return {
          reason: "UnexpectedAdmissionError",
          message: "Allocate failed due to [memorymanager] failed to find the default preferred hint, which is unexpected",
        };
      }
      this.#entries = { ...this.#entries, [uid]: { ...this.#entries[uid], [container.name]: { nodes: chosen.nodes, bytes } } };
    }
    if (this.#entries !== before) this.#save();
    return undefined;
  }

  /** The NUMA nodes a container takes memory from; undefined: any. */
  nodesOf(podUid: string, container: string): string | undefined {
    const entry = this.#entries[podUid]?.[container];
    return entry === undefined ? undefined : formatCpuSet(entry.nodes);
  }

  release(podUid: string): void {
    if (this.#entries[podUid] === undefined) return;
    const { [podUid]: _gone, ...others } = this.#entries;
    this.#entries = others;
    this.#save();
  }

  settled(): Promise<void> {
    return this.#file.settled();
  }

  #hints(bytes: number): Hint[] {
    const { topology, settings } = this.#options;
    const entries = Object.values(this.#entries).flatMap((containers) => Object.values(containers));
    const nodes = topology.numaNodes.map(({ id, memoryBytes }) => {
      const reserved = settings.reservedMemory
        .filter(({ numaNode }) => numaNode === id)
        .reduce((sum, { limits }) => sum + quantityValue(limits["memory"] ?? 0), 0);
      // Of several nodes each gives its part.
      const used = entries.filter(({ nodes: own }) => own.includes(id)).reduce((sum, entry) => sum + entry.bytes / entry.nodes.length, 0);
      return { id, total: memoryBytes - reserved, free: memoryBytes - reserved - used };
    });
    return hintsFor(bytes, nodes);
  }

  #bytesOf(pod: DeepReadonly<Pod>, name: string): number {
    if (!this.isStatic || pod.status?.qosClass !== "Guaranteed") return 0;
    const spec = containersOf(pod).find(({ kind, container }) => kind !== "ephemeralContainers" && container.name === name);
    return quantityValue(spec?.container.resources?.requests?.["memory"] ?? 0);
  }

  #save(): void {
    this.#file.write({ policyName: this.#options.settings.memoryManagerPolicy, entries: this.#entries });
  }
}

export interface MemoryManagerOptions {
  readonly topology: CpuTopology;
  readonly settings: KubeletSettings;
  readonly path: string | undefined;
  readonly log: Log;
}

interface MemoryState {
  readonly policyName: string;
  readonly entries: Readonly<Record<string, Readonly<Record<string, { readonly nodes: readonly number[]; readonly bytes: number }>>>>;
}
