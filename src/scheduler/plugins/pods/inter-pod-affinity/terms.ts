import { matchesLabels } from "../../../../apimachinery/selectors/label-selector.ts";
import type { Lister } from "../../../../client/index.ts";
import type { Namespace } from "../../../../api/core-v1/types.ts";
import type { DomainCounts, DomainPods } from "../../../state/domain-pods.ts";
import type { AffinityTerm, PodInfo } from "../../../state/pod-info.ts";
import type { Snapshot } from "../../../state/snapshot.ts";

export type NamespaceLister = Pick<Lister<Namespace>, "get">;

/** Whether the term speaks of the pod: by its namespace, named or selected, and by its labels. */
export function termMatches({ namespaces, namespaceSelector, selector }: AffinityTerm, pod: PodInfo, lister: NamespaceLister): boolean {
  if (!namespaces.has(pod.namespace)) {
    if (namespaceSelector === undefined) return false;
    if (!matchesLabels(namespaceSelector, lister.get("", pod.namespace)?.metadata.labels)) return false;
  }
  return matchesLabels(selector, pod.labels);
}

export function allTermsMatch(terms: readonly AffinityTerm[], pod: PodInfo, lister: NamespaceLister): boolean {
  return terms.length > 0 && terms.every((term) => termMatches(term, pod, lister));
}

/** The pods that match all of the terms. There is at least one term. */
export function matchingAll(terms: readonly AffinityTerm[], snapshot: Snapshot): DomainPods {
  const isMember = (pod: PodInfo) => allTermsMatch(terms, pod, snapshot.objects.namespaces);
  const byNamespaceLabels = terms.some(({ namespaceSelector }) => namespaceSelector !== undefined && namespaceSelector.requirements.length > 0);
  return snapshot.podCounts({ key: `affinity/${terms.map(({ groupKey }) => groupKey).join()}`, isMember, byNamespaceLabels });
}

/** How many pods are in each domain of a topology key. */
export interface Domains {
  readonly topologyKey: string;
  readonly counts: DomainCounts;
}

/** Counts of several topology keys, with changes laid over a shared base. Immutable. */
export class PodsInDomains {
  readonly #base: readonly Domains[];
  readonly #changes: ReadonlyMap<string, ReadonlyMap<string, number>>;

  private constructor(base: readonly Domains[], changes: ReadonlyMap<string, ReadonlyMap<string, number>>) {
    this.#base = base;
    this.#changes = changes;
  }

  static of(base: readonly Domains[]): PodsInDomains {
    return new PodsInDomains(
      base.filter(({ counts }) => counts.size > 0),
      noChanges,
    );
  }

  get isEmpty(): boolean {
    if (this.#changes.size === 0) return this.#base.length === 0;
    const keys = new Set([...this.#base.map(({ topologyKey }) => topologyKey), ...this.#changes.keys()]);
    return [...keys].every((key) => this.#domains(key).every((value) => this.of(key, value) === 0));
  }

  of(topologyKey: string, value: string): number {
    let count = this.#changes.get(topologyKey)?.get(value) ?? 0;
    for (const one of this.#base) if (one.topologyKey === topologyKey) count += one.counts.get(value) ?? 0;
    return count;
  }

  /** Whether there are pods in any domain that the labels name. */
  meets(labels: Readonly<Record<string, string>>): boolean {
    const isMet = (key: string) => labels[key] !== undefined && this.of(key, labels[key]) > 0;
    return this.#base.some(({ topologyKey }) => isMet(topologyKey)) || this.#changes.keys().some(isMet);
  }

  with(topologyKey: string, value: string, by: number): PodsInDomains {
    const values = new Map(this.#changes.get(topologyKey));
    values.set(value, (values.get(value) ?? 0) + by);
    return new PodsInDomains(this.#base, new Map(this.#changes).set(topologyKey, values));
  }

  #domains(topologyKey: string): string[] {
    const values = new Set(this.#changes.get(topologyKey)?.keys());
    for (const one of this.#base) if (one.topologyKey === topologyKey) for (const value of one.counts.keys()) values.add(value);
    return [...values];
  }
}

const noChanges: ReadonlyMap<string, ReadonlyMap<string, number>> = new Map();
