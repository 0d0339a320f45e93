import { DomainPods } from "./domain-pods.ts";
import type { NodeInfo } from "./node-info.ts";
import type { AffinityTerm, PodInfo } from "./pod-info.ts";

/** What a running pod says of others. */
export type TermKind = "requiredAffinity" | "requiredAntiAffinity" | "preferredAffinity" | "preferredAntiAffinity";
const kinds: readonly TermKind[] = ["requiredAffinity", "requiredAntiAffinity", "preferredAffinity", "preferredAntiAffinity"];

/** Pods that run and have the same term. */
export interface TermGroup {
  readonly term: AffinityTerm;
  /** Of preferred terms; 0 of required ones. */
  readonly weight: number;
  readonly pods: DomainPods;
}

/**
 * The affinity terms of the pods that run, each once however many pods have it, with where those pods are. Driven by the cluster state.
 * Invariant: a group is there as long as a pod on a known node has its term.
 */
export class AffinityTerms {
  readonly #groups: Readonly<Record<TermKind, Map<string, TermGroup>>> = {
    requiredAffinity: new Map(),
    requiredAntiAffinity: new Map(),
    preferredAffinity: new Map(),
    preferredAntiAffinity: new Map(),
  };

  of(kind: TermKind): Iterable<TermGroup> {
    return this.#groups[kind].values();
  }

  change(pod: PodInfo, node: NodeInfo, by: 1 | -1): void {
    if (!pod.hasAffinity) return;
    for (const kind of kinds) for (const term of pod[kind]) this.#count(this.#groups[kind], term, { node, by });
  }

  /** A node's labels changed: domains are worked out anew. */
  relabel(): void {
    for (const kind of kinds) for (const { pods } of this.#groups[kind].values()) pods.relabel();
  }

  #count(groups: Map<string, TermGroup>, term: AffinityTerm & { readonly weight?: number }, { node, by }: { node: NodeInfo; by: 1 | -1 }): void {
    const { weight = 0 } = term;
    const key = `${weight} ${term.key}`;
    let group = groups.get(key);
    if (group === undefined) groups.set(key, (group = { term, weight, pods: new DomainPods() }));
    group.pods.change(node, by);
    if (group.pods.byNode.size === 0) groups.delete(key);
  }
}
