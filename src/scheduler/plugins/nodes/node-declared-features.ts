import { unresolvable } from "../../framework/refusal.ts";
import { requiredFeatures } from "./required-features.ts";
import type { DeepReadonly } from "../../../apimachinery/json.ts";
import type { Node } from "../../../api/core-v1/types.ts";
import type { ClusterEvent } from "../../framework/cluster-event.ts";
import type { Plugin } from "../../framework/plugin.ts";

/** Pods that use a feature that not every kubelet has go to nodes that declare it (KEP-5328). */
export const nodeDeclaredFeatures: Plugin = {
  name: "NodeDeclaredFeatures",
  events: [
    {
      resource: "Node",
      actions: ["Add", "UpdateNodeDeclaredFeature"],
      helps({ pod }, { old, current }) {
        const isFit = (node: ClusterEvent["old"]) => hasAll((node as DeepReadonly<Node>).status?.declaredFeatures, requiredFeatures(pod));
        return isFit(current) && (old === undefined || !isFit(old));
      },
    },
    { resource: "TargetPod", actions: ["Update"], helps: ({ pod }, { old }) => requiredFeatures(pod).length < requiredFeatures(old as typeof pod).length },
  ],
  preFilter({ pod }) {
    const required = requiredFeatures(pod.pod);
    if (required.length === 0) return "skip";
    return { refuse: ({ node }) => (hasAll(node.status?.declaredFeatures, required) ? undefined : notDeclared) };
  },
};

const notDeclared = unresolvable("node(s) didn't match Pod's required features");

function hasAll(declared: readonly string[] | undefined, required: readonly string[]): boolean {
  return required.every((feature) => declared?.includes(feature) === true);
}
