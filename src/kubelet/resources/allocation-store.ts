/**
 * Allocations that outlive the kubelet: which amounts each pod was granted, and which its containers were last given. One file, written whole
 * after changes; on simulated nodes, which end with the process, nothing is written.
 */
import { createHash } from "node:crypto";
import { readFile, rename, writeFile } from "node:fs/promises";
import type { Log } from "../../base/log.ts";
import type { Allocation } from "./allocation.ts";

export interface PodAllocation {
  readonly allocation: Allocation;
  /** By container id, as `resizableText` writes it; only of those changed since they were made. */
  readonly actuated: Readonly<Record<string, string>>;
}

export class AllocationStore {
  readonly #path: string | undefined;
  readonly #log: Log;
  readonly #pods = new Map<string, PodAllocation>();
  #writing: Promise<void> | undefined;
  #isDirty = false;

  /** `path`: absent where nothing is kept. */
  constructor(options: { path?: string; log: Log }) {
    this.#path = options.path;
    this.#log = options.log;
  }

  /** Reads what an earlier kubelet left; a file that is damaged counts for nothing. */
  async load(): Promise<void> {
    const text = this.#path === undefined ? undefined : await readFile(this.#path, "utf8").catch(() => undefined);
    if (text === undefined) return;
    try {
      const { checksum, pods } = JSON.parse(text) as { checksum: string; pods: Record<string, PodAllocation> };
      if (checksum !== checksumOf(pods)) throw new Error("the checksum is another");
      for (const [uid, entry] of Object.entries(pods)) this.#pods.set(uid, entry);
    } catch (error) {
      this.#log.warn("The allocations of pods cannot be used", { path: this.#path, error });
    }
  }

  get(podUid: string): PodAllocation | undefined {
    return this.#pods.get(podUid);
  }

  set(podUid: string, entry: PodAllocation): void {
    this.#pods.set(podUid, entry);
    this.#save();
  }

  remove(podUid: string): void {
    if (this.#pods.delete(podUid)) this.#save();
  }

  /** Resolves when all is written. */
  async settled(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
  }

  #save(): void {
    if (this.#path === undefined) return;
    this.#isDirty = true;
    this.#writing ??= this.#write(this.#path).finally(() => (this.#writing = undefined));
  }

  async #write(path: string): Promise<void> {
    while (this.#isDirty) {
      this.#isDirty = false;
      const pods = Object.fromEntries(this.#pods);
      try {
        await writeFile(`${path}.new`, JSON.stringify({ checksum: checksumOf(pods), pods }), { mode: 0o600 });
        await rename(`${path}.new`, path);
      } catch (error) {
        this.#log.warn("Could not keep the allocations of pods", { path, error });
      }
    }
  }
}

const checksumOf = (pods: object) => createHash("sha256").update(JSON.stringify(pods)).digest("hex");
