import type { PodGroups } from "../../state/pod-groups.ts";
import type { PodInfo } from "../../state/pod-info.ts";

/** Pods that leave together or not at all: a pod by itself, or all of a group whose disruption mode says so. */
export interface PreemptionUnit {
  readonly pods: readonly PodInfo[];
  /** The group's, for pods of one. */
  readonly priority: number;
  readonly isGroup: boolean;
  /** All of them have been asked to leave already. */
  readonly isLeaving: boolean;
}

/** The units of pods on nodes, each once. Without `groups` every pod goes its own way. */
export function unitsOf(pods: Iterable<PodInfo>, groups: PodGroups | undefined): PreemptionUnit[] {
  if (groups === undefined) return Array.from(pods, unitAlone);
  const units: PreemptionUnit[] = [];
  const seen = new Set<string>();
  for (const pod of pods) {
    if (seen.has(pod.uid)) continue;
    const unit = unitOf(pod, groups);
    if (unit.isGroup) for (const { uid } of unit.pods) seen.add(uid);
    units.push(unit);
  }
  return units;
}

function unitAlone(pod: PodInfo): PreemptionUnit {
  return { pods: [pod], priority: pod.priority, isGroup: false, isLeaving: pod.isTerminating };
}

function unitOf(pod: PodInfo, groups: PodGroups): PreemptionUnit {
  const group = groups.groupFor(pod);
  if (group === undefined) return unitAlone(pod);
  const { priority, members } = group;
  if (group.group.spec?.disruptionMode?.all === undefined) return { ...unitAlone(pod), priority };
  const fellows = [...members.values()].filter(({ uid, pod: { spec } }) => uid !== pod.uid && (spec?.nodeName ?? "") !== "");
  const pods = [pod, ...fellows];
  return { pods, priority, isGroup: true, isLeaving: pods.every(({ isTerminating }) => isTerminating) };
}

/** The more important one first: by priority, groups before pods, the larger group, the one that started earlier. */
export function byImportance(left: PreemptionUnit, right: PreemptionUnit): number {
  if (left.priority !== right.priority) return right.priority - left.priority;
  if (left.isGroup !== right.isGroup) return left.isGroup ? -1 : 1;
  if (left.pods.length !== right.pods.length) return right.pods.length - left.pods.length;
  const [a, b] = [unitStartedAt(left), unitStartedAt(right)];
  return a === b ? 0 : a - b;
}

function unitStartedAt({ pods }: PreemptionUnit): number {
  return pods.length === 1 ? startedAt(pods[0]!) : Math.min(...pods.map(startedAt));
}

/** A pod that has not started yet is the newest. */
export function startedAt({ pod }: PodInfo): number {
  return pod.status?.startTime === undefined ? Number.MAX_SAFE_INTEGER : Date.parse(pod.status.startTime);
}
