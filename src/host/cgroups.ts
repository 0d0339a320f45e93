/** Which control groups the machine has, and where a group's files are. Reading and writing is plain files. */
import { mkdir, readFile, rmdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

export interface Cgroups {
  /** `v1`: a hierarchy per controller (also when a v2 hierarchy without controllers is beside it); `v2`: one for all. */
  readonly version: "v1" | "v2";
  readonly controllers: ReadonlySet<string>;
  /** The directory of `group` (such as `/kubepods/burstable`) for `controller`, or undefined when it is not mounted. */
  directory(controller: string, group: string): string | undefined;
  /** Makes the group in every hierarchy; on v2 also enables the controllers for its children. */
  create(group: string): Promise<void>;
  /** Removes an empty group from every hierarchy; absent is no error. */
  remove(group: string): Promise<void>;
}

/** Finds the hierarchies from `/proc/self/mounts` (below `root`, for tests). */
export async function detectCgroups(options: { root?: string } = {}): Promise<Cgroups | undefined> {
  const root = options.root ?? "/";
  const hierarchies = parseHierarchies(await readFile(join(root, "proc/self/mounts"), "utf8"));
  if (hierarchies.unified === undefined && hierarchies.byController.size === 0) return undefined;
  if (hierarchies.byController.has("memory") || hierarchies.unified === undefined) return createV1(root, hierarchies);
  const listed = await readFile(join(root, hierarchies.unified, "cgroup.controllers"), "utf8");
  return createV2(
    join(root, hierarchies.unified),
    new Set(
      listed
        .trim()
        .split(/\s+/)
        .filter((name) => name !== ""),
    ),
  );
}

const v1Controllers = new Set([
  "cpu",
  "cpuacct",
  "cpuset",
  "memory",
  "devices",
  "freezer",
  "blkio",
  "pids",
  "hugetlb",
  "net_cls",
  "net_prio",
  "perf_event",
  "rdma",
  "misc",
]);

/** Mount points by controller (v1), of hierarchies with a name and no controller, and of the unified hierarchy (v2), from a mounts file (proc_mounts(5)). */
export function parseHierarchies(mounts: string): Hierarchies {
  const byController = new Map<string, string>();
  const named: string[] = [];
  let unified: string | undefined;
  for (const line of mounts.split("\n")) {
    const [, mountPoint, type, options = ""] = line.split(" ");
    if (mountPoint === undefined) continue;
    if (type === "cgroup2") unified ??= mountPoint;
    if (type !== "cgroup") continue;
    for (const option of options.split(",")) {
      if (v1Controllers.has(option)) byController.set(option, mountPoint);
      else if (option.startsWith("name=")) named.push(mountPoint);
    }
  }
  return { byController, named, unified };
}

interface Hierarchies {
  readonly byController: ReadonlyMap<string, string>;
  readonly named: readonly string[];
  readonly unified: string | undefined;
}

function createV1(root: string, { byController, named, unified }: Hierarchies): Cgroups {
  const directory = (controller: string, group: string) => {
    const mountPoint = byController.get(controller);
    return mountPoint === undefined ? undefined : join(root, mountPoint, group);
  };
  const directories = (group: string) => new Set([...byController.values()].map((mountPoint) => join(root, mountPoint, group)));
  return {
    version: "v1",
    controllers: new Set(byController.keys()),
    directory,
    create: async (group) => {
      for (const path of directories(group)) await mkdir(path, { recursive: true });
      await inheritCpuset(byController.get("cpuset"), root, group);
    },
    remove: async (group) => {
      for (const path of directories(group)) await removeDirectory(path);
      // Runtimes make groups there, too, and of those only the last one is theirs to remove.
      for (const mountPoint of [...named, ...(unified === undefined ? [] : [unified])]) await removeDirectory(join(root, mountPoint, group));
    },
  };
}

/** A new v1 cpuset has no CPUs and takes no process until it has: each level gets its parent's. */
async function inheritCpuset(mountPoint: string | undefined, root: string, group: string): Promise<void> {
  if (mountPoint === undefined) return;
  let path = join(root, mountPoint);
  for (const part of group.split("/").filter((name) => name !== "")) {
    const parent = path;
    path = join(path, part);
    for (const file of ["cpuset.cpus", "cpuset.mems"]) {
      if ((await readFile(join(path, file), "utf8")).trim() === "") await writeFile(join(path, file), await readFile(join(parent, file), "utf8"));
    }
  }
}

function createV2(base: string, controllers: ReadonlySet<string>): Cgroups {
  const enabled = ["cpu", "cpuset", "memory", "pids", "io", "hugetlb"].filter((name) => controllers.has(name));
  return {
    version: "v2",
    controllers,
    directory: (controller, group) => (controllers.has(controller) ? join(base, group) : undefined),
    create: async (group) => {
      let path = base;
      for (const part of group.split("/").filter((name) => name !== "")) {
        await writeFile(join(path, "cgroup.subtree_control"), enabled.map((name) => `+${name}`).join(" "));
        path = join(path, part);
        await mkdir(path, { recursive: true });
      }
    },
    remove: (group) => removeDirectory(join(base, group)),
  };
}

async function removeDirectory(path: string): Promise<void> {
  await rmdir(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  });
}
