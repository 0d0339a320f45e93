/** What pods leave on the machine while they are there, as the kernel and the disk show it: to be the same after them as before. */
import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { bridgeName } from "../../src/network/cni-config.ts";

const execute = promisify(execFile);

export interface NodeTraces {
  /** Of containerd's namespace `k8s.io`. */
  readonly containers: readonly string[];
  readonly shims: readonly string[];
  readonly mounts: readonly string[];
  readonly networkNamespaces: readonly string[];
  readonly bridgePorts: readonly string[];
  readonly addresses: readonly string[];
  readonly podDirectories: readonly string[];
  readonly logDirectories: readonly string[];
  readonly cgroups: readonly string[];
}

/** What is there after, and was not before; nothing: an empty object. */
export function leftBetween(before: NodeTraces, after: NodeTraces): Partial<NodeTraces> {
  return Object.fromEntries(
    (Object.keys(after) as (keyof NodeTraces)[])
      .map((name) => [name, after[name].filter((one) => !before[name].includes(one))] as const)
      .filter(([, left]) => left.length > 0),
  );
}

export async function nodeTraces(dataDir: string): Promise<NodeTraces> {
  const config = await readFile(path.join(dataDir, "containerd.toml"), "utf8");
  const socket = /^address = "(.*)"$/m.exec(config)?.[1] ?? "";
  const runtime = path.dirname(socket);
  const id = path.basename(runtime);
  const [containers, mounts] = await Promise.all([
    execute("ctr", ["--address", socket, "--namespace", "k8s.io", "containers", "list", "--quiet"]).then(({ stdout }) => words(stdout)),
    readFile("/proc/self/mounts", "utf8"),
  ]);
  const own = mounts.split("\n").map((line) => line.split(" ")[1] ?? "");
  return {
    containers,
    shims: await shims(socket),
    mounts: own
      .filter((place) => [path.join(dataDir, "kubelet/pods"), path.join(runtime, "containerd")].some((root) => place.startsWith(`${root}/`)))
      .toSorted(),
    networkNamespaces: await names(path.join(runtime, "containerd", "io.containerd.grpc.v1.cri", "netns")),
    bridgePorts: await names(path.join("/sys/class/net", bridgeName(id), "brif")),
    addresses: (await names(path.join(dataDir, "cni/addresses"), { recursive: true })).filter((name) => /^[\da-f.:]+$/.test(path.basename(name))),
    podDirectories: await names(path.join(dataDir, "kubelet/pods")),
    logDirectories: await names(path.join(dataDir, "kubelet/logs")),
    cgroups: await cgroups(),
  };
}

/** Of all instances, by the hierarchies that hold memory or all. */
async function cgroups(): Promise<string[]> {
  const found: string[] = [];
  for (const hierarchy of ["memory", "unified", "."]) {
    const root = path.join("/sys/fs/cgroup", hierarchy);
    for (const group of await names(root)) {
      if (group !== "k8s.io" && !group.startsWith("kubepods")) continue;
      const listed = await readdir(path.join(root, group), { recursive: true, withFileTypes: true }).catch(() => []);
      for (const entry of listed) if (entry.isDirectory() && /[0-9a-f]{8}/.test(entry.name)) found.push(path.join(hierarchy, group, entry.name));
    }
  }
  return found.toSorted();
}

async function shims(socket: string): Promise<string[]> {
  const { stdout } = await execute("ps", ["-eo", "args"]);
  return stdout
    .split("\n")
    .filter((line) => line.includes("containerd-shim") && line.includes(socket))
    .toSorted();
}

const words = (text: string) =>
  text
    .split("\n")
    .filter((word) => word !== "")
    .toSorted();
const names = async (directory: string, how: { recursive?: boolean } = {}) => ((await readdir(directory, how).catch(() => [])) as string[]).toSorted();
