import { unresolvable } from "../../framework/refusal.ts";
import { podInfoOf } from "../../state/pod-info.ts";
import { groupNameOf } from "../../state/pod-groups.ts";
import type { DeepReadonly } from "../../../apimachinery/json.ts";
import type { Pod } from "../../../api/core-v1/types.ts";
import type { ClusterEvent } from "../../framework/cluster-event.ts";
import type { Plugin } from "../../framework/plugin.ts";
import type { PodGroups } from "../../state/pod-groups.ts";
import type { PodInfo } from "../../state/pod-info.ts";

/**
 * Pods of a gang wait until their group and as many of them as it needs are there (KEP-4671, documentation page "Gang Scheduling"). That they
 * then get nodes together or not at all is the scheduling loop's.
 */
export function gangScheduling(groups: PodGroups): Plugin {
  return {
    name: gangPlugin,
    events: [
      { resource: "PodGroup", actions: ["Add", "Update"], helps: (pod, { current }) => isGroupOf(pod, current) },
      { resource: "UnscheduledPod", actions: ["Add"], helps: isFellow },
      { resource: "AssignedPod", actions: ["Add"], helps: isFellow },
    ],
    preEnqueue(pod) {
      const name = groupNameOf(pod);
      if (name === undefined) return undefined;
      const group = groups.groupFor(pod);
      if (group === undefined) return unresolvable(`waiting for pod group ${JSON.stringify(name)} to be created`);
      const missing = group.minCount - group.members.size;
      return missing <= 0 ? undefined : unresolvable(`waiting for ${missing} more pods of pod group ${JSON.stringify(name)}`);
    },
  };
}

export const gangPlugin = "GangScheduling";

function isGroupOf(pod: PodInfo, group: ClusterEvent["current"]): boolean {
  return group?.metadata.namespace === pod.namespace && group.metadata.name === groupNameOf(pod);
}

function isFellow(pod: PodInfo, { current }: ClusterEvent): boolean {
  const other = podInfoOf(current as DeepReadonly<Pod>);
  return other.uid !== pod.uid && other.namespace === pod.namespace && groupNameOf(other) === groupNameOf(pod);
}
