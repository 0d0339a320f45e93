import { unresolvable } from "coracle/scheduler";
import type { NodeInfo, PluginFactory } from "coracle/scheduler";

/** What a node costs an hour, by its label; nodes that do not say are dearer than all others. */
const priceOf = ({ labels }: Pick<NodeInfo, "labels">) => Number(labels["example.com/price"] ?? 1000);
const tooDear = unresolvable("node(s) cost more than the pod may");

/** Pods go to the cheapest node; those with the annotation `example.com/budget` only to nodes that cost no more. */
export const cheapNodes: PluginFactory = () => ({
  name: "CheapNodes",
  events: [
    {
      resource: "Node",
      actions: ["Add", "UpdateNodeLabel"],
      helps: ({ pod }, { current }) => priceOf({ labels: current?.metadata.labels ?? {} }) <= budgetOf(pod),
    },
  ],
  preFilter({ pod: { pod } }) {
    const budget = budgetOf(pod);
    return budget === Infinity ? "skip" : { refuse: (node) => (priceOf(node) <= budget ? undefined : tooDear) };
  },
  preScore: () => ({
    score: priceOf,
    normalize(scores: number[]) {
      const dearest = Math.max(...scores, 1);
      for (const [index, price] of scores.entries()) scores[index] = Math.trunc(100 - (100 * price) / dearest);
    },
  }),
});

function budgetOf({ metadata }: { readonly metadata: { readonly annotations?: Readonly<Record<string, string>> } }): number {
  return Number(metadata.annotations?.["example.com/budget"] ?? Infinity);
}

/** The configuration that turns it on, with more say than all others; beside it a profile as Kubernetes has it. */
export const config = {
  profiles: [{ schedulerName: "default-scheduler" }, { schedulerName: "cheap", plugins: { multiPoint: { enabled: [{ name: "CheapNodes", weight: 100 }] } } }],
};
