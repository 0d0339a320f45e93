/** What a node tells of its machine. */
import { statfs, readFile } from "node:fs/promises";
import { arch, availableParallelism, release, totalmem } from "node:os";

export interface Machine {
  readonly cpus: number;
  readonly memoryBytes: number;
  readonly storageBytes: number;
  readonly architecture: string;
  readonly machineID: string;
  readonly systemUUID: string;
  readonly bootID: string;
  readonly kernelVersion: string;
  readonly osImage: string;
}

/** `dataDirectory`: whose file system counts as the node's storage. */
export async function readMachine(dataDirectory: string): Promise<Machine> {
  const text = async (path: string) => (await readFile(path, "utf8").catch(() => "")).trim();
  const [machineID, systemUUID, bootID, osRelease, storage] = await Promise.all([
    text("/etc/machine-id"),
    text("/sys/class/dmi/id/product_uuid"),
    text("/proc/sys/kernel/random/boot_id"),
    text("/etc/os-release"),
    statfs(dataDirectory),
  ]);
  return {
    cpus: availableParallelism(),
    memoryBytes: totalmem(),
    storageBytes: storage.blocks * storage.bsize,
    architecture: goArchitectures[arch()] ?? arch(),
    machineID,
    systemUUID: systemUUID === "" ? machineID : systemUUID,
    bootID,
    kernelVersion: release(),
    osImage: /^PRETTY_NAME="?([^"\n]*)"?$/m.exec(osRelease)?.[1] ?? "Linux",
  };
}

/** The machine of a simulated node. */
export const simulatedMachine: Machine = {
  cpus: 32,
  memoryBytes: 256 * 1024 ** 3,
  storageBytes: 1024 ** 4,
  architecture: "amd64",
  machineID: "",
  systemUUID: "",
  bootID: "",
  kernelVersion: "simulated",
  osImage: "simulated",
};

const goArchitectures: Readonly<Record<string, string>> = { x64: "amd64", arm64: "arm64", ia32: "386", arm: "arm", ppc64: "ppc64le", s390x: "s390x" };
