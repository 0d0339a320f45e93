import { isObject } from "../../apimachinery/json.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import type { Candidate } from "../framework/decision.ts";
import type { NodeInfo } from "../state/node-info.ts";

/**
 * What extenders are asked and what they answer (kube-scheduler's extender/v1): members begin with capitals, and are read in any case, as Go
 * does. Nodes go by name to extenders that keep a cache of them, whole to others.
 */
export function nodesMessage(pod: DeepReadonly<Pod>, nodes: readonly NodeInfo[], isByName: boolean): object {
  return isByName
    ? { Pod: pod, Nodes: null, NodeNames: nodes.map(({ name }) => name) }
    : { Pod: pod, Nodes: { metadata: {}, items: nodes.map(({ node }) => node) }, NodeNames: null };
}

export function bindingMessage({ metadata }: DeepReadonly<Pod>, nodeName: string): object {
  return { PodName: metadata.name ?? "", PodNamespace: metadata.namespace ?? "", PodUID: metadata.uid ?? "", Node: nodeName };
}

export function preemptionMessage(pod: DeepReadonly<Pod>, candidates: readonly Candidate[], isByName: boolean): object {
  const byNode = candidates.map(({ nodeName, victims, violations }) => {
    const Pods = isByName ? victims.map(({ uid }) => ({ UID: uid })) : victims.map((victim) => victim.pod);
    return [nodeName, { Pods, NumPDBViolations: violations }] as const;
  });
  return { Pod: pod, [isByName ? "NodeNameToMetaVictims" : "NodeNameToVictims"]: Object.fromEntries(byNode) };
}

export interface FilterAnswer {
  /** The nodes left. */
  readonly nodeNames: readonly string[];
  /** Why others are not, by node; `unresolvable`: preemption would not help. */
  readonly failed: Readonly<Record<string, string>>;
  readonly unresolvable: Readonly<Record<string, string>>;
  readonly error: string;
}

export function readFilterAnswer(answer: unknown, isByName: boolean): FilterAnswer {
  const names = isByName
    ? listOf(member(answer, "NodeNames"))
    : listOf(member(member(answer, "Nodes"), "items")).map((node) => member(member(node, "metadata"), "name"));
  return {
    nodeNames: names.filter((name) => typeof name === "string"),
    failed: textsOf(member(answer, "FailedNodes")),
    unresolvable: textsOf(member(answer, "FailedAndUnresolvableNodes")),
    error: textOf(member(answer, "Error")),
  };
}

/** Points by node. */
export function readPriorities(answer: unknown): ReadonlyMap<string, number> {
  return new Map(listOf(answer).map((one) => [textOf(member(one, "Host")), numberOf(member(one, "Score"))]));
}

export function readBindingError(answer: unknown): string {
  return textOf(member(answer, "Error"));
}

/** By node: the victims' uids and how many budgets are broken. */
export function readVictims(answer: unknown): ReadonlyMap<string, { readonly uids: readonly string[]; readonly violations: number }> {
  const byNode = member(answer, "NodeNameToMetaVictims");
  return new Map(
    Object.entries(isObject(byNode) ? byNode : {}).map(([nodeName, victims]) => {
      const uids = listOf(member(victims, "Pods")).map((pod) => textOf(member(pod, "UID")));
      return [nodeName, { uids, violations: numberOf(member(victims, "NumPDBViolations")) }];
    }),
  );
}

function member(value: unknown, name: string): unknown {
  if (!isObject(value)) return undefined;
  if (Object.hasOwn(value, name)) return value[name];
  const key = Object.keys(value).find((one) => one.toLowerCase() === name.toLowerCase());
  return key === undefined ? undefined : value[key];
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
const numberOf = (value: unknown): number => (typeof value === "number" ? value : 0);

function textsOf(value: unknown): Readonly<Record<string, string>> {
  return isObject(value) ? Object.fromEntries(Object.entries(value).map(([key, text]) => [key, textOf(text)])) : {};
}
