import { NodeRefusals, noRefusals } from "./node-refusals.ts";
import { unresolvable } from "./refusal.ts";
import type { NodeInfo } from "../state/node-info.ts";
import type { PodInfo } from "../state/pod-info.ts";
import type { Snapshot } from "../state/snapshot.ts";
import type { NamedFilter } from "./decision.ts";
import type { Cycle } from "./plugin.ts";
import type { Profile } from "./profile.ts";
import type { Refusal } from "./refusal.ts";
import type { NodeVerdicts } from "./verdict-cache.ts";

/** Looks for nodes that can take the pod until there are enough of them. The node that the pod is nominated to is tried first, and alone. */
export function findFeasibleNodes(search: FeasibleSearch): FeasibleNodes {
  const nominated = nominatedNode(search);
  if (nominated !== undefined) return { nodes: [nominated], positions: undefined, refusals: noRefusals, examined: 1, failure: undefined };
  const { snapshot } = search.cycle;
  const { nodeNames, narrowing } = search;
  const refusals = new NodeRefusals();
  const candidates = nodeNames === undefined ? snapshot.nodes : nodesNamed(nodeNames, snapshot);
  if (nodeNames !== undefined) {
    const excluded = { ...unresolvable(`node(s) didn't satisfy plugin(s) [${narrowing.join(" ")}]`), plugin: narrowing[0]! };
    refusals.addOthers(snapshot.nodes, new Set(candidates.map(({ name }) => name)), excluded);
  }
  const count = candidates.length;
  const wanted = search.isExhaustive === true ? count : nodesToFind(count, search.profile.percentageOfNodesToScore);
  // Room for as many as are wanted, in one piece.
  const nodes = candidates.slice(0, wanted);
  const positions = new Uint32Array(wanted);
  let found = 0;
  const refuseAt = examiner(search, nodeNames === undefined);
  const start = count === 0 ? 0 : search.startIndex % count;
  let examined = 0;
  while (examined < count && found < wanted) {
    const position = start + examined < count ? start + examined : start + examined - count;
    const node = candidates[position]!;
    examined += 1;
    const refusal = refuseAt(node, position);
    if (refusal === undefined) {
      nodes[found] = node;
      positions[found++] = position;
    } else if (refusal.code === "failed") return { nodes: [], positions: undefined, refusals, examined, failure: failureText(refusal) };
    else refusals.add(node, refusal);
  }
  nodes.length = found;
  return { nodes, positions: nodeNames === undefined ? positions.subarray(0, found) : undefined, refusals, examined, failure: undefined };
}

/** Those of the named nodes that there are, in the order in which nodes are looked at. */
function nodesNamed(names: ReadonlySet<string>, snapshot: Snapshot): readonly NodeInfo[] {
  if (names.size * 4 > snapshot.nodes.length) return snapshot.nodes.filter(({ name }) => names.has(name));
  const found = [...names].flatMap((name) => snapshot.node(name) ?? []);
  return found.length < 2 ? found : found.sort((a, b) => snapshot.positionOf(a) - snapshot.positionOf(b));
}

export interface FeasibleSearch {
  readonly cycle: Cycle;
  readonly profile: Profile;
  readonly filters: readonly NamedFilter[];
  readonly nodeNames: ReadonlySet<string> | undefined;
  readonly narrowing: readonly string[];
  readonly startIndex: number;
  readonly isExhaustive?: boolean;
  readonly verdicts?: NodeVerdicts | undefined;
}
export type Positions = Pick<Uint32Array, number | "filter">;

export interface FeasibleNodes {
  readonly nodes: readonly NodeInfo[];
  /** Where in the snapshot they are; undefined when only some nodes came into question. */
  readonly positions: Positions | undefined;
  readonly refusals: NodeRefusals;
  readonly examined: number;
  /** The text of an error that ended the search. */
  readonly failure: string | undefined;
}

/** How nodes are examined: what is known of the local filters, which come first, is not asked again. */
function examiner({ cycle, filters, verdicts }: FeasibleSearch, isWhole: boolean): (node: NodeInfo, position: number) => Refusal | undefined {
  const { snapshot } = cycle;
  if (verdicts === undefined || !isWhole) return (node) => refuseWithNominated(cycle, node, filters);
  const firstOther = filters.findIndex(({ filter }) => filter.isLocal !== true);
  const local = firstOther < 0 ? filters : filters.slice(0, firstOther);
  const others = firstOther < 0 ? [] : filters.slice(firstOther);
  const known = verdicts.filtered;
  return (node, position) => {
    if (snapshot.hasNominations) {
      const promised = snapshot.nominatedTo(node.name);
      if (promised.length > 0) {
        if (others.length > 0 || promised.some(({ uid }) => uid === cycle.pod.uid)) return refuseWithNominated(cycle, node, filters);
        const known = verdicts.crowded.find(position, node, promised);
        if (known !== undefined) return known.answer;
        return verdicts.crowded.remember(position, { node, promised, answer: refuseWithNominated(cycle, node, filters) });
      }
    }
    let refusal: Refusal | undefined;
    if (known.nodes[position] === node) refusal = known.refusals[position];
    else {
      refusal = refuse(node, local);
      known.nodes[position] = node;
      known.refusals[position] = refusal;
    }
    return refusal === undefined && others.length > 0 ? refuse(node, others) : refusal;
  };
}

/**
 * Why the node cannot take the pod. Pods that were promised room there and are at least as important count as if they were there; but as
 * they may never come, the pod must fit without them too.
 */
export function refuseWithNominated(cycle: Cycle, node: NodeInfo, filters: readonly NamedFilter[]): Refusal | undefined {
  const promised = cycle.snapshot.hasNominations ? cycle.snapshot.nominatedTo(node.name) : [];
  if (promised.length > 0) {
    const { pod } = cycle;
    const others = promised.filter((one) => one.priority >= pod.priority && one.uid !== pod.uid);
    if (others.length > 0) {
      const crowded = others.reduce(addPod, { node, filters });
      const refusal = refuse(crowded.node, crowded.filters);
      if (refusal !== undefined) return refusal;
    }
  }
  return refuse(node, filters);
}

/** The first refusal of a node by filters in their order. */
export function refuse(node: NodeInfo, filters: readonly NamedFilter[]): Refusal | undefined {
  for (let index = 0; index < filters.length; index++) {
    const { plugin, filter } = filters[index]!;
    const refusal = filter.refuse(node);
    if (refusal !== undefined) return refusal.plugin === plugin ? refusal : named(refusal, plugin);
  }
  return undefined;
}

/** A node and the filters as they are for it; what dry runs change. */
export interface FilteredNode {
  readonly node: NodeInfo;
  readonly filters: readonly NamedFilter[];
}

export function addPod({ node, filters }: FilteredNode, pod: PodInfo): FilteredNode {
  const more = filters.map((one) => (one.filter.withPod === undefined ? one : { ...one, filter: one.filter.withPod(pod, node) }));
  return { node: node.withPod(pod), filters: more };
}

export function removePod({ node, filters }: FilteredNode, pod: PodInfo): FilteredNode {
  const fewer = filters.map((one) => (one.filter.withoutPod === undefined ? one : { ...one, filter: one.filter.withoutPod(pod, node) }));
  return { node: node.withoutPod(pod.uid), filters: fewer };
}

/** How many feasible nodes are enough (Kubernetes documentation, "Scheduler Performance Tuning"). */
export function nodesToFind(nodes: number, percentage: number): number {
  const fewest = 100;
  if (nodes < fewest || percentage >= 100) return nodes;
  const share = percentage > 0 ? percentage : Math.max(5, 50 - Math.trunc(nodes / 125));
  return Math.max(fewest, Math.trunc((nodes * share) / 100));
}

function nominatedNode({ cycle, filters, nodeNames }: FeasibleSearch): NodeInfo | undefined {
  const name = cycle.pod.pod.status?.nominatedNodeName ?? "";
  if (name === "" || nodeNames?.has(name) === false) return undefined;
  const node = cycle.snapshot.node(name);
  return node !== undefined && refuseWithNominated(cycle, node, filters) === undefined ? node : undefined;
}

function failureText({ plugin, reasons }: Refusal): string {
  return `running ${JSON.stringify(plugin)} filter plugin: ${reasons.join(", ")}`;
}

const withPlugin = new WeakMap<Refusal, Refusal>();

/** The refusal with its plugin's name, made once for each constant. */
function named(refusal: Refusal, plugin: string): Refusal {
  let known = withPlugin.get(refusal);
  if (known === undefined || known.plugin !== plugin) withPlugin.set(refusal, (known = { ...refusal, plugin }));
  return known;
}
