import { unresolvable } from "../../framework/refusal.ts";
import { isTolerated } from "./tolerations.ts";
import type { Plugin } from "../../framework/plugin.ts";

/** Cordoned nodes take only pods that tolerate it. */
export const nodeUnschedulable: Plugin = {
  name: "NodeUnschedulable",
  events: [
    { resource: "Node", actions: ["Add", "UpdateNodeTaint"] },
    { resource: "TargetPod", actions: ["UpdatePodToleration"], helps: (pod) => isTolerated(cordon, pod.pod.spec?.tolerations) },
  ],
  preFilter({ pod }) {
    if (isTolerated(cordon, pod.pod.spec?.tolerations)) return "skip";
    return { isLocal: true, refuse: ({ isUnschedulable }) => (isUnschedulable ? cordoned : undefined) };
  },
};

const cordon = { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" };
const cordoned = unresolvable("node(s) were unschedulable");
