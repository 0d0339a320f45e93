/** Ends the pods that a stopped instance has left running, or removes all that the instance ever made. */
import { access, readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createMounts } from "../../host/index.ts";
import type { Programs } from "../../host/index.ts";
import { connectContainerd, removeAllPods, resetContainerd, startContainerd, startProcessRuntime } from "../../kubelet/index.ts";
import { resetNetwork } from "../../network/index.ts";
import { resetProxy } from "../../proxy/index.ts";
import { addressDirectory, cniConfDirectory } from "../components/node/network.ts";
import { removeCgroups } from "../components/node/node-cgroups.ts";
import { runtimeDirectory } from "../components/node/node-runtime.ts";
import { removeDataDirectory, removeEmptyDirectory } from "../files/data-directory.ts";
import type { Environment } from "../environment.ts";
import { instanceId } from "../instance-id.ts";
import { borrowPrograms } from "../shared-programs.ts";

/** Stops every pod of the data directory and our containerd. What is on disk stays. `given` runs programs in the network of a further node. */
export async function stopPods(environment: Environment, dataDir: string, given?: Programs): Promise<void> {
  await using borrowed = borrowPrograms(environment);
  const programs = given ?? borrowed.programs;
  await stopProcesses(environment, dataDir);
  if (!(await exists(join(runtimeDirectory(dataDir), "containerd.sock")))) return;
  const instance = await startContainerd(containerdOptions(environment, dataDir, programs));
  const runtime = connectContainerd({ socketPath: instance.socketPath, clock: environment.clock });
  await removeAllPods(runtime);
  await runtime.close();
  await instance.stop();
}

/** Removes all that the instance made: pods, images, mounts, interfaces, nftables tables, sockets, and the data directory itself. */
export async function resetInstance(environment: Environment, dataDir: string, given?: Programs): Promise<void> {
  await using borrowed = borrowPrograms(environment);
  const programs = given ?? borrowed.programs;
  await stopProcesses(environment, dataDir);
  if (process.geteuid?.() === 0) {
    await resetContainerd(containerdOptions(environment, dataDir, programs));
    await removeCgroups(dataDir).catch((error: unknown) => environment.log.warn("Could not remove all control groups", { error }));
    await resetProxy({ programs, instanceId: instanceId(dataDir) });
    await resetNetwork({ programs, instanceId: instanceId(dataDir) });
  }
  // The directory itself may be a mount of the user's.
  const mounts = createMounts({ programs });
  for (const name of await readdir(dataDir)) await mounts.unmountBelow(join(dataDir, name));
  const directory = runtimeDirectory(dataDir);
  await rm(directory, { recursive: true, force: true });
  await removeEmptyDirectory(dirname(directory));
  await removeDataDirectory(dataDir);
}

function containerdOptions({ clock, log }: Environment, dataDir: string, programs: Programs) {
  return {
    programs,
    clock,
    log,
    dataDirectory: dataDir,
    runtimeDirectory: runtimeDirectory(dataDir),
    cniConfDirectory: cniConfDirectory(dataDir),
    addressDirectory: addressDirectory(dataDir),
  };
}

/** Pods that are local processes, on each node of the data directory. */
async function stopProcesses(environment: Environment, dataDir: string): Promise<void> {
  const directory = join(dataDir, "processes");
  if (!(await exists(directory))) return;
  await using borrowed = borrowPrograms(environment);
  for (const name of await readdir(directory)) {
    const runtime = await startProcessRuntime({
      programs: borrowed.programs,
      ...environment,
      stateDirectory: join(directory, name),
      socketDirectory: join(runtimeDirectory(dataDir), `p${name}`),
    });
    await removeAllPods(runtime);
    await runtime.close();
  }
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
