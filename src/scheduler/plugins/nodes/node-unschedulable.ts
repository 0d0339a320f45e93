import { unresolvable } from "../../framework/refusal.ts";
import { isTolerated } from "./tolerations.ts";
import type { DeepReadonly } from "../../../apimachinery/json.ts";
import type { Node } from "../../../api/core-v1/types.ts";
import type { ClusterEvent } from "../../framework/cluster-event.ts";
import type { Plugin } from "../../framework/plugin.ts";

/** Cordoned nodes take only pods that tolerate it. */
export const nodeUnschedulable: Plugin = {
  name: "NodeUnschedulable",
  events: [
    { resource: "Node", actions: ["Add", "UpdateNodeTaint"], helps: (_, { old, current }) => !isCordoned(current) && (old === undefined || isCordoned(old)) },
    { resource: "TargetPod", actions: ["UpdatePodToleration"], helps: (pod) => isTolerated(cordon, pod.pod.spec?.tolerations) },
  ],
  preFilter({ pod }) {
    if (isTolerated(cordon, pod.pod.spec?.tolerations)) return "skip";
    return { isLocal: true, refuse: ({ isUnschedulable }) => (isUnschedulable ? cordoned : undefined) };
  },
};

const isCordoned = (node: ClusterEvent["old"]) => (node as DeepReadonly<Node> | undefined)?.spec?.unschedulable === true;
const cordon = { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" };
const cordoned = unresolvable("node(s) were unschedulable");
