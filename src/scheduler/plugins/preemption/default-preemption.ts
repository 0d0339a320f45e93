import { isRefusal, pending, unresolvable } from "../../framework/refusal.ts";
import { failureMessage } from "../../framework/failure-message.ts";
import { candidateOn, leastHarm } from "./candidate.ts";
import type { DeepReadonly } from "../../../apimachinery/json.ts";
import type { PodDisruptionBudget } from "../../../api/policy-v1/types.ts";
import type { Random } from "../../../base/random.ts";
import type { FilteredNode } from "../../framework/find-feasible-nodes.ts";
import type { PromisedAnswers } from "../../framework/verdict-cache.ts";
import type { Candidate, Diagnosis } from "../../framework/decision.ts";
import type { Cycle, Plugin, PostFilterResult } from "../../framework/plugin.ts";
import type { Refusal } from "../../framework/refusal.ts";
import type { NodeInfo } from "../../state/node-info.ts";
import type { PodGroups } from "../../state/pod-groups.ts";
import type { PodInfo } from "../../state/pod-info.ts";
import type { PreemptionGate } from "./preemption-gate.ts";

/** A pod that fits nowhere may push out pods of lower priority (Kubernetes documentation, "Pod Priority and Preemption"). */
export function defaultPreemption(args: DefaultPreemptionArgs, { random, gate, groups }: PreemptionServices): Plugin {
  return {
    name: "DefaultPreemption",
    preEnqueue: ({ uid }) => (gate.isRunning(uid) ? stillPreempting : undefined),
    postFilter(cycle, diagnosis) {
      const objection = whyNotEligible(cycle, diagnosis);
      if (objection !== undefined) return { message: `preemption: not eligible due to ${objection}.` };
      return preempt(cycle, diagnosis, { args, random, groups });
    },
  };
}

export interface PreemptionServices {
  readonly random: Random;
  readonly gate: PreemptionGate;
  /** Where groups of pods are served: some leave as a whole. */
  readonly groups?: PodGroups | undefined;
}

export interface DefaultPreemptionArgs {
  readonly minCandidateNodesPercentage: number;
  readonly minCandidateNodesAbsolute: number;
}

const stillPreempting = pending("waiting for the preemption for this pod to be finished");
const unhelpful = unresolvable("Preemption is not helpful for scheduling");

function preempt(cycle: Cycle, diagnosis: Diagnosis, options: PreemptionOptions): PostFilterResult {
  const { candidates, answers } =
    diagnosis.candidates === undefined ? findCandidates(cycle, diagnosis, options) : { candidates: diagnosis.candidates, answers: undefined };
  const best = leastHarm(candidates);
  if (best === undefined) {
    const nodes = cycle.snapshot.nodes.length;
    const all = [...(answers?.map((answer) => [answer, 1] as const) ?? []), [unhelpful, nodes - (answers?.length ?? 0)] as const];
    return {
      message: `preemption: ${failureMessage(
        nodes,
        all.filter(([, count]) => count > 0),
      )}`,
      nominatedNodeName: "",
    };
  }
  const { nodeName, victims } = best;
  const displaced = cycle.snapshot.nominatedTo(nodeName).filter(({ priority }) => priority < cycle.pod.priority);
  const message = `preemption: found a potential placement for pod on node ${nodeName}, preempting ${victims.length} victims`;
  return { message, nominatedNodeName: nodeName, victims, displaced, candidates };
}

interface PreemptionOptions {
  readonly args: DefaultPreemptionArgs;
  readonly random: Random;
  readonly groups: PodGroups | undefined;
}

/** Nodes where it would help that pods leave, and why it would not on those where it could have. */
function findCandidates(
  cycle: Cycle,
  { refusals, filters, verdicts }: Diagnosis,
  options: PreemptionOptions,
): { candidates: readonly Candidate[]; answers: readonly Refusal[] } {
  const { snapshot } = cycle;
  const hopeful = refusals.nodesRefused("unschedulable");
  const budgets = hopeful.length === 0 ? [] : snapshot.objects.podDisruptionBudgets.list();
  const wanted = candidatesToFind(hopeful.length, options.args);
  const offset = hopeful.length === 0 ? 0 : options.random.integer(hopeful.length);
  // Who leaves along with a group is not to be seen in the node.
  const isShared = verdicts !== undefined && options.groups === undefined && filters.every(({ filter }) => filter.isLocal === true);
  const known = isShared ? verdicts.candidates.under(versionsOf(budgets)) : undefined;
  const candidates: Candidate[] = [];
  const answers: Refusal[] = [];
  for (let index = 0; index < hopeful.length && candidates.length < wanted; index++) {
    const node = hopeful[(offset + index) % hopeful.length]!;
    const answer =
      known === undefined
        ? candidateOn(cycle, { node, filters }, { budgets, groups: options.groups })
        : sharedCandidate(cycle, { node, filters }, { budgets, known });
    if (isRefusal(answer)) answers.push(answer);
    else candidates.push(answer);
  }
  return { candidates, answers };
}

/** What is known of the node from pods of the same template, or else is found. */
function sharedCandidate(
  cycle: Cycle,
  start: FilteredNode,
  { budgets, known }: { readonly budgets: readonly DeepReadonly<PodDisruptionBudget>[]; readonly known: PromisedAnswers<Candidate | Refusal> },
): Candidate | Refusal {
  const { node } = start;
  const { snapshot, pod } = cycle;
  const promised = snapshot.nominatedTo(node.name);
  if (promised.some(({ uid }) => uid === pod.uid)) return candidateOn(cycle, start, { budgets });
  const position = snapshot.positionOf(node);
  const before = known.find(position, node, promised);
  return before === undefined ? known.remember(position, { node, promised, answer: candidateOn(cycle, start, { budgets }) }) : before.answer;
}

/** Differs whenever one of the budgets does. */
function versionsOf(budgets: readonly DeepReadonly<PodDisruptionBudget>[]): string {
  return budgets.map(({ metadata: { uid, resourceVersion } }) => `${uid}/${resourceVersion}`).join();
}

function candidatesToFind(nodes: number, { minCandidateNodesPercentage, minCandidateNodesAbsolute }: DefaultPreemptionArgs): number {
  return Math.min(nodes, Math.max(Math.trunc((nodes * minCandidateNodesPercentage) / 100), minCandidateNodesAbsolute));
}

/** A pod may not preempt when it does not want to, or while the victims of its last preemption are still leaving. */
function whyNotEligible({ pod, snapshot }: Cycle, { refusals }: Diagnosis): string | undefined {
  if (pod.pod.spec?.preemptionPolicy === "Never") return "preemptionPolicy=Never";
  const nominated = pod.pod.status?.nominatedNodeName ?? "";
  if (nominated === "" || refusals.get(nominated)?.code === "unresolvable") return undefined;
  const node = snapshot.node(nominated);
  return node !== undefined && hasLeavingVictim(node, pod) ? "a terminating pod on the nominated node" : undefined;
}

/** Whether a pod that was asked to leave for a more important one, such as the given, is still there. */
export function hasLeavingVictim(node: NodeInfo, { priority }: PodInfo): boolean {
  return node.pods.some((one) => one.isTerminating && one.priority < priority && isPreempted(one));
}

function isPreempted({ pod }: PodInfo): boolean {
  return (
    pod.status?.conditions?.some(({ type, status, reason }) => type === "DisruptionTarget" && status === "True" && reason === "PreemptionByScheduler") === true
  );
}
