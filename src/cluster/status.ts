/** `coracle status`: whether an instance runs, and where its pieces are. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseKubeconfig } from "../client/index.ts";
import { dataDirectoryOf } from "./data-directory.ts";
import { instanceId } from "./instance-id.ts";
import { readProcessId } from "./process-id.ts";

export async function runStatus(words: readonly string[]): Promise<void> {
  const dataDir = dataDirectoryOf(words);
  const pid = await readProcessId(dataDir);
  const kubeconfig = join(dataDir, "kubeconfig");
  const server = await readFile(kubeconfig, "utf8").then((text) => parseKubeconfig(text).clusters[0]?.cluster.server, () => undefined);
  const rows = [
    ["process", pid === undefined ? "not running" : String(pid)],
    ["data", dataDir],
    ["instance", instanceId(dataDir)],
    ["kubeconfig", server === undefined ? "not made" : kubeconfig],
    ["server", server ?? "unknown"],
  ];
  process.stdout.write(rows.map(([name, value]) => `${name!.padEnd(12)}${value}\n`).join(""));
}
