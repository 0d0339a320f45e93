/** `coracle status`: whether an instance runs, and where its pieces are; with `--security`, whether it is run safely. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseKubeconfig } from "../../client/index.ts";
import { dataDirectoryOf } from "../files/data-directory.ts";
import { instanceId } from "../instance-id.ts";
import { readProcessId } from "../process-id.ts";

/** Returns the exit code. */
export async function runStatus(words: readonly string[]): Promise<number> {
  const isSecurity = (word: string) => /^--?security$/.test(word);
  const dataDir = dataDirectoryOf(words.filter((word) => !isSecurity(word)));
  if (words.some(isSecurity)) return (await import("../security/security-status.ts")).runSecurityStatus(dataDir);
  const pid = await readProcessId(dataDir);
  const kubeconfig = join(dataDir, "kubeconfig");
  const server = await readFile(kubeconfig, "utf8").then(
    (text) => parseKubeconfig(text).clusters[0]?.cluster.server,
    () => undefined,
  );
  const rows = [
    ["process", pid === undefined ? "not running" : String(pid)],
    ["data", dataDir],
    ["instance", instanceId(dataDir)],
    ["kubeconfig", server === undefined ? "not made" : kubeconfig],
    ["server", server ?? "unknown"],
  ];
  process.stdout.write(rows.map(([name, value]) => `${name!.padEnd(12)}${value}\n`).join(""));
  return 0;
}
