/** Rotation of containers' logs (KubeletConfiguration `containerLogMaxSize`, `containerLogMaxFiles`). */
import { createReadStream, createWriteStream } from "node:fs";
import { readdir, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";

export interface LogLimits {
  readonly maxBytes: number;
  /** With the one that is written. */
  readonly maxFiles: number;
}

/** Moves the log to a name with the time when it is too large, compresses those moved before and removes the oldest; true when it was moved. */
export async function rotateLog(path: string, nowMs: number, { maxBytes, maxFiles }: LogLimits): Promise<boolean> {
  const current = await stat(path).catch(() => undefined);
  if (current === undefined || current.size <= maxBytes) return false;
  const directory = dirname(path);
  const before = (await readdir(directory)).filter((name) => name.startsWith(`${basename(path)}.`)).toSorted();
  const removed = before.filter((name) => name.endsWith(partial));
  const kept = before.filter((name) => !name.endsWith(partial));
  removed.push(...kept.splice(0, Math.max(0, kept.length - (maxFiles - 2))));
  for (const name of removed) await rm(join(directory, name), { force: true });
  const stamp = new Date(nowMs).toISOString().slice(0, 19).replaceAll(/[-:T]/g, "");
  await rename(path, `${path}.${stamp}`);
  for (const name of kept.filter((candidate) => !candidate.endsWith(".gz"))) await compress(join(directory, name));
  return true;
}

const partial = ".tmp";

async function compress(path: string): Promise<void> {
  await pipeline(createReadStream(path), createGzip(), createWriteStream(`${path}${partial}`, { mode: 0o640 }));
  await rename(`${path}${partial}`, `${path}.gz`);
  await rm(path);
}
