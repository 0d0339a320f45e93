import { formatTime } from "../../apimachinery/time.ts";
import type { Decision, Scores } from "../framework/decision.ts";
import type { Explanation } from "../framework/explain-pod.ts";
import type { Refusal } from "../framework/refusal.ts";

/** A decision in one line. */
export function decisionSummary({ decision, atMs }: KeptDecision): object {
  const { pod, nodes, examined, kind } = decision;
  return {
    pod: `${pod.namespace}/${pod.name}`,
    uid: pod.uid,
    time: formatTime(atMs),
    result: kind,
    ...(decision.kind === "assigned" ? { node: decision.node.name } : { message: decision.message }),
    nodes,
    examined,
  };
}

/** The decision with each refused node's refusal and each feasible node's scores. */
export function decisionView(kept: KeptDecision): object {
  const { decision } = kept;
  return {
    ...decisionSummary(kept),
    refusals: Array.from(decision.refusals, ([node, refusal]) => ({ node, ...refusalView(refusal) })),
    ...(decision.kind === "assigned" && { scores: scoresView(decision.scores) }),
    ...(decision.kind === "unschedulable" && {
      plugins: [...decision.rejectors, ...decision.pendingPlugins],
      nominatedNode: decision.postFilter?.nominatedNodeName,
      victims: decision.postFilter?.victims?.map(({ namespace, name }) => `${namespace}/${name}`),
    }),
  };
}

export interface KeptDecision {
  readonly decision: Decision;
  readonly atMs: number;
}

/** What every plugin says of every node. */
export function explanationView({ refusedByAll, nodes, scores }: Explanation): object {
  const points = new Map(scoresView(scores).map((one) => [one.node, one]));
  return {
    refusedByAll: refusedByAll.map(refusalView),
    nodes: nodes.map(({ node, refusals }) => ({ node: node.name, refusals: refusals.map(refusalView), ...points.get(node.name) })),
  };
}

function refusalView({ plugin, code, reasons }: Refusal): object {
  return { plugin, code, reasons };
}

function scoresView({ nodes, plugins, values, totals }: Scores): { node: string; total: number; plugins: Record<string, number> }[] {
  return nodes.map(({ name }, index) => ({
    node: name,
    total: totals[index]!,
    plugins: Object.fromEntries(plugins.map((plugin, position) => [plugin, values[position]![index]!])),
  }));
}
