import { unschedulable } from "../../framework/refusal.ts";
import { podInfoOf } from "../../state/pod-info.ts";
import type { DeepReadonly } from "../../../apimachinery/json.ts";
import type { Pod } from "../../../api/core-v1/types.ts";
import type { Plugin } from "../../framework/plugin.ts";
import type { HostPort } from "../../state/pod-info.ts";

/** Two pods of a node cannot have the same host port; an address of all addresses collides with each. */
export const nodePorts: Plugin = {
  name: "NodePorts",
  events: [
    {
      resource: "AssignedPod",
      actions: ["Delete"],
      helps: (pod, { old }) => old !== undefined && collides(pod.hostPorts, podInfoOf(old as DeepReadonly<Pod>).hostPorts),
    },
    { resource: "Node", actions: ["Add"] },
  ],
  preFilter({ pod: { hostPorts } }) {
    if (hostPorts.length === 0) return "skip";
    return { isLocal: true, refuse: (node) => (collides(hostPorts, node.hostPorts) ? taken : undefined) };
  },
};

const taken = unschedulable("node(s) didn't have free ports for the requested pod ports");
const anyAddress = "0.0.0.0";

function collides(wanted: readonly HostPort[], used: readonly HostPort[]): boolean {
  return wanted.some((one) => used.some((other) => isSame(one, other)));
}

function isSame(left: HostPort, right: HostPort): boolean {
  if (left.port !== right.port || left.protocol !== right.protocol) return false;
  return left.ip === right.ip || left.ip === anyAddress || right.ip === anyAddress;
}
