import { isAbort } from "../../base/task-group.ts";
import { NodeRefusals } from "../framework/node-refusals.ts";
import { unresolvable, unschedulable as unschedulableRefusal } from "../framework/refusal.ts";
import { chooseNode, searchNodes, unschedulable } from "../framework/schedule-pod.ts";
import { extenderPlugin } from "./extender-listener.ts";
import type { Log } from "../../base/log.ts";
import type { Candidate, Diagnosis } from "../framework/decision.ts";
import type { FoundNodes, Outcome, SchedulingRequest, Search } from "../framework/schedule-pod.ts";
import type { Extender } from "./extender.ts";

/** As `schedulePod`, with extenders that filter what the plugins left, add points, and choose among the nodes that preemption would free. */
export async function scheduleWithExtenders(request: SchedulingRequest, asked: AskedExtenders): Promise<Outcome> {
  const search = searchNodes(request);
  const { cycle } = search;
  if (search.kind === "ended") return preempted(search, request, asked);
  const left = await filtered(search, asked);
  if ("failure" in left) {
    const { pod, snapshot } = request;
    const { refusals, examined } = search;
    return { cycle, decision: { kind: "failed", pod, nodes: snapshot.nodes.length, refusals, examined, message: left.failure } };
  }
  if (left.nodes.length > 0) return { cycle, decision: chooseNode(left, left.nodes.length === 1 ? undefined : await points(left, asked)) };
  const diagnosis: Diagnosis = { refusals: left.refusals, refusedByAll: undefined, filters: left.filters };
  return preempted({ kind: "ended", cycle, diagnosis, decision: conclude(request, search, diagnosis) }, request, asked);
}

export interface AskedExtenders {
  /** Those that have a say about the pod. */
  readonly extenders: readonly Extender[];
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** Extenders' points reach from 0 to 10, plugins' to 100. */
const pointScale = 10;

/** One after the other: each sees what the one before it left. */
async function filtered(found: FoundNodes, { extenders, log, signal }: AskedExtenders): Promise<FoundNodes | { readonly failure: string }> {
  let { nodes, positions } = found;
  const refusals = new NodeRefusals();
  for (const [node, refusal] of found.refusals.entries()) refusals.add(node, refusal);
  for (const extender of extenders) {
    if (nodes.length === 0) break;
    if (!extender.filters) continue;
    try {
      const { nodeNames, failed, unresolvable: hopeless } = await extender.filter(found.cycle.pod, nodes, signal);
      const kept = new Set(nodeNames);
      for (const node of nodes) {
        if (kept.has(node.name)) continue;
        const why = hopeless[node.name];
        const refusal = why === undefined ? unschedulableRefusal(failed[node.name] ?? "node(s) were refused by an extender") : unresolvable(why);
        refusals.add(node, { ...refusal, plugin: extenderPlugin });
      }
      positions = positions?.filter((_, index) => kept.has(nodes[index]!.name));
      nodes = nodes.filter(({ name }) => kept.has(name));
    } catch (error) {
      if (isAbort(error, signal)) throw error;
      if (!extender.isIgnorable) return { failure: error instanceof Error ? error.message : String(error) };
      log.warn("Skipped an extender as it returned an error and is ignorable", { extender: extender.name, error });
    }
  }
  return { ...found, nodes, positions, refusals };
}

/** An extender that fails gives no points. */
async function points({ cycle, nodes }: FoundNodes, { extenders, log, signal }: AskedExtenders): Promise<{ name: string; points: number[] }[]> {
  const answers = extenders
    .filter(({ prioritizes }) => prioritizes)
    .map(async (extender) => {
      try {
        const given = await extender.prioritize(cycle.pod, nodes, signal);
        return [{ name: extender.name, points: nodes.map(({ name }) => (given.get(name) ?? 0) * extender.weight * pointScale) }];
      } catch (error) {
        if (isAbort(error, signal)) throw error;
        log.warn("An extender gave no points", { extender: extender.name, error });
        return [];
      }
    });
  return (await Promise.all(answers)).flat();
}

/** Has extenders narrow what preemption may choose from. */
async function preempted(search: Extract<Search, { kind: "ended" }>, request: SchedulingRequest, asked: AskedExtenders): Promise<Outcome> {
  const { cycle, decision, diagnosis } = search;
  const all = decision.kind === "unschedulable" ? decision.postFilter?.candidates : undefined;
  const extenders = asked.extenders.filter(({ preempts }) => preempts);
  if (all === undefined || diagnosis === undefined || extenders.length === 0) return { cycle, decision };
  let candidates: readonly Candidate[] = all;
  for (const extender of extenders) {
    try {
      candidates = await extender.preempt(cycle.pod, candidates, { snapshot: cycle.snapshot, signal: asked.signal });
    } catch (error) {
      if (isAbort(error, asked.signal)) throw error;
      if (!extender.isIgnorable) {
        const message = error instanceof Error ? error.message : String(error);
        return {
          cycle,
          decision: { kind: "failed", pod: decision.pod, nodes: decision.nodes, refusals: decision.refusals, examined: decision.examined, message },
        };
      }
      asked.log.warn("Skipped an extender as it returned an error and is ignorable", { extender: extender.name, error });
    }
    if (candidates.length === 0) break;
  }
  return { cycle, decision: conclude(request, { cycle, examined: decision.examined }, { ...diagnosis, candidates }) };
}

function conclude(
  { snapshot, profile }: SchedulingRequest,
  { cycle, examined }: Pick<FoundNodes, "cycle" | "examined">,
  diagnosis: Diagnosis,
): ReturnType<typeof unschedulable> {
  return unschedulable(cycle, profile, { nodes: snapshot.nodes.length, refusals: diagnosis.refusals, examined, diagnosis });
}
