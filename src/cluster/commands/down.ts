/** `coracle down` and `coracle reset`: end what runs on a data directory; reset removes everything that was made, too. */
import type { Transport } from "../../apimachinery/request.ts";
import { sleep } from "../../base/clock.ts";
import type { Clock } from "../../base/clock.ts";
import { dataDirectoryOf, isDataDirectory, requireOwner } from "../files/data-directory.ts";
import { commandEnvironment } from "../environment.ts";
import type { Environment } from "../environment.ts";
import { MachineNodes } from "../nodes/machine-nodes.ts";
import { readRanges } from "../nodes/node-folders.ts";
import { serverPort } from "./run-component.ts";
import { readProcessId, removeProcessId } from "../process-id.ts";
import { borrowPrograms } from "../shared-programs.ts";
import { resetInstance, stopPods } from "./stop-pods.ts";

/** How long the process may take to stop in order. */
const stopMs = 30_000;

export async function runDown(words: readonly string[]): Promise<void> {
  const dataDir = dataDirectoryOf(words);
  await requireOwner(dataDir);
  if (!(await isDataDirectory(dataDir))) {
    process.stdout.write(`Nothing of ours lies at ${dataDir}.\n`);
    return;
  }
  const environment = commandEnvironment();
  await endProcess(environment.clock, dataDir);
  await withNodes(environment, dataDir, (nodes) => nodes.stopPods());
  await stopPods(environment, dataDir);
  process.stdout.write(`Stopped ${dataDir}.\n`);
}

export async function runReset(words: readonly string[]): Promise<void> {
  const dataDir = dataDirectoryOf(words);
  // Only a folder that `up` has made is removed.
  if (!(await isDataDirectory(dataDir))) {
    process.stdout.write(`Nothing of ours lies at ${dataDir}.\n`);
    return;
  }
  await requireOwner(dataDir);
  const environment = commandEnvironment();
  await endProcess(environment.clock, dataDir);
  await withNodes(environment, dataDir, (nodes) => nodes.removeAll());
  await resetInstance(environment, dataDir);
  process.stdout.write(`Removed ${dataDir} and all that it ran.\n`);
}

/** Does something with the further nodes of this machine, if there can be any. */
async function withNodes(environment: Environment, dataDir: string, work: (nodes: MachineNodes) => Promise<void>): Promise<void> {
  if ((await readRanges(dataDir)) === undefined) return;
  await using borrowed = borrowPrograms(environment);
  await work(new MachineNodes({ environment, programs: borrowed.programs, dataDir, serverPort: () => serverPort(dataDir), transport: () => unreached }));
}

/** Nodes are not asked about in order to stop or remove them. */
const unreached: Transport = () => Promise.reject(new Error("the API server is not asked"));

/** Asks the process to stop and waits for it. Resolves when none runs. */
async function endProcess(clock: Clock, dataDir: string): Promise<void> {
  const pid = await readProcessId(dataDir);
  if (pid === undefined) return;
  process.kill(pid, "SIGTERM");
  const deadlineMs = clock.monotonicMs() + stopMs;
  while ((await readProcessId(dataDir)) === pid) {
    if (clock.monotonicMs() > deadlineMs) throw new Error(`process ${pid} does not stop: end it with \`kill -9 ${pid}\` and run this again`);
    await sleep(clock, 100);
  }
  await removeProcessId(dataDir);
}
