import { unresolvable } from "../../framework/refusal.ts";
import { normalizeByHighest } from "../../framework/score-nodes.ts";
import { isTolerated, keepsAway } from "./tolerations.ts";
import type { DeepReadonly } from "../../../apimachinery/json.ts";
import type { Node } from "../../../api/core-v1/types.ts";
import type { Plugin } from "../../framework/plugin.ts";

/** Nodes whose taints the pod does not tolerate are refused; of the rest, those with the fewest soft ones are best. */
export const taintToleration: Plugin = {
  name: "TaintToleration",
  events: [
    {
      resource: "Node",
      actions: ["Add", "UpdateNodeTaint"],
      helps(pod, { old, current }) {
        const tolerations = pod.pod.spec?.tolerations;
        const isRefused = (node: DeepReadonly<Node>) => node.spec?.taints?.some((taint) => keepsAway(taint) && !isTolerated(taint, tolerations)) === true;
        if (current === undefined || isRefused(current as DeepReadonly<Node>)) return false;
        return old === undefined || isRefused(old as DeepReadonly<Node>);
      },
    },
    { resource: "TargetPod", actions: ["UpdatePodToleration"] },
  ],
  preFilter({ pod }) {
    const tolerations = pod.pod.spec?.tolerations;
    return {
      isLocal: true,
      refuse({ taints }) {
        for (const taint of taints) if (keepsAway(taint) && !isTolerated(taint, tolerations)) return untolerated;
        return undefined;
      },
    };
  },
  preScore({ pod }) {
    // An empty effect stands for all of them.
    const tolerations = pod.pod.spec?.tolerations?.filter(({ effect = "" }) => effect === "" || effect === "PreferNoSchedule");
    return {
      isLocal: true,
      score({ taints }) {
        let count = 0;
        for (const taint of taints) if (taint.effect === "PreferNoSchedule" && !isTolerated(taint, tolerations)) count += 1;
        return count;
      },
      normalize: (scores: number[]) => normalizeByHighest(scores, true),
    };
  },
};

const untolerated = unresolvable("node(s) had untolerated taint(s)");
