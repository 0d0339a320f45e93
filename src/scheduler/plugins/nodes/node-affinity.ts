import { unresolvable } from "../../framework/refusal.ts";
import { normalizeByHighest } from "../../framework/score-nodes.ts";
import { allowsNode, matchesAnyTerm, matchesTerm, requiredNodeTerms, selectable } from "../../../api/core-v1/node-matching.ts";
import type { DeepReadonly } from "../../../apimachinery/json.ts";
import type { Node, NodeAffinity, NodeSelectorTerm, Pod } from "../../../api/core-v1/types.ts";
import type { Plugin } from "../../framework/plugin.ts";
import type { SelectableNode } from "../../../api/core-v1/node-matching.ts";

/** Node selector and node affinity of the pod, and affinity that the profile adds to every pod. */
export function nodeAffinity({ addedAffinity }: NodeAffinityArgs): Plugin {
  const isWanted = (pod: DeepReadonly<Pod>, node: SelectableNode) => addedTermsMatch(addedAffinity, node) && allowsNode(pod.spec, node);
  return {
    name: "NodeAffinity",
    events: [
      {
        resource: "Node",
        actions: ["Add", "UpdateNodeLabel"],
        helps(pod, { old, current }) {
          if (current === undefined || !isWanted(pod.pod, selectable(current as DeepReadonly<Node>))) return false;
          return old === undefined || !isWanted(pod.pod, selectable(old as DeepReadonly<Node>));
        },
      },
    ],
    preFilter({ pod: { pod } }) {
      if (!hasRequired(pod) && addedAffinity?.requiredDuringSchedulingIgnoredDuringExecution === undefined) return "skip";
      const nodeNames = namesIn(requiredNodeTerms(pod.spec));
      if (nodeNames?.size === 0) return conflict;
      return {
        isLocal: true,
        ...(nodeNames !== undefined && { nodeNames }),
        refuse(node) {
          if (!addedTermsMatch(addedAffinity, node)) return notAsAdded;
          return allowsNode(pod.spec, node) ? undefined : notWanted;
        },
      };
    },
    preScore({ pod: { pod } }) {
      const preferred = [
        ...(pod.spec?.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []),
        ...(addedAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []),
      ];
      if (preferred.length === 0) return "skip";
      return {
        isLocal: true,
        score: (node) => preferred.reduce((sum, { weight, preference }) => (matchesTerm(preference, node) ? sum + weight : sum), 0),
        normalize: (scores: number[]) => normalizeByHighest(scores),
      };
    },
  };
}

export interface NodeAffinityArgs {
  readonly addedAffinity?: DeepReadonly<NodeAffinity>;
}

const notWanted = unresolvable("node(s) didn't match Pod's node affinity/selector");
const notAsAdded = unresolvable("node(s) didn't match scheduler-enforced node affinity");
const conflict = unresolvable("pod affinity terms conflict");

function hasRequired(pod: DeepReadonly<Pod>): boolean {
  return pod.spec?.nodeSelector !== undefined || requiredNodeTerms(pod.spec) !== undefined;
}

/** When every term names its nodes: those names, so that no other node is looked at. */
function namesIn(terms: readonly DeepReadonly<NodeSelectorTerm>[] | undefined): ReadonlySet<string> | undefined {
  if (terms === undefined || terms.length === 0) return undefined;
  let names = new Set<string>();
  for (const { matchFields = [] } of terms) {
    let inTerm: Set<string> | undefined;
    for (const { key, operator, values = [] } of matchFields) {
      if (key !== "metadata.name" || operator !== "In") continue;
      const named = new Set(values);
      inTerm = inTerm === undefined ? named : inTerm.intersection(named);
    }
    if (inTerm === undefined) return undefined;
    names = names.union(inTerm);
  }
  return names;
}

function addedTermsMatch(added: NodeAffinityArgs["addedAffinity"], node: SelectableNode): boolean {
  const terms = added?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  return terms === undefined || matchesAnyTerm(terms, node);
}
