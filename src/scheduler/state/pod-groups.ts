import type { Lister } from "../../client/index.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { PodGroup } from "../../api/scheduling-v1beta1/types.ts";
import type { PodInfo } from "./pod-info.ts";

/** Pods of which so many run together, or none (KEP-4671). */
export interface Gang {
  readonly group: DeepReadonly<PodGroup>;
  readonly minCount: number;
  /** By uid, the oldest first: those that wait and those that run. */
  readonly members: ReadonlyMap<string, PodInfo>;
}

/** Which pods name which group. Driven by the informers' handlers. Invariant: every pod that lives and names a group is under its group. */
export class PodGroups {
  readonly #groups: Pick<Lister<PodGroup>, "get">;
  readonly #members = new Map<string, Map<string, PodInfo>>();

  constructor(groups: Pick<Lister<PodGroup>, "get">) {
    this.#groups = groups;
  }

  put(pod: PodInfo): void {
    const key = groupKeyOf(pod);
    if (key === undefined) return;
    let members = this.#members.get(key);
    if (members === undefined) this.#members.set(key, (members = new Map()));
    members.set(pod.uid, pod);
  }

  remove(pod: PodInfo): void {
    const key = groupKeyOf(pod);
    if (key === undefined) return;
    const members = this.#members.get(key);
    members?.delete(pod.uid);
    if (members?.size === 0) this.#members.delete(key);
  }

  groupOf(pod: PodInfo): DeepReadonly<PodGroup> | undefined {
    return this.#groups.get(pod.namespace, groupNameOf(pod) ?? "");
  }

  /** The pod's gang; undefined for a pod that goes its own way, or whose group is not there. */
  gangOf(pod: PodInfo): Gang | undefined {
    const key = groupKeyOf(pod);
    const group = key === undefined ? undefined : this.groupOf(pod);
    const minCount = group?.spec?.schedulingPolicy?.gang?.minCount;
    return group === undefined || minCount === undefined ? undefined : { group, minCount, members: this.#members.get(key!) ?? new Map() };
  }
}

/** The group that a pod says it belongs to. */
export function groupNameOf({ pod }: PodInfo): string | undefined {
  return pod.spec?.schedulingGroup?.podGroupName;
}

function groupKeyOf(pod: PodInfo): string | undefined {
  const name = groupNameOf(pod);
  return name === undefined ? undefined : `${pod.namespace}/${name}`;
}
