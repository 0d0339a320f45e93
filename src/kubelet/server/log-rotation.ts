/** Rotation of containers' logs (kubelet configuration `containerLogMaxSize` 10Mi, `containerLogMaxFiles` 5). */
import { readdir, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

const maxBytes = 10 * 1024 * 1024;
const maxFiles = 5;

/** Moves the log to a name with the time when it is too large, and removes the oldest; true when it was moved. */
export async function rotateLog(path: string, nowMs: number): Promise<boolean> {
  const current = await stat(path).catch(() => undefined);
  if (current === undefined || current.size <= maxBytes) return false;
  const stamp = new Date(nowMs).toISOString().slice(0, 19).replaceAll(/[-:T]/g, "");
  await rename(path, `${path}.${stamp}`);
  const old = (await readdir(dirname(path))).filter((name) => name.startsWith(`${basename(path)}.`)).toSorted();
  for (const name of old.slice(0, Math.max(0, old.length - (maxFiles - 1)))) await rm(join(dirname(path), name), { force: true });
  return true;
}
