/**
 * Keeps the control groups of the node's pods: made before a pod's first container, changed when it is resized, removed when nothing of it
 * runs. Driven by the pods' workers and the kubelet's clean-up; owns what each pod weighs. Everything can be done again after a crash.
 */
import { readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import { sleep } from "../../base/clock.ts";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { Cgroups } from "../../host/index.ts";
import type { KubeletSettings } from "../configuration/settings.ts";
import { groupFiles, podGroup, podGroupLimits, qosClasses, qosGroup, qosGroupLimits, requestedMilliCpus } from "./cgroup-plan.ts";
import type { GroupLimits } from "./cgroup-plan.ts";

export class PodCgroups {
  readonly #options: PodCgroupsOptions;
  /** Of the pods of class Burstable. */
  readonly #milliCpus = new Map<string, number>();
  #changes: Promise<void> = Promise.resolve();

  constructor(options: PodCgroupsOptions) {
    this.#options = options;
  }

  /** Makes the group of all pods and those of the classes. Rejects where the machine does not permit it. */
  async start(): Promise<void> {
    const { root, node, settings } = this.#options;
    await this.#make(root, settings.enforceNodeAllocatable.includes("pods") ? node : { cpuShares: node.cpuShares });
    for (const qosClass of qosClasses) await this.#make(qosGroup(root, qosClass), qosGroupLimits(qosClass, this.#milliCpus.values()));
  }

  /** What the runtime is told as the parent of the pod's containers. */
  groupOf(pod: DeepReadonly<Pod>): string {
    return podGroup(this.#options.root, pod);
  }

  /** Makes the pod's group with what the pod may use, or changes it to that. */
  async ensure(pod: DeepReadonly<Pod>): Promise<void> {
    await this.#make(this.groupOf(pod), podGroupLimits(pod, this.#options.settings.podPidsLimit));
    await this.#weigh(pod.metadata.uid ?? "", pod.status?.qosClass === "Burstable" ? requestedMilliCpus(pod) : undefined);
  }

  /** Lets the pod's containers alone hold it, while their own limits change one after the other. */
  async loosen(pod: DeepReadonly<Pod>): Promise<void> {
    const { cpuQuota: _quota, memoryBytes: _memory, ...rest } = podGroupLimits(pod, this.#options.settings.podPidsLimit);
    await this.#make(this.groupOf(pod), rest);
  }

  /** Nothing of the pod runs any more. */
  async remove(pod: DeepReadonly<Pod>): Promise<void> {
    await this.#removeTree(this.groupOf(pod));
    await this.#weigh(pod.metadata.uid ?? "", undefined);
  }

  /** Removes groups of pods that nobody knows. */
  async removeStrangers(isKnown: (podUid: string) => boolean): Promise<void> {
    const { root } = this.#options;
    for (const parent of [root, ...qosClasses.map((qosClass) => qosGroup(root, qosClass))])
      for (const name of await this.#children(parent))
        if (name.startsWith("pod") && !isKnown(name.slice(3))) await this.#removeTree(`${parent}/${name}`).catch(() => undefined); // it is tried again
  }

  async #weigh(podUid: string, milliCpus: number | undefined): Promise<void> {
    if (this.#milliCpus.get(podUid) === milliCpus) return;
    if (milliCpus === undefined) this.#milliCpus.delete(podUid);
    else this.#milliCpus.set(podUid, milliCpus);
    // One after the other, so that the last one written is the last one known.
    this.#changes = this.#changes.then(() =>
      this.#write(qosGroup(this.#options.root, "Burstable"), qosGroupLimits("Burstable", this.#milliCpus.values())).catch((error: unknown) =>
        this.#options.log.warn("Could not change the weight of the burstable pods", { error }),
      ),
    );
    await this.#changes;
  }

  async #make(group: string, limits: GroupLimits): Promise<void> {
    await this.#options.cgroups.create(group);
    await this.#write(group, limits);
  }

  async #write(group: string, limits: GroupLimits): Promise<void> {
    const { cgroups } = this.#options;
    for (const [controller, file, value] of groupFiles(cgroups.version, limits)) {
      const directory = cgroups.directory(controller, group);
      if (directory !== undefined) await writeFile(join(directory, file), value);
    }
  }

  /** What still runs in it is known to nobody (its runtime was killed before it could note it down) and ends here. */
  async #removeTree(group: string): Promise<void> {
    for (const name of await this.#children(group)) await this.#removeTree(`${group}/${name}`);
    for (let tries = 1; ; tries++) {
      for (const pid of await this.#processes(group)) this.#options.kill(pid);
      try {
        return await this.#options.cgroups.remove(group);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EBUSY" || tries === maxTries) throw error;
        await sleep(this.#options.clock, retryMs);
      }
    }
  }

  async #processes(group: string): Promise<ReadonlySet<number>> {
    const { cgroups } = this.#options;
    const found = new Set<number>();
    for (const controller of cgroups.controllers) {
      const directory = cgroups.directory(controller, group);
      const text = directory === undefined ? "" : await readFile(join(directory, "cgroup.procs"), "utf8").catch(() => "");
      for (const pid of text.split("\n")) if (pid !== "") found.add(Number(pid));
    }
    return found;
  }

  async #children(group: string): Promise<string[]> {
    const { cgroups } = this.#options;
    const found = new Set<string>();
    for (const controller of cgroups.controllers) {
      const directory = cgroups.directory(controller, group);
      const entries = directory === undefined ? [] : await readdir(directory, { withFileTypes: true }).catch(() => []);
      for (const entry of entries) if (entry.isDirectory()) found.add(entry.name);
    }
    return [...found];
  }
}

export interface PodCgroupsOptions {
  readonly cgroups: Cgroups;
  /** The group of all pods. */
  readonly root: string;
  /** What all pods together may use. */
  readonly node: GroupLimits;
  readonly settings: Pick<KubeletSettings, "podPidsLimit" | "enforceNodeAllocatable">;
  readonly clock: Clock;
  readonly log: Log;
  /** Ends a process at once; one that is gone is no fault. */
  readonly kill: (pid: number) => void;
}

/** A killed process takes a moment to leave its group. */
const retryMs = 50;
const maxTries = 20;
