/**
 * How much disk folders take: bytes of blocks and inodes, each file once however many names it has. Walking is dear, so a measure is kept
 * for a while. State: the newest measure by path, at most `maxKept`.
 */
import { lstat, opendir } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../../base/clock.ts";
import type { DiskUsage } from "./usage.ts";

export class DiskMeter {
  readonly #clock: Clock;
  readonly #keptMs: number;
  readonly #measures = new Map<string, { atMs: number; usage: Promise<unknown> }>();

  /** `keptMs`: how long a measure holds. */
  constructor(options: { clock: Clock; keptMs: number }) {
    this.#clock = options.clock;
    this.#keptMs = options.keptMs;
  }

  /** Of a folder and all below it; nothing where there is no folder. */
  measure(path: string): Promise<DiskUsage> {
    return this.keep(path, () => measureFolder(path));
  }

  /** Another kind of measure under a key of its own, kept as long. */
  keep<T>(key: string, measure: () => Promise<T>): Promise<T> {
    const nowMs = this.#clock.monotonicMs();
    const known = this.#measures.get(key);
    if (known !== undefined && nowMs - known.atMs < this.#keptMs) return known.usage as Promise<T>;
    const usage = measure();
    // The newest stand last, so that what goes first is the oldest.
    this.#measures.delete(key);
    this.#measures.set(key, { atMs: nowMs, usage });
    if (this.#measures.size > maxKept) this.#measures.delete(this.#measures.keys().next().value!);
    return usage;
  }
}

const maxKept = 4096;

/** Other file systems that are mounted below do not count, links are not followed. */
export async function measureFolder(path: string): Promise<DiskUsage> {
  const root = await lstat(path).catch(() => undefined);
  if (root === undefined) return { bytes: 0, inodes: 0 };
  const seen = new Set<number>([root.ino]);
  let blocks = root.blocks;
  const open = root.isDirectory() ? [path] : [];
  for (let directory = open.pop(); directory !== undefined; directory = open.pop()) {
    const entries = await opendir(directory).catch(() => undefined);
    if (entries === undefined) continue; // gone meanwhile
    for await (const entry of entries) {
      const full = join(directory, entry.name);
      const status = await lstat(full).catch(() => undefined);
      if (status === undefined || status.dev !== root.dev || seen.has(status.ino)) continue;
      seen.add(status.ino);
      blocks += status.blocks;
      if (status.isDirectory()) open.push(full);
    }
  }
  return { bytes: blocks * bytesOfBlock, inodes: seen.size };
}

/** Of `st_blocks`, whatever the file system's own. */
const bytesOfBlock = 512;
