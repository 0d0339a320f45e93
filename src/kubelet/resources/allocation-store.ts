/** Allocations that outlive the kubelet: which amounts each pod was granted, and which its containers were last given. */
import type { Log } from "../../base/log.ts";
import { StateFile } from "../managers/state-file.ts";
import type { Allocation } from "./allocation.ts";

export interface PodAllocation {
  readonly allocation: Allocation;
  /** By container id, as `resizableText` writes it; only of those changed since they were made. */
  readonly actuated: Readonly<Record<string, string>>;
}

export class AllocationStore {
  readonly #file: StateFile<Readonly<Record<string, PodAllocation>>>;
  readonly #pods = new Map<string, PodAllocation>();

  /** `path`: absent where nothing is kept. */
  constructor(options: { path?: string; log: Log }) {
    this.#file = new StateFile({ path: options.path, log: options.log });
  }

  /** Reads what an earlier kubelet left. */
  async load(): Promise<void> {
    for (const [uid, entry] of Object.entries((await this.#file.read()) ?? {})) this.#pods.set(uid, entry);
  }

  get(podUid: string): PodAllocation | undefined {
    return this.#pods.get(podUid);
  }

  set(podUid: string, entry: PodAllocation): void {
    this.#pods.set(podUid, entry);
    this.#file.write(Object.fromEntries(this.#pods));
  }

  remove(podUid: string): void {
    if (this.#pods.delete(podUid)) this.#file.write(Object.fromEntries(this.#pods));
  }

  /** Resolves when all is written. */
  settled(): Promise<void> {
    return this.#file.settled();
  }
}
