import { nothingSelector, selectorFromObject, SelectorError } from "../../apimachinery/selectors/label-selector.ts";
import { podRequests, scoredRequests } from "./pod-requests.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Pod, PodAffinityTerm } from "../../api/core-v1/types.ts";
import type { LabelSelector, LabelSelectorObject } from "../../apimachinery/selectors/label-selector.ts";
import type { Resources } from "./resources.ts";

/** A pod with what scheduling asks of it, worked out once. Immutable. */
export interface PodInfo {
  readonly pod: DeepReadonly<Pod>;
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly priority: number;
  readonly isTerminating: boolean;
  readonly requests: Resources;
  /** CPU and memory with defaults for containers that ask for none, as scoring counts them. */
  readonly scored: { readonly milliCpu: number; readonly memoryBytes: number };
  readonly hostPorts: readonly HostPort[];
  readonly requiredAffinity: readonly AffinityTerm[];
  readonly requiredAntiAffinity: readonly AffinityTerm[];
  readonly preferredAffinity: readonly WeightedAffinityTerm[];
  readonly preferredAntiAffinity: readonly WeightedAffinityTerm[];
  readonly hasAffinity: boolean;
  /** Names of claims in the pod's namespace that its volumes use, generated ones included. */
  readonly claimNames: readonly string[];
}

export interface HostPort {
  readonly ip: string;
  readonly protocol: string;
  readonly port: number;
}

export interface AffinityTerm {
  /** Tells terms apart; `groupKey` the pods that they mean. */
  readonly key: string;
  readonly groupKey: string;
  readonly topologyKey: string;
  readonly selector: LabelSelector;
  readonly namespaces: ReadonlySet<string>;
  /** Undefined selects no further namespaces; an empty selector all of them. */
  readonly namespaceSelector: LabelSelector | undefined;
}
export interface WeightedAffinityTerm extends AffinityTerm {
  readonly weight: number;
}

const known = new WeakMap<DeepReadonly<Pod>, PodInfo>();

/** The pod's projection; the same object gives the same projection. */
export function podInfoOf(pod: DeepReadonly<Pod>): PodInfo {
  let info = known.get(pod);
  if (info === undefined) known.set(pod, (info = project(pod)));
  return info;
}

function project(pod: DeepReadonly<Pod>): PodInfo {
  const { namespace = "", name = "", uid = "", labels = {} } = pod.metadata;
  const { podAffinity, podAntiAffinity } = pod.spec?.affinity ?? {};
  const requiredAffinity = termsOf(namespace, podAffinity?.requiredDuringSchedulingIgnoredDuringExecution);
  const requiredAntiAffinity = termsOf(namespace, podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution);
  const preferredAffinity = weightedTermsOf(namespace, podAffinity?.preferredDuringSchedulingIgnoredDuringExecution);
  const preferredAntiAffinity = weightedTermsOf(namespace, podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution);
  return {
    pod,
    uid,
    namespace,
    name,
    labels,
    priority: pod.spec?.priority ?? 0,
    isTerminating: pod.metadata.deletionTimestamp !== undefined,
    requests: podRequests(pod),
    scored: scoredRequests(pod),
    hostPorts: hostPortsOf(pod),
    requiredAffinity,
    requiredAntiAffinity,
    preferredAffinity,
    preferredAntiAffinity,
    hasAffinity: requiredAffinity.length + requiredAntiAffinity.length + preferredAffinity.length + preferredAntiAffinity.length > 0,
    claimNames: claimNamesOf(pod),
  };
}

/** The same for pods of one template: all that filters and scores of single nodes, and preemption there, look at. */
export function signatureOf({ spec = {}, status }: DeepReadonly<Pod>): string {
  const { nodeName, nodeSelector, affinity, tolerations, overhead, resources, priority, initContainers = none } = spec;
  const asked = [...initContainers, ...(spec.containers ?? none)].map(({ resources: own, ports, restartPolicy }) => [own?.requests, ports, restartPolicy]);
  const granted = status?.containerStatuses?.map(({ resources: own, allocatedResources }) => [own?.requests, allocatedResources]);
  return JSON.stringify([nodeName, nodeSelector, affinity?.nodeAffinity, tolerations, overhead, resources, priority, initContainers.length, asked, granted]);
}

/** The selector of an API object; one that cannot be read selects nothing. */
export function selectorOf(object: DeepReadonly<LabelSelectorObject> | undefined): LabelSelector {
  try {
    return selectorFromObject(object as LabelSelectorObject | undefined);
  } catch (error) {
    if (error instanceof SelectorError) return nothingSelector;
    throw error;
  }
}

/** A text that tells selectors apart. */
export function selectorKey({ requirements, selectsNothing }: LabelSelector): string {
  if (selectsNothing) return "!";
  return JSON.stringify(requirements.map(({ key, operator, values }) => [key, operator, ...values]));
}

function termsOf(namespace: string, terms: readonly DeepReadonly<PodAffinityTerm>[] | undefined): readonly AffinityTerm[] {
  return terms === undefined ? none : terms.map((term) => termOf(namespace, term));
}

function weightedTermsOf(
  namespace: string,
  terms: readonly { readonly weight: number; readonly podAffinityTerm: DeepReadonly<PodAffinityTerm> }[] | undefined,
): readonly WeightedAffinityTerm[] {
  return terms === undefined ? none : terms.map(({ weight, podAffinityTerm }) => ({ ...termOf(namespace, podAffinityTerm), weight }));
}

const none: readonly never[] = [];

/** A term that names no namespaces in any way speaks of the pod's own. `matchLabelKeys` were merged into the selector at creation. */
function termOf(namespace: string, term: DeepReadonly<PodAffinityTerm>): AffinityTerm {
  const { topologyKey, labelSelector, namespaces = [], namespaceSelector } = term;
  const isOwnOnly = namespaces.length === 0 && namespaceSelector === undefined;
  const own = { selector: selectorOf(labelSelector), namespaces: new Set(isOwnOnly ? [namespace] : namespaces) };
  const others = namespaceSelector === undefined ? undefined : selectorOf(namespaceSelector);
  const group = [[...own.namespaces].sort(), others === undefined ? "" : selectorKey(others), selectorKey(own.selector)];
  return { ...own, topologyKey, namespaceSelector: others, groupKey: JSON.stringify(group), key: JSON.stringify([topologyKey, group]) };
}

/** Ports of containers and sidecars; those of init containers that end are free again. */
function hostPortsOf(pod: DeepReadonly<Pod>): readonly HostPort[] {
  let ports: HostPort[] | undefined;
  const sidecars = (pod.spec?.initContainers ?? none).filter(({ restartPolicy }) => restartPolicy === "Always");
  for (const container of [...(pod.spec?.containers ?? none), ...sidecars])
    for (const { hostPort = 0, hostIP = "", protocol = "TCP" } of container.ports ?? none)
      if (hostPort > 0) (ports ??= []).push({ ip: hostIP === "" ? "0.0.0.0" : hostIP, protocol, port: hostPort });
  return ports ?? none;
}

function claimNamesOf(pod: DeepReadonly<Pod>): readonly string[] {
  const names: string[] = [];
  for (const volume of pod.spec?.volumes ?? none) {
    if (volume.persistentVolumeClaim !== undefined) names.push(volume.persistentVolumeClaim.claimName);
    else if (volume.ephemeral !== undefined) names.push(`${pod.metadata.name}-${volume.name}`);
  }
  return names;
}
