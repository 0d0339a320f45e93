/** What is kept of further nodes of this machine: `DIR/nodes/cluster.json`, and a data directory of its own for each, `DIR/nodes/NAME`. */
import { mkdir, readFile, readdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ClusterRanges } from "./node-place.ts";

export interface NodeRecord {
  readonly name: string;
  readonly number: number;
  /** Somebody has stopped it: it stays so when the cluster starts. */
  readonly isStopped: boolean;
}

export function nodeFolder(dataDir: string, name: string): string {
  return join(dataDir, "nodes", name);
}

export async function readNodes(dataDir: string): Promise<NodeRecord[]> {
  const entries = await readdir(join(dataDir, "nodes"), { withFileTypes: true }).catch(orNone<never[]>([]));
  const records: NodeRecord[] = [];
  for (const entry of entries) {
    // A folder without the file is one that was being made or removed.
    const record = entry.isDirectory() ? await readJson<NodeRecord>(recordFile(dataDir, entry.name)) : undefined;
    if (record !== undefined) records.push(record);
  }
  return records.sort((a, b) => a.number - b.number);
}

export async function writeNode(dataDir: string, record: NodeRecord): Promise<void> {
  await mkdir(nodeFolder(dataDir, record.name), { recursive: true, mode: 0o711 });
  await writeJson(recordFile(dataDir, record.name), record);
}

/** The ranges with which the cluster was started last; undefined when it was not with containers. */
export function readRanges(dataDir: string): Promise<ClusterRanges | undefined> {
  return readJson<ClusterRanges>(join(dataDir, "nodes", "cluster.json"));
}

export async function writeRanges(dataDir: string, { podCidrs, serviceCidrs, nodeCidr, loadBalancerCidrs }: ClusterRanges): Promise<void> {
  await mkdir(join(dataDir, "nodes"), { recursive: true, mode: 0o711 });
  await writeJson(join(dataDir, "nodes", "cluster.json"), { podCidrs, serviceCidrs, nodeCidr, loadBalancerCidrs });
}

const recordFile = (dataDir: string, name: string) => join(nodeFolder(dataDir, name), "node.json");

async function readJson<T>(file: string): Promise<T | undefined> {
  const text = await readFile(file, "utf8").catch(orNone(undefined));
  try {
    return text === undefined ? undefined : (JSON.parse(text) as T);
  } catch (cause) {
    throw new Error(`${file} is damaged: remove it, and the node's folder with it`, { cause });
  }
}

async function writeJson(file: string, value: unknown): Promise<void> {
  await writeFile(`${file}.new`, `${JSON.stringify(value)}\n`, { mode: 0o600 });
  await rename(`${file}.new`, file);
}

function orNone<T>(none: T): (error: NodeJS.ErrnoException) => T {
  return (error) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return none;
    throw error;
  };
}
