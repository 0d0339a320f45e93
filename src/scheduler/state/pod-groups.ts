import type { Lister } from "../../client/index.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { PodGroup } from "../../api/scheduling-v1beta1/types.ts";
import type { PodInfo } from "./pod-info.ts";

/** Pods that are scheduled together (KEP-4671, KEP-5832). */
export interface SchedulingGroup {
  readonly group: DeepReadonly<PodGroup>;
  /** So many run together, or none; 0 of a group with policy `basic`. */
  readonly minCount: number;
  readonly priority: number;
  /** Whether others may have to leave for it. */
  readonly mayPreempt: boolean;
  /** The label whose value is to be the same for the nodes of all its pods. */
  readonly topologyKey: string | undefined;
  /** By uid, the oldest first: those that wait and those that run. */
  readonly members: ReadonlyMap<string, PodInfo>;
}

/** Which pods name which group. Driven by the informers' handlers. Invariant: every pod that lives and names a group is under its group. */
export class PodGroups {
  readonly #groups: Pick<Lister<PodGroup>, "get">;
  readonly #members = new Map<string, Map<string, PodInfo>>();
  /** Whether groups may be kept to one topology domain. */
  readonly hasTopology: boolean;
  /** Whether groups have claims of their own (KEP-5729). */
  readonly hasClaims: boolean;
  readonly #hasPolicy: boolean;

  /** `gates`: which further features of groups are on. */
  constructor(groups: Pick<Lister<PodGroup>, "get">, gates: Readonly<Record<string, boolean>> = {}) {
    this.#groups = groups;
    this.hasTopology = gates["TopologyAwareWorkloadScheduling"] === true;
    this.hasClaims = gates["DRAWorkloadResourceClaims"] === true;
    this.#hasPolicy = gates["PodGroupPreemptionPolicy"] === true;
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

  /** The pod's group; undefined for a pod that goes its own way, or whose group is not there. */
  groupFor(pod: PodInfo): SchedulingGroup | undefined {
    const key = groupKeyOf(pod);
    const group = key === undefined ? undefined : this.#groups.get(pod.namespace, groupNameOf(pod)!);
    if (group === undefined) return undefined;
    const { schedulingPolicy, schedulingConstraints, preemptionPolicy, priority = 0 } = group.spec ?? {};
    return {
      group,
      minCount: schedulingPolicy?.gang?.minCount ?? 0,
      priority,
      mayPreempt: !this.#hasPolicy || preemptionPolicy !== "Never",
      topologyKey: this.hasTopology ? schedulingConstraints?.topology?.[0]?.key : undefined,
      members: this.#members.get(key!) ?? noMembers,
    };
  }
}

/** The group that a pod says it belongs to. */
export function groupNameOf({ pod }: PodInfo): string | undefined {
  return pod.spec?.schedulingGroup?.podGroupName;
}

const noMembers: ReadonlyMap<string, PodInfo> = new Map();

function groupKeyOf(pod: PodInfo): string | undefined {
  const name = groupNameOf(pod);
  return name === undefined ? undefined : `${pod.namespace}/${name}`;
}
