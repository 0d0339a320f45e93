/** The control groups of a node's pods, where the machine has such: below one of the instance's own, so that two instances do not meet. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { quantityMilli } from "../../../apimachinery/quantity.ts";
import type { Clock } from "../../../base/clock.ts";
import type { Log } from "../../../base/log.ts";
import { detectCgroups, killProcess } from "../../../host/index.ts";
import { cpuShares, nodeAllocatable, PodCgroups, podsMemoryBytes } from "../../../kubelet/index.ts";
import type { KubeletSettings, Machine } from "../../../kubelet/index.ts";
import { instanceId } from "../../instance-id.ts";

/** Undefined where pods are to have none, or cannot. */
export async function startPodCgroups({ dataDir, settings, machine, clock, log }: NodeCgroupsOptions): Promise<PodCgroups | undefined> {
  if (!settings.cgroupsPerQOS) return undefined;
  const cgroups = await detectCgroups();
  if (cgroups === undefined) return undefined;
  const node = {
    cpuShares: cpuShares(quantityMilli(nodeAllocatable(machine, settings)["cpu"] ?? 0)),
    memoryBytes: podsMemoryBytes(machine, settings),
  };
  const base = settings.cgroupRoot === "" ? instanceGroup(dataDir) : settings.cgroupRoot;
  const pods = new PodCgroups({ cgroups, root: join("/", base, "kubepods"), node, settings, clock, log, kill: killProcess });
  try {
    await pods.start();
    return pods;
  } catch (error) {
    log.warn("Pods have no control groups of their own here", { error });
    return undefined;
  }
}

/** Removes the instance's groups; nothing runs in them any more. */
export async function removeCgroups(dataDir: string): Promise<void> {
  const cgroups = await detectCgroups();
  if (cgroups === undefined) return;
  const remove = async (group: string): Promise<void> => {
    for (const controller of cgroups.controllers) {
      const directory = cgroups.directory(controller, group);
      const entries = directory === undefined ? [] : await readdir(directory, { withFileTypes: true }).catch(() => []);
      for (const entry of entries) if (entry.isDirectory()) await remove(`${group}/${entry.name}`);
    }
    await cgroups.remove(group);
  };
  await remove(instanceGroup(dataDir));
}

export interface NodeCgroupsOptions {
  readonly dataDir: string;
  readonly settings: KubeletSettings;
  readonly machine: Machine;
  readonly clock: Clock;
  readonly log: Log;
}

function instanceGroup(dataDir: string): string {
  return `/coracle-${instanceId(dataDir)}`;
}
